/*
 * ESP with header processing, eip93-hardware.md section 6.7: outbound makes SPI, sequence number,
 * IV and ICV, inbound checks them. Without HDR_PROC, and with 64-bit sequence numbers in the HMAC:
 * not modelled.
 */
#include "eip93/emulator/emulator_internal.h"

#include "base/endian.h"

#define HEADER_IV 8u /* SPI and sequence number go before the IV */
#define PROTOCOL_ESP 50u
#define WINDOW_BITS 64u
#define SA_COUNTER_LEN 8u /* SEQNUM0, SEQNUM1 */
#define SA_WINDOW_LEN 16u /* and the masks */

static uint32_t plan_out(struct cd_emulator_packet *packet, uint32_t length) {
    if (packet->iv_in_input) {
        return EIP93_RD_ERR_OPERATION; /* [model] the engine makes it */
    }
    packet->header_made = true;
    packet->header_copied = true;
    packet->sa_write_len = SA_COUNTER_LEN;
    packet->payload_len = length;
    return EIP93_RD_OK;
}

static uint32_t plan_in(struct cd_emulator_packet *packet, uint32_t length) {
    uint32_t icv_len = packet->digest.hash != NULL ? cd_emulator_digest_len(&packet->sa) : 0;
    if (length % 4 != 0 || length < packet->header_len + icv_len) {
        return EIP93_RD_ERR_LENGTH;
    }
    packet->header_copied = (packet->sa.cmd1 & EIP93_SA1_COPY_HEADER) != 0;
    packet->iv_offset = packet->bypass_len + HEADER_IV;
    packet->digest.icv_len = icv_len;
    packet->payload_len = length - packet->header_len - icv_len;
    return EIP93_RD_OK;
}

uint32_t cd_emulator_esp_plan(struct cd_eip93_emulator *emulator,
                              struct cd_emulator_packet *packet) {
    uint32_t length = EIP93_GET(packet->command.length, EIP93_CD_LENGTH);
    if ((packet->sa.cmd0 & EIP93_SA0_HDR_PROC) == 0) {
        cd_emulator_unimplemented(emulator, packet->sa.cmd0);
        return EIP93_RD_ERR_OPERATION;
    }
    packet->is_esp = true;
    uint32_t status = cd_emulator_crypt_plan_algorithms(emulator, packet, true);
    if (status != EIP93_RD_OK) {
        return status;
    }
    packet->digest.network_order = true; /* Q21 */
    packet->iv_in_input =
        packet->cipher->iv_len != 0 &&
        EIP93_GET(packet->sa.cmd0, EIP93_SA0_IV_SOURCE) == EIP93_SA0_IV_SOURCE_INPUT;
    packet->bypass_len = 4u * EIP93_GET(packet->command.length, EIP93_CD_BYPASS);
    packet->header_len = HEADER_IV + packet->cipher->input_iv_len;
    packet->input_len = length;
    if (length > EIP93_LENGTH_ESP_MAX || length < packet->bypass_len) {
        return EIP93_RD_ERR_LENGTH;
    }
    length -= packet->bypass_len;
    status = packet->inbound ? plan_in(packet, length) : plan_out(packet, length);
    if (status != EIP93_RD_OK) {
        return status;
    }
    status = cd_emulator_crypt_lay_out(emulator, packet);
    packet->state_writes++; /* the SA: costed as a group of the state record [model] */
    return status;
}

/* ---- Outbound ---- */

/* SEQNUM is the number of the packet before this one. */
static void count_up(struct cd_emulator_packet *packet) {
    struct eip93_sa *sa = &packet->sa;
    if (++sa->seqnum0 == 0) {
        sa->seqnum1++;
        if ((sa->cmd1 & EIP93_SA1_EN_SEQNUM_CHK) != 0) {
            packet->status |= EIP93_RD_SEQNUM_ERR;
        }
    }
}

static void make_header(const struct cd_emulator_packet *packet, uint8_t *out) {
    uint32_t iv_len = packet->cipher->input_iv_len;
    cd_store_be32(out, packet->sa.spi);
    cd_store_be32(out + 4, packet->sa.seqnum0);
    /* CTR: what is between nonce and counter */
    memcpy(out + HEADER_IV, packet->iv + (iv_len < packet->cipher->iv_len ? 4 : 0), iv_len);
}

static void run_out(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet) {
    uint8_t *out = packet->destination;
    const uint8_t *in = packet->source;
    count_up(packet);
    cd_emulator_packet_move(out, in, packet->bypass_len);
    out += packet->bypass_len;
    make_header(packet, out);
    cd_emulator_digest_add(packet, out, packet->header_len);
    out += packet->header_len;
    cd_emulator_crypt_payload(emulator, packet, out, in + packet->bypass_len);
    cd_emulator_crypt_hash_output(packet, out);
    packet->pad_status = packet->pad_len;
    packet->pad_value = PROTOCOL_ESP;
}

/* ---- Inbound ---- */

/* Anti-replay: bit i of the window is sequence number SEQNUM0 - i (Q23). Checks without touching
 * the SA where it is not to be touched. */
static void check_sequence(struct cd_emulator_packet *packet, uint32_t number) {
    struct eip93_sa *sa = &packet->sa;
    uint64_t window = (uint64_t)sa->seqnum_mask1 << 32 | sa->seqnum_mask0;
    if ((sa->cmd1 & EIP93_SA1_EN_SEQNUM_CHK) == 0 || (packet->status & EIP93_RD_EXT_ERR) != 0) {
        return;
    }
    if (number > sa->seqnum0) {
        uint32_t distance = number - sa->seqnum0;
        window = distance < WINDOW_BITS ? window << distance : 0;
        window |= 1;
    } else {
        uint32_t age = sa->seqnum0 - number;
        if (age >= WINDOW_BITS || (window >> age & 1) != 0) {
            packet->status |= EIP93_RD_SEQNUM_ERR;
            return;
        }
        window |= UINT64_C(1) << age;
        number = sa->seqnum0;
    }
    if ((packet->status & EIP93_RD_AUTH_ERR) == 0) {
        sa->seqnum0 = number;
        sa->seqnum_mask0 = (uint32_t)window;
        sa->seqnum_mask1 = (uint32_t)(window >> 32);
        packet->sa_write_len = SA_WINDOW_LEN;
    }
}

static void run_in(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet) {
    const uint8_t *header = packet->source + packet->bypass_len;
    uint32_t number = cd_load_be32(header + 4); /* before the output may lie over it */
    if (cd_load_be32(header) != packet->sa.spi) {
        packet->status = EIP93_RD_ERR_SPI;
    }
    cd_emulator_crypt_run(emulator, packet);
    check_sequence(packet, number);
}

void cd_emulator_esp_run(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet) {
    if (packet->inbound) {
        run_in(emulator, packet);
    } else {
        run_out(emulator, packet);
    }
}
