/*
 * The driver under several threads: callers that share objects, an engine in a thread of its own,
 * and a device that goes away under all of them. Meant for ThreadSanitizer.
 */
#include "driver_rig.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#define THREADS_MAX 8
#define SIZE 64

struct worker {
    pthread_t thread;
    struct rig *rig;
    struct cd_cipher *cipher;
    const uint8_t *plain, *secret; /* SIZE bytes that belong together */
    unsigned number, jobs, wrong, gone, completions;
};

static void run_workers(struct worker *workers, unsigned count, void *(*work)(void *)) {
    for (unsigned i = 0; i < count; i++) {
        workers[i].number = i;
        CHECK_EQ(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
}

static void join_workers(struct worker *workers, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        CHECK_EQ(pthread_join(workers[i].thread, NULL), 0);
        CHECK_EQ(workers[i].wrong, 0);
    }
}

struct text {
    uint8_t key[16], plain[SIZE], secret[SIZE];
};

static struct text known_text(const struct rig *rig) {
    struct text text;
    fill(text.key, 16, 5);
    fill(text.plain, SIZE, 6);
    struct cd_cipher *software = rig_cipher(rig, "cbc(aes-lib)", text.key, 16);
    struct cd_cipher_request request = {
        .source = text.plain, .destination = text.secret, .length = SIZE};
    CHECK_EQ(cd_cipher_encrypt_wait(software, &request), CD_OK);
    cd_cipher_free(software);
    return text;
}

static void *mix_directions(void *argument) {
    struct worker *worker = argument;
    for (unsigned i = 0; i < worker->jobs; i++) {
        uint8_t out[SIZE];
        bool decrypt = (i + worker->number) % 2 == 1;
        struct cd_cipher_request request = {
            .source = decrypt ? worker->secret : worker->plain, .destination = out, .length = SIZE};
        cd_status status = decrypt ? cd_cipher_decrypt_wait(worker->cipher, &request)
                                   : cd_cipher_encrypt_wait(worker->cipher, &request);
        bool right =
            status == CD_OK && memcmp(out, decrypt ? worker->plain : worker->secret, SIZE) == 0;
        worker->gone += status == CD_E_NO_DEVICE ? 1 : 0;
        worker->wrong += right || status == CD_E_NO_DEVICE ? 0 : 1;
        if (status == CD_E_NO_DEVICE) {
            break;
        }
    }
    return NULL;
}

/* R019: four threads mix directions on one object, 40,000 jobs. */
static void directions_from_threads(void) {
    struct rig rig = rig_new(CD_EIP93_FREE, 0, 0);
    struct text text = known_text(&rig);
    struct worker workers[4];
    struct cd_cipher *cipher = rig_cipher(&rig, "cbc(aes)", text.key, 16);
    for (unsigned i = 0; i < 4; i++) {
        workers[i] = (struct worker){
            .cipher = cipher, .plain = text.plain, .secret = text.secret, .jobs = 10000};
    }
    run_workers(workers, 4, mix_directions);
    join_workers(workers, 4);
    CHECK_EQ(rig_counters(&rig).completed, 40000);
    CHECK_EQ(rig_counters(&rig).failed, 0);
    cd_cipher_free(cipher);
    rig_end(&rig);
}

#define OUTSTANDING 1024

struct unique {
    struct cd_cipher_request request;
    uint8_t text[SIZE], plain[SIZE];
    unsigned completions;
};

static void count_completion(struct cd_cipher_request *request, void *context) {
    struct unique *job = context;
    (void)request;
    __atomic_fetch_add(&job->completions, 1, __ATOMIC_RELEASE);
}

static bool start_unique(struct unique *job, struct cd_cipher *cipher, uint64_t seed) {
    memset(job, 0, sizeof(*job));
    fill(job->plain, SIZE, seed);
    memcpy(job->text, job->plain, SIZE);
    job->request.source = job->request.destination = job->text;
    job->request.length = SIZE;
    job->request.complete = count_completion;
    job->request.context = job;
    return cd_cipher_encrypt(cipher, &job->request) == CD_IN_PROGRESS;
}

/* Wait for it; decrypted by the software, the text must be what it was. */
static bool end_unique(struct unique *job, struct cd_cipher *cipher, struct cd_cipher *software) {
    if (cd_cipher_wait(cipher, &job->request, 20000000000u) != CD_OK ||
        job->request.status != CD_OK) {
        return false;
    }
    /* The status is published just before the completion is called. */
    while (__atomic_load_n(&job->completions, __ATOMIC_ACQUIRE) == 0) {
        sched_yield();
    }
    struct cd_cipher_request back = {.source = job->text, .destination = job->text, .length = SIZE};
    return cd_cipher_decrypt_wait(software, &back) == CD_OK &&
           memcmp(job->text, job->plain, SIZE) == 0;
}

/* Start `count` jobs with a text of their own each, then wait for them. */
static void many_outstanding(struct worker *worker, size_t count, unsigned rounds) {
    struct unique *jobs = calloc(count, sizeof(*jobs));
    uint8_t key[16];
    fill(key, 16, 5);
    struct cd_cipher *software = rig_cipher(worker->rig, "cbc(aes-lib)", key, 16);
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            uint64_t seed = (round * 16 + worker->number) * OUTSTANDING + i;
            worker->wrong += start_unique(&jobs[i], worker->cipher, seed) ? 0 : 1;
        }
        for (size_t i = 0; i < count; i++) {
            worker->wrong += end_unique(&jobs[i], worker->cipher, software) ? 0 : 1;
        }
        for (size_t i = 0; i < count; i++) {
            worker->wrong += __atomic_load_n(&jobs[i].completions, __ATOMIC_ACQUIRE) == 1 ? 0 : 1;
        }
    }
    cd_cipher_free(software);
    free(jobs);
}

