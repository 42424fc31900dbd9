/* fallback_tune.c: thresholds from scripted timings (fallback-semantics.md section 3). */
#include "fallback_fixture.h"

static char trace[FAKE_TRACE_MAX];

#define PER_SIZE (CD_BENCHMARK_WARMUPS + CD_BENCHMARK_RUNS)

/* Hardware wins from `edge` bytes on. */
static size_t edge;
static uint64_t cost_low_from_edge(size_t length) {
    return length >= edge ? 10 : 1000;
}

static void check_edge(size_t new_edge, int32_t threshold, size_t sizes) {
    struct cd_measurement m[CD_BENCHMARK_SIZES];
    set_up();
    edge = new_edge;
    fakes[HW_CBC].cost = cost_low_from_edge;
    CHECK(enable());
    CHECK_EQ(cd_fallback_threshold(fallback, AES), threshold);
    CHECK_EQ(cd_fallback_measurements(fallback, AES, m, CD_BENCHMARK_SIZES), sizes);
    /* 4 + 8 operations of each side per size, and none after the first win. */
    CHECK_EQ(fakes[HW_CBC].operations, sizes * PER_SIZE);
    CHECK_EQ(fakes[SW_CBC].operations, sizes * PER_SIZE);
    for (size_t i = 0; i < sizes; i++) {
        CHECK_EQ(m[i].size, cd_benchmark_sizes[i]);
        CHECK_EQ(m[i].samples, 8);
        CHECK_EQ(m[i].winner, m[i].size >= new_edge ? CD_SIDE_HARDWARE : CD_SIDE_SOFTWARE);
    }
    tear_down();
}

/* The size before the first win; 0 if it wins at 16; -1 if it never wins (R119). */
static void test_threshold_at_every_edge_R119(void) {
    check_edge(16, 0, 1);
    for (size_t i = 1; i < CD_BENCHMARK_SIZES; i++) {
        check_edge(cd_benchmark_sizes[i], (int32_t)cd_benchmark_sizes[i - 1], i + 1);
    }
    check_edge(1024, 512, 6);
    check_edge(100000, -1, CD_BENCHMARK_SIZES);
}

/* Stop at the first win, even if the hardware loses again later. */
static uint64_t cost_low_at_256(size_t length) {
    return length == 256 ? 10 : 1000;
}

static void test_stops_at_first_win(void) {
    set_up();
    fakes[HW_CBC].cost = cost_low_at_256;
    CHECK(enable());
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 128);
    CHECK_EQ(cd_fallback_measurements(fallback, AES, NULL, 0), 4);
    CHECK_EQ(fakes[HW_CBC].operations, 4 * PER_SIZE);
    tear_down();
}

/* Ties everywhere: software, so -1, with 24 samples each (R119). */
static void test_ties_R119(void) {
    struct cd_measurement m[CD_BENCHMARK_SIZES];
    set_up();
    fakes[HW_CBC].cost = cost_flat;
    CHECK(enable());
    CHECK_EQ(cd_fallback_threshold(fallback, AES), -1);
    CHECK_EQ(cd_fallback_measurements(fallback, AES, m, CD_BENCHMARK_SIZES), 11);
    for (size_t i = 0; i < CD_BENCHMARK_SIZES; i++) {
        CHECK_EQ(m[i].samples, 24);
        CHECK_EQ(m[i].hardware, 2400);
        CHECK_EQ(m[i].software, 2400);
    }
    CHECK_EQ(fakes[HW_CBC].operations, 11 * (PER_SIZE + 16));
    CHECK_EQ(fakes[SW_CBC].operations, 11 * (PER_SIZE + 16));
    tear_down();
}

/* Random data, zero IV, in place; the hardware before the software; keys set once each. */
static void test_how_it_measures(void) {
    set_up();
    clock_state.trace = trace;
    clock_state.trace_len = 0;
    fakes[HW_CBC].cost = cost_low;
    fakes[HW_DES].cost = cost_low;
    CHECK(enable());
    CHECK(strncmp(trace, "SHhhhhrhr", 9) == 0);
    CHECK(strstr(trace, "rhrssssrsr") != NULL);
    for (size_t i = 0; i < FAKES; i++) {
        CHECK_EQ(fakes[i].odd, 0);
    }
    CHECK_EQ(fakes[HW_CBC].keys, 1);
    CHECK_EQ(fakes[HW_CTR].operations, 0); /* only the representative is measured */
    CHECK_EQ(fakes[HW_CBC].lengths[0], 16);
    tear_down();
}

/* For a block cipher the size is rounded up to the block size: 1420 becomes 1424. */
static cd_status fail_unrounded(size_t length) {
    return length == 1420 ? CD_E_DEVICE : CD_OK;
}

