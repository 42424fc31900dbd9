/* The device in a thread of its own, with pseudo-random delays for tests of completion order. */
#include "eip93/emulator/emulator_internal.h"

#include <time.h>

/* splitmix64: the same delays for the same seed. */
static uint64_t random_next(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static void delay(struct cd_eip93_emulator *emulator) {
    uint64_t us =
        random_next(&emulator->thread_random) % ((uint64_t)emulator->thread_max_delay_us + 1u);
    struct timespec time = {
        .tv_sec = (time_t)(us / 1000000u),
        .tv_nsec = (long)(us % 1000000u * 1000u),
    };
    cd_emulator_unlock(emulator);
    nanosleep(&time, NULL);
    cd_emulator_lock(emulator);
}

static void *worker(void *context) {
    struct cd_eip93_emulator *emulator = context;
    cd_emulator_lock(emulator);
    while (!emulator->thread_stop) {
        uint32_t budget = CD_EMULATOR_BURST;
        bool pending = cd_emulator_engine_packet_next(emulator) != CD_EMULATOR_NEVER;
        if (emulator->thread_max_delay_us != 0 && pending) {
            delay(emulator);
            budget = 1;
        }
        if (emulator->thread_stop) {
            break;
        }
        if (!cd_emulator_wait_run(emulator, budget)) {
            cd_emulator_wait_until(emulator, cd_emulator_wait_next_ns(emulator), CD_EMULATOR_NEVER);
        }
    }
    cd_emulator_unlock(emulator);
    return NULL;
}

cd_status cd_eip93_emulator_start_thread(struct cd_eip93_emulator *emulator, uint32_t max_delay_us,
                                         uint64_t seed) {
    cd_status status = CD_OK;
    cd_emulator_lock(emulator);
    if (emulator->pace == CD_EIP93_VIRTUAL) {
        status = CD_E_INVALID;
    } else if (emulator->has_thread) {
        status = CD_E_EXISTS;
    } else {
        emulator->thread_stop = false;
        emulator->thread_max_delay_us = max_delay_us;
        emulator->thread_random = seed;
        emulator->has_thread = pthread_create(&emulator->thread, NULL, worker, emulator) == 0;
        status = emulator->has_thread ? CD_OK : CD_E_NO_MEMORY;
    }
    cd_emulator_unlock(emulator);
    return status;
}

void cd_eip93_emulator_stop_thread(struct cd_eip93_emulator *emulator) {
    cd_emulator_lock(emulator);
    bool mine = emulator->has_thread && !emulator->thread_stop;
    emulator->thread_stop = true;
    pthread_cond_broadcast(&emulator->changed);
    cd_emulator_unlock(emulator);
    if (!mine) {
        return;
    }
    pthread_join(emulator->thread, NULL);
    cd_emulator_lock(emulator);
    emulator->has_thread = false;
    pthread_cond_broadcast(&emulator->changed);
    cd_emulator_unlock(emulator);
}
