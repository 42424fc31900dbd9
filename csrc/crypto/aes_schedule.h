/*
 * Key expansion of AES (FIPS 197 sections 5.2 and 5.3.5), written once for the backends in plain C.
 *
 * Each brings its own way of computing the S-box; nothing else here depends on key bytes in time.
 * Words hold a column with its first row in the low byte.
 */
#ifndef CD_AES_SCHEDULE_H
#define CD_AES_SCHEDULE_H

#include <assert.h>

#include "base/endian.h"
#include "crypto/aes.h"

static inline uint32_t cd_aes_rotate_left(uint32_t word, unsigned bits) {
    return word << bits | word >> (32 - bits);
}

/* `substitute`: SubBytes of the four bytes of a word. */
static inline void cd_aes_schedule_encrypt(struct cd_aes_encrypt_key *out_key, const uint8_t *key,
                                           size_t key_len, uint32_t (*substitute)(uint32_t word)) {
    size_t key_words = key_len / 4, total = 4 * (key_words + 7);
    uint32_t *words = out_key->words;
    uint32_t round_constant = 1;

    assert(key_len == 16 || key_len == 24 || key_len == 32);
    out_key->rounds = (uint32_t)key_words + 6;
    for (size_t i = 0; i < key_words; i++) {
        words[i] = cd_load_le32(key + 4 * i);
    }
    for (size_t i = key_words; i < total; i++) {
        uint32_t word = words[i - 1];

        if (i % key_words == 0) {
            word = substitute(cd_aes_rotate_left(word, 24)) ^ round_constant;
            round_constant = (round_constant << 1 ^ (round_constant >> 7) * 0x11b) & 0xff;
        } else if (key_words == 8 && i % 8 == 4) {
            word = substitute(word);
        }
        words[i] = words[i - key_words] ^ word;
    }
}

/* From the finished encryption half: the schedule of the equivalent inverse cipher in the order of
 * use. `unmix`: InvMixColumns of a column. */
static inline void cd_aes_schedule_decrypt(struct cd_aes_key *key,
                                           uint32_t (*unmix)(uint32_t word)) {
    const uint32_t *words = key->encrypt.words;
    uint32_t rounds = key->encrypt.rounds;

    for (uint32_t round = 0; round <= rounds; round++) {
        for (uint32_t column = 0; column < 4; column++) {
            uint32_t word = words[4 * (rounds - round) + column];
            bool inner = round > 0 && round < rounds;

            key->decrypt[4 * round + column] = inner ? unmix(word) : word;
        }
    }
}

#endif