static void test_rounds_up(void) {
    struct cd_measurement m[CD_BENCHMARK_SIZES];
    set_up();
    edge = 1421;
    fakes[HW_CBC].cost = cost_low_from_edge;
    fakes[HW_CBC].outcome = fail_unrounded;
    CHECK(enable());
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 1024);
    CHECK_EQ(cd_fallback_measurements(fallback, AES, m, CD_BENCHMARK_SIZES), 7);
    CHECK_EQ(m[6].size, 1420);
    tear_down();
}

/* A failed benchmark: threshold 0, a text that says why, and the other groups go on (R115). */
static void check_failed(const char *text) {
    char failure[256];
    CHECK(enable());
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 0);
    cd_fallback_failure(fallback, AES, failure, sizeof(failure));
    if (strstr(failure, text) == NULL) {
        printf("'%s' does not say '%s'\n", failure, text);
        CHECK(false);
    }
    CHECK_EQ(cd_fallback_threshold(fallback, DES), -1);
    cd_fallback_failure(fallback, DES, failure, sizeof(failure));
    CHECK(failure[0] == '\0');
    CHECK(cd_fallback_enabled(fallback));
}

static cd_status fail_always(size_t length) {
    (void)length;
    return CD_E_DEVICE;
}

static cd_status fail_at_16(size_t length) {
    return length == 16 ? CD_E_DEVICE : CD_OK;
}

static cd_status fail_at_4096(size_t length) {
    return length == 4096 ? CD_E_TIMEOUT : CD_OK;
}

static unsigned random_state;
static cd_status fail_at_random(size_t length) {
    (void)length;
    random_state = random_state * 1103515245u + 12345u;
    return random_state >> 16 & 31 ? CD_OK : CD_E_BUSY;
}

static void test_failed_benchmark_R115(void) {
    static cd_status (*const outcomes[])(size_t) = {fail_always, fail_at_16, fail_at_4096,
                                                    fail_at_random};
    static const char *const texts[] = {"'cbc(aes-dev)': 16 bytes: ", "'cbc(aes-dev)': 16 bytes: ",
                                        "'cbc(aes-dev)': 4096 bytes: ", "'cbc(aes-dev)': "};
    for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
        set_up();
        fakes[HW_CBC].cost = cost_high;
        fakes[HW_CBC].outcome = outcomes[i];
        check_failed(texts[i]);
        fakes[HW_CBC].outcome = NULL; /* and the next measuring forgets it */
        char failure[256] = "?";
        CHECK(enable());
        CHECK_EQ(cd_fallback_threshold(fallback, AES), -1);
        cd_fallback_failure(fallback, AES, failure, sizeof(failure));
        CHECK(failure[0] == '\0');
        tear_down();
    }
    set_up();
    fakes[SW_CBC].outcome = fail_at_16;
    check_failed("software 'cbc(aes-soft)': 16 bytes: ");
    tear_down();
}

static uint64_t cost_0(size_t length) {
    (void)length;
    return 0;
}

static void test_no_counter_R115(void) {
    char failure[256];
    set_up();
    fakes[HW_CBC].cost = cost_0;
    check_failed("hardware 'cbc(aes-dev)': 16 bytes: ");
    clock_state.broken = true;
    CHECK(enable());
    for (size_t i = 0; i < 2; i++) {
        CHECK_EQ(cd_fallback_threshold(fallback, i), 0);
        cd_fallback_failure(fallback, i, failure, sizeof(failure));
        CHECK(failure[0] != '\0');
    }
    tear_down();
}

static void test_sides_missing(void) {
    char hardware[CD_NAME_MAX], software[CD_NAME_MAX];
    set_up();
    cd_registry_remove(registry, &fakes[HW_CBC].implementation);
    check_failed("hardware 'cbc(aes-dev)' is not registered");
    CHECK_EQ(cd_registry_add(registry, &fakes[HW_CBC].implementation, &error), CD_OK);
    fakes[HW_CBC].key_status = CD_E_KEY;
    check_failed("hardware 'cbc(aes-dev)': setting up: ");
    fakes[HW_CBC].key_status = CD_OK;
    fakes[HW_CBC].init_status = CD_E_NO_DEVICE;
    check_failed("hardware 'cbc(aes-dev)': setting up: ");
    fakes[HW_CBC].init_status = CD_OK;
    cd_registry_remove(registry, &fakes[SW_CBC].implementation);
    check_failed("no software side for 'cbc(aes)'");
    cd_fallback_sides(fallback, AES, hardware, software, CD_NAME_MAX);
    CHECK(strcmp(hardware, "cbc(aes-dev)") == 0);
    CHECK(strcmp(software, "") == 0);
    tear_down();
}

