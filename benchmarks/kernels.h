/*
 * The kernels that the C harness times, as data. Text, keys and IVs are those of cases.py: byte i
 * of the text is i, keys count from 0, IVs from 16; record i of several has the number i as its IV,
 * big-endian.
 */
#ifndef CD_BENCH_KERNELS_H
#define CD_BENCH_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timing.h"

#define CD_BENCH_RECORDS 64u     /* of the kernels for several at once */
#define CD_BENCH_SIZE_MAX 16384u /* bytes of one record */

/* One kernel. `setup` makes keys, `loop` runs it; both are given the table of functions. */
struct cd_bench_kernel {
    const char *operation, *implementation;
    void (*setup)(const void *table);
    cd_bench_loop *loop;
    const void *table;
    uint32_t cpu;        /* features it needs */
    uint32_t records;    /* 1, or CD_BENCH_RECORDS */
    uint32_t unit;       /* texts are multiples of it, bytes */
    uint32_t extra_size; /* bytes written after each text, or instead of it */
    bool writes_text;
};

/* All of them; `out_count` takes how many. */
const struct cd_bench_kernel *cd_bench_kernels(size_t *out_count);

/* Run a kernel once, from the IV at the start. Returns the result, `out_len` bytes. */
const uint8_t *cd_bench_run(const struct cd_bench_kernel *kernel, size_t size, size_t *out_len);

#endif
