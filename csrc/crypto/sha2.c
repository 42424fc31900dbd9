/*
 * SHA-224 and SHA-256 (FIPS 180-4 sections 6.2.2 and 6.3) in portable C; batches 16 at a time
 * where the CPU has AVX-512. No branch or address depends on the data; the message schedule is
 * wiped.
 */
#include "crypto/sha2.h"

#include <string.h>

#include "base/endian.h"
#include "base/secure.h"
#include "base/target.h"
#include "cryptodispatch/cpu.h"

#if defined(__x86_64__)
#include "crypto/x86/sha2_avx512.h"
#endif

const uint32_t cd_sha224_initial[8] = {
    0xc1059ed8u, 0x367cd507u, 0x3070dd17u, 0xf70e5939u,
    0xffc00b31u, 0x68581511u, 0x64f98fa7u, 0xbefa4fa4u,
};

const uint32_t cd_sha256_initial[8] = {
    0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
    0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u,
};

_Alignas(16) const uint32_t cd_sha256_round_constants[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u,
    0xab1c5ed5u, 0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu,
    0x9bdc06a7u, 0xc19bf174u, 0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu,
    0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau, 0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u,
    0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u, 0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu,
    0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u, 0xa2bfe8a1u, 0xa81a664bu,
    0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u, 0x19a4c116u,
    0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u,
    0xc67178f2u,
};

CD_ALWAYS_INLINE uint32_t rotate(uint32_t value, unsigned bits) {
    return value >> bits | value << (32 - bits);
}

/* W[t] for t >= 16, FIPS 180-4 section 6.2.2 step 1. */
CD_ALWAYS_INLINE uint32_t schedule_next(uint32_t *w, unsigned t) {
    uint32_t w2 = w[(t + 14) % 16], w15 = w[(t + 1) % 16];
    uint32_t sigma1 = rotate(rotate(w2, 2) ^ w2, 17) ^ w2 >> 10;
    uint32_t sigma0 = rotate(rotate(w15, 11) ^ w15, 7) ^ w15 >> 3;
    return w[t % 16] += sigma0 + w[(t + 9) % 16] + sigma1;
}

/*
 * One round on the variables as rotated by `t` places: h becomes the next a, d the next e.
 *
 * The rotations are nested, and Maj(a, b, c) = b ^ ((a ^ b) & (b ^ c)) keeps a ^ b as the b ^ c of
 * the next round: fewer instructions, which is what the speed is bound by.
 */
CD_ALWAYS_INLINE void step(uint32_t v[8], uint32_t *b_xor_c, unsigned t, uint32_t w) {
    uint32_t a = v[(0 - t) % 8], b = v[(1 - t) % 8];
    uint32_t e = v[(4 - t) % 8], f = v[(5 - t) % 8], g = v[(6 - t) % 8];
    uint32_t a_xor_b = a ^ b;
    uint32_t sum1 = rotate(rotate(rotate(e, 14) ^ e, 5) ^ e, 6);
    uint32_t sum0 = rotate(rotate(rotate(a, 9) ^ a, 11) ^ a, 2);
    uint32_t t1 = v[(7 - t) % 8] + w + (((f ^ g) & e) ^ g) + sum1;
    v[(3 - t) % 8] += t1;
    v[(7 - t) % 8] = t1 + ((a_xor_b & *b_xor_c) ^ b) + sum0;
    *b_xor_c = a_xor_b;
}

CD_ALWAYS_INLINE void step_first(uint32_t v[8], uint32_t *b_xor_c, uint32_t w[16], unsigned t,
                                 const uint8_t *data) {
    w[t] = cd_load_be32(data + 4 * (size_t)t);
    step(v, b_xor_c, t, w[t] + cd_sha256_round_constants[t]);
}

CD_ALWAYS_INLINE void step_next(uint32_t v[8], uint32_t *b_xor_c, uint32_t w[16], unsigned t,
                                const uint32_t *constants) {
    step(v, b_xor_c, t, schedule_next(w, t) + constants[t]);
}