static void test_representative_of_another_algorithm(void) {
    struct cd_group_config groups[2] = {fixture_groups[AES], fixture_groups[DES]};
    struct cd_fallback_config config;
    set_up();
    cd_fallback_free(fallback);
    groups[AES].algorithm = "ctr(aes)";
    config = fixture_config();
    CHECK_EQ(cd_fallback_new(&fallback, registry, "dev", groups, 2, &config, &error), CD_OK);
    check_failed("'cbc(aes-dev)' does not implement 'ctr(aes)'");
    tear_down();
}

/* The software side is never asynchronous, in need of a fallback, a proxy or the device itself,
 * whatever the priorities and also when the hardware has no flag that tells (R069). */
static void test_software_side_R069(void) {
    static const uint32_t excluded[] = {CD_FLAG_ASYNC, CD_FLAG_NEED_FALLBACK, CD_FLAG_PROXY,
                                        CD_FLAG_MODELLED};
    static const char *const drivers[] = {"x-async", "x-needy", "x-proxy", "x-model"};
    char hardware[CD_NAME_MAX] = "?", software[CD_NAME_MAX] = "?";
    struct fake others[4];
    set_up();
    cd_fallback_sides(fallback, AES, hardware, software, CD_NAME_MAX);
    CHECK(hardware[0] == '\0' && software[0] == '\0');
    for (size_t i = 0; i < 4; i++) {
        fake_describe(&others[i], &clock_state, 's', "cbc(aes)", drivers[i], excluded[i]);
        others[i].implementation.priority = 9000;
        CHECK_EQ(cd_registry_add(registry, &others[i].implementation, &error), CD_OK);
    }
    fakes[HW_CBC].implementation.flags = 0;
    for (int round = 0; round < 2; round++) {
        CHECK(enable());
        cd_fallback_sides(fallback, AES, hardware, software, CD_NAME_MAX);
        CHECK(strcmp(hardware, "cbc(aes-dev)") == 0);
        CHECK(strcmp(software, "cbc(aes-soft)") == 0);
        CHECK_EQ(cd_fallback_threshold(fallback, AES), 512);
    }
    for (size_t i = 0; i < 4; i++) {
        CHECK_EQ(others[i].operations, 0);
    }
    tear_down();
}

/* The best software side there is: highest priority, available, first registered among equals. */
static void test_best_software_side(void) {
    static const char *const drivers[] = {"x-first", "x-second", "x-elsewhere"};
    static const int32_t priorities[] = {200, 200, 300};
    char hardware[CD_NAME_MAX], software[CD_NAME_MAX];
    struct fake others[3];
    set_up();
    for (size_t i = 0; i < 3; i++) {
        fake_describe(&others[i], &clock_state, 's', "cbc(aes)", drivers[i], 0);
        others[i].implementation.priority = priorities[i];
        others[i].implementation.cpu = i == 2 ? UINT32_C(1) << 31 : 0;
        CHECK_EQ(cd_registry_add(registry, &others[i].implementation, &error), CD_OK);
    }
    CHECK(enable());
    cd_fallback_sides(fallback, AES, hardware, software, CD_NAME_MAX);
    CHECK(strcmp(software, "x-first") == 0);
    tear_down();
    for (size_t i = 0; i < 3; i++) {
        CHECK_EQ(others[i].users, 0);
    }
    CHECK_EQ(others[2].operations, 0);
}

/* Hardware that this CPU cannot run is as good as not registered. */
static void test_unavailable_hardware(void) {
    set_up();
    fakes[HW_CBC].implementation.cpu = UINT32_C(1) << 31;
    check_failed("hardware 'cbc(aes-dev)' is not registered or not available");
    CHECK_EQ(registered(), FAKES + 2);
    tear_down();
}

/* With software_flags only those: the CPU of a simulated machine. */
static void test_software_flags(void) {
    char hardware[CD_NAME_MAX], software[CD_NAME_MAX];
    struct fake model, second;
    struct cd_fallback_config config;
    set_up();
    cd_fallback_free(fallback);
    fake_describe(&model, &clock_state, 's', "cbc(aes)", "cbc(aes-m)", CD_FLAG_MODELLED);
    fake_describe(&second, &clock_state, 's', "cbc(des)", "cbc(des-m)", CD_FLAG_MODELLED);
    model.implementation.priority = 0;
    second.implementation.priority = 0;
    CHECK_EQ(cd_registry_add(registry, &model.implementation, &error), CD_OK);
    CHECK_EQ(cd_registry_add(registry, &second.implementation, &error), CD_OK);
    config = fixture_config();
    config.software_flags = CD_FLAG_MODELLED;
    CHECK_EQ(cd_fallback_new(&fallback, registry, "dev", fixture_groups, 2, &config, &error),
             CD_OK);
    cd_registry_remove(registry, &fakes[HW_CTR].implementation); /* it has no model */
    CHECK(enable());
    cd_fallback_sides(fallback, AES, hardware, software, CD_NAME_MAX);
    CHECK(strcmp(software, "cbc(aes-m)") == 0);
    CHECK_EQ(fakes[SW_CBC].operations, 0);
    tear_down();
    CHECK_EQ(model.users + second.users, 0);
}

