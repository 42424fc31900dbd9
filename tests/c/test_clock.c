/* clock/: the host's counter, the virtual clock, conversions. */
#include <time.h>

#include "cryptodispatch/clock.h"
#include "test_support.h"

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_u64(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void host_clock_counts_up(void) {
    struct cd_clock clock;
    uint64_t previous;

    cd_clock_host(&clock);
    CHECK(clock.advance == NULL);
    CHECK(clock.hz >= 1000000);
    CHECK(clock.name != NULL && clock.name[0] != '\0');
    printf("%s at %llu Hz, a pair costs %llu ticks\n", clock.name, (unsigned long long)clock.hz,
           (unsigned long long)cd_clock_overhead(&clock, 1000));
    previous = cd_clock_now(&clock);
    for (int i = 0; i < 10000; i++) {
        uint64_t now = cd_clock_now(&clock);

        CHECK(now >= previous);
        previous = now;
    }
}

/* R117: the frequency that is reported is the counter's own. */
static void host_clock_agrees_with_the_system(void) {
    const struct timespec pause = {0, 50000000};
    struct cd_clock clock;
    struct timespec start, end;
    uint64_t ticks;
    double system_ns, ratio = 0;

    cd_clock_host(&clock);
    for (int attempt = 0; attempt < 5 && !(ratio > 0.99 && ratio < 1.01); attempt++) {
        clock_gettime(CLOCK_MONOTONIC, &start);
        ticks = cd_clock_now(&clock);
        nanosleep(&pause, NULL);
        ticks = cd_clock_now(&clock) - ticks;
        clock_gettime(CLOCK_MONOTONIC, &end);
        system_ns =
            1e9 * (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec);
        ratio = (double)cd_clock_ticks_to_ns(&clock, ticks) / system_ns;
    }
    CHECK(ratio > 0.99 && ratio < 1.01);
}

static void host_clocks_measure_the_same_frequency(void) {
    struct cd_clock a, b;

    cd_clock_host(&a);
    cd_clock_host(&b);
    CHECK(a.hz > b.hz - b.hz / 500 && a.hz < b.hz + b.hz / 500);
}

static void overhead_is_the_smallest_difference(void) {
    struct cd_virtual_clock virtual_clock;
    struct cd_clock host, still;

    cd_clock_host(&host);
    CHECK(cd_clock_overhead(&host, 1000) <= cd_clock_overhead(&host, 1) + host.hz / 100000);
    CHECK(cd_clock_overhead(&host, 1000) < host.hz / 1000);
    CHECK_EQ(cd_clock_overhead(&host, 0), 0);
    cd_virtual_clock_init(&virtual_clock);
    cd_virtual_clock_interface(&still, &virtual_clock);
    CHECK_EQ(cd_clock_overhead(&still, 10), 0);
}

static void conversions_round_as_documented(void) {
    const struct cd_clock three_ghz = {.hz = 3000000000}, slow = {.hz = 3}, ns = {.hz = 1000000000};
    const struct cd_clock extreme = {.hz = UINT64_C(1) << 63};

    CHECK_EQ(cd_clock_ticks_to_ns(&three_ghz, 0), 0);
    CHECK_EQ(cd_clock_ticks_to_ns(&three_ghz, 2), 0);
    CHECK_EQ(cd_clock_ticks_to_ns(&three_ghz, 3), 1);
    CHECK_EQ(cd_clock_ticks_to_ns(&three_ghz, 5), 1);
    CHECK_EQ(cd_clock_ticks_to_ns(&slow, 1), 333333333);
    CHECK_EQ(cd_clock_ns_to_ticks(&slow, 0), 0);
    CHECK_EQ(cd_clock_ns_to_ticks(&slow, 1), 1);
    CHECK_EQ(cd_clock_ns_to_ticks(&slow, 333333333), 1);
    CHECK_EQ(cd_clock_ns_to_ticks(&slow, 333333334), 2);
    CHECK_EQ(cd_clock_ns_to_ticks(&three_ghz, 7), 21);
    CHECK(cd_clock_ticks_to_ns(&ns, UINT64_MAX) == UINT64_MAX);
    CHECK(cd_clock_ns_to_ticks(&ns, UINT64_MAX) == UINT64_MAX);
    CHECK(cd_clock_ticks_to_ns(&three_ghz, UINT64_MAX) == UINT64_MAX / 3);
    CHECK(cd_clock_ns_to_ticks(&three_ghz, UINT64_MAX) == UINT64_MAX);
    CHECK(cd_clock_ticks_to_ns(&slow, UINT64_MAX) == UINT64_MAX);
    CHECK_EQ(cd_clock_ticks_to_ns(&extreme, UINT64_C(1) << 62), 500000000);
    CHECK_EQ(cd_clock_ticks_to_ns(&extreme, UINT64_MAX), 1999999999);
}

static void conversions_without_a_clock_are_zero(void) {
    const struct cd_clock none = {.hz = 0};

    CHECK_EQ(cd_clock_ticks_to_ns(&none, 12345), 0);
    CHECK_EQ(cd_clock_ns_to_ticks(&none, 12345), 0);
}

#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 wide;

static uint64_t saturated(wide value) {
    return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

/* Random magnitudes, frequencies beyond 2^63 included. */
static void conversions_equal_wide_arithmetic(void) {
    for (int i = 0; i < 200000; i++) {
        uint64_t hz = random_u64() >> random_u64() % 64, value = random_u64() >> random_u64() % 64;
        struct cd_clock clock = {.hz = hz != 0 ? hz : 1};
        wide ns = (wide)value * 1000000000u / clock.hz;
        wide ticks = ((wide)value * clock.hz + 999999999u) / 1000000000u;

        CHECK(cd_clock_ticks_to_ns(&clock, value) == saturated(ns));
        CHECK(cd_clock_ns_to_ticks(&clock, value) == saturated(ticks));
    }
}
#endif

static void virtual_clock_stands_still_until_advanced(void) {
    struct cd_virtual_clock virtual_clock;
    struct cd_clock clock, copy;

    virtual_clock.picoseconds = 77;
    cd_virtual_clock_init(&virtual_clock);
    cd_virtual_clock_interface(&clock, &virtual_clock);
    CHECK(strcmp(clock.name, "virtual") == 0);
    CHECK_EQ(clock.hz, 1000000000);
    CHECK_EQ(cd_clock_now(&clock), 0);
    clock.advance(clock.context, 999);
    CHECK_EQ(cd_clock_now(&clock), 0);
    copy = clock;
    copy.advance(copy.context, 1);
    CHECK_EQ(cd_clock_now(&clock), 1);
    CHECK_EQ(cd_virtual_clock_picoseconds(&virtual_clock), 1000);
    cd_virtual_clock_advance(&virtual_clock, UINT64_C(5000000000000));
    CHECK_EQ(cd_clock_now(&clock), 5000000001);
    CHECK_EQ(cd_clock_ticks_to_ns(&clock, cd_clock_now(&clock)), 5000000001);
    cd_virtual_clock_init(&virtual_clock);
    CHECK_EQ(cd_clock_now(&clock), 0);
}

int main(void) {
    RUN(host_clock_counts_up);
    RUN(host_clock_agrees_with_the_system);
    RUN(host_clocks_measure_the_same_frequency);
    RUN(overhead_is_the_smallest_difference);
    RUN(conversions_round_as_documented);
    RUN(conversions_without_a_clock_are_zero);
#if defined(__SIZEOF_INT128__)
    RUN(conversions_equal_wide_arithmetic);
#endif
    RUN(virtual_clock_stands_still_until_advanced);
    return test_end();
}
