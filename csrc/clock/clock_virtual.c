/* The clock of a simulated machine. */
#include <stddef.h>

#include "cryptodispatch/clock.h"

#define PICOSECONDS_PER_TICK 1000u

void cd_virtual_clock_init(struct cd_virtual_clock *virtual_clock) {
    __atomic_store_n(&virtual_clock->picoseconds, 0, __ATOMIC_RELEASE);
}

void cd_virtual_clock_advance(struct cd_virtual_clock *virtual_clock, uint64_t picoseconds) {
    (void)__atomic_fetch_add(&virtual_clock->picoseconds, picoseconds, __ATOMIC_ACQ_REL);
}

uint64_t cd_virtual_clock_picoseconds(const struct cd_virtual_clock *virtual_clock) {
    return __atomic_load_n(&virtual_clock->picoseconds, __ATOMIC_ACQUIRE);
}

static uint64_t virtual_now(void *context) {
    return cd_virtual_clock_picoseconds(context) / PICOSECONDS_PER_TICK;
}

static void virtual_advance(void *context, uint64_t picoseconds) {
    cd_virtual_clock_advance(context, picoseconds);
}

void cd_virtual_clock_interface(struct cd_clock *out_clock,
                                struct cd_virtual_clock *virtual_clock) {
    *out_clock = (struct cd_clock){
        .now = virtual_now,
        .advance = virtual_advance,
        .context = virtual_clock,
        .name = "virtual",
        .hz = UINT64_C(1000000000),
    };
}