static struct {
    unsigned calls, failures, stop_at;
    size_t group[64];
    uint32_t size[64];
    char failure[256];
} seen;

static bool watch(void *context, size_t group, const struct cd_measurement *measurement,
                  const char *failure) {
    CHECK(context == &seen);
    seen.group[seen.calls] = group;
    seen.size[seen.calls] = measurement != NULL ? measurement->size : 0;
    CHECK((measurement == NULL) == (failure != NULL));
    if (failure != NULL) {
        seen.failures++;
        strcpy(seen.failure, failure);
    }
    return ++seen.calls != seen.stop_at;
}

/* Told after each size of each group, in order, and of failures. */
static void test_progress(void) {
    set_up();
    memset(&seen, 0, sizeof(seen));
    CHECK_EQ(cd_fallback_enable(fallback, watch, &seen, &error), CD_OK);
    CHECK_EQ(seen.calls, 6 + 11);
    CHECK_EQ(seen.failures, 0);
    CHECK(seen.group[5] == AES && seen.size[5] == 1024);
    CHECK(seen.group[6] == DES && seen.size[6] == 16);
    CHECK(seen.group[16] == DES && seen.size[16] == 16384);
    memset(&seen, 0, sizeof(seen));
    fakes[HW_CBC].outcome = fail_at_16;
    CHECK_EQ(cd_fallback_enable(fallback, watch, &seen, &error), CD_OK);
    CHECK_EQ(seen.calls, 1 + 11);
    CHECK_EQ(seen.failures, 1);
    CHECK(strstr(seen.failure, "16 bytes") != NULL);
    tear_down();
}

/* Cancelled while off: thresholds 0, nothing registered. While on: everything as it was. */
static void test_cancel(void) {
    for (unsigned at = 1; at <= 17; at++) {
        set_up();
        memset(&seen, 0, sizeof(seen));
        seen.stop_at = at;
        CHECK_EQ(cd_fallback_enable(fallback, watch, &seen, &error), CD_E_CANCELLED);
        CHECK_EQ(seen.calls, at);
        CHECK(strstr(error.message, "cancelled") != NULL);
        CHECK(!cd_fallback_enabled(fallback));
        CHECK_EQ(registered(), FAKES);
        CHECK_EQ(cd_fallback_threshold(fallback, AES), 0);
        CHECK(enable());
        CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 77), CD_OK);
        memset(&seen, 0, sizeof(seen));
        seen.stop_at = at;
        CHECK_EQ(cd_fallback_enable(fallback, watch, &seen, &error), CD_E_CANCELLED);
        CHECK(cd_fallback_enabled(fallback));
        CHECK_EQ(registered(), FAKES + 3);
        CHECK_EQ(cd_fallback_threshold(fallback, AES), 77);
        CHECK_EQ(cd_fallback_threshold(fallback, DES), -1);
        tear_down();
    }
}

static void test_cancel_at_failure(void) {
    set_up();
    memset(&seen, 0, sizeof(seen));
    seen.stop_at = 1;
    fakes[HW_CBC].outcome = fail_at_16;
    CHECK_EQ(cd_fallback_enable(fallback, watch, &seen, &error), CD_E_CANCELLED);
    CHECK_EQ(fakes[HW_DES].operations, 0);
    tear_down();
}

int main(void) {
    RUN(test_threshold_at_every_edge_R119);
    RUN(test_stops_at_first_win);
    RUN(test_ties_R119);
    RUN(test_how_it_measures);
    RUN(test_rounds_up);
    RUN(test_failed_benchmark_R115);
    RUN(test_no_counter_R115);
    RUN(test_sides_missing);
    RUN(test_representative_of_another_algorithm);
    RUN(test_software_side_R069);
    RUN(test_best_software_side);
    RUN(test_unavailable_hardware);
    RUN(test_software_flags);
    RUN(test_progress);
    RUN(test_cancel);
    RUN(test_cancel_at_failure);
    return test_end();
}
