/*
 * AES in plain C with small tables, for every CPU.
 *
 * Timing: this code is not constant time. Table indices depend on key and text, so the cache lines
 * it reads do too. Each call reads every line of the tables it is going to use first. That makes
 * the first lookups hit and takes away the coarse signal of a cold table; on a CPU whose
 * first-level data cache nobody else uses meanwhile, that is most of the leak. It does not help
 * against a neighbour on the same core, an interrupt or a preemption that evicts lines in the
 * middle of a call, nor against cache-bank and line-offset effects, which remain with warm tables.
 * Where others can measure this process, use AES instructions.
 *
 * Words hold a column with its first row in the low byte, so round keys are the bytes of FIPS 197
 * loaded little-endian.
 */
#include "base/endian.h"
#include "crypto/aes.h"
#include "crypto/aes_modes.h"
#include "crypto/aes_schedule.h"
#include "crypto/aes_tables.h"

#define CACHE_LINE 32u /* bytes; the smallest line of the CPUs in view, tables start at one */

static void touch(const void *table, size_t size) {
    const volatile uint8_t *bytes = table;

    for (size_t i = 0; i < size; i += CACHE_LINE) {
        (void)bytes[i];
    }
}

static void touch_encrypt(void) {
    touch(cd_aes_mix_table, sizeof cd_aes_mix_table);
}

static void touch_decrypt(void) {
    touch(cd_aes_unmix_table, sizeof cd_aes_unmix_table);
    touch(cd_aes_inverse_sbox, sizeof cd_aes_inverse_sbox);
}

static uint32_t substitute(uint32_t word) {
    return (uint32_t)cd_aes_sbox[word & 0xff] | (uint32_t)cd_aes_sbox[word >> 8 & 0xff] << 8 |
           (uint32_t)cd_aes_sbox[word >> 16 & 0xff] << 16 | (uint32_t)cd_aes_sbox[word >> 24] << 24;
}

static void prepare_encrypt(struct cd_aes_encrypt_key *out_key, const uint8_t *key,
                            size_t key_len) {
    touch(cd_aes_sbox, sizeof cd_aes_sbox);
    cd_aes_schedule_encrypt(out_key, key, key_len, substitute);
}

/* InvMixColumns of a column; the S-box undoes the inverse S-box inside the table. */
static uint32_t unmix(uint32_t word) {
    return cd_aes_unmix_table[cd_aes_sbox[word & 0xff]] ^
           cd_aes_rotate_left(cd_aes_unmix_table[cd_aes_sbox[word >> 8 & 0xff]], 8) ^
           cd_aes_rotate_left(cd_aes_unmix_table[cd_aes_sbox[word >> 16 & 0xff]], 16) ^
           cd_aes_rotate_left(cd_aes_unmix_table[cd_aes_sbox[word >> 24]], 24);
}

static void prepare(struct cd_aes_key *out_key, const uint8_t *key, size_t key_len) {
    prepare_encrypt(&out_key->encrypt, key, key_len);
    touch(cd_aes_unmix_table, sizeof cd_aes_unmix_table);
    cd_aes_schedule_decrypt(out_key, unmix);
}

/* One column of a round: SubBytes, ShiftRows (a, b, c, d give one row each), MixColumns,
 * AddRoundKey. */
static inline uint32_t mix_round(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t key) {
    return cd_aes_mix_table[a & 0xff] ^ cd_aes_rotate_left(cd_aes_mix_table[b >> 8 & 0xff], 8) ^
           cd_aes_rotate_left(cd_aes_mix_table[c >> 16 & 0xff], 16) ^
           cd_aes_rotate_left(cd_aes_mix_table[d >> 24], 24) ^ key;
}

/* The last round, without MixColumns: byte 1 of the table is the S-box. */
static inline uint32_t last_round(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t key) {
    return (cd_aes_mix_table[a & 0xff] >> 8 & 0xff) ^ (cd_aes_mix_table[b >> 8 & 0xff] & 0xff00) ^
           (cd_aes_mix_table[c >> 16 & 0xff] << 8 & 0xff0000) ^
           (cd_aes_mix_table[d >> 24] << 16 & 0xff000000) ^ key;
}

