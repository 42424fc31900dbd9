/*
 * The CPU of a simulated machine: its cost model (pure functions over its table), the machine, and
 * its implementations.
 */
#ifndef CD_BENCHMARK_INTERNAL_H
#define CD_BENCHMARK_INTERNAL_H

#include "cryptodispatch/machine.h"

#include <pthread.h>
#include <stdatomic.h>

struct cd_modelled {
    struct cd_implementation implementation; /* first: a transform leads back to here */
    struct cd_machine *machine;
    const struct cd_implementation *child; /* retained */
    char algorithm[CD_NAME_MAX];
    char driver[CD_NAME_MAX];
};

struct cd_machine {
    _Atomic size_t references; /* the caller's, and one per transform */
    struct cd_registry *registry;
    pthread_mutex_t lock; /* guards `gone` and the use of `clock` */
    bool gone;            /* the caller freed it; its clock may not exist any more */
    struct cd_clock clock;
    struct cd_cpu_cost *costs;
    size_t cost_count;
    struct cd_modelled *modelled; /* one per algorithm */
    size_t modelled_count;
};

/* benchmark_cost.c */

/* Time of `length` bytes: length * byte_fs / 1000 picoseconds, at most UINT64_MAX. */
uint64_t cd_cpu_cost_bytes_ps(const struct cd_cpu_cost *cost, size_t length);

/* Time of a request: request_ps and that of its bytes, picoseconds, at most UINT64_MAX. */
uint64_t cd_cpu_cost_request_ps(const struct cd_cpu_cost *cost, size_t length);

/* The row of an algorithm for a key size: that size's own, else the one for any other size, else
 * NULL. */
const struct cd_cpu_cost *cd_cpu_cost_find(const struct cd_cpu_cost *costs, size_t cost_count,
                                           const char *algorithm, size_t key_size);

/* Those of `key_sizes` that have a row, all of them if one row is for any size. False: a row stands
 * for a size that is not among them, or for one size where all or none is meant (a hash). */
bool cd_cpu_cost_key_sizes(uint64_t *out_key_sizes, const struct cd_cpu_cost *costs,
                           size_t cost_count, const char *algorithm, uint64_t key_sizes);

/*
 * Write the driver name of `algorithm` on `machine`: "-machine" behind each innermost word, that is
 * each word that no parenthesis follows: cbc(aes) -> cbc(aes-an7581). False if it does not fit.
 */
bool cd_machine_driver_name(char out[CD_NAME_MAX], const char *algorithm, const char *machine);

/* benchmark_modelled.c */

/* Set the functions of the implementation's type and context_size. */
void cd_modelled_describe(struct cd_implementation *out_implementation);

#endif