CD_ALWAYS_INLINE void rounds(uint32_t v[8], uint32_t w[16], const uint8_t *data) {
    uint32_t b_xor_c = v[1] ^ v[2];
    step_first(v, &b_xor_c, w, 0, data), step_first(v, &b_xor_c, w, 1, data);
    step_first(v, &b_xor_c, w, 2, data), step_first(v, &b_xor_c, w, 3, data);
    step_first(v, &b_xor_c, w, 4, data), step_first(v, &b_xor_c, w, 5, data);
    step_first(v, &b_xor_c, w, 6, data), step_first(v, &b_xor_c, w, 7, data);
    step_first(v, &b_xor_c, w, 8, data), step_first(v, &b_xor_c, w, 9, data);
    step_first(v, &b_xor_c, w, 10, data), step_first(v, &b_xor_c, w, 11, data);
    step_first(v, &b_xor_c, w, 12, data), step_first(v, &b_xor_c, w, 13, data);
    step_first(v, &b_xor_c, w, 14, data), step_first(v, &b_xor_c, w, 15, data);
    for (unsigned t = 16; t < 64; t += 16) {
        const uint32_t *constants = cd_sha256_round_constants + t;
        step_next(v, &b_xor_c, w, 0, constants), step_next(v, &b_xor_c, w, 1, constants);
        step_next(v, &b_xor_c, w, 2, constants), step_next(v, &b_xor_c, w, 3, constants);
        step_next(v, &b_xor_c, w, 4, constants), step_next(v, &b_xor_c, w, 5, constants);
        step_next(v, &b_xor_c, w, 6, constants), step_next(v, &b_xor_c, w, 7, constants);
        step_next(v, &b_xor_c, w, 8, constants), step_next(v, &b_xor_c, w, 9, constants);
        step_next(v, &b_xor_c, w, 10, constants), step_next(v, &b_xor_c, w, 11, constants);
        step_next(v, &b_xor_c, w, 12, constants), step_next(v, &b_xor_c, w, 13, constants);
        step_next(v, &b_xor_c, w, 14, constants), step_next(v, &b_xor_c, w, 15, constants);
    }
}

static void blocks_portable(uint32_t *words, const uint8_t *data, size_t blocks) {
    uint32_t schedule[16];
    for (; blocks > 0; blocks--, data += CD_MD_BLOCK) {
        uint32_t v[8];
        memcpy(v, words, sizeof v);
        rounds(v, schedule, data);
        for (unsigned i = 0; i < 8; i++) {
            words[i] += v[i];
        }
    }
    cd_wipe(schedule, sizeof schedule);
}

static void blocks_portable_x2(uint32_t *words_a, const uint8_t *data_a, uint32_t *words_b,
                               const uint8_t *data_b, size_t blocks) {
    blocks_portable(words_a, data_a, blocks);
    blocks_portable(words_b, data_b, blocks);
}

static void blocks_portable_x3(uint32_t *words_a, const uint8_t *data_a, uint32_t *words_b,
                               const uint8_t *data_b, uint32_t *words_c, const uint8_t *data_c,
                               size_t blocks) {
    blocks_portable_x2(words_a, data_a, words_b, data_b, blocks);
    blocks_portable(words_c, data_c, blocks);
}

#if defined(__x86_64__)
/* A batch of any two messages is worth the 16 lanes (benchmarks/kernels.py). */
#define WIDE_FUNCTIONS                                                                             \
    .blocks_wide = cd_sha2_blocks_avx512, .wide_cpu = CD_MD_AVX512_CPU, .wide_from = 2
#else
#define WIDE_FUNCTIONS .blocks_wide = NULL
#endif

const struct cd_md_algorithm cd_sha224_portable = {
    .algorithm = "sha224",
    .name = "lib",
    .digest_size = CD_SHA224_DIGEST,
    .state_words = 8,
    .big_endian = true,
    .initial = cd_sha224_initial,
    .blocks = blocks_portable,
    .blocks_x2 = blocks_portable_x2,
    .blocks_x3 = blocks_portable_x3,
    WIDE_FUNCTIONS,
};

const struct cd_md_algorithm cd_sha256_portable = {
    .algorithm = "sha256",
    .name = "lib",
    .digest_size = CD_SHA256_DIGEST,
    .state_words = 8,
    .big_endian = true,
    .initial = cd_sha256_initial,
    .blocks = blocks_portable,
    .blocks_x2 = blocks_portable_x2,
    .blocks_x3 = blocks_portable_x3,
    WIDE_FUNCTIONS,
};

static bool can_run(const struct cd_md_algorithm *algorithm) {
    return algorithm->blocks != NULL && (algorithm->cpu & ~cd_cpu_detect()) == 0;
}

const struct cd_md_algorithm *cd_sha224_best(void) {
    if (can_run(&cd_sha224_avx512)) {
        return &cd_sha224_avx512;
    }
    return can_run(&cd_sha224_shani) ? &cd_sha224_shani : &cd_sha224_portable;
}

const struct cd_md_algorithm *cd_sha256_best(void) {
    if (can_run(&cd_sha256_avx512)) {
        return &cd_sha256_avx512;
    }
    return can_run(&cd_sha256_shani) ? &cd_sha256_shani : &cd_sha256_portable;
}
