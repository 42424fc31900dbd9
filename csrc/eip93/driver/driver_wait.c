/*
 * Waiting. One thread at a time listens to the interrupt line, outside the lock, and works for
 * all; the others follow: they sleep until it tells of completions or stops listening.
 *
 * The listener is the only user of the bus outside the lock, so whoever holds the lock and sees
 * nobody listening has the bus to itself. Closing the driver relies on that.
 */
#include "eip93/driver/driver_internal.h"

#include <sched.h>
#include <time.h>

/* Longest time between two looks at the ring: the bound on what a lost interrupt costs. */
#define LISTEN_SLICE_NS 1000000u
/* Longest sleep of a follower; it is woken sooner, unless its own bound ends. */
#define FOLLOW_SLICE_NS 5000000u
/* Steps of waiting for a thread that is about to tell of a completion. */
#define HANDOVER_NS 100000u
/* Pause after an interrupt that brought nothing: the line may be stuck. */
#define SPURIOUS_NS 10000u

struct wait_bound {
    uint64_t timeout_ns; /* UINT64_MAX: none */
    uint64_t start;      /* ticks */
    uint64_t slept_ns;   /* on the host, when the bus's clock was out of reach */
};

static void sleep_ns(uint64_t ns) {
    struct timespec duration = {.tv_sec = (time_t)(ns / 1000000000u),
                                .tv_nsec = (long)(ns % 1000000000u)};
    nanosleep(&duration, NULL);
}

void cd_driver_delay(const struct cd_eip93_driver *driver, uint64_t ns) {
    const struct cd_clock *clock = &driver->bus.clock;
    if (clock->advance != NULL) {
        clock->advance(clock->context, ns * 1000);
    } else {
        sleep_ns(ns);
    }
}

static bool is_under_way(const int32_t *status) {
    return __atomic_load_n(status, __ATOMIC_ACQUIRE) == CD_IN_PROGRESS;
}

/* Nanoseconds left, 0 if the bound has passed. Locked. */
static uint64_t time_left(const struct cd_eip93_driver *driver, const struct wait_bound *bound) {
    if (bound->timeout_ns == UINT64_MAX) {
        return UINT64_MAX;
    }
    uint64_t elapsed = bound->slept_ns;
    if (driver->state == CD_DRIVER_READY) {
        const struct cd_clock *clock = &driver->bus.clock;
        elapsed += cd_clock_ticks_to_ns(clock, cd_clock_now(clock) - bound->start);
    }
    return elapsed < bound->timeout_ns ? bound->timeout_ns - elapsed : 0;
}

/* Listen for at most `limit_ns` and process what came; returns how many requests ended. Locked on
 * entry and return, not in between. */
static size_t listen_once(struct cd_eip93_driver *driver, uint64_t limit_ns) {
    struct cd_driver_list done = {NULL, NULL};
    bool pause = driver->spurious;
    driver->listening = true;
    pthread_mutex_unlock(&driver->lock);
    if (pause) {
        cd_driver_delay(driver, SPURIOUS_NS);
    }
    uint64_t slice_ns = limit_ns < LISTEN_SLICE_NS ? limit_ns : LISTEN_SLICE_NS;
    cd_status status = driver->bus.irq_wait(driver->bus.context, slice_ns);
    pthread_mutex_lock(&driver->lock);
    driver->listening = false;
    if (driver->state == CD_DRIVER_READY) {
        driver->counters.interrupts += status == CD_OK ? 1 : 0;
        bool progress = cd_driver_process(driver, &done);
        driver->spurious = status == CD_OK && !progress;
    }
    if (driver->state != CD_DRIVER_READY) {
        pthread_cond_broadcast(&driver->progress);
    } else if (driver->followers > 0) {
        pthread_cond_signal(&driver->progress);
    }
    return cd_driver_publish(driver, &done);
}

/* Sleep until the listener has news, at most `limit_ns`. Locked on entry and return. */
static void follow(struct cd_eip93_driver *driver, uint64_t limit_ns) {
    uint64_t slice_ns = limit_ns < FOLLOW_SLICE_NS ? limit_ns : FOLLOW_SLICE_NS;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t nanoseconds = (uint64_t)until.tv_nsec + slice_ns;
    until.tv_sec += (time_t)(nanoseconds / 1000000000u);
    until.tv_nsec = (long)(nanoseconds % 1000000000u);
    driver->followers++;
    pthread_cond_timedwait(&driver->progress, &driver->lock, &until);
    driver->followers--;
}

/* The device is gone and every request has ended; some thread is about to tell. Locked on entry and
 * return. */
static void await_handover(struct cd_eip93_driver *driver, struct wait_bound *bound) {
    pthread_mutex_unlock(&driver->lock);
    sleep_ns(HANDOVER_NS);
    bound->slept_ns += HANDOVER_NS;
    pthread_mutex_lock(&driver->lock);
}

cd_status cd_driver_wait(struct cd_eip93_driver *driver, const int32_t *status,
                         uint64_t timeout_ns) {
    struct wait_bound bound = {.timeout_ns = timeout_ns};
    cd_status outcome = CD_OK;
    pthread_mutex_lock(&driver->lock);
    if (driver->state == CD_DRIVER_READY) {
        bound.start = cd_clock_now(&driver->bus.clock);
    }
    for (bool looked = false; is_under_way(status); looked = true) {
        uint64_t left_ns = time_left(driver, &bound);
        if (looked && left_ns == 0) {
            outcome = CD_E_TIMEOUT;
            break;
        }
        if (driver->state != CD_DRIVER_READY) {
            await_handover(driver, &bound);
        } else if (driver->listening) {
            follow(driver, left_ns);
        } else {
            (void)listen_once(driver, left_ns);
        }
    }
    /* Somebody has to listen while others wait. */
    if (!driver->listening && driver->followers > 0) {
        pthread_cond_signal(&driver->progress);
    }
    pthread_mutex_unlock(&driver->lock);
    return outcome;
}

size_t cd_eip93_driver_poll(struct cd_eip93_driver *driver) {
    size_t ended = 0;
    cd_driver_retain(driver); /* a completion may close the driver */
    pthread_mutex_lock(&driver->lock);
    if (driver->state == CD_DRIVER_READY && !driver->listening) {
        ended = listen_once(driver, 0);
    } else if (driver->state == CD_DRIVER_READY) {
        struct cd_driver_list done = {NULL, NULL};
        (void)cd_driver_process(driver, &done);
        ended = cd_driver_publish(driver, &done);
    }
    pthread_mutex_unlock(&driver->lock);
    cd_driver_release(driver);
    return ended;
}
