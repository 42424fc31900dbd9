/* Arithmetic on ticks: conversions and the cost of a reading. */
#include <stddef.h>

#include "cryptodispatch/clock.h"

#define NS_PER_SECOND UINT64_C(1000000000)

/*
 * floor(a * b / divisor) for a < divisor, so that the quotient is below b; *out_inexact says
 * whether anything was cut off. The product has up to 128 bits, which not every target has a type
 * for: long division, one bit of b at a time, unless it fits into 64.
 */
static uint64_t multiply_divide_small(bool *out_inexact, uint64_t a, uint64_t b, uint64_t divisor) {
    uint64_t quotient = 0, remainder = 0;

    if (a <= UINT64_MAX / b) {
        *out_inexact = a * b % divisor != 0;
        return a * b / divisor;
    }
    for (int bit = 63; bit >= 0; bit--) {
        bool overflows = remainder >= divisor - remainder;

        remainder = overflows ? remainder - (divisor - remainder) : remainder * 2;
        quotient = quotient * 2 + (overflows ? 1 : 0);
        if ((b >> bit & 1) != 0) {
            overflows = a >= divisor - remainder;
            remainder = overflows ? a - (divisor - remainder) : remainder + a;
            quotient += overflows ? 1 : 0;
        }
    }
    *out_inexact = remainder != 0;
    return quotient;
}

/* a * b / divisor, rounded down or up, UINT64_MAX if it is larger; b and divisor are not 0. */
static uint64_t multiply_divide(uint64_t a, uint64_t b, uint64_t divisor, bool round_up) {
    uint64_t whole = a / divisor, rest;
    bool inexact;

    if (whole > UINT64_MAX / b) {
        return UINT64_MAX;
    }
    rest = multiply_divide_small(&inexact, a % divisor, b, divisor);
    rest += round_up && inexact ? 1 : 0;
    return rest > UINT64_MAX - whole * b ? UINT64_MAX : whole * b + rest;
}

uint64_t cd_clock_ticks_to_ns(const struct cd_clock *clock, uint64_t ticks) {
    return clock->hz == 0 ? 0 : multiply_divide(ticks, NS_PER_SECOND, clock->hz, false);
}

uint64_t cd_clock_ns_to_ticks(const struct cd_clock *clock, uint64_t nanoseconds) {
    return clock->hz == 0 ? 0 : multiply_divide(nanoseconds, clock->hz, NS_PER_SECOND, true);
}

uint64_t cd_clock_overhead(const struct cd_clock *clock, unsigned tries) {
    uint64_t smallest = UINT64_MAX;

    for (unsigned i = 0; i < tries; i++) {
        uint64_t start = cd_clock_now(clock);
        uint64_t difference = cd_clock_now(clock) - start;

        smallest = difference < smallest ? difference : smallest;
    }
    return tries == 0 ? 0 : smallest;
}
