/* Basic encrypt and decrypt, eip93-hardware.md sections 6.1 to 6.3. */
#include "eip93/emulator/emulator_internal.h"

#include "base/secure.h"

#include <string.h>

/* The header that brings the IV (IV_SOURCE 1), in bytes. */
static uint32_t header_bytes(const struct eip93_sa *sa) {
    uint32_t offset = EIP93_GET(sa->cmd1, EIP93_SA1_HASH_CRYPT_OFFSET);
    return (sa->cmd1 & EIP93_SA1_BYTE_OFFSET) != 0 ? offset : 4u * offset;
}

/* Split the input; a status byte. */
static uint32_t plan_lengths(struct cd_emulator_packet *packet) {
    uint32_t length = EIP93_GET(packet->command.length, EIP93_CD_LENGTH);
    uint32_t iv_source = EIP93_GET(packet->sa.cmd0, EIP93_SA0_IV_SOURCE);
    const struct cd_emulator_cipher *cipher = packet->cipher;
    packet->bypass_len = 4u * EIP93_GET(packet->command.length, EIP93_CD_BYPASS);
    if (cipher->iv_len != 0 && iv_source == EIP93_SA0_IV_SOURCE_INPUT) {
        packet->header_len = header_bytes(&packet->sa);
        packet->header_copied = (packet->sa.cmd1 & EIP93_SA1_COPY_HEADER) != 0;
        if (packet->header_len < cipher->input_iv_len) {
            return EIP93_RD_ERR_LENGTH; /* [model] */
        }
    }
    if (length < packet->bypass_len + packet->header_len) {
        return EIP93_RD_ERR_LENGTH;
    }
    packet->input_len = length;
    packet->payload_len = length - packet->bypass_len - packet->header_len;
    return EIP93_RD_OK;
}

static void plan_state(struct cd_emulator_packet *packet) {
    uint32_t iv_source = EIP93_GET(packet->sa.cmd0, EIP93_SA0_IV_SOURCE);
    if (packet->cipher->iv_len == 0) {
        return;
    }
    packet->state_reads = iv_source == EIP93_SA0_IV_SOURCE_STATE;
    packet->state_writes = (packet->sa.cmd0 & EIP93_SA0_SAVE_IV) != 0;
}

uint64_t cd_emulator_crypt_ticks(const struct cd_eip93_emulator *emulator,
                                 const struct cd_emulator_packet *packet) {
    const struct cd_emulator_cipher *cipher = packet->cipher;
    if (cipher->block_ticks == NULL) {
        return 0;
    }
    uint64_t bytes = (uint64_t)packet->payload_len + packet->pad_len;
    return (bytes + cipher->tick_len - 1) / cipher->tick_len *
           cipher->block_ticks(&emulator->cost, packet->key_len);
}

uint32_t cd_emulator_crypt_plan(struct cd_eip93_emulator *emulator,
                                struct cd_emulator_packet *packet) {
    uint32_t iv_source = EIP93_GET(packet->sa.cmd0, EIP93_SA0_IV_SOURCE);
    packet->cipher = cd_emulator_cipher_find(emulator, packet);
    if (packet->cipher != NULL && packet->cipher->iv_len != 0 && packet->inbound &&
        iv_source == EIP93_SA0_IV_SOURCE_PRNG) {
        return EIP93_RD_ERR_OPERATION; /* outbound only, section 5.4 */
    }
    if (packet->cipher == NULL) {
        return EIP93_RD_ERR_ALGORITHM;
    }
    uint32_t status = plan_lengths(packet);
    if (status == EIP93_RD_OK && !packet->inbound) {
        status = cd_emulator_padding_plan(packet);
    }
    if (status != EIP93_RD_OK) {
        return status;
    }
    if (packet->inbound && packet->payload_len % packet->cipher->block_len != 0) {
        packet->payload_len -= packet->payload_len % packet->cipher->block_len;
        status = EIP93_RD_ERR_BLOCK_SIZE;
    }
    packet->output_len = packet->bypass_len + (packet->header_copied ? packet->header_len : 0) +
                         packet->payload_len + packet->pad_len;
    packet->result_len = packet->output_len;
    plan_state(packet);
    packet->process_ticks = cd_emulator_crypt_ticks(emulator, packet);
    return status;
}

/* Transform payload and pad. What does not fill 16 bytes before the pad goes through a buffer. */
static void crypt_payload(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet,
                          uint8_t *out, const uint8_t *in) {
    const struct cd_emulator_cipher *cipher = packet->cipher;
    uint32_t rest_len = packet->pad_len == 0 ? 0 : packet->payload_len % CD_AES_BLOCK;
    uint32_t body_len = packet->payload_len - rest_len;
    if (body_len != 0) {
        cipher->run(emulator, packet, out, in, body_len);
    }
    if (packet->pad_len != 0) {
        uint8_t tail[CD_AES_BLOCK + CD_EMULATOR_PAD_MAX];
        memcpy(tail, in + body_len, rest_len);
        cd_emulator_padding_fill(packet, tail + rest_len);
        cipher->run(emulator, packet, out + body_len, tail, rest_len + packet->pad_len);
        cd_wipe(tail, sizeof tail);
    }
}

/* Section 6.3: the IV is the first bytes of the header in front of the data. */
static void take_iv(struct cd_emulator_packet *packet) {
    if (packet->header_len != 0) {
        cd_emulator_packet_set_iv(packet, packet->source + packet->bypass_len);
    }
}

static void move(uint8_t *out, const uint8_t *in, uint32_t length) {
    if (length != 0 && out != in) {
        memcpy(out, in, length);
    }
}

void cd_emulator_crypt_run(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet) {
    uint8_t *out = packet->destination;
    const uint8_t *in = packet->source;
    take_iv(packet);
    move(out, in, packet->bypass_len);
    out += packet->bypass_len;
    in += packet->bypass_len;
    if (packet->header_copied) {
        move(out, in, packet->header_len);
        out += packet->header_len;
    }
    in += packet->header_len;
    crypt_payload(emulator, packet, out, in);
    packet->pad_value =
        packet->inbound ? 0 : EIP93_GET(packet->command.control, EIP93_CD_PAD_VALUE);
    packet->pad_status = packet->pad_len;
    if (packet->inbound && packet->status == EIP93_RD_OK) {
        cd_emulator_padding_check(packet, out, packet->payload_len);
    }
}
