/*
 * SHA-224 and SHA-256 (FIPS 180-4 sections 6.2.2 and 6.3) of one message with SHA-NI's rounds and a
 * schedule by AVX-512VL. No branch or address depends on the data. Only registers of 128 bits:
 * their upper halves stay clean.
 */
#include "crypto/sha2.h"

#if defined(__x86_64__)

#include "crypto/x86/sha2_avx512.h"
#include "crypto/x86/sha2_shani_avx512.h"

#define KERNEL CD_TARGET("sha,avx512f,avx512bw,avx512vl")
#define INLINE CD_ALWAYS_INLINE KERNEL

INLINE void sixteen_expand(struct cd_sha2_lane *lane, const uint32_t *constants) {
    cd_sha2_four_expand_avx512(lane, 0, constants), cd_sha2_four_expand_avx512(lane, 1, constants);
    cd_sha2_four_expand_avx512(lane, 2, constants), cd_sha2_four_expand_avx512(lane, 3, constants);
}

KERNEL static void blocks_avx512(uint32_t *words, const uint8_t *data, size_t blocks) {
    struct cd_sha2_lane a;

    cd_sha2_lane_load(&a, words);
    for (; blocks > 0; blocks--, data += CD_MD_BLOCK) {
        const uint32_t *k = cd_sha256_round_constants;
        const __m128i abef = a.abef, cdgh = a.cdgh;

        cd_sha2_lane_take_block(&a, data);
        sixteen_expand(&a, k);
        sixteen_expand(&a, k + 16);
        sixteen_expand(&a, k + 32);
        cd_sha2_four(&a, 0, k + 48);
        cd_sha2_four(&a, 1, k + 48);
        cd_sha2_four(&a, 2, k + 48);
        cd_sha2_four(&a, 3, k + 48);
        cd_sha2_lane_add(&a, abef, cdgh);
    }
    cd_sha2_lane_store(&a, words);
}

/* On Ice Lake 16 lanes take the time of 6.8 messages. */
#define SHA2_AVX512_FUNCTIONS                                                                      \
    .blocks = blocks_avx512, .blocks_x2 = cd_sha2_blocks_x2_shani,                                 \
    .blocks_x3 = cd_sha2_blocks_x3_shani, .blocks_wide = cd_sha2_blocks_avx512,                    \
    .wide_cpu = CD_MD_AVX512_CPU, .wide_from = 7

#else
#define SHA2_AVX512_FUNCTIONS .blocks = NULL
#endif

const struct cd_md_algorithm cd_sha224_avx512 = {
    .algorithm = "sha224",
    .name = "avx512",
    .cpu = CD_SHA2_AVX512_CPU,
    .digest_size = CD_SHA224_DIGEST,
    .state_words = 8,
    .big_endian = true,
    .initial = cd_sha224_initial,
    SHA2_AVX512_FUNCTIONS,
};

const struct cd_md_algorithm cd_sha256_avx512 = {
    .algorithm = "sha256",
    .name = "avx512",
    .cpu = CD_SHA2_AVX512_CPU,
    .digest_size = CD_SHA256_DIGEST,
    .state_words = 8,
    .big_endian = true,
    .initial = cd_sha256_initial,
    SHA2_AVX512_FUNCTIONS,
};
