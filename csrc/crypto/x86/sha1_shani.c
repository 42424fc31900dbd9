/*
 * SHA-1 (FIPS 180-4 section 6.1.2) with the x86 SHA instructions, for one, two and three messages
 * (16 go through AVX-512, where it is there). No branch or address depends on the data.
 *
 * SHA1RNDS4 takes four rounds on (a, b, c, d), a in the highest word, and the sum of e and the
 * schedule; the next e is the a of four rounds before, rotated (SHA1NEXTE). A chain of them waits
 * for its own results; further messages fill the gaps.
 */
#include "crypto/sha1.h"

#if defined(__x86_64__)

#include "crypto/x86/sha1_avx512.h"
#include "crypto/x86/sha1_shani.h"

#define KERNEL CD_TARGET("sha,sse4.1,ssse3")
#define INLINE CD_ALWAYS_INLINE KERNEL

KERNEL static void blocks_shani(uint32_t *words, const uint8_t *data, size_t blocks) {
    struct cd_sha1_lane a;
    cd_sha1_lane_load(&a, words);
    for (; blocks > 0; blocks--, data += CD_MD_BLOCK) {
        const __m128i abcd = a.abcd, e = a.e;
        cd_sha1_lane_take_block(&a, data);
        cd_sha1_four(&a, 0);
        cd_sha1_four(&a, 1);
        cd_sha1_four(&a, 2);
        cd_sha1_four(&a, 3);
        cd_sha1_four(&a, 4);
        cd_sha1_four(&a, 5);
        cd_sha1_four(&a, 6);
        cd_sha1_four(&a, 7);
        cd_sha1_four(&a, 8);
        cd_sha1_four(&a, 9);
        cd_sha1_four(&a, 10);
        cd_sha1_four(&a, 11);
        cd_sha1_four(&a, 12);
        cd_sha1_four(&a, 13);
        cd_sha1_four(&a, 14);
        cd_sha1_four(&a, 15);
        cd_sha1_four(&a, 16);
        cd_sha1_four(&a, 17);
        cd_sha1_four(&a, 18);
        cd_sha1_four(&a, 19);
        cd_sha1_lane_add(&a, abcd, e);
    }
    cd_sha1_lane_store(&a, words);
}

INLINE void two(struct cd_sha1_lane *a, struct cd_sha1_lane *b, unsigned group) {
    cd_sha1_four(a, group);
    cd_sha1_four(b, group);
}

KERNEL static void blocks_shani_x2(uint32_t *words_a, const uint8_t *data_a, uint32_t *words_b,
                                   const uint8_t *data_b, size_t blocks) {
    struct cd_sha1_lane a, b;
    cd_sha1_lane_load(&a, words_a);
    cd_sha1_lane_load(&b, words_b);
    for (; blocks > 0; blocks--, data_a += CD_MD_BLOCK, data_b += CD_MD_BLOCK) {
        const struct cd_sha1_lane before_a = a, before_b = b;
        cd_sha1_lane_take_block(&a, data_a);
        cd_sha1_lane_take_block(&b, data_b);
        two(&a, &b, 0), two(&a, &b, 1), two(&a, &b, 2), two(&a, &b, 3), two(&a, &b, 4);
        two(&a, &b, 5), two(&a, &b, 6), two(&a, &b, 7), two(&a, &b, 8), two(&a, &b, 9);
        two(&a, &b, 10), two(&a, &b, 11), two(&a, &b, 12), two(&a, &b, 13), two(&a, &b, 14);
        two(&a, &b, 15), two(&a, &b, 16), two(&a, &b, 17), two(&a, &b, 18), two(&a, &b, 19);
        cd_sha1_lane_add(&a, before_a.abcd, before_a.e);
        cd_sha1_lane_add(&b, before_b.abcd, before_b.e);
    }
    cd_sha1_lane_store(&a, words_a);
    cd_sha1_lane_store(&b, words_b);
}

INLINE void three(struct cd_sha1_lane *a, struct cd_sha1_lane *b, struct cd_sha1_lane *c,
                  unsigned group) {
    cd_sha1_four(a, group);
    cd_sha1_four(b, group);
    cd_sha1_four(c, group);
}

INLINE void three_block(struct cd_sha1_lane *a, struct cd_sha1_lane *b, struct cd_sha1_lane *c) {
    three(a, b, c, 0), three(a, b, c, 1), three(a, b, c, 2), three(a, b, c, 3);
    three(a, b, c, 4), three(a, b, c, 5), three(a, b, c, 6), three(a, b, c, 7);
    three(a, b, c, 8), three(a, b, c, 9), three(a, b, c, 10), three(a, b, c, 11);
    three(a, b, c, 12), three(a, b, c, 13), three(a, b, c, 14), three(a, b, c, 15);
    three(a, b, c, 16), three(a, b, c, 17), three(a, b, c, 18), three(a, b, c, 19);
}

KERNEL static void blocks_shani_x3(uint32_t *words_a, const uint8_t *data_a, uint32_t *words_b,
                                   const uint8_t *data_b, uint32_t *words_c, const uint8_t *data_c,
                                   size_t blocks) {
    struct cd_sha1_lane a, b, c;
    cd_sha1_lane_load(&a, words_a);
    cd_sha1_lane_load(&b, words_b);
    cd_sha1_lane_load(&c, words_c);
    for (size_t offset = 0; blocks > 0; blocks--, offset += CD_MD_BLOCK) {
        const struct cd_sha1_lane before_a = a, before_b = b, before_c = c;
        cd_sha1_lane_take_block(&a, data_a + offset);
        cd_sha1_lane_take_block(&b, data_b + offset);
        cd_sha1_lane_take_block(&c, data_c + offset);
        three_block(&a, &b, &c);
        cd_sha1_lane_add(&a, before_a.abcd, before_a.e);
        cd_sha1_lane_add(&b, before_b.abcd, before_b.e);
        cd_sha1_lane_add(&c, before_c.abcd, before_c.e);
    }
    cd_sha1_lane_store(&a, words_a);
    cd_sha1_lane_store(&b, words_b);
    cd_sha1_lane_store(&c, words_c);
}

/* On Ice Lake 16 lanes take the time of 3.5 messages. */
#define SHA1_SHANI_FUNCTIONS                                                                       \
    .blocks = blocks_shani, .blocks_x2 = blocks_shani_x2, .blocks_x3 = blocks_shani_x3,            \
    .blocks_wide = cd_sha1_blocks_avx512, .wide_cpu = CD_MD_AVX512_CPU, .wide_from = 4

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
