/* Basic hash, eip93-hardware.md section 6.4. */
#include "eip93/emulator/emulator_internal.h"

uint32_t cd_emulator_hash_plan(struct cd_eip93_emulator *emulator,
                               struct cd_emulator_packet *packet) {
    uint32_t length = EIP93_GET(packet->command.length, EIP93_CD_LENGTH);
    uint32_t status = cd_emulator_digest_plan(emulator, packet);
    if (status != EIP93_RD_OK) {
        return status;
    }
    packet->bypass_len = 4u * EIP93_GET(packet->command.length, EIP93_CD_BYPASS);
    if (length < packet->bypass_len) {
        return EIP93_RD_ERR_LENGTH;
    }
    packet->input_len = length;
    status = cd_emulator_digest_plan_length(packet, length - packet->bypass_len);
    packet->payload_len = packet->digest.length;
    packet->result_len = packet->bypass_len + packet->digest.output_len;
    if ((packet->sa.cmd1 & EIP93_SA1_COPY_PAYLOAD) != 0) {
        packet->result_len += packet->payload_len;
    }
    packet->output_len = packet->command.dest_addr == 0 ? 0 : packet->result_len; /* Q4 */
    packet->process_ticks = cd_emulator_digest_ticks(emulator, packet);
    return status;
}

void cd_emulator_hash_run(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet) {
    uint8_t *out = packet->destination;
    const uint8_t *in = packet->source;
    (void)emulator;
    cd_emulator_digest_add(packet, in + packet->bypass_len, packet->payload_len);
    cd_emulator_digest_end(packet);
    if (packet->output_len != 0) { /* all of the input has been read */
        uint32_t copied = packet->output_len - packet->digest.output_len;
        cd_emulator_packet_move(out, in, copied);
        cd_emulator_digest_store(packet, out + copied);
    }
    packet->pad_value =
        packet->inbound ? 0 : EIP93_GET(packet->command.control, EIP93_CD_PAD_VALUE);
}

static void run_empty(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet) {
    (void)emulator;
    packet->digest.count += packet->digest.algorithm->digest_size;
}

static const struct cd_emulator_operation empty = {.run = run_empty};

const struct cd_emulator_operation *cd_emulator_hash_plan_empty(struct cd_eip93_emulator *emulator,
                                                                struct cd_emulator_packet *packet) {
    if (!emulator->strap_zero_length_count ||
        EIP93_GET(packet->sa.cmd0, EIP93_SA0_OPGROUP) != EIP93_SA0_OPGROUP_BASIC ||
        EIP93_GET(packet->sa.cmd0, EIP93_SA0_OPCODE) != EIP93_OPCODE_HASH ||
        (packet->sa.cmd0 & EIP93_SA0_SAVE_HASH) == 0 ||
        cd_emulator_digest_plan(emulator, packet) != EIP93_RD_OK || packet->digest.hash == NULL) {
        return NULL;
    }
    packet->digest.count_only = true;
    return &empty;
}
