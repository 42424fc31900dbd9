/*
 * The message schedule of SHA-224 and SHA-256 without SHA256MSG2, by the rotations and three-input
 * logic of AVX-512VL, for the files that use the lanes of sha2_shani.h. Needs CD_SHA2_AVX512_CPU;
 * exists on x86-64 only.
 *
 * On Ice Lake SHA256MSG2 keeps the unit busy for five cycles that the rounds need as well: a block
 * takes 150 cycles with it and 129 without, which is the latency of 32 SHA256RNDS2.
 */
#ifndef CD_SHA2_SHANI_AVX512_H
#define CD_SHA2_SHANI_AVX512_H

#include "crypto/x86/sha2_shani.h"

#define CD_SHANI_AVX512_INLINE CD_ALWAYS_INLINE CD_TARGET("sha,avx512f,avx512bw,avx512vl")

/* sigma1 of FIPS 180-4 section 4.1.2, on four words. */
CD_SHANI_AVX512_INLINE __m128i cd_sha2_sigma1_avx512(__m128i w) {
    return _mm_ternarylogic_epi32(_mm_ror_epi32(w, 17), _mm_ror_epi32(w, 19), _mm_srli_epi32(w, 10),
                                  0x96);
}

/* As cd_sha2_expand. The upper two words need sigma1 of the lower two; sigma1 of 0 is 0. */
CD_SHANI_AVX512_INLINE void cd_sha2_expand_avx512(struct cd_sha2_lane *lane, unsigned i) {
    __m128i *w = lane->schedule;
    __m128i last = w[(i + 3) % 4];
    __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[i], w[(i + 1) % 4]),
                                _mm_alignr_epi8(last, w[(i + 2) % 4], 4));

    sum = _mm_add_epi32(sum, cd_sha2_sigma1_avx512(_mm_maskz_shuffle_epi32(0x3, last, 0x0e)));
    w[i] = _mm_add_epi32(sum, cd_sha2_sigma1_avx512(_mm_maskz_shuffle_epi32(0xc, sum, 0x40)));
}

/* As cd_sha2_four_expand. */
CD_SHANI_AVX512_INLINE void cd_sha2_four_expand_avx512(struct cd_sha2_lane *lane, unsigned i,
                                                       const uint32_t *constants) {
    cd_sha2_four(lane, i, constants);
    cd_sha2_expand_avx512(lane, i);
}

#endif
