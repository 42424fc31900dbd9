/*
 * SHA-224 and SHA-256 (FIPS 180-4 sections 6.2.2 and 6.3) with the x86 SHA instructions, for one,
 * two and three messages (16 go through AVX-512, where it is there). No branch or address depends
 * on the data.
 *
 * SHA256RNDS2 takes two rounds and wants the variables as (a, b, e, f) and (c, d, g, h), the first
 * of each in the highest word. A chain of them waits for its own results; further messages fill the
 * gaps.
 */
#include "crypto/sha2.h"

#if defined(__x86_64__)

#include "crypto/x86/sha2_avx512.h"
#include "crypto/x86/sha2_shani.h"

#define KERNEL CD_TARGET("sha,sse4.1,ssse3")
#define INLINE CD_ALWAYS_INLINE KERNEL

KERNEL static void blocks_shani(uint32_t *words, const uint8_t *data, size_t blocks) {
    struct cd_sha2_lane a;
    cd_sha2_lane_load(&a, words);
    for (; blocks > 0; blocks--, data += CD_MD_BLOCK) {
        const uint32_t *k = cd_sha256_round_constants;
        const __m128i abef = a.abef, cdgh = a.cdgh;
        cd_sha2_lane_take_block(&a, data);
        cd_sha2_sixteen_expand(&a, k);
        cd_sha2_sixteen_expand(&a, k + 16);
        cd_sha2_sixteen_expand(&a, k + 32);
        cd_sha2_four(&a, 0, k + 48);
        cd_sha2_four(&a, 1, k + 48);
        cd_sha2_four(&a, 2, k + 48);
        cd_sha2_four(&a, 3, k + 48);
        cd_sha2_lane_add(&a, abef, cdgh);
    }
    cd_sha2_lane_store(&a, words);
}

INLINE void two_expand(struct cd_sha2_lane *a, struct cd_sha2_lane *b, const uint32_t *constants) {
    cd_sha2_four_expand(a, 0, constants), cd_sha2_four_expand(b, 0, constants);
    cd_sha2_four_expand(a, 1, constants), cd_sha2_four_expand(b, 1, constants);
    cd_sha2_four_expand(a, 2, constants), cd_sha2_four_expand(b, 2, constants);
    cd_sha2_four_expand(a, 3, constants), cd_sha2_four_expand(b, 3, constants);
}

INLINE void two(struct cd_sha2_lane *a, struct cd_sha2_lane *b, unsigned i, const uint32_t *k) {
    cd_sha2_four(a, i, k);
    cd_sha2_four(b, i, k);
}

KERNEL void cd_sha2_blocks_x2_shani(uint32_t *words_a, const uint8_t *data_a, uint32_t *words_b,
                                    const uint8_t *data_b, size_t blocks) {
    struct cd_sha2_lane a, b;
    cd_sha2_lane_load(&a, words_a);
    cd_sha2_lane_load(&b, words_b);
    for (; blocks > 0; blocks--, data_a += CD_MD_BLOCK, data_b += CD_MD_BLOCK) {
        const uint32_t *k = cd_sha256_round_constants;
        const struct cd_sha2_lane before_a = a, before_b = b;
        cd_sha2_lane_take_block(&a, data_a);
        cd_sha2_lane_take_block(&b, data_b);
        two_expand(&a, &b, k), two_expand(&a, &b, k + 16), two_expand(&a, &b, k + 32);
        two(&a, &b, 0, k + 48), two(&a, &b, 1, k + 48);
        two(&a, &b, 2, k + 48), two(&a, &b, 3, k + 48);
        cd_sha2_lane_add(&a, before_a.abef, before_a.cdgh);
        cd_sha2_lane_add(&b, before_b.abef, before_b.cdgh);
    }
    cd_sha2_lane_store(&a, words_a);
    cd_sha2_lane_store(&b, words_b);
}

