/*
 * Letting time pass: step, and waiting for the interrupt line in each pace.
 *
 * Every wait is bounded by its timeout, whatever the device does.
 */
#include "eip93/emulator/emulator_internal.h"

#include <time.h>

#define SPIN_NS 60000u       /* below this the host spins, above it sleeps */
#define BURST_BYTES 0x10000u /* FREE: data moved in one call once the line is asserted */
#define POLL_PS 100000u      /* VIRTUAL: what a wait with timeout 0 takes [model] */

static uint64_t ns_to_ps(uint64_t nanoseconds) {
    return nanoseconds > UINT64_MAX / 1000u ? UINT64_MAX : nanoseconds * 1000u;
}

/* ---- Running what is due ---- */

/* FREE: run packets, then jump to the result timeout if nothing else can raise the line. */
static bool run_free(struct cd_eip93_emulator *emulator, uint32_t budget) {
    uint64_t bytes = emulator->counters.bytes_read;
    uint32_t ended = 0;
    while (ended < budget && cd_emulator_engine_run(emulator, UINT64_MAX, 1) != 0) {
        ended++;
        if (emulator->line && emulator->counters.bytes_read - bytes > BURST_BYTES) {
            break;
        }
    }
    uint64_t timeout_ps = cd_emulator_timeout_due(emulator);
    if (ended == 0 && !emulator->line && timeout_ps != CD_EMULATOR_NEVER &&
        cd_emulator_engine_packet_next(emulator) == CD_EMULATOR_NEVER) {
        cd_emulator_time_set(emulator, timeout_ps);
        cd_emulator_timeout_run(emulator, timeout_ps);
        return true;
    }
    return ended != 0;
}

bool cd_emulator_wait_run(struct cd_eip93_emulator *emulator, uint32_t budget) {
    bool progress;
    if (emulator->pace == CD_EIP93_FREE) {
        progress = run_free(emulator, budget);
    } else {
        uint64_t now_ps = cd_emulator_time_now(emulator);
        progress = cd_emulator_engine_run(emulator, now_ps, budget) != 0;
        cd_emulator_timeout_run(emulator, now_ps);
    }
    emulator->at_ps = cd_emulator_time_now(emulator);
    return progress;
}

uint32_t cd_eip93_emulator_step(struct cd_eip93_emulator *emulator, uint64_t ticks) {
    cd_emulator_lock(emulator);
    uint64_t limit_ps = emulator->at_ps;
    if (emulator->pace != CD_EIP93_PACED) {
        limit_ps = cd_emulator_time_add(limit_ps, cd_emulator_time_from_ticks(emulator, ticks));
    }
    uint32_t ended = cd_emulator_engine_run(emulator, limit_ps, UINT32_MAX);
    cd_emulator_timeout_run(emulator, limit_ps);
    cd_emulator_time_set(emulator, limit_ps);
    cd_emulator_unlock(emulator);
    return ended;
}

/* ---- Waiting on the host's clock ---- */

static uint64_t host_ns_of(const struct cd_eip93_emulator *emulator, uint64_t time_ps) {
    if (time_ps == CD_EMULATOR_NEVER) {
        return CD_EMULATOR_NEVER;
    }
    return cd_emulator_time_add(emulator->host_start_ns, time_ps / 1000u + 1u);
}

uint64_t cd_emulator_wait_next_ns(const struct cd_eip93_emulator *emulator) {
    if (emulator->pace == CD_EIP93_PACED) {
        return host_ns_of(emulator, cd_emulator_engine_next(emulator));
    }
    bool late = emulator->stage == CD_EMULATOR_RUNNING && !emulator->hung;
    if (late && emulator->packet.host_due_ns != 0) {
        return emulator->packet.host_due_ns;
    }
    return cd_emulator_engine_packet_next(emulator) != CD_EMULATOR_NEVER ? 0 : CD_EMULATOR_NEVER;
}

static void sleep_until(struct cd_eip93_emulator *emulator, uint64_t until_ns) {
    struct timespec until = {
        .tv_sec = (time_t)(until_ns / 1000000000u),
        .tv_nsec = (long)(until_ns % 1000000000u),
    };
    emulator->waiters++;
    if (until_ns == CD_EMULATOR_NEVER) {
        pthread_cond_wait(&emulator->changed, &emulator->lock);
    } else {
        pthread_cond_timedwait(&emulator->changed, &emulator->lock, &until);
    }
    emulator->waiters--;
}