static void *share_of_outstanding(void *argument) {
    struct worker *worker = argument;
    many_outstanding(worker, OUTSTANDING / THREADS_MAX, worker->jobs);
    return NULL;
}

/* R025: ring of 512, 1,024 jobs outstanding, from one thread and from eight. */
static void outstanding(void) {
    struct rig rig = rig_new(CD_EIP93_FREE, 512, 0);
    struct text text = known_text(&rig);
    struct worker workers[THREADS_MAX];
    struct cd_cipher *cipher = rig_cipher(&rig, "cbc(aes)", text.key, 16);
    workers[0] = (struct worker){.rig = &rig, .cipher = cipher};
    many_outstanding(&workers[0], OUTSTANDING, 2);
    CHECK_EQ(workers[0].wrong, 0);
    CHECK(rig_counters(&rig).backlogged >= 2 * (OUTSTANDING - 511));
    for (unsigned i = 0; i < THREADS_MAX; i++) {
        workers[i] = (struct worker){.rig = &rig, .cipher = cipher, .jobs = 4};
    }
    run_workers(workers, THREADS_MAX, share_of_outstanding);
    join_workers(workers, THREADS_MAX);
    CHECK_EQ(rig_counters(&rig).completed, 6 * OUTSTANDING);
    cd_cipher_free(cipher);
    rig_end(&rig);
}

/* R015: an engine in its own thread, with random delays and without; a small ring, so that entries
 * are used again soon. */
static void engine_thread(void) {
    static const struct {
        uint32_t delay_us, entries;
        unsigned rounds;
    } rows[] = {{20, 8, 1}, {0, 16, 65}, {2, 512, 1}};
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        struct rig rig = rig_new(CD_EIP93_FREE, rows[r].entries, 0);
        struct text text = known_text(&rig);
        struct worker workers[3];
        CHECK_EQ(cd_eip93_emulator_start_thread(rig.emulator, rows[r].delay_us, r), CD_OK);
        struct cd_cipher *cipher = rig_cipher(&rig, "cbc(aes)", text.key, 16);
        for (unsigned i = 0; i < 3; i++) {
            workers[i] = (struct worker){.rig = &rig,
                                         .cipher = cipher,
                                         .plain = text.plain,
                                         .secret = text.secret,
                                         .number = i,
                                         .jobs = 500 * rows[r].rounds};
        }
        run_workers(workers, 2, mix_directions);
        many_outstanding(&workers[2], 500, rows[r].rounds);
        join_workers(workers, 2);
        CHECK_EQ(workers[2].wrong, 0);
        CHECK_EQ(rig_counters(&rig).resets, 0);
        cd_cipher_free(cipher);
        cd_eip93_emulator_stop_thread(rig.emulator);
        rig_end(&rig);
    }
}

