/*
 * One message of SHA-224 or SHA-256 in registers, in steps of four rounds with the x86 SHA
 * instructions, for the files that interleave it with other work. Needs CD_SHA2_SHANI_CPU; exists
 * on x86-64 only.
 */
#ifndef CD_SHA2_SHANI_H
#define CD_SHA2_SHANI_H

#include <immintrin.h>

#include "base/target.h"
#include "crypto/sha2.h"

#define CD_SHANI_INLINE CD_ALWAYS_INLINE CD_TARGET("sha,sse4.1,ssse3")

/* One message: its variables and the last 16 words of its schedule. */
struct cd_sha2_lane {
    __m128i abef, cdgh;
    __m128i schedule[4];
};

/* Between the chaining words a to h and the order of SHA256RNDS2. */
CD_SHANI_INLINE void cd_sha2_lane_load(struct cd_sha2_lane *out_lane, const uint32_t *words) {
    __m128i dcba = _mm_loadu_si128((const __m128i *)(const void *)words);
    __m128i hgfe = _mm_loadu_si128((const __m128i *)(const void *)(words + 4));
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1);
    __m128i efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    out_lane->abef = _mm_alignr_epi8(cdab, efgh, 8);
    out_lane->cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
}

CD_SHANI_INLINE void cd_sha2_lane_store(const struct cd_sha2_lane *lane, uint32_t *words) {
    __m128i feba = _mm_shuffle_epi32(lane->abef, 0x1b);
    __m128i dchg = _mm_shuffle_epi32(lane->cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)words, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(words + 4), _mm_alignr_epi8(dchg, feba, 8));
}

CD_SHANI_INLINE void cd_sha2_lane_take_block(struct cd_sha2_lane *lane, const uint8_t *data) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m128i *block = (const __m128i *)(const void *)data;
    lane->schedule[0] = _mm_shuffle_epi8(_mm_loadu_si128(block), swap);
    lane->schedule[1] = _mm_shuffle_epi8(_mm_loadu_si128(block + 1), swap);
    lane->schedule[2] = _mm_shuffle_epi8(_mm_loadu_si128(block + 2), swap);
    lane->schedule[3] = _mm_shuffle_epi8(_mm_loadu_si128(block + 3), swap);
}

/* Four rounds with the `i`th (0..3) four words of the schedule. */
CD_SHANI_INLINE void cd_sha2_four(struct cd_sha2_lane *lane, unsigned i,
                                  const uint32_t *constants) {
    __m128i four_constants = _mm_load_si128((const __m128i *)(const void *)(constants + 4 * i));
    __m128i sum = _mm_add_epi32(lane->schedule[i], four_constants);
    lane->cdgh = _mm_sha256rnds2_epu32(lane->cdgh, lane->abef, sum);
    lane->abef = _mm_sha256rnds2_epu32(lane->abef, lane->cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

/* Replace the `i`th (0..3) four words of the schedule by those 16 rounds on. */
CD_SHANI_INLINE void cd_sha2_expand(struct cd_sha2_lane *lane, unsigned i) {
    __m128i *w = lane->schedule;
    __m128i last = w[(i + 3) % 4];
    __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[i], w[(i + 1) % 4]),
                                _mm_alignr_epi8(last, w[(i + 2) % 4], 4));
    w[i] = _mm_sha256msg2_epu32(sum, last);
}

CD_SHANI_INLINE void cd_sha2_four_expand(struct cd_sha2_lane *lane, unsigned i,
                                         const uint32_t *constants) {
    cd_sha2_four(lane, i, constants);
    cd_sha2_expand(lane, i);
}

/* Written out and not a loop over the block: measured 8 % faster with GCC 12 (messages of 16 KiB on
 * Ice Lake). */
CD_SHANI_INLINE void cd_sha2_sixteen_expand(struct cd_sha2_lane *lane, const uint32_t *constants) {
    cd_sha2_four_expand(lane, 0, constants), cd_sha2_four_expand(lane, 1, constants);
    cd_sha2_four_expand(lane, 2, constants), cd_sha2_four_expand(lane, 3, constants);
}

CD_SHANI_INLINE void cd_sha2_lane_add(struct cd_sha2_lane *lane, __m128i abef, __m128i cdgh) {
    lane->abef = _mm_add_epi32(lane->abef, abef);
    lane->cdgh = _mm_add_epi32(lane->cdgh, cdgh);
}

/* As blocks_x2 and blocks_x3 of struct cd_md_algorithm. */
void cd_sha2_blocks_x2_shani(uint32_t *words_a, const uint8_t *data_a, uint32_t *words_b,
                             const uint8_t *data_b, size_t blocks);
void cd_sha2_blocks_x3_shani(uint32_t *words_a, const uint8_t *data_a, uint32_t *words_b,
                             const uint8_t *data_b, uint32_t *words_c, const uint8_t *data_c,
                             size_t blocks);

#endif
