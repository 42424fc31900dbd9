/*
 * The rings of autonomous ring mode: counts, pointers, ownership, and the descriptors themselves
 * (eip93-hardware.md sections 2.3, 3.2, 4).
 */
#include "eip93/emulator/emulator_words.h"

#include "eip93/emulator/emulator_internal.h"

#include <string.h>

#define OWNER_TRIES 4 /* reads of a command whose two ownership pairs differ (Q7) */

uint32_t cd_emulator_ring_entries(const struct cd_eip93_emulator *emulator) {
    return EIP93_GET(cd_emulator_register(emulator, EIP93_REG_PE_RING_CONFIG),
                     EIP93_RING_CONFIG_SIZE) +
           1u;
}

bool cd_emulator_ring_updates(const struct cd_eip93_emulator *emulator) {
    uint32_t config = cd_emulator_register(emulator, EIP93_REG_PE_CONFIG);
    bool overlaid = cd_emulator_register(emulator, EIP93_REG_PE_CDR_BASE) ==
                    cd_emulator_register(emulator, EIP93_REG_PE_RDR_BASE);
    return (config & EIP93_CONFIG_EN_CDR_UPDATE) != 0 && !overlaid;
}

bool cd_emulator_ring_ready(const struct cd_eip93_emulator *emulator) {
    uint32_t config = cd_emulator_register(emulator, EIP93_REG_PE_CONFIG);
    return emulator->cd_count > emulator->lost_count && !emulator->stopped && !emulator->hung &&
           (config & (EIP93_CONFIG_RST_PE | EIP93_CONFIG_RST_RING_ANY)) == 0 &&
           EIP93_GET(config, EIP93_CONFIG_PE_MODE) == EIP93_CONFIG_PE_MODE_ARM;
}

bool cd_emulator_ring_full(const struct cd_eip93_emulator *emulator) {
    return emulator->rd_count >= cd_emulator_ring_entries(emulator);
}

/* ---- Counts ---- */

uint64_t cd_emulator_ring_arrival(const struct cd_eip93_emulator *emulator) {
    return emulator->arrival_count == 0 ? 0 : emulator->arrivals_ps[emulator->arrival_first];
}

static void push_arrivals(struct cd_eip93_emulator *emulator, uint32_t commands,
                          uint64_t arrival_ps) {
    for (uint32_t i = 0; i < commands && emulator->arrival_count < EIP93_RING_ENTRIES_MAX; i++) {
        uint32_t slot = emulator->arrival_first + emulator->arrival_count++;
        emulator->arrivals_ps[slot % EIP93_RING_ENTRIES_MAX] = arrival_ps;
    }
}

static void pop_arrival(struct cd_eip93_emulator *emulator) {
    if (emulator->arrival_count != 0) {
        emulator->arrival_first = (emulator->arrival_first + 1) % EIP93_RING_ENTRIES_MAX;
        emulator->arrival_count--;
    }
}

/* When the engine sees commands rung now: the host takes its time to hand them over. */
static uint64_t charge_doorbell(struct cd_eip93_emulator *emulator, uint32_t commands) {
    if (emulator->pace == CD_EIP93_FREE) {
        return emulator->at_ps;
    }
    uint64_t cost_ps =
        emulator->cost.doorbell_ps + emulator->cost.descriptor_ps * (uint64_t)commands;
    if (emulator->pace == CD_EIP93_VIRTUAL) {
        cd_emulator_time_set(emulator, cd_emulator_time_add(emulator->at_ps, cost_ps));
        emulator->at_ps = cd_emulator_time_now(emulator);
        return emulator->at_ps;
    }
    uint64_t from_ps =
        emulator->at_ps > emulator->handed_over_ps ? emulator->at_ps : emulator->handed_over_ps;
    emulator->handed_over_ps = cd_emulator_time_add(from_ps, cost_ps);
    return emulator->handed_over_ps;
}

void cd_emulator_ring_add(struct cd_eip93_emulator *emulator, uint32_t commands) {
    uint32_t room = cd_emulator_ring_entries(emulator);
    room = room > emulator->cd_count ? room - emulator->cd_count : 0;
    uint32_t events = 0;
    uint64_t arrival_ps = charge_doorbell(emulator, commands);
    emulator->counters.doorbells++;
    cd_emulator_trace_event(emulator, CD_EIP93_EVENT_DOORBELL, commands);
    if (commands > room) {
        commands = room;
        events = EIP93_INT_RING_ERR;
        emulator->registers[EIP93_REG_PE_RING_STAT / 4u] |= EIP93_RING_STAT_CDR_OVERFLOW;
    }
    push_arrivals(emulator, commands, arrival_ps);
    emulator->cd_count += commands;
    cd_emulator_interrupt_update(emulator, events);
    if (emulator->waiters != 0) {
        pthread_cond_broadcast(&emulator->changed);
    }
}

