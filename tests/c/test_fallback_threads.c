/* The fallback under threads: requests, configuration and readers at once (fallback-semantics.md
 * sections 4, 6 and 7). Meant for ThreadSanitizer too. */
#include "fallback_fixture.h"

#include <pthread.h>
#include <time.h>

#define WORKERS 4
#define JOBS 2000

static const size_t sizes[] = {16, 64, 256, 272, 512, 1024, 4096};
static _Atomic bool stop;
static _Atomic unsigned wrong;

static void sleep_us(long microseconds) {
    struct timespec time = {.tv_nsec = microseconds * 1000};
    nanosleep(&time, NULL);
}

/* Mixed sizes on one shared transform. */
static void *work(void *argument) {
    struct cd_cipher *cipher = argument;
    for (unsigned i = 0; i < JOBS; i++) {
        if (run(cipher, sizes[i % (sizeof(sizes) / sizeof(sizes[0]))]) != CD_OK) {
            wrong++;
        }
    }
    return NULL;
}

static uint64_t sum_of_counters(void) {
    uint64_t counters[CD_WHY_COUNT], sum = 0;
    cd_fallback_counters(fallback, AES, counters);
    for (int why = 0; why < CD_WHY_COUNT; why++) {
        sum += counters[why];
    }
    return sum;
}

static void *rewrite_thresholds(void *argument) {
    static const int64_t thresholds[] = {0, 256, -1, 64, 4096};
    (void)argument;
    for (unsigned i = 0; !stop; i++) {
        if (cd_fallback_set_threshold(fallback, AES, thresholds[i % 5]) != CD_OK) {
            wrong++;
        }
        sleep_us(500);
    }
    return NULL;
}

/* T rewritten all the time while 4 threads run mixed sizes: all right, no job lost (R049). */
static void test_rewritten_under_load_R049(void) {
    pthread_t workers[WORKERS], writer;
    struct cd_cipher *ciphers[WORKERS];
    set_up();
    CHECK(enable());
    stop = false;
    wrong = 0;
    CHECK_EQ(pthread_create(&writer, NULL, rewrite_thresholds, NULL), 0);
    for (size_t i = 0; i < WORKERS; i++) {
        /* Two transforms, each shared by two threads. */
        ciphers[i] = i % 2 == 0 ? new_cipher("cbc(aes)") : ciphers[i - 1];
        CHECK_EQ(pthread_create(&workers[i], NULL, work, ciphers[i]), 0);
    }
    for (size_t i = 0; i < WORKERS; i++) {
        pthread_join(workers[i], NULL);
    }
    stop = true;
    pthread_join(writer, NULL);
    CHECK_EQ(wrong, 0);
    CHECK_EQ(sum_of_counters(), WORKERS * JOBS);
    cd_cipher_free(ciphers[0]);
    cd_cipher_free(ciphers[2]);
    tear_down();
}

/* Make, use and free transforms while others enable and disable. */
static void *make_and_use(void *argument) {
    (void)argument;
    while (!stop) {
        struct cd_cipher *cipher = NULL;
        if (cd_cipher_new(&cipher, registry, "cbc(aes)", 0, CD_FLAG_MODELLED) != CD_OK ||
            cd_cipher_set_key(cipher, fixture_key, sizeof(fixture_key)) != CD_OK ||
            run(cipher, 64) != CD_OK || run(cipher, 1024) != CD_OK) {
            wrong++;
        }
        cd_cipher_free(cipher);
    }
    return NULL;
}

static void *switch_on_and_off(void *argument) {
    (void)argument;
    for (unsigned i = 0; i < 40; i++) {
        if (cd_fallback_enable(fallback, NULL, NULL, NULL) != CD_OK) {
            wrong++;
        }
        cd_fallback_disable(fallback);
    }
    return NULL;
}