static void encrypt_block(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in) {
    const uint32_t *words = key->words;
    uint32_t a = cd_load_le32(in) ^ words[0], b = cd_load_le32(in + 4) ^ words[1];
    uint32_t c = cd_load_le32(in + 8) ^ words[2], d = cd_load_le32(in + 12) ^ words[3];

    for (uint32_t round = 1; round < key->rounds; round++) {
        uint32_t next_a, next_b, next_c;

        words += 4;
        next_a = mix_round(a, b, c, d, words[0]);
        next_b = mix_round(b, c, d, a, words[1]);
        next_c = mix_round(c, d, a, b, words[2]);
        d = mix_round(d, a, b, c, words[3]);
        a = next_a;
        b = next_b;
        c = next_c;
    }
    words += 4;
    cd_store_le32(out, last_round(a, b, c, d, words[0]));
    cd_store_le32(out + 4, last_round(b, c, d, a, words[1]));
    cd_store_le32(out + 8, last_round(c, d, a, b, words[2]));
    cd_store_le32(out + 12, last_round(d, a, b, c, words[3]));
}

/* One column of a round of the equivalent inverse cipher; rows shift the other way. */
static inline uint32_t unmix_round(uint32_t a, uint32_t d, uint32_t c, uint32_t b, uint32_t key) {
    return cd_aes_unmix_table[a & 0xff] ^ cd_aes_rotate_left(cd_aes_unmix_table[d >> 8 & 0xff], 8) ^
           cd_aes_rotate_left(cd_aes_unmix_table[c >> 16 & 0xff], 16) ^
           cd_aes_rotate_left(cd_aes_unmix_table[b >> 24], 24) ^ key;
}

static inline uint32_t last_inverse(uint32_t a, uint32_t d, uint32_t c, uint32_t b, uint32_t key) {
    return (cd_aes_inverse_sbox[a & 0xff] | (uint32_t)cd_aes_inverse_sbox[d >> 8 & 0xff] << 8 |
            (uint32_t)cd_aes_inverse_sbox[c >> 16 & 0xff] << 16 |
            (uint32_t)cd_aes_inverse_sbox[b >> 24] << 24) ^
           key;
}

static void decrypt_block(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in) {
    const uint32_t *words = key->decrypt;
    uint32_t a = cd_load_le32(in) ^ words[0], b = cd_load_le32(in + 4) ^ words[1];
    uint32_t c = cd_load_le32(in + 8) ^ words[2], d = cd_load_le32(in + 12) ^ words[3];

    for (uint32_t round = 1; round < key->encrypt.rounds; round++) {
        uint32_t next_a, next_b, next_c;

        words += 4;
        next_a = unmix_round(a, d, c, b, words[0]);
        next_b = unmix_round(b, a, d, c, words[1]);
        next_c = unmix_round(c, b, a, d, words[2]);
        d = unmix_round(d, c, b, a, words[3]);
        a = next_a;
        b = next_b;
        c = next_c;
    }
    words += 4;
    cd_store_le32(out, last_inverse(a, d, c, b, words[0]));
    cd_store_le32(out + 4, last_inverse(b, a, d, c, words[1]));
    cd_store_le32(out + 8, last_inverse(c, b, a, d, words[2]));
    cd_store_le32(out + 12, last_inverse(d, c, b, a, words[3]));
}

static void encrypt_blocks(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                           size_t blocks) {
    for (size_t i = 0; i < blocks; i++) {
        encrypt_block(key, out + i * CD_AES_BLOCK, in + i * CD_AES_BLOCK);
    }
}

static void decrypt_blocks(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in,
                           size_t blocks) {
    for (size_t i = 0; i < blocks; i++) {
        decrypt_block(key, out + i * CD_AES_BLOCK, in + i * CD_AES_BLOCK);
    }
}

static void ecb_encrypt(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks) {
    touch_encrypt();
    encrypt_blocks(key, out, in, blocks);
}

static void ecb_decrypt(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks) {
    touch_decrypt();
    decrypt_blocks(key, out, in, blocks);
}

static void cbc_encrypt(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks, uint8_t iv[CD_AES_BLOCK]) {
    touch_encrypt();
    cd_aes_modes_cbc_encrypt(encrypt_blocks, key, out, in, blocks, iv);
}

static void cbc_decrypt(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks, uint8_t iv[CD_AES_BLOCK]) {
    touch_decrypt();
    cd_aes_modes_cbc_decrypt(decrypt_blocks, key, out, in, blocks, iv);
}

static void ctr(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                size_t length, uint8_t counter[CD_AES_BLOCK]) {
    touch_encrypt();
    cd_aes_modes_ctr(encrypt_blocks, key, out, in, length, counter);
}

const struct cd_aes_functions cd_aes_portable = {
    .name = "lib",
    .cpu = 0,
    .prepare_encrypt = prepare_encrypt,
    .prepare = prepare,
    .ecb_encrypt = ecb_encrypt,
    .ecb_decrypt = ecb_decrypt,
    .cbc_encrypt = cbc_encrypt,
    .cbc_decrypt = cbc_decrypt,
    .ctr = ctr,
};
