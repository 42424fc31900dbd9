/*
 * SHA-1 (FIPS 180-4 section 6.1.2) with the x86 SHA instructions, for one, two and three messages.
 * No branch or address depends on the data.
 *
 * SHA1RNDS4 takes four rounds on (a, b, c, d), a in the highest word, and the sum of e and the
 * schedule; the next e is the a of four rounds before, rotated (SHA1NEXTE). A chain of them waits
 * for its own results; further messages fill the gaps.
 */
#include "crypto/sha1.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/target.h"

#define KERNEL CD_TARGET("sha,sse4.1,ssse3")
#define INLINE CD_ALWAYS_INLINE KERNEL

/* One message: a to d, what e comes from, and the last 16 words of its schedule. At the start of a
 * block `e` holds e itself in its highest word, within a block the abcd of four rounds ago. */
struct lane {
    __m128i abcd, e;
    __m128i schedule[4];
};

INLINE void lane_load(struct lane *out_lane, const uint32_t *words) {
    __m128i dcba = _mm_loadu_si128((const __m128i *)(const void *)words);
    out_lane->abcd = _mm_shuffle_epi32(dcba, 0x1b);
    out_lane->e = _mm_set_epi32((int)words[4], 0, 0, 0);
}

INLINE void lane_store(const struct lane *lane, uint32_t *words) {
    _mm_storeu_si128((__m128i *)(void *)words, _mm_shuffle_epi32(lane->abcd, 0x1b));
    words[4] = (uint32_t)_mm_extract_epi32(lane->e, 3);
}

INLINE void lane_take_block(struct lane *lane, const uint8_t *data) {
    const __m128i swap = _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f);
    const __m128i *block = (const __m128i *)(const void *)data;
    lane->schedule[0] = _mm_shuffle_epi8(_mm_loadu_si128(block), swap);
    lane->schedule[1] = _mm_shuffle_epi8(_mm_loadu_si128(block + 1), swap);
    lane->schedule[2] = _mm_shuffle_epi8(_mm_loadu_si128(block + 2), swap);
    lane->schedule[3] = _mm_shuffle_epi8(_mm_loadu_si128(block + 3), swap);
}

