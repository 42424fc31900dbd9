/*
 * AES-NI on one, four and eight blocks in registers, for the files that contain its kernels.
 *
 * Tails of 2 to 8 blocks run as one pass of four or eight lanes: lanes beyond the last block do the
 * last block again, which costs nothing and needs no branch per lane. Round keys are the bytes of
 * FIPS 197 in order. Need CD_AES_AESNI_CPU; exist on x86-64 only.
 */
#ifndef CD_AES_AESNI_VECTORS_H
#define CD_AES_AESNI_VECTORS_H

#include <immintrin.h>

#include "base/target.h"
#include "crypto/aes.h"

#define CD_AESNI_INLINE CD_ALWAYS_INLINE CD_TARGET("aes,ssse3")
#define CD_AESNI_LANES 8u

/* ---- lanes ---- */

/* A schedule of either direction. */
struct cd_aesni_schedule {
    const __m128i *keys;
    uint32_t rounds;
};

CD_AESNI_INLINE struct cd_aesni_schedule cd_aesni_forward_of(const struct cd_aes_encrypt_key *key) {
    return (struct cd_aesni_schedule){(const __m128i *)(const void *)key->words, key->rounds};
}

CD_AESNI_INLINE struct cd_aesni_schedule cd_aesni_backward_of(const struct cd_aes_key *key) {
    return (struct cd_aesni_schedule){(const __m128i *)(const void *)key->decrypt,
                                      key->encrypt.rounds};
}

/* Where a pass of several lanes reads and writes: lane i block i, lanes beyond the last block that
 * block again. */
struct cd_aesni_span {
    uint8_t *out;
    const uint8_t *in;
    size_t last; /* index of the last block */
};

CD_AESNI_INLINE struct cd_aesni_span cd_aesni_span_of(uint8_t *out, const uint8_t *in,
                                                      size_t blocks) {
    return (struct cd_aesni_span){out, in, blocks - 1};
}

CD_AESNI_INLINE size_t cd_aesni_lane_block(struct cd_aesni_span span, size_t lane) {
    return lane < span.last ? lane : span.last;
}

CD_AESNI_INLINE __m128i cd_aesni_load(const uint8_t *block) {
    return _mm_loadu_si128((const __m128i *)(const void *)block);
}

CD_AESNI_INLINE void cd_aesni_store(uint8_t *block, __m128i value) {
    _mm_storeu_si128((__m128i *)(void *)block, value);
}

CD_AESNI_INLINE __m128i cd_aesni_lane_load(struct cd_aesni_span span, size_t lane) {
    return cd_aesni_load(span.in + cd_aesni_lane_block(span, lane) * CD_AES_BLOCK);
}

CD_AESNI_INLINE void cd_aesni_lane_store(struct cd_aesni_span span, size_t lane, __m128i value) {
    cd_aesni_store(span.out + cd_aesni_lane_block(span, lane) * CD_AES_BLOCK, value);
}

struct cd_aesni_four {
    __m128i a, b, c, d;
};

CD_AESNI_INLINE struct cd_aesni_four cd_aesni_four_load(struct cd_aesni_span span, size_t first) {
    return (struct cd_aesni_four){
        cd_aesni_lane_load(span, first), cd_aesni_lane_load(span, first + 1),
        cd_aesni_lane_load(span, first + 2), cd_aesni_lane_load(span, first + 3)};
}

CD_AESNI_INLINE void cd_aesni_four_store(struct cd_aesni_span span, size_t first,
                                         struct cd_aesni_four x) {
    cd_aesni_lane_store(span, first, x.a);
    cd_aesni_lane_store(span, first + 1, x.b);
    cd_aesni_lane_store(span, first + 2, x.c);
    cd_aesni_lane_store(span, first + 3, x.d);
}

CD_AESNI_INLINE struct cd_aesni_four cd_aesni_four_xor(struct cd_aesni_four x,
                                                       struct cd_aesni_four y) {
    return (struct cd_aesni_four){_mm_xor_si128(x.a, y.a), _mm_xor_si128(x.b, y.b),
                                  _mm_xor_si128(x.c, y.c), _mm_xor_si128(x.d, y.d)};
}

CD_AESNI_INLINE struct cd_aesni_four cd_aesni_four_same(__m128i value) {
    return (struct cd_aesni_four){value, value, value, value};
}

CD_AESNI_INLINE struct cd_aesni_four cd_aesni_four_enc(struct cd_aesni_four x, __m128i key) {
    return (struct cd_aesni_four){_mm_aesenc_si128(x.a, key), _mm_aesenc_si128(x.b, key),
                                  _mm_aesenc_si128(x.c, key), _mm_aesenc_si128(x.d, key)};
}

CD_AESNI_INLINE struct cd_aesni_four cd_aesni_four_enc_last(struct cd_aesni_four x, __m128i key) {
    return (struct cd_aesni_four){_mm_aesenclast_si128(x.a, key), _mm_aesenclast_si128(x.b, key),
                                  _mm_aesenclast_si128(x.c, key), _mm_aesenclast_si128(x.d, key)};
}

