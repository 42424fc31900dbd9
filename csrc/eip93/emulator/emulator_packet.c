/*
 * The stages of one packet between its descriptors: SA, state, source, destination
 * (eip93-hardware.md sections 3.2, 5, 6.1).
 */
#include "base/endian.h"

#include "eip93/emulator/emulator_internal.h"

#include <string.h>

static void load_sa(struct eip93_sa *sa, const uint8_t *record) {
    memcpy(sa, record, sizeof *sa);
    sa->cmd0 = cd_load_le32(record);
    sa->cmd1 = cd_load_le32(record + 4);
    for (size_t word = 0; word < 8; word++) {
        sa->i_digest[word] = cd_load_le32(record + offsetof(struct eip93_sa, i_digest) + 4 * word);
        sa->o_digest[word] = cd_load_le32(record + offsetof(struct eip93_sa, o_digest) + 4 * word);
    }
    sa->spi = cd_load_le32(record + offsetof(struct eip93_sa, spi));
    sa->seqnum0 = cd_load_le32(record + offsetof(struct eip93_sa, seqnum0));
    sa->seqnum1 = cd_load_le32(record + offsetof(struct eip93_sa, seqnum1));
    sa->seqnum_mask0 = cd_load_le32(record + offsetof(struct eip93_sa, seqnum_mask0));
    sa->seqnum_mask1 = cd_load_le32(record + offsetof(struct eip93_sa, seqnum_mask1));
}

/* PRNG modes 2 and 3 have no SA (section 6.9). */
static bool needs_sa(const struct cd_emulator_packet *packet) {
    return EIP93_GET(packet->command.control, EIP93_CD_PRNG_MODE) < EIP93_CD_PRNG_MODE_GENERATE;
}

void cd_emulator_packet_read_sa(struct cd_eip93_emulator *emulator) {
    struct cd_emulator_packet *packet = &emulator->packet;
    if (needs_sa(packet)) {
        uint32_t address = packet->command.sa_addr;
        const uint8_t *record =
            cd_emulator_memory_at(emulator, address, EIP93_SA_SIZE, CD_DMA_TO_DEVICE);
        if (record == NULL) {
            cd_emulator_engine_bus_error(emulator, address);
            return;
        }
        load_sa(&packet->sa, record);
        packet->sa_read = true;
        cd_emulator_trace_event(emulator, CD_EIP93_EVENT_READ_SA, address);
    }
    packet->status = cd_emulator_operation_plan(emulator, packet);
    if (packet->operation == NULL) {
        packet->input_len = 0; /* nothing is moved */
        packet->output_len = 0;
        packet->process_ticks = 0;
        packet->state_reads = 0;
        packet->state_writes = 0;
        cd_emulator_trace_event(emulator, CD_EIP93_EVENT_CHECK, packet->status);
    }
}

/* The IV of the packet, unless the input brings it. */
static bool load_iv(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet) {
    uint8_t random[CD_AES_BLOCK];
    const uint8_t *iv;
    switch (EIP93_GET(packet->sa.cmd0, EIP93_SA0_IV_SOURCE)) {
    case EIP93_SA0_IV_SOURCE_PREVIOUS:
        memcpy(packet->iv, emulator->last_iv, sizeof packet->iv);
        break;
    case EIP93_SA0_IV_SOURCE_STATE:
        iv = cd_emulator_memory_at(emulator, packet->command.state_addr, packet->cipher->iv_len,
                                   CD_DMA_TO_DEVICE);
        if (iv == NULL) {
            return false;
        }
        memcpy(packet->iv, iv, packet->cipher->iv_len);
        break;
    case EIP93_SA0_IV_SOURCE_PRNG:
        cd_emulator_prng_next(emulator, random);
        cd_emulator_packet_set_iv(packet,
                                  packet->cipher->input_iv_len == 8 && packet->cipher->iv_len == 16
                                      ? random + 4 /* section 6.9: bytes 4..11 */
                                      : random);
        break;
    default:
        break;
    }
    return true;
}

/* CTR puts eight bytes between the nonce and the number 1 (section 6.3); others take all. */
void cd_emulator_packet_set_iv(struct cd_emulator_packet *packet, const uint8_t *bytes) {
    static const uint8_t one[4] = {0, 0, 0, 1};
    if (packet->cipher->input_iv_len == packet->cipher->iv_len) {
        memcpy(packet->iv, bytes, packet->cipher->iv_len);
        return;
    }
    memcpy(packet->iv, packet->sa.nonce, sizeof packet->sa.nonce);
    memcpy(packet->iv + 4, bytes, 8);
    memcpy(packet->iv + 12, one, sizeof one);
}

void cd_emulator_packet_read_state(struct cd_eip93_emulator *emulator) {
    struct cd_emulator_packet *packet = &emulator->packet;
    uint32_t address = packet->command.state_addr;
    if (packet->cipher != NULL && packet->cipher->iv_len != 0 && !load_iv(emulator, packet)) {
        cd_emulator_engine_bus_error(emulator, address);
        return;
    }
    if (!cd_emulator_digest_load(emulator, packet)) {
        cd_emulator_engine_bus_error(emulator, address);
        return;
    }
    if (packet->state_reads != 0) {
        cd_emulator_trace_event(emulator, CD_EIP93_EVENT_READ_STATE, address);
    }
}

