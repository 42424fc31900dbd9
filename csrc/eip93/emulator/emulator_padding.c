/*
 * Padding, eip93-hardware.md section 6.2: how much, which bytes, and taking it off again.
 */
#include "eip93/emulator/emulator_internal.h"

#include <string.h>

enum pad_kind {
    PAD_IPSEC = 0,
    PAD_PKCS7 = 1,
    PAD_CONSTANT = 2,
    PAD_ZERO = 3,
    PAD_TLS = 4,
    PAD_SSL = 5,
    PAD_RESERVED = 6,
};

#define PKCS7_MAX 128u

static enum pad_kind kind_of(const struct eip93_sa *sa) {
    static const enum pad_kind plain[4] = {PAD_IPSEC, PAD_PKCS7, PAD_CONSTANT, PAD_ZERO};
    static const enum pad_kind extended[4] = {PAD_RESERVED, PAD_TLS, PAD_SSL, PAD_RESERVED};
    uint32_t type = EIP93_GET(sa->cmd0, EIP93_SA0_PAD_TYPE);
    return (sa->cmd0 & EIP93_SA0_EXT_PAD) != 0 ? extended[type] : plain[type];
}

static bool is_padded(const struct cd_emulator_packet *packet) {
    return packet->cipher->block_len > 1 || packet->is_esp ||
           (packet->sa.cmd0 & EIP93_SA0_SCPAD) != 0;
}

/* Alignment of the padded data in bytes; 0: a reserved PAD_CTRL code. */
static uint32_t alignment(const struct cd_emulator_packet *packet) {
    uint32_t code = EIP93_GET(packet->command.control, EIP93_CD_PAD_CTRL);
    uint32_t block = packet->cipher->block_len;
    if ((code & (code - 1u)) != 0) {
        return 0;
    }
    if (block > 1) {
        return code >= 0x08 ? (2u * code > block ? 2u * code : block) : block;
    }
    switch (code) {
    case 0x01:
        return packet->is_esp ? 4 : 1; /* 1: none but the bytes that must be there */
    case 0x02:
        return 4;
    case 0x00:
    case 0x04:
        return 8;
    default:
        return 2u * code;
    }
}

bool cd_emulator_padding_is_valid(const struct cd_emulator_packet *packet) {
    return !is_padded(packet) || (alignment(packet) != 0 && kind_of(&packet->sa) != PAD_RESERVED);
}

void cd_emulator_padding_plan(struct cd_emulator_packet *packet) {
    if (!is_padded(packet)) {
        return;
    }
    enum pad_kind kind = kind_of(&packet->sa);
    uint32_t align = alignment(packet);
    if (kind == PAD_PKCS7 && align > PKCS7_MAX) {
        align = PKCS7_MAX;
    }
    uint32_t missing = (0u - packet->payload_len) & (align - 1u); /* a power of two */
    switch (kind) {
    case PAD_CONSTANT:
    case PAD_ZERO:
        packet->pad_len = missing;
        break;
    case PAD_IPSEC: /* the count and the next header are always there */
        packet->pad_len = missing;
        while (packet->pad_len < 2) {
            packet->pad_len += align;
        }
        break;
    default: /* one byte at least */
        packet->pad_len = missing != 0 ? missing : align;
        break;
    }
}

void cd_emulator_padding_fill(const struct cd_emulator_packet *packet, uint8_t *out) {
    uint32_t length = packet->pad_len;
    uint8_t value = (uint8_t)EIP93_GET(packet->command.control, EIP93_CD_PAD_VALUE);
    switch (kind_of(&packet->sa)) {
    case PAD_IPSEC:
        for (uint32_t i = 0; i < length - 2; i++) {
            out[i] = (uint8_t)(i + 1);
        }
        out[length - 2] = (uint8_t)(length - 2);
        out[length - 1] = value;
        break;
    case PAD_PKCS7:
        memset(out, (int)length, length);
        break;
    case PAD_TLS:
        memset(out, (int)(length - 1), length);
        break;
    case PAD_SSL:
        memset(out, value, length - 1);
        out[length - 1] = (uint8_t)(length - 1);
        break;
    case PAD_CONSTANT:
        memset(out, value, length);
        break;
    default:
        memset(out, 0, length);
        break;
    }
}

static bool all_are(const uint8_t *bytes, uint32_t length, uint8_t value) {
    uint8_t difference = 0;
    for (uint32_t i = 0; i < length; i++) {
        difference |= (uint8_t)(bytes[i] ^ value);
    }
    return difference == 0;
}

static bool counts_up(const uint8_t *bytes, uint32_t length) {
    uint8_t difference = 0;
    for (uint32_t i = 0; i < length; i++) {
        difference |= (uint8_t)(bytes[i] ^ (i + 1u));
    }
    return difference == 0;
}

/* Length of a correct pad at the end of `payload`; 0: it is wrong. */
static uint32_t verify(enum pad_kind kind, const uint8_t *payload, uint32_t payload_len) {
    const uint8_t *end = payload + payload_len;
    uint32_t length;
    if (payload_len < (kind == PAD_IPSEC ? 2u : 1u)) {
        return 0;
    }
    switch (kind) {
    case PAD_IPSEC:
        length = end[-2] + 2u;
        return length <= payload_len && counts_up(end - length, length - 2) ? length : 0;
    case PAD_PKCS7:
        length = end[-1];
        return length <= PKCS7_MAX && length <= payload_len &&
                       all_are(end - length, length, end[-1])
                   ? length
                   : 0;
    case PAD_TLS:
        length = end[-1] + 1u;
        return length <= payload_len && all_are(end - length, length, end[-1]) ? length : 0;
    default: /* SSL: the bytes may be any */
        length = end[-1] + 1u;
        return length <= payload_len ? length : 0;
    }
}

void cd_emulator_padding_check(struct cd_emulator_packet *packet, const uint8_t *payload,
                               uint32_t payload_len) {
    enum pad_kind kind = kind_of(&packet->sa);
    if (!is_padded(packet) || payload_len == 0 || kind == PAD_CONSTANT || kind == PAD_ZERO ||
        kind == PAD_RESERVED) {
        return;
    }
    uint32_t length = verify(kind, payload, payload_len);
    if (length == 0) {
        packet->status |= EIP93_RD_PAD_ERR;
        return;
    }
    packet->pad_status = length & 0xFFu;
    if (kind == PAD_IPSEC) {
        packet->pad_value = payload[payload_len - 1];
    }
    if ((packet->sa.cmd1 & EIP93_SA1_COPY_PAD) == 0) {
        packet->result_len -= length;
    }
}