INLINE void three_expand(struct cd_sha2_lane *a, struct cd_sha2_lane *b, struct cd_sha2_lane *c,
                         const uint32_t *constants) {
    cd_sha2_four_expand(a, 0, constants), cd_sha2_four_expand(b, 0, constants),
        cd_sha2_four_expand(c, 0, constants);
    cd_sha2_four_expand(a, 1, constants), cd_sha2_four_expand(b, 1, constants),
        cd_sha2_four_expand(c, 1, constants);
    cd_sha2_four_expand(a, 2, constants), cd_sha2_four_expand(b, 2, constants),
        cd_sha2_four_expand(c, 2, constants);
    cd_sha2_four_expand(a, 3, constants), cd_sha2_four_expand(b, 3, constants),
        cd_sha2_four_expand(c, 3, constants);
}

INLINE void three(struct cd_sha2_lane *a, struct cd_sha2_lane *b, struct cd_sha2_lane *c,
                  unsigned i, const uint32_t *k) {
    cd_sha2_four(a, i, k);
    cd_sha2_four(b, i, k);
    cd_sha2_four(c, i, k);
}

KERNEL void cd_sha2_blocks_x3_shani(uint32_t *words_a, const uint8_t *data_a, uint32_t *words_b,
                                    const uint8_t *data_b, uint32_t *words_c, const uint8_t *data_c,
                                    size_t blocks) {
    struct cd_sha2_lane a, b, c;
    cd_sha2_lane_load(&a, words_a);
    cd_sha2_lane_load(&b, words_b);
    cd_sha2_lane_load(&c, words_c);
    for (size_t offset = 0; blocks > 0; blocks--, offset += CD_MD_BLOCK) {
        const uint32_t *k = cd_sha256_round_constants;
        const struct cd_sha2_lane before_a = a, before_b = b, before_c = c;
        cd_sha2_lane_take_block(&a, data_a + offset);
        cd_sha2_lane_take_block(&b, data_b + offset);
        cd_sha2_lane_take_block(&c, data_c + offset);
        three_expand(&a, &b, &c, k);
        three_expand(&a, &b, &c, k + 16);
        three_expand(&a, &b, &c, k + 32);
        three(&a, &b, &c, 0, k + 48), three(&a, &b, &c, 1, k + 48);
        three(&a, &b, &c, 2, k + 48), three(&a, &b, &c, 3, k + 48);
        cd_sha2_lane_add(&a, before_a.abef, before_a.cdgh);
        cd_sha2_lane_add(&b, before_b.abef, before_b.cdgh);
        cd_sha2_lane_add(&c, before_c.abef, before_c.cdgh);
    }
    cd_sha2_lane_store(&a, words_a);
    cd_sha2_lane_store(&b, words_b);
    cd_sha2_lane_store(&c, words_c);
}

/* On Ice Lake 16 lanes take the time of 5.7 messages. */
#define SHA2_SHANI_FUNCTIONS                                                                       \
    .blocks = blocks_shani, .blocks_x2 = cd_sha2_blocks_x2_shani,                                  \
    .blocks_x3 = cd_sha2_blocks_x3_shani, .blocks_wide = cd_sha2_blocks_avx512,                    \
    .wide_cpu = CD_MD_AVX512_CPU, .wide_from = 6

#else
#define SHA2_SHANI_FUNCTIONS .blocks = NULL
#endif

const struct cd_md_algorithm cd_sha224_shani = {
    .algorithm = "sha224",
    .name = "ni",
    .cpu = CD_SHA2_SHANI_CPU,
    .digest_size = CD_SHA224_DIGEST,
    .state_words = 8,
    .big_endian = true,
    .initial = cd_sha224_initial,
    SHA2_SHANI_FUNCTIONS,
};

const struct cd_md_algorithm cd_sha256_shani = {
    .algorithm = "sha256",
    .name = "ni",
    .cpu = CD_SHA2_SHANI_CPU,
    .digest_size = CD_SHA256_DIGEST,
    .state_words = 8,
    .big_endian = true,
    .initial = cd_sha256_initial,
    SHA2_SHANI_FUNCTIONS,
};