void cd_emulator_packet_gather(struct cd_eip93_emulator *emulator) {
    struct cd_emulator_packet *packet = &emulator->packet;
    packet->source = emulator->scratch;
    packet->destination = emulator->scratch;
    if (packet->input_len == 0) {
        return;
    }
    uint32_t address = packet->command.source_addr;
    packet->source = cd_emulator_memory_at(emulator, address, packet->input_len, CD_DMA_TO_DEVICE);
    if (packet->source == NULL || cd_emulator_faulted(packet, CD_EIP93_FAULT_DMA_READ)) {
        cd_emulator_engine_bus_error(emulator, address);
        return;
    }
    emulator->counters.bytes_read += packet->input_len;
    cd_emulator_trace_event(emulator, CD_EIP93_EVENT_GATHER, packet->input_len);
}

/* True if the output may be written while the input is still read. In place, a byte of the input is
 * read before or as the output gets there: see the order in the operations. */
static bool may_stream(const struct cd_emulator_packet *packet) {
    uintptr_t source = (uintptr_t)packet->source;
    uintptr_t destination = (uintptr_t)packet->destination;
    bool apart =
        destination >= source + packet->input_len || source >= destination + packet->output_len;
    bool in_place = source == destination && !packet->header_made &&
                    (packet->header_len == 0 || packet->header_copied);
    return apart || in_place;
}

void cd_emulator_packet_transform(struct cd_eip93_emulator *emulator) {
    struct cd_emulator_packet *packet = &emulator->packet;
    if (packet->output_len != 0) {
        packet->destination = cd_emulator_memory_at(emulator, packet->command.dest_addr,
                                                    packet->output_len, CD_DMA_FROM_DEVICE);
        if (packet->destination == NULL || cd_emulator_faulted(packet, CD_EIP93_FAULT_DMA_WRITE)) {
            cd_emulator_engine_bus_error(emulator, packet->command.dest_addr);
            return;
        }
        if (packet->input_len != 0 && !may_stream(packet)) {
            memcpy(emulator->scratch, packet->source, packet->input_len);
            packet->source = emulator->scratch;
        }
    }
    packet->operation->run(emulator, packet);
    cd_emulator_trace_event(emulator, CD_EIP93_EVENT_TRANSFORM, packet->sa.cmd0);
}

/* The transform has written the destination; this is where the chip's DMA would be done. */
void cd_emulator_packet_scatter(struct cd_eip93_emulator *emulator) {
    struct cd_emulator_packet *packet = &emulator->packet;
    if (packet->output_len != 0) {
        emulator->counters.bytes_written += packet->output_len;
        cd_emulator_trace_event(emulator, CD_EIP93_EVENT_SCATTER, packet->output_len);
    }
}

/* Sequence number and window of a protocol operation (section 5.1). */
static bool write_sa(const struct cd_eip93_emulator *emulator,
                     const struct cd_emulator_packet *packet) {
    const struct eip93_sa *sa = &packet->sa;
    uint8_t bytes[16];
    if (packet->sa_write_len == 0) {
        return true;
    }
    cd_store_le32(bytes, sa->seqnum0);
    cd_store_le32(bytes + 4, sa->seqnum1);
    cd_store_le32(bytes + 8, sa->seqnum_mask0);
    cd_store_le32(bytes + 12, sa->seqnum_mask1);
    uint8_t *fields = cd_emulator_memory_at(
        emulator, packet->command.sa_addr + (uint32_t)offsetof(struct eip93_sa, seqnum0),
        packet->sa_write_len, CD_DMA_FROM_DEVICE);
    if (fields == NULL) {
        return false;
    }
    memcpy(fields, bytes, packet->sa_write_len);
    return true;
}

void cd_emulator_packet_write_state(struct cd_eip93_emulator *emulator) {
    struct cd_emulator_packet *packet = &emulator->packet;
    if (!write_sa(emulator, packet)) {
        cd_emulator_engine_bus_error(emulator, packet->command.sa_addr);
        return;
    }
    if (packet->cipher != NULL && packet->cipher->iv_len != 0) {
        memcpy(emulator->last_iv, packet->iv, sizeof emulator->last_iv);
        if ((packet->sa.cmd0 & EIP93_SA0_SAVE_IV) != 0) {
            uint32_t address = packet->command.state_addr;
            uint8_t *iv = cd_emulator_memory_at(emulator, address, packet->cipher->iv_len,
                                                CD_DMA_FROM_DEVICE);
            if (iv == NULL) {
                cd_emulator_engine_bus_error(emulator, address);
                return;
            }
            memcpy(iv, packet->iv, packet->cipher->iv_len);
        }
    }
    if (!cd_emulator_digest_save(emulator, packet)) {
        cd_emulator_engine_bus_error(emulator, packet->command.state_addr);
        return;
    }
    if (packet->state_writes != 0) {
        cd_emulator_trace_event(emulator, CD_EIP93_EVENT_WRITE_STATE, packet->command.state_addr);
    }
}
