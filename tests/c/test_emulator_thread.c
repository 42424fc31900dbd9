/* The device in its own thread (pthread): completion order and visibility; run under TSan, too. */
#include "emulator_support.h"

#include <pthread.h>
#include <sched.h>

#define ENTRIES 16u

struct bench {
    struct cd_eip93_emulator *chip;
    struct cd_eip93_bus bus;
    uint32_t *commands, *results, *source, *destination, *sa;
    uint32_t cdr, rdr, source_address, destination_address, sa_address;
};

static void bench_init(struct bench *bench, int32_t pace) {
    bench->chip = chip_new(pace);
    cd_eip93_emulator_bus(bench->chip, &bench->bus);
    struct cd_eip93_bus *bus = &bench->bus;
    void *memory = NULL;
    CHECK_EQ(bus->dma_alloc(bus->context, 32 * ENTRIES, 32, &memory, &bench->cdr), CD_OK);
    bench->commands = memory;
    CHECK_EQ(bus->dma_alloc(bus->context, 32 * ENTRIES, 32, &memory, &bench->rdr), CD_OK);
    bench->results = memory;
    CHECK_EQ(bus->dma_alloc(bus->context, 64 * ENTRIES, 64, &memory, &bench->source_address),
             CD_OK);
    bench->source = memory;
    CHECK_EQ(bus->dma_alloc(bus->context, 64 * ENTRIES, 64, &memory, &bench->destination_address),
             CD_OK);
    bench->destination = memory;
    CHECK_EQ(bus->dma_alloc(bus->context, 128, 64, &memory, &bench->sa_address), CD_OK);
    bench->sa = memory;
    bench->sa[0] = 0x0200FFC0; /* null cipher; this test runs on little-endian hosts */
    chip_start_rings(bench->chip, bench->cdr, bench->rdr, ENTRIES);
}

static void submit(struct bench *bench, uint32_t job) {
    uint32_t slot = job % ENTRIES;
    uint32_t *command = bench->commands + 8 * slot;
    for (uint32_t word = 0; word < 16; word++) {
        bench->source[16 * slot + word] = job * 16 + word;
    }
    __atomic_store_n(&bench->results[8 * slot], 0, __ATOMIC_RELAXED);
    __atomic_store_n(&bench->results[8 * slot + 7], 0, __ATOMIC_RELAXED);
    command[1] = bench->source_address + 64 * slot;
    command[2] = bench->destination_address + 64 * slot;
    command[3] = bench->sa_address;
    command[6] = job;
    __atomic_store_n(&command[7], 0x00400040, __ATOMIC_RELEASE);
    __atomic_store_n(&command[0], 0x00000001, __ATOMIC_RELEASE);
    bench->bus.write32(bench->bus.context, 0x090, 1);
}

/* Wait for the result by its ownership words alone, as the Linux driver does. */
static void complete(struct bench *bench, uint32_t job) {
    uint32_t slot = job % ENTRIES;
    uint32_t *result = bench->results + 8 * slot;
    while ((__atomic_load_n(&result[0], __ATOMIC_ACQUIRE) & 3) != 2 ||
           (__atomic_load_n(&result[7], __ATOMIC_ACQUIRE) >> 22 & 3) != 2) {
        sched_yield();
    }
    CHECK_EQ(result[6], job);
    CHECK_EQ(__atomic_load_n(&result[0], __ATOMIC_RELAXED), 2);
    for (uint32_t word = 0; word < 16; word++) {
        CHECK_EQ(bench->destination[16 * slot + word], job * 16 + word);
    }
    bench->bus.write32(bench->bus.context, 0x094, 1);
}

/* R015: data before ready, never data of an earlier job */
static void test_r015_polling(void) {
    struct bench bench;
    bench_init(&bench, CD_EIP93_FREE);
    CHECK_EQ(cd_eip93_emulator_start_thread(bench.chip, 0, 1), CD_OK);
    CHECK_EQ(cd_eip93_emulator_start_thread(bench.chip, 0, 1), CD_E_EXISTS);
    uint32_t submitted = 0;
    for (uint32_t done = 0; done < 20000; done++) {
        while (submitted < 20000 && submitted - done < ENTRIES - 1) {
            submit(&bench, submitted++);
        }
        complete(&bench, done);
    }
    cd_eip93_emulator_free(bench.chip); /* stops the thread */
}

