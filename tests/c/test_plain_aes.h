/*
 * AES for tests, written down from the definitions in FIPS 197: one byte at a time, no tables but
 * S-boxes computed from the field. Shares nothing with the library.
 */
#ifndef TEST_PLAIN_AES_H
#define TEST_PLAIN_AES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint8_t plain_sbox[256], plain_inverse[256];

static inline uint8_t plain_multiply(uint8_t a, uint8_t b) {
    unsigned product = 0, x = a;

    for (int bit = 0; bit < 8; bit++) {
        product ^= (b >> bit & 1) != 0 ? x : 0;
        x = x << 1 ^ ((x & 0x80) != 0 ? 0x11bu : 0);
    }
    return (uint8_t)product;
}

/* Compute the S-boxes; once, before anything else. */
static inline void plain_set_up(void) {
    for (unsigned x = 0; x < 256; x++) {
        unsigned inverse = 0, s = 0x63;

        while (x != 0 && plain_multiply((uint8_t)x, (uint8_t)inverse) != 1) {
            inverse++;
        }
        for (unsigned bit = 0; bit < 8; bit++) {
            unsigned sum = inverse >> bit ^ inverse >> (bit + 4) % 8 ^ inverse >> (bit + 5) % 8 ^
                           inverse >> (bit + 6) % 8 ^ inverse >> (bit + 7) % 8;

            s ^= (sum & 1) << bit;
        }
        plain_sbox[x] = (uint8_t)s;
        plain_inverse[s] = (uint8_t)x;
    }
}

/* 16 * (rounds + 1) bytes of round keys; returns the rounds. */
static inline unsigned plain_expand(uint8_t *out_keys, const uint8_t *key, size_t key_len) {
    unsigned rounds = (unsigned)key_len / 4 + 6;
    uint8_t constant = 1;

    memcpy(out_keys, key, key_len);
    for (size_t i = key_len; i < 16 * (rounds + 1); i += 4) {
        uint8_t word[4];

        memcpy(word, out_keys + i - 4, 4);
        for (size_t j = 0; i % key_len == 0 && j < 4; j++) {
            word[j] = plain_sbox[out_keys[i - 4 + (j + 1) % 4]];
        }
        if (i % key_len == 0) {
            word[0] ^= constant;
            constant = plain_multiply(constant, 2);
        }
        for (size_t j = 0; key_len == 32 && i % 32 == 16 && j < 4; j++) {
            word[j] = plain_sbox[word[j]];
        }
        for (size_t j = 0; j < 4; j++) {
            out_keys[i + j] = (uint8_t)(out_keys[i + j - key_len] ^ word[j]);
        }
    }
    return rounds;
}

static inline void plain_add_round_key(uint8_t *state, const uint8_t *keys, unsigned round) {
    for (size_t i = 0; i < 16; i++) {
        state[i] = (uint8_t)(state[i] ^ keys[16 * round + i]);
    }
}

static inline void plain_mix_columns(uint8_t *state, const uint8_t row[4]) {
    for (size_t column = 0; column < 16; column += 4) {
        uint8_t old[4];

        memcpy(old, state + column, 4);
        for (size_t i = 0; i < 4; i++) {
            state[column + i] = (uint8_t)(plain_multiply(old[0], row[(4 - i) % 4]) ^
                                          plain_multiply(old[1], row[(5 - i) % 4]) ^
                                          plain_multiply(old[2], row[(6 - i) % 4]) ^
                                          plain_multiply(old[3], row[(7 - i) % 4]));
        }
    }
}

/* SubBytes and ShiftRows: `step` is 1, or 3 for the inverse. */
static inline void plain_substitute_and_shift(uint8_t *state, const uint8_t *box, size_t step) {
    uint8_t old[16];

    memcpy(old, state, 16);
    for (size_t i = 0; i < 16; i++) {
        state[i] = box[old[(i + 4 * step * (i % 4)) % 16]];
    }
}

static inline void plain_encrypt(const uint8_t *keys, unsigned rounds, uint8_t *out,
                                 const uint8_t *in) {
    memmove(out, in, 16);
    plain_add_round_key(out, keys, 0);
    for (unsigned round = 1; round <= rounds; round++) {
        plain_substitute_and_shift(out, plain_sbox, 1);
        if (round < rounds) {
            plain_mix_columns(out, (const uint8_t[]){2, 3, 1, 1});
        }
        plain_add_round_key(out, keys, round);
    }
}

static inline void plain_decrypt(const uint8_t *keys, unsigned rounds, uint8_t *out,
                                 const uint8_t *in) {
    memmove(out, in, 16);
    for (unsigned round = rounds; round > 0; round--) {
        plain_add_round_key(out, keys, round);
        if (round < rounds) {
            plain_mix_columns(out, (const uint8_t[]){0x0e, 0x0b, 0x0d, 0x09});
        }
        plain_substitute_and_shift(out, plain_inverse, 3);
    }
    plain_add_round_key(out, keys, 0);
}

static inline void plain_increment(uint8_t counter[16]) {
    for (size_t i = 16; i-- > 0 && ++counter[i] == 0;) {
    }
}

#endif