static void *polls(void *argument) {
    struct worker *worker = argument;
    for (unsigned i = 0; i < worker->jobs; i++) {
        worker->completions += (unsigned)cd_eip93_driver_poll(worker->rig->driver);
    }
    return NULL;
}

/* Some wait, one polls: every request ends once. */
static void pollers_and_waiters(void) {
    struct rig rig = rig_new(CD_EIP93_FREE, 16, 0);
    struct text text = known_text(&rig);
    struct worker workers[4];
    struct cd_cipher *cipher = rig_cipher(&rig, "cbc(aes)", text.key, 16);
    for (unsigned i = 0; i < 4; i++) {
        workers[i] = (struct worker){.rig = &rig,
                                     .cipher = cipher,
                                     .plain = text.plain,
                                     .secret = text.secret,
                                     .jobs = 2000};
    }
    run_workers(workers, 3, mix_directions);
    CHECK_EQ(pthread_create(&workers[3].thread, NULL, polls, &workers[3]), 0);
    join_workers(workers, 4);
    CHECK_EQ(rig_counters(&rig).completed, 6000);
    cd_cipher_free(cipher);
    rig_end(&rig);
}

/* The device is closed while threads wait: all are told, and the bus rests from then on. */
static void closed_under_threads(void) {
    for (unsigned round = 0; round < 20; round++) {
        struct rig rig = rig_new(CD_EIP93_FREE, 8, 0);
        struct text text = known_text(&rig);
        struct worker workers[4];
        if (round % 2 == 1) {
            CHECK_EQ(cd_eip93_emulator_start_thread(rig.emulator, 10, round), CD_OK);
        }
        struct cd_cipher *cipher = rig_cipher(&rig, "cbc(aes)", text.key, 16);
        for (unsigned i = 0; i < 4; i++) {
            workers[i] = (struct worker){
                .cipher = cipher, .plain = text.plain, .secret = text.secret, .jobs = UINT32_MAX};
        }
        run_workers(workers, 4, mix_directions);
        while (rig_counters(&rig).completed < 20 * round) {
        }
        cd_eip93_driver_free(rig.driver);
        rig.driver = NULL;
        cd_eip93_emulator_free(rig.emulator);
        rig.emulator = NULL;
        join_workers(workers, 4);
        for (unsigned i = 0; i < 4; i++) {
            CHECK_EQ(workers[i].gone, 1);
        }
        cd_cipher_free(cipher);
        rig_end(&rig);
    }
}

/* A bus whose irq_wait is slow to return, and which notices use after the driver was closed. */
struct slow_bus {
    struct cd_eip93_bus bus;
    bool inside, closed;
    unsigned late;
};

static cd_status slow_irq_wait(void *context, uint64_t timeout_ns) {
    struct slow_bus *slow = context;
    const struct timespec pause = {.tv_nsec = 20000000};
    (void)timeout_ns;
    __atomic_store_n(&slow->inside, true, __ATOMIC_RELEASE);
    nanosleep(&pause, NULL);
    slow->late += __atomic_load_n(&slow->closed, __ATOMIC_ACQUIRE) ? 1 : 0;
    return CD_E_TIMEOUT;
}

static uint32_t slow_read32(void *context, uint32_t offset) {
    struct slow_bus *slow = context;
    return slow->bus.read32(slow->bus.context, offset);
}

static void slow_write32(void *context, uint32_t offset, uint32_t value) {
    struct slow_bus *slow = context;
    slow->bus.write32(slow->bus.context, offset, value);
}

static cd_status slow_dma_alloc(void *context, size_t length, size_t alignment, void **out_memory,
                                uint32_t *out_address) {
    struct slow_bus *slow = context;
    return slow->bus.dma_alloc(slow->bus.context, length, alignment, out_memory, out_address);
}

static void slow_dma_free(void *context, void *memory, uint32_t address, size_t length) {
    struct slow_bus *slow = context;
    slow->bus.dma_free(slow->bus.context, memory, address, length);
}

static cd_status slow_dma_map(void *context, void *memory, size_t length,
                              enum cd_dma_direction direction, uint32_t *out_address) {
    struct slow_bus *slow = context;
    return slow->bus.dma_map(slow->bus.context, memory, length, direction, out_address);
}