void cd_emulator_wait_until(struct cd_eip93_emulator *emulator, uint64_t event_ns,
                            uint64_t deadline_ns) {
    uint64_t until_ns = event_ns < deadline_ns ? event_ns : deadline_ns;
    uint64_t now_ns = cd_emulator_time_host_ns();
    if (until_ns <= now_ns) {
        return;
    }
    if (until_ns - now_ns > SPIN_NS) {
        /* Wake early for an event, and spin the rest of the way in the next call. */
        bool exact = until_ns == deadline_ns || until_ns == CD_EMULATOR_NEVER;
        sleep_until(emulator, exact ? until_ns : until_ns - SPIN_NS);
        return;
    }
    cd_emulator_unlock(emulator);
    while (cd_emulator_time_host_ns() < until_ns) {
    }
    pthread_mutex_lock(&emulator->lock);
}

/* When the driver's handler runs, given that the line is asserted (PACED: host time). */
static uint64_t handler_ns(const struct cd_eip93_emulator *emulator) {
    if (emulator->pace != CD_EIP93_PACED || emulator->cost.interrupt_ps == 0) {
        return 0;
    }
    return host_ns_of(emulator,
                      cd_emulator_time_add(emulator->line_rise_ps, emulator->cost.interrupt_ps));
}

static cd_status wait_host(struct cd_eip93_emulator *emulator, uint64_t timeout_ns) {
    uint64_t deadline_ns = 0;
    for (;;) {
        bool progress = !emulator->has_thread && !emulator->line &&
                        cd_emulator_wait_run(emulator, CD_EMULATOR_BURST);
        uint64_t event_ns = CD_EMULATOR_NEVER;
        if (emulator->line) {
            event_ns = timeout_ns == 0 ? 0 : handler_ns(emulator);
            if (event_ns == 0 || event_ns <= cd_emulator_time_host_ns()) {
                cd_emulator_interrupt_take(emulator);
                return CD_OK;
            }
        } else if (!emulator->has_thread) {
            event_ns = cd_emulator_wait_next_ns(emulator);
        }
        uint64_t now_ns = cd_emulator_time_host_ns();
        if (deadline_ns == 0) {
            deadline_ns = cd_emulator_time_add(now_ns, timeout_ns);
        }
        if (timeout_ns == 0 || now_ns >= deadline_ns) {
            return CD_E_TIMEOUT;
        }
        if (!progress || emulator->line) {
            cd_emulator_wait_until(emulator, event_ns, deadline_ns);
        }
    }
}

/* ---- Waiting on the virtual clock ---- */

/* The line is asserted: pass the time until the handler runs, unless the deadline comes first. */
static cd_status take_virtual(struct cd_eip93_emulator *emulator, uint64_t deadline_ps,
                              bool polls) {
    uint64_t handler_ps = emulator->line_rise_ps;
    if (!polls) {
        handler_ps = cd_emulator_time_add(handler_ps, emulator->cost.interrupt_ps);
    }
    if (handler_ps > deadline_ps) {
        cd_emulator_time_set(emulator, deadline_ps);
        return CD_E_TIMEOUT;
    }
    cd_emulator_time_set(emulator, handler_ps);
    emulator->at_ps = cd_emulator_time_now(emulator);
    cd_emulator_interrupt_take(emulator);
    return CD_OK;
}

static cd_status wait_virtual(struct cd_eip93_emulator *emulator, uint64_t timeout_ns) {
    bool polls = timeout_ns == 0;
    uint64_t deadline_ps =
        cd_emulator_time_add(emulator->at_ps, polls ? POLL_PS : ns_to_ps(timeout_ns));
    for (;;) {
        cd_emulator_wait_run(emulator, UINT32_MAX);
        if (emulator->line) {
            return take_virtual(emulator, deadline_ps, polls);
        }
        uint64_t next_ps = cd_emulator_engine_next(emulator);
        if (next_ps == CD_EMULATOR_NEVER || next_ps > deadline_ps) {
            cd_emulator_time_set(emulator, deadline_ps);
            return CD_E_TIMEOUT;
        }
        cd_emulator_time_set(emulator, next_ps);
    }
}

cd_status cd_eip93_emulator_irq_wait(struct cd_eip93_emulator *emulator, uint64_t timeout_ns) {
    cd_emulator_lock(emulator);
    cd_status status = emulator->pace == CD_EIP93_VIRTUAL ? wait_virtual(emulator, timeout_ns)
                                                          : wait_host(emulator, timeout_ns);
    cd_emulator_unlock(emulator);
    return status;
}
