/*
 * AES-CBC encryption of many records, sixteen at once with the 256-bit VAES instructions: two
 * records per register. The upper register halves are left clean, as in aes_vaes.c.
 */
#include "crypto/x86/aes_lanes_x86.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/target.h"

#define KERNEL CD_TARGET("vaes,avx2,aes")
#define INLINE CD_ALWAYS_INLINE KERNEL

struct eight {
    __m256i a, b, c, d, e, f, g, h;
};

/* Two blocks from two places. The second by way of memory: VINSERTI128 from memory needs no shuffle
 * port. */
INLINE __m256i join(const uint8_t *low, const uint8_t *high) {
    __m128i first = _mm_loadu_si128((const __m128i *)(const void *)low);
    __m128i second = _mm_loadu_si128((const __m128i *)(const void *)high);

    return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}

INLINE void split(uint8_t *out_low, uint8_t *out_high, __m256i value) {
    _mm_storeu_si128((__m128i *)(void *)out_low, _mm256_castsi256_si128(value));
    _mm_storeu_si128((__m128i *)(void *)out_high, _mm256_extracti128_si256(value, 1));
}

INLINE __m256i chain_join(const struct cd_aes_lanes *lanes, size_t pair) {
    return join(lanes->chain[2 * pair], lanes->chain[2 * pair + 1]);
}

INLINE struct eight chain_load(const struct cd_aes_lanes *lanes) {
    return (struct eight){chain_join(lanes, 0), chain_join(lanes, 1), chain_join(lanes, 2),
                          chain_join(lanes, 3), chain_join(lanes, 4), chain_join(lanes, 5),
                          chain_join(lanes, 6), chain_join(lanes, 7)};
}

INLINE void chain_split(struct cd_aes_lanes *lanes, size_t pair, __m256i value) {
    split(lanes->chain[2 * pair], lanes->chain[2 * pair + 1], value);
}

INLINE void chain_store(struct cd_aes_lanes *lanes, struct eight x) {
    chain_split(lanes, 0, x.a);
    chain_split(lanes, 1, x.b);
    chain_split(lanes, 2, x.c);
    chain_split(lanes, 3, x.d);
    chain_split(lanes, 4, x.e);
    chain_split(lanes, 5, x.f);
    chain_split(lanes, 6, x.g);
    chain_split(lanes, 7, x.h);
}

INLINE __m256i text_join(const struct cd_aes_lanes *lanes, size_t pair, size_t offset) {
    return join(lanes->in[2 * pair] + offset, lanes->in[2 * pair + 1] + offset);
}

INLINE struct eight text_load(const struct cd_aes_lanes *lanes, size_t offset) {
    return (struct eight){text_join(lanes, 0, offset), text_join(lanes, 1, offset),
                          text_join(lanes, 2, offset), text_join(lanes, 3, offset),
                          text_join(lanes, 4, offset), text_join(lanes, 5, offset),
                          text_join(lanes, 6, offset), text_join(lanes, 7, offset)};
}

INLINE void text_split(const struct cd_aes_lanes *lanes, size_t pair, size_t offset,
                       __m256i value) {
    split(lanes->out[2 * pair] + offset, lanes->out[2 * pair + 1] + offset, value);
}

INLINE void text_store(const struct cd_aes_lanes *lanes, size_t offset, struct eight x) {
    text_split(lanes, 0, offset, x.a);
    text_split(lanes, 1, offset, x.b);
    text_split(lanes, 2, offset, x.c);
    text_split(lanes, 3, offset, x.d);
    text_split(lanes, 4, offset, x.e);
    text_split(lanes, 5, offset, x.f);
    text_split(lanes, 6, offset, x.g);
    text_split(lanes, 7, offset, x.h);
}

INLINE struct eight eight_xor(struct eight x, struct eight y) {
    return (struct eight){_mm256_xor_si256(x.a, y.a), _mm256_xor_si256(x.b, y.b),
                          _mm256_xor_si256(x.c, y.c), _mm256_xor_si256(x.d, y.d),
                          _mm256_xor_si256(x.e, y.e), _mm256_xor_si256(x.f, y.f),
                          _mm256_xor_si256(x.g, y.g), _mm256_xor_si256(x.h, y.h)};
}