CD_AESNI_INLINE struct cd_aesni_four cd_aesni_four_dec(struct cd_aesni_four x, __m128i key) {
    return (struct cd_aesni_four){_mm_aesdec_si128(x.a, key), _mm_aesdec_si128(x.b, key),
                                  _mm_aesdec_si128(x.c, key), _mm_aesdec_si128(x.d, key)};
}

CD_AESNI_INLINE struct cd_aesni_four cd_aesni_four_dec_last(struct cd_aesni_four x, __m128i key) {
    return (struct cd_aesni_four){_mm_aesdeclast_si128(x.a, key), _mm_aesdeclast_si128(x.b, key),
                                  _mm_aesdeclast_si128(x.c, key), _mm_aesdeclast_si128(x.d, key)};
}

/* ---- the cipher on one, four and eight blocks ---- */

CD_AESNI_INLINE __m128i cd_aesni_encrypt_one(struct cd_aesni_schedule key, __m128i x) {
    x = _mm_xor_si128(x, key.keys[0]);
    for (uint32_t i = 1; i < key.rounds; i++) {
        x = _mm_aesenc_si128(x, key.keys[i]);
    }
    return _mm_aesenclast_si128(x, key.keys[key.rounds]);
}

CD_AESNI_INLINE __m128i cd_aesni_decrypt_one(struct cd_aesni_schedule key, __m128i x) {
    x = _mm_xor_si128(x, key.keys[0]);
    for (uint32_t i = 1; i < key.rounds; i++) {
        x = _mm_aesdec_si128(x, key.keys[i]);
    }
    return _mm_aesdeclast_si128(x, key.keys[key.rounds]);
}

CD_AESNI_INLINE struct cd_aesni_four cd_aesni_encrypt_four(struct cd_aesni_schedule key,
                                                           struct cd_aesni_four x) {
    x = cd_aesni_four_xor(x, cd_aesni_four_same(key.keys[0]));
    for (uint32_t i = 1; i < key.rounds; i++) {
        x = cd_aesni_four_enc(x, key.keys[i]);
    }
    return cd_aesni_four_enc_last(x, key.keys[key.rounds]);
}

CD_AESNI_INLINE struct cd_aesni_four cd_aesni_decrypt_four(struct cd_aesni_schedule key,
                                                           struct cd_aesni_four x) {
    x = cd_aesni_four_xor(x, cd_aesni_four_same(key.keys[0]));
    for (uint32_t i = 1; i < key.rounds; i++) {
        x = cd_aesni_four_dec(x, key.keys[i]);
    }
    return cd_aesni_four_dec_last(x, key.keys[key.rounds]);
}

struct cd_aesni_eight {
    struct cd_aesni_four low, high;
};

CD_AESNI_INLINE struct cd_aesni_eight cd_aesni_encrypt_eight(struct cd_aesni_schedule key,
                                                             struct cd_aesni_eight x) {
    x.low = cd_aesni_four_xor(x.low, cd_aesni_four_same(key.keys[0]));
    x.high = cd_aesni_four_xor(x.high, cd_aesni_four_same(key.keys[0]));
    for (uint32_t i = 1; i < key.rounds; i++) {
        x.low = cd_aesni_four_enc(x.low, key.keys[i]);
        x.high = cd_aesni_four_enc(x.high, key.keys[i]);
    }
    x.low = cd_aesni_four_enc_last(x.low, key.keys[key.rounds]);
    x.high = cd_aesni_four_enc_last(x.high, key.keys[key.rounds]);
    return x;
}

CD_AESNI_INLINE struct cd_aesni_eight cd_aesni_decrypt_eight(struct cd_aesni_schedule key,
                                                             struct cd_aesni_eight x) {
    x.low = cd_aesni_four_xor(x.low, cd_aesni_four_same(key.keys[0]));
    x.high = cd_aesni_four_xor(x.high, cd_aesni_four_same(key.keys[0]));
    for (uint32_t i = 1; i < key.rounds; i++) {
        x.low = cd_aesni_four_dec(x.low, key.keys[i]);
        x.high = cd_aesni_four_dec(x.high, key.keys[i]);
    }
    x.low = cd_aesni_four_dec_last(x.low, key.keys[key.rounds]);
    x.high = cd_aesni_four_dec_last(x.high, key.keys[key.rounds]);
    return x;
}

CD_AESNI_INLINE struct cd_aesni_eight cd_aesni_eight_load(struct cd_aesni_span span) {
    return (struct cd_aesni_eight){cd_aesni_four_load(span, 0), cd_aesni_four_load(span, 4)};
}

CD_AESNI_INLINE void cd_aesni_eight_store(struct cd_aesni_span span, struct cd_aesni_eight x) {
    cd_aesni_four_store(span, 0, x.low);
    cd_aesni_four_store(span, 4, x.high);
}

#endif
