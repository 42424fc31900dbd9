/*
 * Ciphers: the table that SA_CMD0 and SA_CMD1 select from, on top of crypto/.
 *
 * The key is read from the SA of every packet; only its expansion is kept from one packet to the
 * next, and only while the key bytes stay the same.
 */
#include "eip93/emulator/emulator_internal.h"

#include "base/endian.h"
#include "base/secure.h"

#include <string.h>

#define COUNTER_CTR_BYTES 4u /* section 6.3: the counter is the last 32 bits */
#define COUNTER_ICM_BYTES 2u /* Q25 */

/* True if the schedule is that of the packet's key already; if not, it is noted as such. */
static bool is_expanded(struct cd_eip93_emulator *emulator, const struct cd_emulator_packet *packet,
                        bool decrypt) {
    struct cd_emulator_schedule *schedule = &emulator->schedule;
    if (schedule->key_len == packet->key_len && schedule->cipher == packet->cipher->cipher &&
        (schedule->has_decrypt || !decrypt) &&
        memcmp(schedule->bytes, packet->sa.key, packet->key_len) == 0) {
        return true;
    }
    memcpy(schedule->bytes, packet->sa.key, packet->key_len);
    schedule->key_len = packet->key_len;
    schedule->cipher = packet->cipher->cipher;
    schedule->has_decrypt = decrypt;
    return false;
}

static const struct cd_aes_key *aes_key(struct cd_eip93_emulator *emulator,
                                        const struct cd_emulator_packet *packet, bool decrypt) {
    struct cd_aes_key *key = &emulator->schedule.key.aes;
    if (!is_expanded(emulator, packet, decrypt)) {
        if (decrypt) {
            emulator->aes->prepare(key, packet->sa.key, packet->key_len);
        } else {
            emulator->aes->prepare_encrypt(&key->encrypt, packet->sa.key, packet->key_len);
        }
    }
    return key;
}

static const struct cd_des_key *des_key(struct cd_eip93_emulator *emulator,
                                        const struct cd_emulator_packet *packet) {
    if (!is_expanded(emulator, packet, true)) {
        cd_des_portable.prepare(&emulator->schedule.key.des, packet->sa.key);
    }
    return &emulator->schedule.key.des;
}

static const struct cd_des3_key *des3_key(struct cd_eip93_emulator *emulator,
                                          const struct cd_emulator_packet *packet) {
    if (!is_expanded(emulator, packet, true)) {
        cd_des3_portable.prepare(&emulator->schedule.key.des3, packet->sa.key);
    }
    return &emulator->schedule.key.des3;
}

void cd_emulator_cipher_wipe(struct cd_eip93_emulator *emulator) {
    cd_wipe(&emulator->schedule, sizeof emulator->schedule);
}

static void run_aes_ecb(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet,
                        uint8_t *out, const uint8_t *in, size_t length) {
    const struct cd_aes_key *key = aes_key(emulator, packet, packet->inbound);
    if (packet->inbound) {
        emulator->aes->ecb_decrypt(key, out, in, length / CD_AES_BLOCK);
    } else {
        emulator->aes->ecb_encrypt(&key->encrypt, out, in, length / CD_AES_BLOCK);
    }
}

static void run_aes_cbc(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet,
                        uint8_t *out, const uint8_t *in, size_t length) {
    const struct cd_aes_key *key = aes_key(emulator, packet, packet->inbound);
    if (packet->inbound) {
        emulator->aes->cbc_decrypt(key, out, in, length / CD_AES_BLOCK, packet->iv);
    } else {
        emulator->aes->cbc_encrypt(&key->encrypt, out, in, length / CD_AES_BLOCK, packet->iv);
    }
}

