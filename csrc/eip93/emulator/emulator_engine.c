/*
 * The engine: takes one packet after the other through its stages, in ring order.
 *
 * The first half of a packet (fetch, check, read SA, read state) happens when the engine is free;
 * it tells what the packet costs. The second half (gather, transform, scatter, write back, raise)
 * happens when that time has come.
 */
#include "eip93/emulator/emulator_internal.h"

#define LATE_FACTOR 1000u

void cd_emulator_engine_bus_error(struct cd_eip93_emulator *emulator, uint32_t address) {
    struct cd_emulator_packet *packet = &emulator->packet;
    cd_emulator_guest_error(emulator, address);
    packet->status = EIP93_RD_ERR_BUS;
    packet->bus_failed = true;
    packet->operation = NULL;
    packet->result_len = 0;
    packet->pad_status = 0;
    packet->pad_value = 0;
}

/* Modelled and host time at which the packet that was just fetched ends. */
static void schedule(struct cd_eip93_emulator *emulator) {
    struct cd_emulator_packet *packet = &emulator->packet;
    uint64_t ticks = cd_emulator_time_packet_ticks(emulator, packet);
    if (cd_emulator_faulted(packet, CD_EIP93_FAULT_LATE)) {
        ticks = ticks > UINT64_MAX / LATE_FACTOR ? UINT64_MAX : ticks * LATE_FACTOR;
    }
    uint64_t length_ps = cd_emulator_time_from_ticks(emulator, ticks);
    packet->due_ps = cd_emulator_time_add(emulator->at_ps, length_ps);
    if (cd_emulator_faulted(packet, CD_EIP93_FAULT_LATE) && emulator->pace == CD_EIP93_FREE) {
        packet->host_due_ns = cd_emulator_time_add(cd_emulator_time_host_ns(), length_ps / 1000u);
    }
}

static uint64_t start_time(const struct cd_eip93_emulator *emulator) {
    uint64_t arrival_ps = cd_emulator_ring_arrival(emulator);
    return arrival_ps > emulator->free_ps ? arrival_ps : emulator->free_ps;
}

/* The first half. False if there is nothing to start up to `limit_ps`. */
static bool start(struct cd_eip93_emulator *emulator, uint64_t limit_ps) {
    if (!cd_emulator_ring_ready(emulator) || start_time(emulator) > limit_ps) {
        return false;
    }
    emulator->at_ps = start_time(emulator);
    cd_emulator_ring_fetch(emulator);
    cd_emulator_ring_check(emulator);
    if (emulator->packet.status == EIP93_RD_OK) {
        cd_emulator_packet_read_sa(emulator);
    }
    if (emulator->packet.operation != NULL) {
        cd_emulator_packet_read_state(emulator);
    }
    schedule(emulator);
    emulator->hung = cd_emulator_faulted(&emulator->packet, CD_EIP93_FAULT_HANG);
    emulator->stage = CD_EMULATOR_RUNNING;
    return true;
}

static bool is_due(const struct cd_eip93_emulator *emulator, uint64_t limit_ps) {
    return !emulator->hung && emulator->packet.due_ps <= limit_ps &&
           (emulator->packet.host_due_ns == 0 ||
            emulator->packet.host_due_ns <= cd_emulator_time_host_ns());
}

/* Everything of the second half that must be in memory before the result is. */
static void process(struct cd_eip93_emulator *emulator) {
    struct cd_emulator_packet *packet = &emulator->packet;
    emulator->at_ps = packet->due_ps;
    if (packet->operation != NULL) {
        cd_emulator_packet_gather(emulator);
    }
    if (packet->operation != NULL) {
        cd_emulator_packet_transform(emulator);
    }
    if (packet->operation != NULL) {
        cd_emulator_packet_scatter(emulator);
    }
    if (packet->operation != NULL) {
        cd_emulator_packet_write_state(emulator);
    }
    if (cd_emulator_faulted(packet, CD_EIP93_FAULT_STATUS)) {
        packet->status = emulator->faults[CD_EIP93_FAULT_STATUS].value & 0xFFu;
    }
    if (!cd_emulator_faulted(packet, CD_EIP93_FAULT_LOST)) {
        cd_emulator_ring_update_command(emulator);
    }
    packet->processed = true;
}

