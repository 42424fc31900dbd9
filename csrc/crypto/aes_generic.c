/*
 * AES in plain C with large tables: per direction four of 1 KiB, one for each row, so that a round
 * is sixteen look-ups and sixteen exclusive ors. The classic way, and for years the default of
 * many libraries.
 *
 * Timing: this code is not constant time, and does nothing about it. Table indices depend on key
 * and text, so the cache lines it reads do too, over 4 KiB and the inverse S-box; a key can be had
 * from such timings (Bernstein, "Cache-timing attacks on AES", 2005; Osvik, Shamir and Tromer,
 * "Cache attacks and countermeasures", 2006). It is here for comparison: aes_portable.c reads its
 * 1 KiB ahead, aes_fixed.c has no tables at all, AES instructions beat all three.
 */
#include "base/endian.h"
#include "crypto/aes.h"
#include "crypto/aes_modes.h"
#include "crypto/aes_schedule.h"
#include "crypto/aes_tables.h"

static uint32_t substitute(uint32_t word) {
    return (uint32_t)cd_aes_sbox[word & 0xff] | (uint32_t)cd_aes_sbox[word >> 8 & 0xff] << 8 |
           (uint32_t)cd_aes_sbox[word >> 16 & 0xff] << 16 | (uint32_t)cd_aes_sbox[word >> 24] << 24;
}

/* The S-box undoes the inverse S-box inside the tables. */
static uint32_t unmix(uint32_t word) {
    return cd_aes_unmix_tables[0][cd_aes_sbox[word & 0xff]] ^
           cd_aes_unmix_tables[1][cd_aes_sbox[word >> 8 & 0xff]] ^
           cd_aes_unmix_tables[2][cd_aes_sbox[word >> 16 & 0xff]] ^
           cd_aes_unmix_tables[3][cd_aes_sbox[word >> 24]];
}

static void prepare_encrypt(struct cd_aes_encrypt_key *out_key, const uint8_t *key,
                            size_t key_len) {
    cd_aes_schedule_encrypt(out_key, key, key_len, substitute);
}

static void prepare(struct cd_aes_key *out_key, const uint8_t *key, size_t key_len) {
    prepare_encrypt(&out_key->encrypt, key, key_len);
    cd_aes_schedule_decrypt(out_key, unmix);
}

/* One column of a round: SubBytes and ShiftRows (a, b, c, d give one row each), MixColumns,
 * AddRoundKey. Decryption brings its own tables and the rows in the other order. */
static inline uint32_t round_column(const uint32_t tables[4][256], uint32_t a, uint32_t b,
                                    uint32_t c, uint32_t d, uint32_t key) {
    return tables[0][a & 0xff] ^ tables[1][b >> 8 & 0xff] ^ tables[2][c >> 16 & 0xff] ^
           tables[3][d >> 24] ^ key;
}

/* The last round has no MixColumns. */
static inline uint32_t last_column(const uint8_t box[256], uint32_t a, uint32_t b, uint32_t c,
                                   uint32_t d, uint32_t key) {
    return ((uint32_t)box[a & 0xff] | (uint32_t)box[b >> 8 & 0xff] << 8 |
            (uint32_t)box[c >> 16 & 0xff] << 16 | (uint32_t)box[d >> 24] << 24) ^
           key;
}

static void encrypt_block(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in) {
    const uint32_t *words = key->words;
    uint32_t a = cd_load_le32(in) ^ words[0], b = cd_load_le32(in + 4) ^ words[1];
    uint32_t c = cd_load_le32(in + 8) ^ words[2], d = cd_load_le32(in + 12) ^ words[3];

    for (uint32_t round = 1; round < key->rounds; round++) {
        uint32_t next_a, next_b, next_c;

        words += 4;
        next_a = round_column(cd_aes_mix_tables, a, b, c, d, words[0]);
        next_b = round_column(cd_aes_mix_tables, b, c, d, a, words[1]);
        next_c = round_column(cd_aes_mix_tables, c, d, a, b, words[2]);
        d = round_column(cd_aes_mix_tables, d, a, b, c, words[3]);
        a = next_a;
        b = next_b;
        c = next_c;
    }
    words += 4;
    cd_store_le32(out, last_column(cd_aes_sbox, a, b, c, d, words[0]));
    cd_store_le32(out + 4, last_column(cd_aes_sbox, b, c, d, a, words[1]));
    cd_store_le32(out + 8, last_column(cd_aes_sbox, c, d, a, b, words[2]));
    cd_store_le32(out + 12, last_column(cd_aes_sbox, d, a, b, c, words[3]));
}

/* The equivalent inverse cipher. */
static void decrypt_block(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in) {
    const uint32_t *words = key->decrypt;
    uint32_t a = cd_load_le32(in) ^ words[0], b = cd_load_le32(in + 4) ^ words[1];
    uint32_t c = cd_load_le32(in + 8) ^ words[2], d = cd_load_le32(in + 12) ^ words[3];

    for (uint32_t round = 1; round < key->encrypt.rounds; round++) {
        uint32_t next_a, next_b, next_c;

        words += 4;
        next_a = round_column(cd_aes_unmix_tables, a, d, c, b, words[0]);
        next_b = round_column(cd_aes_unmix_tables, b, a, d, c, words[1]);
        next_c = round_column(cd_aes_unmix_tables, c, b, a, d, words[2]);
        d = round_column(cd_aes_unmix_tables, d, c, b, a, words[3]);
        a = next_a;
        b = next_b;
        c = next_c;
    }
    words += 4;
    cd_store_le32(out, last_column(cd_aes_inverse_sbox, a, d, c, b, words[0]));
    cd_store_le32(out + 4, last_column(cd_aes_inverse_sbox, b, a, d, c, words[1]));
    cd_store_le32(out + 8, last_column(cd_aes_inverse_sbox, c, b, a, d, words[2]));
    cd_store_le32(out + 12, last_column(cd_aes_inverse_sbox, d, c, b, a, words[3]));
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

static void cbc_encrypt(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks, uint8_t iv[CD_AES_BLOCK]) {
    cd_aes_modes_cbc_encrypt(encrypt_blocks, key, out, in, blocks, iv);
}

static void cbc_decrypt(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks, uint8_t iv[CD_AES_BLOCK]) {
    cd_aes_modes_cbc_decrypt(decrypt_blocks, key, out, in, blocks, iv);
}

static void ctr(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                size_t length, uint8_t counter[CD_AES_BLOCK]) {
    cd_aes_modes_ctr(encrypt_blocks, key, out, in, length, counter);
}

const struct cd_aes_functions cd_aes_generic = {
    .name = "generic",
    .cpu = 0,
    .prepare_encrypt = prepare_encrypt,
    .prepare = prepare,
    .ecb_encrypt = encrypt_blocks,
    .ecb_decrypt = decrypt_blocks,
    .cbc_encrypt = cbc_encrypt,
    .cbc_decrypt = cbc_decrypt,
    .ctr = ctr,
};
