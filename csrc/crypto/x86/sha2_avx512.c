/*
 * SHA-224 and SHA-256 (FIPS 180-4 sections 6.2.2 and 6.3) of 16 messages at once: each 512-bit
 * register holds one word of all. No branch or address depends on the data.
 *
 * 17 instructions a round and 11 for a word of the schedule, for 16 messages: on Ice Lake 2.8 times
 * the throughput of SHA-NI, which several messages there do not overlap.
 */
#include "crypto/x86/sha2_avx512.h"

#if defined(__x86_64__)

#include "crypto/sha2.h"
#include "crypto/x86/md_avx512.h"

#define INLINE CD_AVX512_INLINE

INLINE __m512i sum0(__m512i a) {
    return cd_avx512_xor3(_mm512_ror_epi32(a, 2), _mm512_ror_epi32(a, 13), _mm512_ror_epi32(a, 22));
}

INLINE __m512i sum1(__m512i e) {
    return cd_avx512_xor3(_mm512_ror_epi32(e, 6), _mm512_ror_epi32(e, 11), _mm512_ror_epi32(e, 25));
}

INLINE __m512i sigma0(__m512i w) {
    return cd_avx512_xor3(_mm512_ror_epi32(w, 7), _mm512_ror_epi32(w, 18), _mm512_srli_epi32(w, 3));
}

INLINE __m512i sigma1(__m512i w) {
    return cd_avx512_xor3(_mm512_ror_epi32(w, 17), _mm512_ror_epi32(w, 19),
                          _mm512_srli_epi32(w, 10));
}

/* One round on the variables as rotated by `t` places (0..15): h becomes the next a, d the next e.
 */
INLINE void step(__m512i v[8], unsigned t, __m512i w, uint32_t constant) {
    __m512i a = v[(16 - t) % 8], b = v[(17 - t) % 8], c = v[(18 - t) % 8];
    __m512i e = v[(20 - t) % 8], f = v[(21 - t) % 8], g = v[(22 - t) % 8];
    __m512i t1 = cd_avx512_add(v[(23 - t) % 8], cd_avx512_add(w, cd_avx512_all(constant)));

    t1 = cd_avx512_add(t1, cd_avx512_add(sum1(e), cd_avx512_choose(e, f, g)));
    v[(19 - t) % 8] = cd_avx512_add(v[(19 - t) % 8], t1);
    v[(23 - t) % 8] = cd_avx512_add(t1, cd_avx512_add(sum0(a), cd_avx512_majority(a, b, c)));
}

/* W[t + 16] takes the place of W[t], section 6.2.2 step 1. */
INLINE void expand(__m512i w[16], unsigned t) {
    __m512i sum = cd_avx512_add(sigma0(w[(t + 1) % 16]), w[(t + 9) % 16]);

    w[t] = cd_avx512_add(cd_avx512_add(w[t], sigma1(w[(t + 14) % 16])), sum);
}

INLINE void step_expand(__m512i v[8], __m512i w[16], unsigned t, const uint32_t *constants) {
    step(v, t, w[t], constants[t]);
    expand(w, t);
}

INLINE void sixteen(__m512i v[8], const __m512i w[16], const uint32_t *k) {
    step(v, 0, w[0], k[0]), step(v, 1, w[1], k[1]), step(v, 2, w[2], k[2]);
    step(v, 3, w[3], k[3]), step(v, 4, w[4], k[4]), step(v, 5, w[5], k[5]);
    step(v, 6, w[6], k[6]), step(v, 7, w[7], k[7]), step(v, 8, w[8], k[8]);
    step(v, 9, w[9], k[9]), step(v, 10, w[10], k[10]), step(v, 11, w[11], k[11]);
    step(v, 12, w[12], k[12]), step(v, 13, w[13], k[13]), step(v, 14, w[14], k[14]);
    step(v, 15, w[15], k[15]);
}

INLINE void sixteen_expand(__m512i v[8], __m512i w[16], const uint32_t *k) {
    step_expand(v, w, 0, k), step_expand(v, w, 1, k), step_expand(v, w, 2, k);
    step_expand(v, w, 3, k), step_expand(v, w, 4, k), step_expand(v, w, 5, k);
    step_expand(v, w, 6, k), step_expand(v, w, 7, k), step_expand(v, w, 8, k);
    step_expand(v, w, 9, k), step_expand(v, w, 10, k), step_expand(v, w, 11, k);
    step_expand(v, w, 12, k), step_expand(v, w, 13, k), step_expand(v, w, 14, k);
    step_expand(v, w, 15, k);
}

CD_AVX512_KERNEL void cd_sha2_blocks_avx512(struct cd_md_wide *wide, size_t blocks) {
    for (size_t offset = 0; offset < blocks * CD_MD_BLOCK; offset += CD_MD_BLOCK) {
        const uint32_t *k = cd_sha256_round_constants;
        __m512i w[16], v[8];

        for (unsigned i = 0; i < 8; i++) {
            v[i] = cd_avx512_load_word(wide, i);
        }
        cd_avx512_take_block(w, wide, offset);
        for (const uint32_t *end = k + 48; k < end; k += 16) {
            sixteen_expand(v, w, k);
        }
        sixteen(v, w, k);
        for (unsigned i = 0; i < 8; i++) {
            cd_avx512_add_word(wide, i, v[i]);
        }
    }
    _mm256_zeroupper();
}

#endif
