/* The cost of dispatch: one request of 16 bytes by ever longer ways to the same kernel. */
#ifndef CD_BENCH_DISPATCH_H
#define CD_BENCH_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "timing.h"

#define CD_BENCH_REQUEST 16u /* bytes */

/* One way of sending a request. */
struct cd_bench_way {
    const char *name;
    cd_bench_loop *loop;
    const void *context;
};

/* Make registry, transforms and proxies, and list the ways, the kernel alone first. They live until
 * the process ends. NULL: something failed, which was printed. */
const struct cd_bench_way *cd_bench_ways(size_t *out_count);

/* The driver that all of them end at. */
const char *cd_bench_driver(void);

/* True if each way, from the same IV, writes what the kernel alone does. */
bool cd_bench_ways_agree(void);

#endif
