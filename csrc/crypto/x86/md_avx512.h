/*
 * What the 16-lane kernels of the MD family share: a block of every message, turned so that a
 * register holds one word of all. Needs CD_MD_AVX512_CPU; exists on x86-64 only.
 */
#ifndef CD_MD_AVX512_H
#define CD_MD_AVX512_H

#include <immintrin.h>

#include "base/target.h"
#include "crypto/md.h"

#define CD_AVX512_KERNEL CD_TARGET("avx512f,avx512bw,avx512vl")
#define CD_AVX512_INLINE CD_ALWAYS_INLINE CD_AVX512_KERNEL

CD_AVX512_INLINE __m512i cd_avx512_add(__m512i a, __m512i b) {
    return _mm512_add_epi32(a, b);
}

CD_AVX512_INLINE __m512i cd_avx512_xor3(__m512i a, __m512i b, __m512i c) {
    return _mm512_ternarylogic_epi32(a, b, c, 0x96);
}

/* The bits of b where a is set, those of c elsewhere: Ch of FIPS 180-4 section 4.1. */
CD_AVX512_INLINE __m512i cd_avx512_choose(__m512i a, __m512i b, __m512i c) {
    return _mm512_ternarylogic_epi32(a, b, c, 0xca);
}

/* Maj of FIPS 180-4 section 4.1. */
CD_AVX512_INLINE __m512i cd_avx512_majority(__m512i a, __m512i b, __m512i c) {
    return _mm512_ternarylogic_epi32(a, b, c, 0xe8);
}

CD_AVX512_INLINE __m512i cd_avx512_all(uint32_t value) {
    return _mm512_set1_epi32((int)value);
}

/* The `quarter`th (0..3) 16 bytes of the blocks of lanes i, i + 4, i + 8 and i + 12. */
CD_AVX512_INLINE __m512i cd_avx512_quarters(const struct cd_md_wide *wide, unsigned i,
                                            size_t offset) {
    const __m128i *a = (const __m128i *)(const void *)(wide->data[i] + offset);
    const __m128i *b = (const __m128i *)(const void *)(wide->data[i + 4] + offset);
    const __m128i *c = (const __m128i *)(const void *)(wide->data[i + 8] + offset);
    const __m128i *d = (const __m128i *)(const void *)(wide->data[i + 12] + offset);
    __m512i low = _mm512_castsi128_si512(_mm_loadu_si128(a));

    low = _mm512_inserti32x4(low, _mm_loadu_si128(b), 1);
    low = _mm512_inserti32x4(low, _mm_loadu_si128(c), 2);
    return _mm512_inserti32x4(low, _mm_loadu_si128(d), 3);
}

/* Four words of all lanes, from `offset` on: 4 x 4 words in each 128 bits are transposed, which
 * with the order of cd_avx512_quarters puts the lanes in order. */
CD_AVX512_INLINE void cd_avx512_four_words(__m512i *out_w, const struct cd_md_wide *wide,
                                           size_t offset) {
    __m512i a = cd_avx512_quarters(wide, 0, offset), b = cd_avx512_quarters(wide, 1, offset);
    __m512i c = cd_avx512_quarters(wide, 2, offset), d = cd_avx512_quarters(wide, 3, offset);
    __m512i ab_low = _mm512_unpacklo_epi32(a, b), ab_high = _mm512_unpackhi_epi32(a, b);
    __m512i cd_low = _mm512_unpacklo_epi32(c, d), cd_high = _mm512_unpackhi_epi32(c, d);

    out_w[0] = _mm512_unpacklo_epi64(ab_low, cd_low);
    out_w[1] = _mm512_unpackhi_epi64(ab_low, cd_low);
    out_w[2] = _mm512_unpacklo_epi64(ab_high, cd_high);
    out_w[3] = _mm512_unpackhi_epi64(ab_high, cd_high);
}

CD_AVX512_INLINE __m512i cd_avx512_swap(__m512i value) {
    const __m512i order =
        _mm512_broadcast_i32x4(_mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203));

    return _mm512_shuffle_epi8(value, order);
}

/* The 16 words of the blocks at `offset` of every lane; big-endian. */
CD_AVX512_INLINE void cd_avx512_take_block(__m512i out_w[16], const struct cd_md_wide *wide,
                                           size_t offset) {
    cd_avx512_four_words(out_w, wide, offset);
    cd_avx512_four_words(out_w + 4, wide, offset + 16);
    cd_avx512_four_words(out_w + 8, wide, offset + 32);
    cd_avx512_four_words(out_w + 12, wide, offset + 48);
    for (unsigned i = 0; i < 16; i++) {
        out_w[i] = cd_avx512_swap(out_w[i]);
    }
}

CD_AVX512_INLINE __m512i cd_avx512_load_word(const struct cd_md_wide *wide, unsigned i) {
    return _mm512_load_si512(wide->words[i]);
}

CD_AVX512_INLINE void cd_avx512_add_word(struct cd_md_wide *wide, unsigned i, __m512i value) {
    _mm512_store_si512(wide->words[i], cd_avx512_add(cd_avx512_load_word(wide, i), value));
}

#endif