/* Section 8.1: what an error latches, and whether the engine goes on. */
static void raise(struct cd_eip93_emulator *emulator) {
    const struct cd_emulator_packet *packet = &emulator->packet;
    uint32_t events = 0;
    if ((packet->status & EIP93_RD_EXT_ERR) != 0) {
        events |= EIP93_INT_PROC_ERR;
    }
    if (packet->bus_failed) {
        events |= EIP93_INT_INTERFACE_ERR;
        emulator->stopped = true;
    }
    if (emulator->strap_stop_on_length_error &&
        (packet->status == EIP93_RD_ERR_LENGTH || packet->status == EIP93_RD_ERR_PROCESSING)) {
        emulator->stopped = true;
    }
    if (!emulator->line) {
        emulator->line_muted = cd_emulator_faulted(packet, CD_EIP93_FAULT_NO_INTERRUPT);
    }
    cd_emulator_interrupt_update(emulator, events);
    cd_emulator_trace_event(emulator, CD_EIP93_EVENT_RAISE, emulator->interrupt_raw);
}

/* The second half. False if the result has to wait for room in its ring. */
static bool finish(struct cd_eip93_emulator *emulator) {
    struct cd_emulator_packet *packet = &emulator->packet;
    if (!packet->processed) {
        process(emulator);
    }
    bool lost = cd_emulator_faulted(packet, CD_EIP93_FAULT_LOST);
    if (!lost && cd_emulator_ring_full(emulator)) {
        emulator->stage = CD_EMULATOR_STALLED;
        return false;
    }
    emulator->at_ps = packet->due_ps;
    if (emulator->stage == CD_EMULATOR_STALLED && emulator->acknowledge_ps > packet->due_ps) {
        emulator->at_ps = emulator->acknowledge_ps;
    }
    if (lost) {
        emulator->lost_count++;
    } else {
        cd_emulator_ring_write_result(emulator);
        raise(emulator);
    }
    emulator->free_ps = emulator->at_ps;
    emulator->stage = CD_EMULATOR_IDLE;
    if (emulator->pace == CD_EIP93_FREE) {
        cd_emulator_time_set(emulator, emulator->at_ps);
    }
    return true;
}

uint32_t cd_emulator_engine_run(struct cd_eip93_emulator *emulator, uint64_t limit_ps,
                                uint32_t budget) {
    uint32_t ended = 0;
    while (ended < budget) {
        if (emulator->stage == CD_EMULATOR_IDLE && !start(emulator, limit_ps)) {
            break;
        }
        if (!is_due(emulator, limit_ps)) {
            break;
        }
        cd_emulator_timeout_run(emulator, emulator->packet.due_ps);
        if (!finish(emulator)) {
            break;
        }
        ended++;
    }
    return ended;
}

uint64_t cd_emulator_engine_packet_next(const struct cd_eip93_emulator *emulator) {
    if (emulator->stage == CD_EMULATOR_IDLE) {
        return cd_emulator_ring_ready(emulator) ? start_time(emulator) : CD_EMULATOR_NEVER;
    }
    if (emulator->stage == CD_EMULATOR_STALLED) {
        return cd_emulator_ring_full(emulator) ? CD_EMULATOR_NEVER : emulator->acknowledge_ps;
    }
    return emulator->hung ? CD_EMULATOR_NEVER : emulator->packet.due_ps;
}

uint64_t cd_emulator_engine_next(const struct cd_eip93_emulator *emulator) {
    uint64_t timeout_ps = cd_emulator_timeout_due(emulator);
    uint64_t packet_ps = cd_emulator_engine_packet_next(emulator);
    return packet_ps < timeout_ps ? packet_ps : timeout_ps;
}
