/* Recovery: an engine that stopped answering, or answers nonsense, is reset. */
#include "eip93/driver/driver_internal.h"

#define BRING_UP_TRIES 2

void cd_driver_abort_ring(struct cd_eip93_driver *driver, cd_status status,
                          struct cd_driver_list *done) {
    while (driver->in_flight > 0) {
        const struct cd_driver_slot slot = driver->slots[driver->oldest];
        driver->oldest = driver->oldest + 1 == driver->entries ? 0 : driver->oldest + 1;
        driver->in_flight--;
        cd_driver_settle(driver, &slot, status, done);
    }
    driver->unannounced = 0;
    driver->stalled = false;
}

void cd_driver_recover(struct cd_eip93_driver *driver, struct cd_driver_list *done) {
    driver->counters.resets++;
    /* The engine must not reach the buffers once they are unmapped. */
    cd_driver_engine_stop(driver);
    cd_driver_abort_ring(driver, CD_E_TIMEOUT, done);
    for (int tries = 0; tries < BRING_UP_TRIES; tries++) {
        if (cd_driver_engine_start(driver) == CD_OK) {
            return;
        }
    }
    driver->state = CD_DRIVER_FAILED;
    cd_driver_abort_queue(driver, CD_E_NO_DEVICE, done);
}

/*
 * The bound counts from the first look that found the oldest descriptor unanswered, so that work
 * in front of it, and pauses of a caller who does not look, do not count against the engine.
 */
void cd_driver_check_stall(struct cd_eip93_driver *driver, struct cd_driver_list *done) {
    if (driver->in_flight == 0) {
        driver->stalled = false;
        return;
    }
    uint64_t now = cd_clock_now(&driver->bus.clock);
    if (!driver->stalled) {
        driver->stalled = true;
        driver->stalled_since = now;
    } else if (now - driver->stalled_since >= driver->timeout_ticks) {
        cd_driver_recover(driver, done);
    }
}
