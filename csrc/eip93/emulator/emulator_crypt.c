/*
 * Basic encrypt and decrypt, encrypt-hash and hash-decrypt, eip93-hardware.md sections 6.1 to 6.3
 * and 6.5: one operation, whose hash path is idle in the first two.
 */
#include "eip93/emulator/emulator_internal.h"

#include "base/secure.h"

#include <string.h>

/* The header in front of the data that the cipher takes, in bytes. */
static uint32_t header_bytes(const struct eip93_sa *sa) {
    uint32_t offset = EIP93_GET(sa->cmd1, EIP93_SA1_HASH_CRYPT_OFFSET);
    return (sa->cmd1 & EIP93_SA1_BYTE_OFFSET) != 0 ? offset : 4u * offset;
}

/* Take the IV from the header, which is `header_len` long: for opcode 0 its first bytes (section
 * 6.3), for opcode 1 its last (Q16); a status byte. */
static uint32_t plan_input_iv(struct cd_emulator_packet *packet, bool hashes) {
    uint32_t iv_len = packet->cipher->input_iv_len;
    if (!packet->iv_in_input) {
        return EIP93_RD_OK;
    }
    if (packet->header_len < iv_len) {
        return EIP93_RD_ERR_LENGTH; /* [model] */
    }
    packet->iv_offset = packet->bypass_len + (hashes ? packet->header_len - iv_len : 0);
    return EIP93_RD_OK;
}

/* Split the input; a status byte. */
static uint32_t plan_lengths(struct cd_emulator_packet *packet, bool hashes) {
    uint32_t length = EIP93_GET(packet->command.length, EIP93_CD_LENGTH);
    packet->bypass_len = 4u * EIP93_GET(packet->command.length, EIP93_CD_BYPASS);
    packet->iv_in_input =
        packet->cipher->iv_len != 0 &&
        EIP93_GET(packet->sa.cmd0, EIP93_SA0_IV_SOURCE) == EIP93_SA0_IV_SOURCE_INPUT;
    if (packet->iv_in_input || hashes) {
        packet->header_len = header_bytes(&packet->sa);
        packet->header_copied = (packet->sa.cmd1 & EIP93_SA1_COPY_HEADER) != 0;
    }
    uint32_t status = plan_input_iv(packet, hashes);
    if (status != EIP93_RD_OK) {
        return status;
    }
    if (length < packet->bypass_len + packet->header_len) {
        return EIP93_RD_ERR_LENGTH;
    }
    packet->input_len = length + packet->digest.icv_len;
    packet->payload_len = length - packet->bypass_len - packet->header_len;
    return EIP93_RD_OK;
}

static void plan_state(struct cd_emulator_packet *packet) {
    uint32_t iv_source = EIP93_GET(packet->sa.cmd0, EIP93_SA0_IV_SOURCE);
    if (packet->cipher->iv_len == 0) {
        return;
    }
    packet->state_reads += iv_source == EIP93_SA0_IV_SOURCE_STATE;
    packet->state_writes += (packet->sa.cmd0 & EIP93_SA0_SAVE_IV) != 0;
}

/* Modelled time of the cipher over payload and pad. */
static uint64_t crypt_ticks(const struct cd_eip93_emulator *emulator,
                            const struct cd_emulator_packet *packet) {
    const struct cd_emulator_cipher *cipher = packet->cipher;
    if (cipher->block_ticks == NULL) {
        return 0;
    }
    uint64_t bytes = (uint64_t)packet->payload_len + packet->pad_len;
    return (bytes + cipher->tick_len - 1) / cipher->tick_len *
           cipher->block_ticks(&emulator->cost, packet->key_len);
}

uint32_t cd_emulator_crypt_plan_algorithms(struct cd_eip93_emulator *emulator,
                                           struct cd_emulator_packet *packet, bool hashes) {
    uint32_t iv_source = EIP93_GET(packet->sa.cmd0, EIP93_SA0_IV_SOURCE);
    packet->cipher = cd_emulator_cipher_find(emulator, packet);
    if (packet->cipher != NULL && packet->cipher->iv_len != 0 && packet->inbound &&
        iv_source == EIP93_SA0_IV_SOURCE_PRNG) {
        return EIP93_RD_ERR_OPERATION; /* outbound only, section 5.4 */
    }
    if (packet->cipher != NULL && !packet->inbound && !cd_emulator_padding_is_valid(packet)) {
        return EIP93_RD_ERR_OPERATION; /* [model] */
    }
    uint32_t status = hashes ? cd_emulator_digest_plan(emulator, packet) : EIP93_RD_OK;
    return status == EIP93_RD_OK && packet->cipher == NULL ? EIP93_RD_ERR_ALGORITHM : status;
}