/* CTR whose counter is the last `counter_bytes` of the block and wraps without carry. */
static void run_counter(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet,
                        uint8_t *out, const uint8_t *in, size_t length, size_t counter_bytes) {
    const struct cd_aes_key *key = aes_key(emulator, packet, false);
    const uint32_t mask = counter_bytes == 4 ? 0xFFFFFFFFu : 0xFFFFu;
    const size_t fixed = CD_AES_BLOCK - counter_bytes;
    uint8_t block[CD_AES_BLOCK];
    memcpy(block, packet->iv, sizeof block);
    while (length != 0) {
        uint32_t counter = cd_load_be32(packet->iv + 12) & mask;
        uint64_t room = ((uint64_t)mask + 1u - counter) * CD_AES_BLOCK;
        size_t piece = length < room ? length : (size_t)room;
        emulator->aes->ctr(&key->encrypt, out, in, piece, packet->iv);
        memcpy(packet->iv, block, fixed); /* a carry ends here */
        out += piece;
        in += piece;
        length -= piece;
    }
}

static void run_aes_ctr(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet,
                        uint8_t *out, const uint8_t *in, size_t length) {
    run_counter(emulator, packet, out, in, length, COUNTER_CTR_BYTES);
}

static void run_aes_icm(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet,
                        uint8_t *out, const uint8_t *in, size_t length) {
    run_counter(emulator, packet, out, in, length, COUNTER_ICM_BYTES);
}

static void run_des_ecb(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet,
                        uint8_t *out, const uint8_t *in, size_t length) {
    const struct cd_des_key *key = des_key(emulator, packet);
    if (packet->inbound) {
        cd_des_portable.ecb_decrypt(key, out, in, length / CD_DES_BLOCK);
    } else {
        cd_des_portable.ecb_encrypt(key, out, in, length / CD_DES_BLOCK);
    }
}

static void run_des_cbc(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet,
                        uint8_t *out, const uint8_t *in, size_t length) {
    const struct cd_des_key *key = des_key(emulator, packet);
    if (packet->inbound) {
        cd_des_portable.cbc_decrypt(key, out, in, length / CD_DES_BLOCK, packet->iv);
    } else {
        cd_des_portable.cbc_encrypt(key, out, in, length / CD_DES_BLOCK, packet->iv);
    }
}

static void run_des3_ecb(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet,
                         uint8_t *out, const uint8_t *in, size_t length) {
    const struct cd_des3_key *key = des3_key(emulator, packet);
    if (packet->inbound) {
        cd_des3_portable.ecb_decrypt(key, out, in, length / CD_DES_BLOCK);
    } else {
        cd_des3_portable.ecb_encrypt(key, out, in, length / CD_DES_BLOCK);
    }
}

static void run_des3_cbc(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet,
                         uint8_t *out, const uint8_t *in, size_t length) {
    const struct cd_des3_key *key = des3_key(emulator, packet);
    if (packet->inbound) {
        cd_des3_portable.cbc_decrypt(key, out, in, length / CD_DES_BLOCK, packet->iv);
    } else {
        cd_des3_portable.cbc_encrypt(key, out, in, length / CD_DES_BLOCK, packet->iv);
    }
}

static void run_null(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet,
                     uint8_t *out, const uint8_t *in, size_t length) {
    (void)emulator;
    (void)packet;
    if (out != in) {
        memcpy(out, in, length);
    }
}

static uint32_t aes_ticks(const struct cd_eip93_cost *cost, uint32_t key_len) {
    return cost->aes_block_ticks[key_len / 8u - 2u];
}

static uint32_t des_ticks(const struct cd_eip93_cost *cost, uint32_t key_len) {
    return key_len == EIP93_KEY_DES ? cost->des_block_ticks : cost->des3_block_ticks;
}

