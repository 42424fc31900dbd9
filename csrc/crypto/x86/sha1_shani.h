/*
 * One message of SHA-1 in registers, in steps of four rounds with the x86 SHA instructions, for the
 * files that interleave it with other work. Needs CD_SHA1_SHANI_CPU; exists on x86-64 only.
 */
#ifndef CD_SHA1_SHANI_H
#define CD_SHA1_SHANI_H

#include <immintrin.h>

#include "base/target.h"
#include "crypto/sha1.h"

#define CD_SHANI_INLINE CD_ALWAYS_INLINE CD_TARGET("sha,sse4.1,ssse3")

/* One message: a to d, what e comes from, and the last 16 words of its schedule. At the start of a
 * block `e` holds e itself in its highest word, within a block the abcd of four rounds ago. */
struct cd_sha1_lane {
    __m128i abcd, e;
    __m128i schedule[4];
};

CD_SHANI_INLINE void cd_sha1_lane_load(struct cd_sha1_lane *out_lane, const uint32_t *words) {
    __m128i dcba = _mm_loadu_si128((const __m128i *)(const void *)words);
    out_lane->abcd = _mm_shuffle_epi32(dcba, 0x1b);
    out_lane->e = _mm_set_epi32((int)words[4], 0, 0, 0);
}

CD_SHANI_INLINE void cd_sha1_lane_store(const struct cd_sha1_lane *lane, uint32_t *words) {
    _mm_storeu_si128((__m128i *)(void *)words, _mm_shuffle_epi32(lane->abcd, 0x1b));
    words[4] = (uint32_t)_mm_extract_epi32(lane->e, 3);
}

CD_SHANI_INLINE void cd_sha1_lane_take_block(struct cd_sha1_lane *lane, const uint8_t *data) {
    const __m128i swap = _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f);
    const __m128i *block = (const __m128i *)(const void *)data;
    lane->schedule[0] = _mm_shuffle_epi8(_mm_loadu_si128(block), swap);
    lane->schedule[1] = _mm_shuffle_epi8(_mm_loadu_si128(block + 1), swap);
    lane->schedule[2] = _mm_shuffle_epi8(_mm_loadu_si128(block + 2), swap);
    lane->schedule[3] = _mm_shuffle_epi8(_mm_loadu_si128(block + 3), swap);
}

/* SHA1RNDS4 holds the number of the function and constant (FIPS 180-4 sections 4.1.1, 4.2.1). */
CD_SHANI_INLINE __m128i cd_sha1_four_rounds(__m128i abcd, __m128i e, unsigned function) {
    switch (function) {
    case 0:
        return _mm_sha1rnds4_epu32(abcd, e, 0);
    case 1:
        return _mm_sha1rnds4_epu32(abcd, e, 1);
    case 2:
        return _mm_sha1rnds4_epu32(abcd, e, 2);
    default:
        return _mm_sha1rnds4_epu32(abcd, e, 3);
    }
}

/* The `group`th (0..19) four rounds, and the schedule 16 rounds on. */
CD_SHANI_INLINE void cd_sha1_four(struct cd_sha1_lane *lane, unsigned group) {
    __m128i *w = lane->schedule;
    unsigned i = group % 4;
    __m128i sum = group == 0 ? _mm_add_epi32(lane->e, w[i]) : _mm_sha1nexte_epu32(lane->e, w[i]);
    lane->e = lane->abcd;
    lane->abcd = cd_sha1_four_rounds(lane->abcd, sum, group / 5);
    if (group < 16) {
        __m128i mixed = _mm_xor_si128(_mm_sha1msg1_epu32(w[i], w[(i + 1) % 4]), w[(i + 2) % 4]);
        w[i] = _mm_sha1msg2_epu32(mixed, w[(i + 3) % 4]);
    }
}

CD_SHANI_INLINE void cd_sha1_lane_add(struct cd_sha1_lane *lane, __m128i abcd, __m128i e) {
    lane->abcd = _mm_add_epi32(lane->abcd, abcd);
    lane->e = _mm_sha1nexte_epu32(lane->e, e);
}

#endif