static void slow_dma_unmap(void *context, uint32_t address, size_t length,
                           enum cd_dma_direction direction) {
    struct slow_bus *slow = context;
    slow->bus.dma_unmap(slow->bus.context, address, length, direction);
}

/* Closing waits for the thread that listens on the bus. */
static void closed_under_a_listener(void) {
    struct rig rig = rig_new(CD_EIP93_FREE, 8, 0);
    struct text text = known_text(&rig);
    struct slow_bus slow = {.bus = rig.bus};
    cd_eip93_driver_free(rig.driver);
    rig.bus = (struct cd_eip93_bus){CD_EIP93_BUS_ABI, &slow,         slow_read32,  slow_write32,
                                    slow_dma_alloc,   slow_dma_free, slow_dma_map, slow_dma_unmap,
                                    slow_irq_wait,    slow.bus.clock};
    rig_attach(&rig, 8, 0);
    CHECK_EQ(cd_eip93_emulator_inject(rig.emulator, CD_EIP93_FAULT_HANG, 0, 100, 0), CD_OK);
    struct worker workers[2];
    struct cd_cipher *cipher = rig_cipher(&rig, "cbc(aes)", text.key, 16);
    for (unsigned i = 0; i < 2; i++) {
        workers[i] = (struct worker){
            .cipher = cipher, .plain = text.plain, .secret = text.secret, .jobs = 1};
    }
    run_workers(workers, 2, mix_directions);
    while (!__atomic_load_n(&slow.inside, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    cd_eip93_driver_free(rig.driver);
    rig.driver = NULL;
    __atomic_store_n(&slow.closed, true, __ATOMIC_RELEASE);
    join_workers(workers, 2);
    CHECK_EQ(slow.late, 0);
    CHECK_EQ(workers[0].gone + workers[1].gone, 2);
    cd_cipher_free(cipher);
    rig_end(&rig);
}

/* The engine hangs while four threads use it: bounded, and everybody goes on. */
static void *bear_timeouts(void *argument) {
    struct worker *worker = argument;
    for (unsigned i = 0; i < worker->jobs; i++) {
        uint8_t out[SIZE];
        struct cd_cipher_request request = {
            .source = worker->plain, .destination = out, .length = SIZE};
        cd_status status = cd_cipher_encrypt_wait(worker->cipher, &request);
        bool right = status == CD_OK && memcmp(out, worker->secret, SIZE) == 0;
        worker->gone += status == CD_E_TIMEOUT ? 1 : 0;
        worker->wrong += right || status == CD_E_TIMEOUT ? 0 : 1;
    }
    return NULL;
}

static void hangs_under_threads(void) {
    struct rig rig = rig_new(CD_EIP93_FREE, 8, 20000000);
    struct text text = known_text(&rig);
    struct worker workers[4];
    struct cd_cipher *cipher = rig_cipher(&rig, "cbc(aes)", text.key, 16);
    for (unsigned i = 0; i < 4; i++) {
        workers[i] = (struct worker){
            .cipher = cipher, .plain = text.plain, .secret = text.secret, .jobs = 500};
    }
    CHECK_EQ(cd_eip93_emulator_inject(rig.emulator, CD_EIP93_FAULT_HANG, 300, 1, 0), CD_OK);
    CHECK_EQ(cd_eip93_emulator_inject(rig.emulator, CD_EIP93_FAULT_LOST, 900, 2, 0), CD_OK);
    run_workers(workers, 4, bear_timeouts);
    join_workers(workers, 4);
    unsigned timeouts = 0;
    for (unsigned i = 0; i < 4; i++) {
        timeouts += workers[i].gone;
    }
    CHECK(timeouts >= 2 && timeouts <= 12);
    CHECK(rig_counters(&rig).resets >= 2 && rig_counters(&rig).resets <= 3);
    cd_cipher_free(cipher);
    rig_end(&rig);
}

int main(void) {
    RUN(directions_from_threads);
    RUN(outstanding);
    RUN(engine_thread);
    RUN(pollers_and_waiters);
    RUN(closed_under_threads);
    RUN(closed_under_a_listener);
    RUN(hangs_under_threads);
    return test_end();
}