/* Inbound: the whole blocks; outbound: the pad; then what of it is hashed. A status byte. */
static uint32_t plan_blocks(struct cd_emulator_packet *packet) {
    uint32_t status = EIP93_RD_OK;
    if (!packet->inbound) {
        cd_emulator_padding_plan(packet);
    } else if (packet->payload_len % packet->cipher->block_len != 0) {
        packet->payload_len -= packet->payload_len % packet->cipher->block_len;
        status = EIP93_RD_ERR_BLOCK_SIZE;
    }
    uint32_t hash_status = cd_emulator_digest_plan_length(
        packet, packet->header_len + packet->payload_len + packet->pad_len);
    return status != EIP93_RD_OK ? status : hash_status;
}

/* Q1: the tag that stands behind the input. */
static void plan_icv(const struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet) {
    if (emulator->strap_basic_icv_check && packet->inbound && packet->digest.hmac) {
        packet->digest.icv_len = cd_emulator_digest_len(&packet->sa);
    }
}

uint32_t cd_emulator_crypt_lay_out(struct cd_eip93_emulator *emulator,
                                   struct cd_emulator_packet *packet) {
    uint32_t status = plan_blocks(packet);
    packet->output_len = packet->bypass_len + (packet->header_copied ? packet->header_len : 0) +
                         packet->payload_len + packet->pad_len + packet->digest.output_len;
    packet->result_len = packet->output_len;
    plan_state(packet);
    uint64_t cipher_ticks = crypt_ticks(emulator, packet);
    uint64_t hash_ticks = cd_emulator_digest_ticks(emulator, packet); /* both at once */
    packet->process_ticks = cipher_ticks > hash_ticks ? cipher_ticks : hash_ticks;
    return status;
}

uint32_t cd_emulator_crypt_plan(struct cd_eip93_emulator *emulator,
                                struct cd_emulator_packet *packet) {
    bool hashes = packet->operation->opcode == EIP93_OPCODE_CRYPT_HASH;
    uint32_t status = cd_emulator_crypt_plan_algorithms(emulator, packet, hashes);
    if (status == EIP93_RD_OK) {
        plan_icv(emulator, packet);
        status = plan_lengths(packet, hashes);
    }
    return status != EIP93_RD_OK ? status : cd_emulator_crypt_lay_out(emulator, packet);
}

/* What does not fill 16 bytes before the pad goes through a buffer. */
void cd_emulator_crypt_payload(struct cd_eip93_emulator *emulator,
                               struct cd_emulator_packet *packet, uint8_t *out, const uint8_t *in) {
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

/* Inbound: hash header and payload as received and compare the tag, before any output is written
 * over them. Outbound: hash the header. */
static void hash_input(struct cd_emulator_packet *packet) {
    const uint8_t *header = packet->source + packet->bypass_len;
    const struct cd_emulator_digest *digest = &packet->digest;
    cd_emulator_digest_add(packet, header, packet->header_len);
    if (!packet->inbound) {
        return;
    }
    cd_emulator_digest_add(packet, header + packet->header_len, packet->payload_len);
    cd_emulator_digest_end(packet);
    const uint8_t *tag = packet->source + packet->input_len - digest->icv_len;
    if (digest->icv_len != 0 && !cd_emulator_digest_equals(packet, tag, digest->icv_len) &&
        (packet->status & EIP93_RD_EXT_ERR) == 0) {
        packet->status |= EIP93_RD_AUTH_ERR;
    }
}

void cd_emulator_crypt_hash_output(struct cd_emulator_packet *packet, uint8_t *out) {
    uint32_t length = packet->payload_len + packet->pad_len;
    if (!packet->inbound) {
        cd_emulator_digest_add(packet, out, length);
        cd_emulator_digest_end(packet);
    }
    cd_emulator_digest_store(packet, out + length);
}

void cd_emulator_crypt_run(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet) {
    uint8_t *out = packet->destination;
    const uint8_t *in = packet->source;
    if (packet->iv_in_input) {
        cd_emulator_packet_set_iv(packet, in + packet->iv_offset);
    }
    hash_input(packet);
    cd_emulator_packet_move(out, in, packet->bypass_len);
    out += packet->bypass_len;
    in += packet->bypass_len;
    if (packet->header_copied) {
        cd_emulator_packet_move(out, in, packet->header_len);
        out += packet->header_len;
    }
    in += packet->header_len;
    cd_emulator_crypt_payload(emulator, packet, out, in);
    cd_emulator_crypt_hash_output(packet, out);
    packet->pad_value =
        packet->inbound ? 0 : EIP93_GET(packet->command.control, EIP93_CD_PAD_VALUE);
    packet->pad_status = packet->pad_len;
    if (packet->inbound && (packet->status & EIP93_RD_EXT_ERR) == 0) {
        cd_emulator_padding_check(packet, out, packet->payload_len);
    }
}