INLINE struct eight eight_enc(struct eight x, struct eight keys) {
    return (struct eight){_mm256_aesenc_epi128(x.a, keys.a), _mm256_aesenc_epi128(x.b, keys.b),
                          _mm256_aesenc_epi128(x.c, keys.c), _mm256_aesenc_epi128(x.d, keys.d),
                          _mm256_aesenc_epi128(x.e, keys.e), _mm256_aesenc_epi128(x.f, keys.f),
                          _mm256_aesenc_epi128(x.g, keys.g), _mm256_aesenc_epi128(x.h, keys.h)};
}

INLINE struct eight eight_enc_last(struct eight x, struct eight keys) {
    return (struct eight){
        _mm256_aesenclast_epi128(x.a, keys.a), _mm256_aesenclast_epi128(x.b, keys.b),
        _mm256_aesenclast_epi128(x.c, keys.c), _mm256_aesenclast_epi128(x.d, keys.d),
        _mm256_aesenclast_epi128(x.e, keys.e), _mm256_aesenclast_epi128(x.f, keys.f),
        _mm256_aesenclast_epi128(x.g, keys.g), _mm256_aesenclast_epi128(x.h, keys.h)};
}

/* One round's key for all lanes. */
INLINE struct eight same_key(const struct cd_aes_lanes *lanes, uint32_t round) {
    const __m128i *keys = (const __m128i *)(const void *)lanes->key[0]->words;
    __m256i key = _mm256_broadcastsi128_si256(keys[round]);

    return (struct eight){key, key, key, key, key, key, key, key};
}

INLINE __m256i pair_key(const struct cd_aes_lanes *lanes, size_t pair, uint32_t round) {
    return *(const __m256i *)(const void *)lanes->pair_keys[pair][round];
}

/* One round's key of each lane. */
INLINE struct eight lane_keys(const struct cd_aes_lanes *lanes, uint32_t round) {
    return (struct eight){pair_key(lanes, 0, round), pair_key(lanes, 1, round),
                          pair_key(lanes, 2, round), pair_key(lanes, 3, round),
                          pair_key(lanes, 4, round), pair_key(lanes, 5, round),
                          pair_key(lanes, 6, round), pair_key(lanes, 7, round)};
}

INLINE struct eight keys_of(const struct cd_aes_lanes *lanes, bool mixed, uint32_t round) {
    return mixed ? lane_keys(lanes, round) : same_key(lanes, round);
}

/* `mixed` is a constant. The number of rounds without the last is odd: one, then two by two, as in
 * aes_vaes.c. */
INLINE void encrypt(struct cd_aes_lanes *lanes, bool mixed, uint32_t rounds, size_t blocks) {
    struct eight x = chain_load(lanes);

    for (size_t offset = 0; offset < blocks * CD_AES_BLOCK; offset += CD_AES_BLOCK) {
        x = eight_xor(x, eight_xor(text_load(lanes, offset), keys_of(lanes, mixed, 0)));
        x = eight_enc(x, keys_of(lanes, mixed, 1));
        for (uint32_t i = 2; i < rounds; i += 2) {
            x = eight_enc(x, keys_of(lanes, mixed, i));
            x = eight_enc(x, keys_of(lanes, mixed, i + 1));
        }
        x = eight_enc_last(x, keys_of(lanes, mixed, rounds));
        text_store(lanes, offset, x);
    }
    chain_store(lanes, x);
    _mm256_zeroupper();
}

KERNEL static void wide_same(struct cd_aes_lanes *lanes, uint32_t rounds, size_t blocks) {
    encrypt(lanes, false, rounds, blocks);
}

KERNEL static void wide_mixed(struct cd_aes_lanes *lanes, uint32_t rounds, size_t blocks) {
    encrypt(lanes, true, rounds, blocks);
}

static const struct cd_aes_lanes_kernels kernels = {CD_AES_LANES_MAX, wide_same, wide_mixed};

static void cbc_encrypt(const struct cd_aes_lane_job *jobs, size_t count) {
    cd_aes_lanes_run(&kernels, jobs, count);
}

static void cbc_encrypt_packed(const struct cd_aes_lane_packed *packed) {
    cd_aes_lanes_run_packed(&kernels, packed);
}

#define AES_LANES_VAES_FUNCTIONS                                                                   \
    .cbc_encrypt = cbc_encrypt, .cbc_encrypt_packed = cbc_encrypt_packed

#else
#define AES_LANES_VAES_FUNCTIONS .cbc_encrypt = NULL
#endif

const struct cd_aes_lane_functions cd_aes_lanes_vaes = {
    .name = "vaes",
    .cpu = CD_AES_VAES_CPU,
    .lanes = 16,
    .aes = &cd_aes_vaes,
    AES_LANES_VAES_FUNCTIONS,
};