static const struct cd_emulator_cipher ciphers[] = {
    {EIP93_SA0_CIPHER_DES, EIP93_SA1_CIPHER_MODE_ECB, EIP93_OPTION_TDES, 8, 0, 0, 8, des_ticks,
     run_des_ecb},
    {EIP93_SA0_CIPHER_DES, EIP93_SA1_CIPHER_MODE_CBC, EIP93_OPTION_TDES, 8, 8, 8, 8, des_ticks,
     run_des_cbc},
    {EIP93_SA0_CIPHER_3DES, EIP93_SA1_CIPHER_MODE_ECB, EIP93_OPTION_TDES, 8, 0, 0, 8, des_ticks,
     run_des3_ecb},
    {EIP93_SA0_CIPHER_3DES, EIP93_SA1_CIPHER_MODE_CBC, EIP93_OPTION_TDES, 8, 8, 8, 8, des_ticks,
     run_des3_cbc},
    {EIP93_SA0_CIPHER_AES, EIP93_SA1_CIPHER_MODE_ECB, EIP93_OPTION_AES, 16, 0, 0, 16, aes_ticks,
     run_aes_ecb},
    {EIP93_SA0_CIPHER_AES, EIP93_SA1_CIPHER_MODE_CBC, EIP93_OPTION_AES, 16, 16, 16, 16, aes_ticks,
     run_aes_cbc},
    {EIP93_SA0_CIPHER_AES, EIP93_SA1_CIPHER_MODE_CTR, EIP93_OPTION_AES, 1, 16, 8, 16, aes_ticks,
     run_aes_ctr},
    {EIP93_SA0_CIPHER_AES, EIP93_SA1_CIPHER_MODE_ICM, EIP93_OPTION_AES, 1, 16, 16, 16, aes_ticks,
     run_aes_icm},
    {EIP93_SA0_CIPHER_NULL, CD_EMULATOR_ANY_MODE, 0, 1, 0, 0, 1, NULL, run_null},
};

/* Key length of an AES SA in bytes; 0: reserved, not offered, or a form that is not modelled. */
static uint32_t aes_key_len(struct cd_eip93_emulator *emulator, const struct eip93_sa *sa) {
    uint32_t code = EIP93_GET(sa->cmd1, EIP93_SA1_AES_KEY_LENGTH);
    if (code < EIP93_SA1_AES_KEY_LENGTH_128 || code > EIP93_SA1_AES_KEY_LENGTH_256 ||
        (emulator->option_1 & EIP93_OPTION_AES_KEY128 << (code - 2u)) == 0) {
        return 0;
    }
    if ((sa->cmd1 & EIP93_SA1_AES_DEC_KEY) != 0) {
        cd_emulator_unimplemented(emulator, sa->cmd1);
        return 0;
    }
    return 8u * code;
}

/* Key length in bytes; 0: no such key. */
static uint32_t key_len(struct cd_eip93_emulator *emulator, const struct cd_emulator_cipher *row,
                        const struct eip93_sa *sa) {
    switch (row->cipher) {
    case EIP93_SA0_CIPHER_DES:
        return EIP93_KEY_DES;
    case EIP93_SA0_CIPHER_3DES:
        return EIP93_KEY_3DES;
    default:
        return aes_key_len(emulator, sa);
    }
}

const struct cd_emulator_cipher *cd_emulator_cipher_find(struct cd_eip93_emulator *emulator,
                                                         struct cd_emulator_packet *packet) {
    uint32_t cipher = EIP93_GET(packet->sa.cmd0, EIP93_SA0_CIPHER);
    uint32_t mode = EIP93_GET(packet->sa.cmd1, EIP93_SA1_CIPHER_MODE);
    for (size_t i = 0; i < sizeof ciphers / sizeof ciphers[0]; i++) {
        const struct cd_emulator_cipher *row = &ciphers[i];
        if (row->cipher != cipher || (row->mode != mode && row->mode != CD_EMULATOR_ANY_MODE)) {
            continue;
        }
        if (cipher == EIP93_SA0_CIPHER_NULL) {
            return row;
        }
        packet->key_len =
            (row->option & ~emulator->option_1) == 0 ? key_len(emulator, row, &packet->sa) : 0;
        return packet->key_len != 0 ? row : NULL;
    }
    if (cipher == EIP93_SA0_CIPHER_ARC4 && (emulator->option_1 & EIP93_OPTION_ARC4) != 0) {
        cd_emulator_unimplemented(emulator, packet->sa.cmd0); /* the chip has it, this does not */
    }
    return NULL;
}
