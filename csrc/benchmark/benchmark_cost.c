/* The cost model of a simulated machine's CPU. */
#include "benchmark/benchmark_internal.h"

#include <stdio.h>
#include <string.h>

static uint64_t multiply_saturated(uint64_t a, uint64_t b) {
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

static uint64_t add_saturated(uint64_t a, uint64_t b) {
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

uint64_t cd_cpu_cost_bytes_ps(const struct cd_cpu_cost *cost, size_t length) {
    uint64_t whole = multiply_saturated(cost->byte_fs / 1000, length);
    uint64_t rest = multiply_saturated(cost->byte_fs % 1000, length) / 1000;
    return add_saturated(whole, rest);
}

uint64_t cd_cpu_cost_request_ps(const struct cd_cpu_cost *cost, size_t length) {
    return add_saturated(cost->request_ps, cd_cpu_cost_bytes_ps(cost, length));
}

const struct cd_cpu_cost *cd_cpu_cost_find(const struct cd_cpu_cost *costs, size_t cost_count,
                                           const char *algorithm, size_t key_size) {
    const struct cd_cpu_cost *any = NULL;
    for (size_t i = 0; i < cost_count; i++) {
        if (strcmp(costs[i].algorithm, algorithm) != 0) {
            continue;
        }
        if (costs[i].key_size == key_size) {
            return &costs[i];
        }
        any = costs[i].key_size == 0 ? &costs[i] : any;
    }
    return any;
}

bool cd_cpu_cost_key_sizes(uint64_t *out_key_sizes, const struct cd_cpu_cost *costs,
                           size_t cost_count, const char *algorithm, uint64_t key_sizes) {
    uint64_t own = 0;
    bool any = false;
    for (size_t i = 0; i < cost_count; i++) {
        uint32_t size = costs[i].key_size;
        if (strcmp(costs[i].algorithm, algorithm) != 0) {
            continue;
        }
        if (size == 0) {
            any = true;
        } else if (size > 63 || key_sizes == CD_KEY_ANY || (key_sizes & CD_KEY_SIZE(size)) == 0) {
            return false;
        } else {
            own |= CD_KEY_SIZE(size);
        }
    }
    *out_key_sizes = any ? key_sizes : own;
    return true;
}

bool cd_machine_driver_name(char out[CD_NAME_MAX], const char *algorithm, const char *machine) {
    size_t used = 0;
    for (const char *at = algorithm;; at++) {
        bool in_word = at != algorithm && strchr("(),", at[-1]) == NULL;
        if (in_word && (*at == '\0' || *at == ')' || *at == ',')) {
            int written = snprintf(out + used, CD_NAME_MAX - used, "-%s", machine);
            used += (size_t)written;
        }
        if (used >= CD_NAME_MAX) {
            return false;
        }
        out[used++] = *at;
        if (*at == '\0') {
            return true;
        }
    }
}
