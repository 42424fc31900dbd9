/*
 * Ticks of each kernel, with nothing of the library above it, and the cost of dispatch.
 *
 *   kernels kernels SAMPLES ONLY   lines "kernel OPERATION IMPLEMENTATION RECORDS SIZE BEST MEDIAN
 *                                  SPREAD DIGEST", tabs between: ticks per call, SHA-256 of what a
 *                                  call from the start writes; "absent OPERATION IMPLEMENTATION"
 *                                  where this CPU lacks it
 *   kernels dispatch SAMPLES       lines "way NAME BEST MEDIAN SPREAD"
 *   kernels requests WAY COUNT     send requests and nothing else, to be run under callgrind
 *
 * The first line names clock, ticks per second, ticks per reading. kernels.py builds, runs and
 * checks it.
 */
#include <stdio.h>
#include <string.h>

#include "crypto/sha2.h"
#include "dispatch.h"
#include "kernels.h"

static const size_t sizes[] = {16, 64, 256, 1024, 1424, 4096, CD_BENCH_SIZE_MAX};

/* Time one kernel at one size; then run it once from the start, for its result. */
static void report(const struct cd_clock *clock, const struct cd_bench_kernel *kernel, size_t size,
                   size_t samples) {
    uint8_t digest[CD_SHA256_DIGEST];
    size_t length;

    kernel->setup(kernel->table);
    struct cd_bench_timing timing =
        cd_bench_time(clock, kernel->loop, kernel->table, size, samples);
    const uint8_t *result = cd_bench_run(kernel, size, &length);
    cd_md_digest(&cd_sha256_portable, digest, result, length);
    printf("kernel\t%s\t%s\t%u\t%zu\t%.2f\t%.2f\t%.3f\t", kernel->operation, kernel->implementation,
           kernel->records, size, timing.best, timing.median, timing.spread);
    for (size_t i = 0; i < sizeof(digest); i++) {
        printf("%02x", digest[i]);
    }
    printf("\n");
}

static int run_kernels(const struct cd_clock *clock, size_t samples, const char *only) {
    size_t count;
    const struct cd_bench_kernel *kernels = cd_bench_kernels(&count);

    for (size_t i = 0; i < count; i++) {
        const struct cd_bench_kernel *kernel = &kernels[i];
        if (strstr(kernel->operation, only) == NULL) {
            continue;
        }
        if ((kernel->cpu & ~cd_cpu_detect()) != 0) {
            printf("absent\t%s\t%s\n", kernel->operation, kernel->implementation);
            continue;
        }
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
            if (sizes[s] % kernel->unit == 0) {
                report(clock, kernel, sizes[s], samples);
            }
        }
    }
    return 0;
}

static int run_dispatch(const struct cd_clock *clock, size_t samples) {
    size_t count;
    const struct cd_bench_way *ways = cd_bench_ways(&count);

    if (ways == NULL || !cd_bench_ways_agree()) {
        return 1;
    }
    printf("driver\t%s\n", cd_bench_driver());
    for (size_t i = 0; i < count; i++) {
        struct cd_bench_timing timing =
            cd_bench_time(clock, ways[i].loop, ways[i].context, CD_BENCH_REQUEST, samples);
        printf("way\t%s\t%.2f\t%.2f\t%.3f\n", ways[i].name, timing.best, timing.median,
               timing.spread);
    }
    return cd_bench_ways_agree() ? 0 : 1;
}

static int run_requests(size_t way, size_t requests) {
    size_t count;
    const struct cd_bench_way *ways = cd_bench_ways(&count);

    if (ways == NULL || way >= count) {
        return 1;
    }
    ways[way].loop(ways[way].context, CD_BENCH_REQUEST, requests);
    return 0;
}

int main(int argc, char **argv) {
    struct cd_clock clock;
    const char *command = argc > 2 ? argv[1] : "";
    size_t number = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

    if (strcmp(command, "requests") == 0 && argc > 3) {
        return run_requests(number, strtoul(argv[3], NULL, 10));
    }
    if (number < 1 || number > CD_BENCH_SAMPLES_MAX) {
        fprintf(stderr, "kernels SAMPLES [ONLY] | dispatch SAMPLES | requests WAY COUNT\n");
        return 2;
    }
    cd_clock_host(&clock);
    printf("clock\t%s\t%llu\t%llu\n", clock.name, (unsigned long long)clock.hz,
           (unsigned long long)cd_clock_overhead(&clock, 1000));
    return strcmp(command, "dispatch") == 0 ? run_dispatch(&clock, number)
                                            : run_kernels(&clock, number, argc > 3 ? argv[3] : "");
}
