/*
 * How the C harness times: a loop is run in samples of about 200 us, of which the fastest and the
 * median are kept. Figures are ticks of the host's counter per pass of the loop.
 */
#ifndef CD_BENCH_TIMING_H
#define CD_BENCH_TIMING_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "cryptodispatch/clock.h"

#define CD_BENCH_SAMPLES_MAX 64u

/* Do the same thing on `length` bytes `count` times. */
typedef void cd_bench_loop(const void *context, size_t length, size_t count);

struct cd_bench_timing {
    double best, median; /* ticks */
    double spread;       /* from the best to the ninth decile, as a part of the median */
};

static inline int cd_bench_by_value(const void *a, const void *b) {
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static inline double cd_bench_sample(const struct cd_clock *clock, cd_bench_loop *loop,
                                     const void *context, size_t length, size_t count) {
    uint64_t start = cd_clock_now(clock);
    loop(context, length, count);
    return (double)(cd_clock_now(clock) - start);
}

/* Time a loop in `samples` samples (at most CD_BENCH_SAMPLES_MAX). */
static inline struct cd_bench_timing cd_bench_time(const struct cd_clock *clock,
                                                   cd_bench_loop *loop, const void *context,
                                                   size_t length, size_t samples) {
    double values[CD_BENCH_SAMPLES_MAX], enough = (double)clock->hz / 5000;
    size_t count = 1;

    while (count < SIZE_MAX / 4 && cd_bench_sample(clock, loop, context, length, count) < enough) {
        count *= 2;
    }
    for (size_t i = 0; i < samples; i++) {
        values[i] = cd_bench_sample(clock, loop, context, length, count) / (double)count;
    }
    qsort(values, samples, sizeof(values[0]), cd_bench_by_value);
    struct cd_bench_timing timing = {values[0], values[samples / 2], 0};
    timing.spread = (values[samples * 9 / 10] - timing.best) / timing.median;
    return timing;
}

#endif