static void *read_everything(void *argument) {
    struct cd_measurement m[CD_BENCHMARK_SIZES];
    char text[CD_NAME_MAX], other[CD_NAME_MAX];
    (void)argument;
    while (!stop) {
        size_t count = cd_fallback_measurements(fallback, AES, m, CD_BENCHMARK_SIZES);
        cd_fallback_sides(fallback, AES, text, other, sizeof(text));
        /* A snapshot is whole: count, sizes and sides belong together. */
        if (count > CD_BENCHMARK_SIZES || (count > 0 && m[count - 1].size < 16) ||
            (count > 0 && (text[0] == '\0' || other[0] == '\0'))) {
            wrong++;
        }
        (void)cd_fallback_enabled(fallback);
        (void)cd_fallback_threshold(fallback, AES);
        (void)sum_of_counters();
        cd_fallback_failure(fallback, AES, text, sizeof(text));
        if (cd_fallback_read(fallback, "aes", text, sizeof(text)) != CD_OK) {
            wrong++;
        }
    }
    return NULL;
}

static void test_switched_under_load(void) {
    pthread_t users[2], reader, switchers[2];
    set_up();
    stop = false;
    wrong = 0;
    for (size_t i = 0; i < 2; i++) {
        CHECK_EQ(pthread_create(&users[i], NULL, make_and_use, NULL), 0);
        CHECK_EQ(pthread_create(&switchers[i], NULL, switch_on_and_off, NULL), 0);
    }
    CHECK_EQ(pthread_create(&reader, NULL, read_everything, NULL), 0);
    for (size_t i = 0; i < 2; i++) {
        pthread_join(switchers[i], NULL);
    }
    stop = true;
    for (size_t i = 0; i < 2; i++) {
        pthread_join(users[i], NULL);
    }
    pthread_join(reader, NULL);
    CHECK_EQ(wrong, 0);
    CHECK_EQ(registered(), FAKES);
    CHECK(!cd_fallback_enabled(fallback));
    tear_down();
}

/* A measuring that stands still until told to go on. */
static _Atomic bool measuring, go_on, written;

static bool stand_still(void *context, size_t group, const struct cd_measurement *measurement,
                        const char *failure) {
    (void)context, (void)group, (void)measurement, (void)failure;
    measuring = true;
    while (!go_on) {
        sleep_us(100);
    }
    return true;
}

static void *enable_and_stand_still(void *argument) {
    (void)argument;
    if (cd_fallback_enable(fallback, stand_still, NULL, NULL) != CD_OK) {
        wrong++;
    }
    return NULL;
}

static void *write_threshold(void *argument) {
    (void)argument;
    if (cd_fallback_write(fallback, "aes", "99", 2, NULL) != CD_OK) {
        wrong++;
    }
    written = true;
    return NULL;
}

/* Reads never block, also while a measuring runs; neither do requests; writes wait for it. */
static void test_reads_do_not_wait_for_measuring(void) {
    pthread_t enabler, writer;
    struct cd_measurement m[CD_BENCHMARK_SIZES];
    struct cd_cipher *cipher;
    char text[256], other[256];
    set_up();
    CHECK(enable());
    cipher = new_cipher("cbc(aes)");
    wrong = 0;
    measuring = go_on = written = false;
    CHECK_EQ(pthread_create(&enabler, NULL, enable_and_stand_still, NULL), 0);
    while (!measuring) {
        sleep_us(100);
    }
    CHECK_EQ(pthread_create(&writer, NULL, write_threshold, NULL), 0);
    sleep_us(20000);
    CHECK(!written);
    CHECK(cd_fallback_enabled(fallback));
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 512);
    CHECK_EQ(cd_fallback_read(fallback, "aes", text, sizeof(text)), CD_OK);
    CHECK_EQ(cd_fallback_read(fallback, "enabled", text, sizeof(text)), CD_OK);
    CHECK_EQ(cd_fallback_measurements(fallback, AES, m, CD_BENCHMARK_SIZES), 6);
    cd_fallback_failure(fallback, AES, text, sizeof(text));
    cd_fallback_sides(fallback, AES, text, other, sizeof(text));
    CHECK_EQ(sum_of_counters(), 0);
    CHECK_EQ(run(cipher, 16), CD_OK);
    cd_cipher_free(cipher);
    cipher = new_cipher("cbc(aes)");
    cd_cipher_free(cipher);
    CHECK(!written);
    go_on = true;
    pthread_join(enabler, NULL);
    pthread_join(writer, NULL);
    CHECK_EQ(wrong, 0);
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 99); /* written after the measuring */
    tear_down();
}

int main(void) {
    RUN(test_rewritten_under_load_R049);
    RUN(test_switched_under_load);
    RUN(test_reads_do_not_wait_for_measuring);
    return test_end();
}