static void test_r015_random_delays(void) {
    struct bench bench;
    bench_init(&bench, CD_EIP93_PACED);
    CHECK_EQ(cd_eip93_emulator_start_thread(bench.chip, 50, 7), CD_OK);
    for (uint32_t job = 0; job < 500; job++) {
        submit(&bench, job);
        if (job % 3 == 0) {
            cd_status status;
            do {
                status = bench.bus.irq_wait(bench.bus.context, 1000000000);
            } while (status == CD_OK && bench.bus.read32(bench.bus.context, 0x094) == 0);
            CHECK_EQ(status, CD_OK);
        }
        complete(&bench, job);
        bench.bus.write32(bench.bus.context, 0x204, 0x2);
    }
    cd_eip93_emulator_stop_thread(bench.chip);
    cd_eip93_emulator_stop_thread(bench.chip);
    submit(&bench, 500); /* runs in the caller's thread again */
    CHECK_EQ(cd_eip93_emulator_irq_wait(bench.chip, 1000000000), CD_OK);
    complete(&bench, 500);
    CHECK_EQ(cd_eip93_emulator_start_thread(bench.chip, 0, 7), CD_OK);
    cd_eip93_emulator_free(bench.chip);
}

static void test_virtual_has_no_thread(void) {
    struct cd_eip93_emulator *chip = chip_new(CD_EIP93_VIRTUAL);
    CHECK_EQ(cd_eip93_emulator_start_thread(chip, 0, 1), CD_E_INVALID);
    cd_eip93_emulator_stop_thread(chip);
    cd_eip93_emulator_free(chip);
}

static void *wait_for_line(void *context) {
    struct bench *bench = context;
    return cd_eip93_emulator_irq_wait(bench->chip, 10000000000) == CD_OK ? context : NULL;
}

/* A waiter that sleeps on an idle device sees the doorbell of another thread. */
static void test_waiter_wakes(void) {
    struct bench bench;
    pthread_t thread;
    void *result = NULL;
    bench_init(&bench, CD_EIP93_FREE);
    CHECK_EQ(pthread_create(&thread, NULL, wait_for_line, &bench), 0);
    struct timespec pause = {.tv_nsec = 5000000};
    nanosleep(&pause, NULL);
    submit(&bench, 0);
    pthread_join(thread, &result);
    CHECK(result == &bench);
    cd_eip93_emulator_free(bench.chip);
}

static void *hammer(void *context) {
    struct cd_eip93_emulator *chip = context;
    uint8_t buffer[64];
    for (int i = 0; i < 3000; i++) {
        uint32_t address = 0;
        if (cd_eip93_emulator_map(chip, buffer, sizeof buffer, CD_DMA_TO_DEVICE, &address) !=
                CD_OK ||
            cd_eip93_emulator_unmap(chip, address) != CD_OK) {
            return NULL;
        }
        (void)cd_eip93_emulator_read32(chip, 0x200);
        cd_eip93_emulator_write32(chip, 0x204, 0x78E03);
        run_device(chip, 0);
        (void)cd_eip93_emulator_ticks(chip);
        if (i % 500 == 0) {
            cd_eip93_emulator_write32(chip, 0x100, 0x705);
            cd_eip93_emulator_write32(chip, 0x100, 0x700);
        }
        cd_eip93_emulator_write32(chip, 0x090, 3);
    }
    return context;
}

/* Four threads at once on one chip: nothing but the lock protects it. */
static void test_many_threads(void) {
    struct cd_eip93_emulator *chip = chip_new(CD_EIP93_FREE);
    pthread_t threads[4];
    chip_start_rings(chip, CDR, RDR, 8);
    CHECK_EQ(cd_eip93_emulator_start_thread(chip, 0, 3), CD_OK);
    for (size_t i = 0; i < 4; i++) {
        CHECK_EQ(pthread_create(&threads[i], NULL, hammer, chip), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        CHECK(result == chip);
    }
    cd_eip93_emulator_free(chip);
}

int main(void) {
    RUN(test_r015_polling);
    RUN(test_r015_random_delays);
    RUN(test_virtual_has_no_thread);
    RUN(test_waiter_wakes);
    RUN(test_many_threads);
    return test_end();
}