void cd_emulator_ring_acknowledge(struct cd_eip93_emulator *emulator, uint32_t results) {
    uint32_t events = 0;
    if (results > emulator->rd_count) {
        results = emulator->rd_count;
        events = EIP93_INT_RING_ERR;
        emulator->registers[EIP93_REG_PE_RING_STAT / 4u] |= EIP93_RING_STAT_RDR_UNDERFLOW;
    }
    emulator->rd_count -= results;
    emulator->acknowledge_ps = emulator->at_ps;
    cd_emulator_timeout_restart(emulator);
    cd_emulator_interrupt_update(emulator, events);
    if (emulator->stage == CD_EMULATOR_STALLED && emulator->waiters != 0) {
        pthread_cond_broadcast(&emulator->changed);
    }
}

/* ---- Descriptors ---- */

static uint32_t entry_address(const struct cd_eip93_emulator *emulator, uint32_t base_register,
                              uint32_t index) {
    uint32_t words = EIP93_GET(cd_emulator_register(emulator, EIP93_REG_PE_RING_CONFIG),
                               EIP93_RING_CONFIG_STRIDE);
    if (words == 0) {
        words = EIP93_DESCRIPTOR_WORDS;
    }
    return cd_emulator_register(emulator, base_register) + 4u * words * index;
}

static uint32_t next_index(const struct cd_eip93_emulator *emulator, uint32_t index) {
    return index + 1u >= cd_emulator_ring_entries(emulator) ? 0 : index + 1u;
}

static void load_descriptor(struct eip93_descriptor *descriptor, const uint8_t *entry) {
    for (int tries = 0; tries < OWNER_TRIES; tries++) {
        descriptor->control = cd_emulator_word_acquire(entry);
        descriptor->length = cd_emulator_word_acquire(entry + 28);
        if (EIP93_GET(descriptor->control, EIP93_CD_OWNER) ==
            EIP93_GET(descriptor->length, EIP93_CD_LENGTH_OWNER)) {
            break;
        }
    }
    descriptor->source_addr = cd_load_le32(entry + 4);
    descriptor->dest_addr = cd_load_le32(entry + 8);
    descriptor->sa_addr = cd_load_le32(entry + 12);
    descriptor->state_addr = cd_load_le32(entry + 16);
    descriptor->arc4_addr = cd_load_le32(entry + 20);
    descriptor->user_id = cd_load_le32(entry + 24);
}

/* The registers of section 2.2 show the descriptor in work. */
static void show_descriptor(struct cd_eip93_emulator *emulator,
                            const struct eip93_descriptor *descriptor) {
    memcpy(emulator->registers, descriptor, sizeof *descriptor);
}

void cd_emulator_ring_fetch(struct cd_eip93_emulator *emulator) {
    struct cd_emulator_packet *packet = &emulator->packet;
    memset(packet, 0, sizeof *packet);
    pop_arrival(emulator);
    packet->index = emulator->cdr_index;
    emulator->cdr_index = next_index(emulator, emulator->cdr_index);
    packet->faults = cd_emulator_fault_packet(emulator);
    cd_emulator_trace_event(emulator, CD_EIP93_EVENT_FETCH, packet->index);
    uint32_t address = entry_address(emulator, EIP93_REG_PE_CDR_BASE, packet->index);
    const uint8_t *entry =
        cd_emulator_memory_at(emulator, address, EIP93_DESCRIPTOR_SIZE, CD_DMA_TO_DEVICE);
    if (entry == NULL) {
        cd_emulator_engine_bus_error(emulator, address);
        return;
    }
    load_descriptor(&packet->command, entry);
    show_descriptor(emulator, &packet->command);
}

