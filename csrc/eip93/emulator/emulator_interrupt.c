/*
 * Interrupts: latched sources, the enable word, the result timeout, and the one output line.
 *
 * The rules are those of eip93-hardware.md section 7.2. The line is computed in update_line and
 * nowhere else.
 */
#include "eip93/emulator/emulator_internal.h"

static uint32_t threshold(const struct cd_eip93_emulator *emulator) {
    return cd_emulator_register(emulator, EIP93_REG_PE_RING_THRESH);
}

/* The level sources that hold now. Those of direct host mode and halt never do here. */
static uint32_t level_conditions(const struct cd_eip93_emulator *emulator) {
    uint32_t levels = 0;
    if (emulator->cd_count <= EIP93_GET(threshold(emulator), EIP93_RING_THRESH_CDR)) {
        levels |= EIP93_INT_CDR_THRESH;
    }
    if (emulator->rd_count > EIP93_GET(threshold(emulator), EIP93_RING_THRESH_RDR) ||
        emulator->rd_timeout) {
        levels |= EIP93_INT_RDR_THRESH;
    }
    return levels;
}

static uint32_t masked(const struct cd_eip93_emulator *emulator) {
    return emulator->interrupt_raw & cd_emulator_register(emulator, EIP93_REG_INT_MASK);
}

/* Level output: high while a source is enabled and latched. Pulse output: high from the moment
 * that becomes so until irq_wait has seen it (an edge-triggered controller behind it) [model]. */
static void update_line(struct cd_eip93_emulator *emulator) {
    uint32_t config = cd_emulator_register(emulator, EIP93_REG_INT_CFG);
    bool active = masked(emulator) != 0;
    if (active && !emulator->masked_before) {
        emulator->line_pulse = !emulator->line_muted;
    }
    if (!active) {
        emulator->line_muted = false;
    }
    emulator->masked_before = active;
    bool line = active && !emulator->line_muted;
    if ((config & EIP93_INT_CFG_PULSE) != 0) {
        line = emulator->line_pulse;
    }
    if (line && !emulator->line) {
        emulator->counters.interrupts++;
        emulator->line_rise_ps = emulator->at_ps;
        pthread_cond_broadcast(&emulator->changed);
    }
    emulator->line = line;
}

void cd_emulator_interrupt_update(struct cd_eip93_emulator *emulator, uint32_t events) {
    emulator->interrupt_raw |= events | level_conditions(emulator);
    bool rises = masked(emulator) != 0 && !emulator->masked_before;
    update_line(emulator);
    uint32_t automatic = EIP93_INT_CFG_PULSE | EIP93_INT_CFG_AUTO_CLEAR;
    if (rises && (cd_emulator_register(emulator, EIP93_REG_INT_CFG) & automatic) == automatic) {
        cd_emulator_interrupt_clear(emulator, masked(emulator));
    }
}

void cd_emulator_interrupt_clear(struct cd_eip93_emulator *emulator, uint32_t bits) {
    emulator->interrupt_raw &= ~bits;
    emulator->interrupt_raw |= level_conditions(emulator);
    update_line(emulator);
}

void cd_emulator_interrupt_take(struct cd_eip93_emulator *emulator) {
    if (emulator->line_pulse) {
        emulator->line_pulse = false;
        update_line(emulator);
    }
}

uint64_t cd_emulator_timeout_due(const struct cd_eip93_emulator *emulator) {
    if (emulator->rd_timeout || emulator->rd_count == 0) {
        return CD_EMULATOR_NEVER;
    }
    return cd_emulator_time_add(emulator->rd_timeout_start_ps, emulator->rd_timeout_length_ps);
}

void cd_emulator_timeout_configure(struct cd_eip93_emulator *emulator) {
    if ((threshold(emulator) & EIP93_RING_THRESH_TIMEOUT_EN) == 0) {
        emulator->rd_timeout_length_ps = CD_EMULATOR_NEVER;
        return;
    }
    uint32_t exponent = EIP93_GET(threshold(emulator), EIP93_RING_THRESH_RD_TIMEOUT) + 10u;
    emulator->rd_timeout_length_ps = cd_emulator_time_from_ticks(emulator, UINT64_C(1) << exponent);
}

void cd_emulator_timeout_run(struct cd_eip93_emulator *emulator, uint64_t now_ps) {
    uint64_t due_ps = cd_emulator_timeout_due(emulator);
    if (due_ps == CD_EMULATOR_NEVER || due_ps > now_ps) {
        return;
    }
    emulator->at_ps = due_ps;
    emulator->rd_timeout = true;
    cd_emulator_interrupt_update(emulator, 0);
    cd_emulator_trace_event(emulator, CD_EIP93_EVENT_RAISE, emulator->interrupt_raw);
}

void cd_emulator_timeout_restart(struct cd_eip93_emulator *emulator) {
    emulator->rd_timeout = false;
    emulator->rd_timeout_start_ps = emulator->at_ps;
}

bool cd_eip93_emulator_irq(struct cd_eip93_emulator *emulator) {
    pthread_mutex_lock(&emulator->lock);
    bool line = emulator->line;
    pthread_mutex_unlock(&emulator->lock);
    return line;
}