/* SHA1RNDS4 holds the number of the function and constant (FIPS 180-4 sections 4.1.1, 4.2.1). */
INLINE __m128i four_rounds(__m128i abcd, __m128i e, unsigned function) {
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
INLINE void four(struct lane *lane, unsigned group) {
    __m128i *w = lane->schedule;
    unsigned i = group % 4;
    __m128i sum = group == 0 ? _mm_add_epi32(lane->e, w[i]) : _mm_sha1nexte_epu32(lane->e, w[i]);
    lane->e = lane->abcd;
    lane->abcd = four_rounds(lane->abcd, sum, group / 5);
    if (group < 16) {
        __m128i mixed = _mm_xor_si128(_mm_sha1msg1_epu32(w[i], w[(i + 1) % 4]), w[(i + 2) % 4]);
        w[i] = _mm_sha1msg2_epu32(mixed, w[(i + 3) % 4]);
    }
}

INLINE void lane_add(struct lane *lane, __m128i abcd, __m128i e) {
    lane->abcd = _mm_add_epi32(lane->abcd, abcd);
    lane->e = _mm_sha1nexte_epu32(lane->e, e);
}

KERNEL static void blocks_shani(uint32_t *words, const uint8_t *data, size_t blocks) {
    struct lane a;
    lane_load(&a, words);
    for (; blocks > 0; blocks--, data += CD_MD_BLOCK) {
        const __m128i abcd = a.abcd, e = a.e;
        lane_take_block(&a, data);
        four(&a, 0), four(&a, 1), four(&a, 2), four(&a, 3), four(&a, 4);
        four(&a, 5), four(&a, 6), four(&a, 7), four(&a, 8), four(&a, 9);
        four(&a, 10), four(&a, 11), four(&a, 12), four(&a, 13), four(&a, 14);
        four(&a, 15), four(&a, 16), four(&a, 17), four(&a, 18), four(&a, 19);
        lane_add(&a, abcd, e);
    }
    lane_store(&a, words);
}

INLINE void two(struct lane *a, struct lane *b, unsigned group) {
    four(a, group);
    four(b, group);
}

KERNEL static void blocks_shani_x2(uint32_t *words_a, const uint8_t *data_a, uint32_t *words_b,
                                   const uint8_t *data_b, size_t blocks) {
    struct lane a, b;
    lane_load(&a, words_a);
    lane_load(&b, words_b);
    for (; blocks > 0; blocks--, data_a += CD_MD_BLOCK, data_b += CD_MD_BLOCK) {
        const struct lane before_a = a, before_b = b;
        lane_take_block(&a, data_a);
        lane_take_block(&b, data_b);
        two(&a, &b, 0), two(&a, &b, 1), two(&a, &b, 2), two(&a, &b, 3), two(&a, &b, 4);
        two(&a, &b, 5), two(&a, &b, 6), two(&a, &b, 7), two(&a, &b, 8), two(&a, &b, 9);
        two(&a, &b, 10), two(&a, &b, 11), two(&a, &b, 12), two(&a, &b, 13), two(&a, &b, 14);
        two(&a, &b, 15), two(&a, &b, 16), two(&a, &b, 17), two(&a, &b, 18), two(&a, &b, 19);
        lane_add(&a, before_a.abcd, before_a.e);
        lane_add(&b, before_b.abcd, before_b.e);
    }
    lane_store(&a, words_a);
    lane_store(&b, words_b);
}

INLINE void three(struct lane *a, struct lane *b, struct lane *c, unsigned group) {
    four(a, group);
    four(b, group);
    four(c, group);
}

INLINE void three_block(struct lane *a, struct lane *b, struct lane *c) {
    three(a, b, c, 0), three(a, b, c, 1), three(a, b, c, 2), three(a, b, c, 3);
    three(a, b, c, 4), three(a, b, c, 5), three(a, b, c, 6), three(a, b, c, 7);
    three(a, b, c, 8), three(a, b, c, 9), three(a, b, c, 10), three(a, b, c, 11);
    three(a, b, c, 12), three(a, b, c, 13), three(a, b, c, 14), three(a, b, c, 15);
    three(a, b, c, 16), three(a, b, c, 17), three(a, b, c, 18), three(a, b, c, 19);
}

KERNEL static void blocks_shani_x3(uint32_t *words_a, const uint8_t *data_a, uint32_t *words_b,
                                   const uint8_t *data_b, uint32_t *words_c, const uint8_t *data_c,
                                   size_t blocks) {
    struct lane a, b, c;
    lane_load(&a, words_a);
    lane_load(&b, words_b);
    lane_load(&c, words_c);
    for (size_t offset = 0; blocks > 0; blocks--, offset += CD_MD_BLOCK) {
        const struct lane before_a = a, before_b = b, before_c = c;
        lane_take_block(&a, data_a + offset);
        lane_take_block(&b, data_b + offset);
        lane_take_block(&c, data_c + offset);
        three_block(&a, &b, &c);
        lane_add(&a, before_a.abcd, before_a.e);
        lane_add(&b, before_b.abcd, before_b.e);
        lane_add(&c, before_c.abcd, before_c.e);
    }
    lane_store(&a, words_a);
    lane_store(&b, words_b);
    lane_store(&c, words_c);
}

#define SHA1_SHANI_FUNCTIONS                                                                       \
    .blocks = blocks_shani, .blocks_x2 = blocks_shani_x2, .blocks_x3 = blocks_shani_x3

#else
#define SHA1_SHANI_FUNCTIONS .blocks = NULL
#endif

const struct cd_md_algorithm cd_sha1_shani = {
    .algorithm = "sha1",
    .name = "ni",
    .cpu = CD_SHA1_SHANI_CPU,
    .digest_size = CD_SHA1_DIGEST,
    .state_words = 5,
    .big_endian = true,
    .initial = cd_sha1_initial,
    SHA1_SHANI_FUNCTIONS,
};
