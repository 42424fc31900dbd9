/*
 * Clocks: the host's cycle counter and the virtual clock of a simulated machine.
 *
 * A clock is a small value that callers copy. Ticks count up from an arbitrary origin at a constant
 * `hz`; on x86-64 they are time-stamp ticks, not core cycles.
 */
#ifndef CD_CLOCK_H
#define CD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cd_clock {
    uint64_t (*now)(void *context);                       /* ticks */
    void (*advance)(void *context, uint64_t picoseconds); /* NULL: time passes by itself */
    void *context;
    const char *name; /* "rdtsc", "cntvct_el0", "clock_gettime", "virtual" */
    uint64_t hz;      /* ticks per second; 0: there is no clock, now() is always 0 */
};

/* Read the clock, in ticks. */
static inline uint64_t cd_clock_now(const struct cd_clock *clock) {
    return clock->now(clock->context);
}

/*
 * Make `out_clock` the host's best counter: rdtsc between load fences if the time-stamp counter is
 * invariant, cntvct_el0 on arm64, else clock_gettime(CLOCK_MONOTONIC_RAW) in nanoseconds. Where the
 * CPU does not state the frequency, it is measured for about 10 ms. Needs no clean-up. Any thread.
 */
void cd_clock_host(struct cd_clock *out_clock);

/* Smallest difference of two adjacent readings among `tries` pairs, in ticks. */
uint64_t cd_clock_overhead(const struct cd_clock *clock, unsigned tries);

/* Convert a difference of ticks to nanoseconds, rounded down, without overflow for 2^64 ticks at
 * >= 1 GHz; saturates at UINT64_MAX. */
uint64_t cd_clock_ticks_to_ns(const struct cd_clock *clock, uint64_t ticks);

/* Convert nanoseconds to ticks, rounded up; saturates at UINT64_MAX. */
uint64_t cd_clock_ns_to_ticks(const struct cd_clock *clock, uint64_t nanoseconds);

/*
 * The clock of a simulated machine: stands still until advanced. Counts picoseconds inside and
 * shows nanoseconds (hz = 10^9). Caller-owned; must outlive every cd_clock made from it. Any
 * thread.
 */
struct cd_virtual_clock {
    uint64_t picoseconds; /* accessed atomically */
};

/* Set the clock to zero. Nobody else may use it meanwhile. */
void cd_virtual_clock_init(struct cd_virtual_clock *virtual_clock);
/* Let time pass. */
void cd_virtual_clock_advance(struct cd_virtual_clock *virtual_clock, uint64_t picoseconds);
uint64_t cd_virtual_clock_picoseconds(const struct cd_virtual_clock *virtual_clock);
/* A cd_clock (name "virtual", with advance) that reads and moves `virtual_clock`. */
void cd_virtual_clock_interface(struct cd_clock *out_clock, struct cd_virtual_clock *virtual_clock);

#ifdef __cplusplus
}
#endif

#endif