void cd_emulator_ring_check(struct cd_eip93_emulator *emulator) {
    struct cd_emulator_packet *packet = &emulator->packet;
    if (packet->status == EIP93_RD_OK &&
        (EIP93_GET(packet->command.control, EIP93_CD_OWNER) != EIP93_OWNER_ENGINE ||
         EIP93_GET(packet->command.length, EIP93_CD_LENGTH_OWNER) != EIP93_OWNER_ENGINE)) {
        packet->status = EIP93_RD_ERR_OWNER;
    }
    cd_emulator_trace_event(emulator, CD_EIP93_EVENT_CHECK, packet->status);
}

static void make_result(const struct cd_eip93_emulator *emulator, struct eip93_descriptor *result) {
    const struct cd_emulator_packet *packet = &emulator->packet;
    uint32_t length_owner = EIP93_OWNER_HOST;
    *result = packet->command;
    if (cd_emulator_faulted(packet, CD_EIP93_FAULT_HALF_OWNED)) {
        length_owner = EIP93_OWNER_ENGINE;
    }
    if (cd_emulator_faulted(packet, CD_EIP93_FAULT_WRONG_ID)) {
        uint32_t value = emulator->faults[CD_EIP93_FAULT_WRONG_ID].value;
        result->user_id ^= value != 0 ? value : 0xFFFFFFFFu;
    }
    result->control = (packet->command.control & EIP93_RD_COPIED) | EIP93_CD_PE_READY |
                      EIP93_PUT(packet->status, EIP93_RD_STATUS) |
                      EIP93_PUT(packet->pad_status, EIP93_RD_PAD_STATUS) |
                      EIP93_PUT(packet->pad_value, EIP93_RD_PAD_VALUE);
    result->length = (packet->command.length & EIP93_CD_BYPASS) |
                     EIP93_PUT(length_owner, EIP93_CD_LENGTH_OWNER) |
                     EIP93_PUT(packet->result_len, EIP93_CD_LENGTH);
}

void cd_emulator_ring_update_command(struct cd_eip93_emulator *emulator) {
    if (!cd_emulator_ring_updates(emulator)) {
        return;
    }
    uint32_t address = entry_address(emulator, EIP93_REG_PE_CDR_BASE, emulator->packet.index);
    uint8_t *entry =
        cd_emulator_memory_at(emulator, address, EIP93_DESCRIPTOR_SIZE, CD_DMA_FROM_DEVICE);
    if (entry == NULL) {
        cd_emulator_engine_bus_error(emulator, address);
        return;
    }
    struct eip93_descriptor result;
    make_result(emulator, &result);
    cd_emulator_word_release(entry + 28, result.length);
    cd_emulator_word_release(entry, result.control);
    cd_emulator_trace_event(emulator, CD_EIP93_EVENT_UPDATE_COMMAND, emulator->packet.index);
}

static void store_result(uint8_t *entry, const struct eip93_descriptor *result) {
    cd_store_le32(entry + 4, result->source_addr);
    cd_store_le32(entry + 8, result->dest_addr);
    cd_store_le32(entry + 12, result->sa_addr);
    cd_store_le32(entry + 16, result->state_addr);
    cd_store_le32(entry + 20, result->arc4_addr);
    cd_store_le32(entry + 24, result->user_id);
    cd_emulator_word_release(entry + 28, result->length);
    cd_emulator_word_release(entry, result->control);
}

void cd_emulator_ring_write_result(struct cd_eip93_emulator *emulator) {
    uint32_t address = entry_address(emulator, EIP93_REG_PE_RDR_BASE, emulator->rdr_index);
    uint8_t *entry =
        cd_emulator_memory_at(emulator, address, EIP93_DESCRIPTOR_SIZE, CD_DMA_FROM_DEVICE);
    if (entry == NULL) {
        cd_emulator_engine_bus_error(emulator, address);
    }
    struct eip93_descriptor result;
    make_result(emulator, &result);
    if (entry != NULL) {
        store_result(entry, &result);
    }
    show_descriptor(emulator, &result);
    emulator->rdr_index = next_index(emulator, emulator->rdr_index);
    if (emulator->cd_count != 0) {
        emulator->cd_count--;
    }
    if (emulator->rd_count++ == 0) {
        cd_emulator_timeout_restart(emulator);
    }
    emulator->counters.packets++;
    emulator->counters.errors += EIP93_GET(result.control, EIP93_RD_STATUS) != EIP93_RD_OK;
    cd_emulator_trace_event(emulator, CD_EIP93_EVENT_WRITE_RESULT,
                            EIP93_GET(result.control, EIP93_RD_STATUS));
}
