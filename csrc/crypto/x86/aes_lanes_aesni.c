/*
 * AES-CBC encryption of many records, eight at once with the AES-NI instructions.
 *
 * With one key for all lanes a round key is loaded once per round; with several it comes from
 * memory per lane and round, which the two load ports just sustain.
 */
#include "crypto/x86/aes_lanes_x86.h"

#if defined(__x86_64__)

#include "base/target.h"
#include "crypto/x86/aes_aesni_vectors.h"

#define KERNEL CD_TARGET("aes,ssse3")
#define INLINE CD_ALWAYS_INLINE KERNEL

INLINE struct cd_aesni_four chain_load(const struct cd_aes_lanes *lanes, size_t first) {
    return (struct cd_aesni_four){
        cd_aesni_load(lanes->chain[first]), cd_aesni_load(lanes->chain[first + 1]),
        cd_aesni_load(lanes->chain[first + 2]), cd_aesni_load(lanes->chain[first + 3])};
}

INLINE void chain_store(struct cd_aes_lanes *lanes, size_t first, struct cd_aesni_four x) {
    cd_aesni_store(lanes->chain[first], x.a);
    cd_aesni_store(lanes->chain[first + 1], x.b);
    cd_aesni_store(lanes->chain[first + 2], x.c);
    cd_aesni_store(lanes->chain[first + 3], x.d);
}

INLINE struct cd_aesni_four text_load(const struct cd_aes_lanes *lanes, size_t first,
                                      size_t offset) {
    return (struct cd_aesni_four){
        cd_aesni_load(lanes->in[first] + offset), cd_aesni_load(lanes->in[first + 1] + offset),
        cd_aesni_load(lanes->in[first + 2] + offset), cd_aesni_load(lanes->in[first + 3] + offset)};
}

INLINE void text_store(const struct cd_aes_lanes *lanes, size_t first, size_t offset,
                       struct cd_aesni_four x) {
    cd_aesni_store(lanes->out[first] + offset, x.a);
    cd_aesni_store(lanes->out[first + 1] + offset, x.b);
    cd_aesni_store(lanes->out[first + 2] + offset, x.c);
    cd_aesni_store(lanes->out[first + 3] + offset, x.d);
}

KERNEL void cd_aes_lanes_same_aesni(struct cd_aes_lanes *lanes, uint32_t rounds, size_t blocks) {
    struct cd_aesni_schedule schedule = {(const __m128i *)(const void *)lanes->key[0]->words,
                                         rounds};
    struct cd_aesni_eight x = {chain_load(lanes, 0), chain_load(lanes, 4)};

    for (size_t offset = 0; offset < blocks * CD_AES_BLOCK; offset += CD_AES_BLOCK) {
        x.low = cd_aesni_four_xor(x.low, text_load(lanes, 0, offset));
        x.high = cd_aesni_four_xor(x.high, text_load(lanes, 4, offset));
        x = cd_aesni_encrypt_eight(schedule, x);
        text_store(lanes, 0, offset, x.low);
        text_store(lanes, 4, offset, x.high);
    }
    chain_store(lanes, 0, x.low);
    chain_store(lanes, 4, x.high);
}

INLINE __m128i lane_key(const struct cd_aes_lanes *lanes, size_t lane, uint32_t round) {
    return ((const __m128i *)(const void *)lanes->key[lane]->words)[round];
}

/* One round's keys of four lanes. */
INLINE struct cd_aesni_four lane_keys(const struct cd_aes_lanes *lanes, size_t first,
                                      uint32_t round) {
    return (struct cd_aesni_four){lane_key(lanes, first, round), lane_key(lanes, first + 1, round),
                                  lane_key(lanes, first + 2, round),
                                  lane_key(lanes, first + 3, round)};
}

INLINE struct cd_aesni_four enc_keys(struct cd_aesni_four x, struct cd_aesni_four keys) {
    return (struct cd_aesni_four){_mm_aesenc_si128(x.a, keys.a), _mm_aesenc_si128(x.b, keys.b),
                                  _mm_aesenc_si128(x.c, keys.c), _mm_aesenc_si128(x.d, keys.d)};
}

INLINE struct cd_aesni_four enc_last_keys(struct cd_aesni_four x, struct cd_aesni_four keys) {
    return (struct cd_aesni_four){
        _mm_aesenclast_si128(x.a, keys.a), _mm_aesenclast_si128(x.b, keys.b),
        _mm_aesenclast_si128(x.c, keys.c), _mm_aesenclast_si128(x.d, keys.d)};
}

KERNEL void cd_aes_lanes_mixed_aesni(struct cd_aes_lanes *lanes, uint32_t rounds, size_t blocks) {
    struct cd_aesni_four low = chain_load(lanes, 0), high = chain_load(lanes, 4);

    for (size_t offset = 0; offset < blocks * CD_AES_BLOCK; offset += CD_AES_BLOCK) {
        low = cd_aesni_four_xor(low, text_load(lanes, 0, offset));
        high = cd_aesni_four_xor(high, text_load(lanes, 4, offset));
        low = cd_aesni_four_xor(low, lane_keys(lanes, 0, 0));
        high = cd_aesni_four_xor(high, lane_keys(lanes, 4, 0));
        for (uint32_t i = 1; i < rounds; i++) {
            low = enc_keys(low, lane_keys(lanes, 0, i));
            high = enc_keys(high, lane_keys(lanes, 4, i));
        }
        low = enc_last_keys(low, lane_keys(lanes, 0, rounds));
        high = enc_last_keys(high, lane_keys(lanes, 4, rounds));
        text_store(lanes, 0, offset, low);
        text_store(lanes, 4, offset, high);
    }
    chain_store(lanes, 0, low);
    chain_store(lanes, 4, high);
}

static const struct cd_aes_lanes_kernels kernels = {CD_AES_LANES_NARROW, NULL, NULL};

static void cbc_encrypt(const struct cd_aes_lane_job *jobs, size_t count) {
    cd_aes_lanes_run(&kernels, jobs, count);
}

static void cbc_encrypt_packed(const struct cd_aes_lane_packed *packed) {
    cd_aes_lanes_run_packed(&kernels, packed);
}

#define AES_LANES_AESNI_FUNCTIONS                                                                  \
    .cbc_encrypt = cbc_encrypt, .cbc_encrypt_packed = cbc_encrypt_packed

#else
#define AES_LANES_AESNI_FUNCTIONS .cbc_encrypt = NULL
#endif

const struct cd_aes_lane_functions cd_aes_lanes_aesni = {
    .name = "ni",
    .cpu = CD_AES_AESNI_CPU,
    .lanes = 8,
    .aes = &cd_aes_aesni,
    AES_LANES_AESNI_FUNCTIONS,
};
