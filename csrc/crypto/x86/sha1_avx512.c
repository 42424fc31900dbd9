/*
 * SHA-1 (FIPS 180-4 section 6.1.2) of 16 messages at once: each 512-bit register holds one word of
 * all. No branch or address depends on the data.
 */
#include "crypto/x86/sha1_avx512.h"

#if defined(__x86_64__)

#include "crypto/x86/md_avx512.h"

#define INLINE CD_AVX512_INLINE

struct variables {
    __m512i a, b, c, d, e;
};

/* The functions of section 4.1.1; `t` is a constant. */
INLINE __m512i mix(__m512i b, __m512i c, __m512i d, unsigned t) {
    if (t < 20) {
        return cd_avx512_choose(b, c, d);
    }
    return t >= 40 && t < 60 ? cd_avx512_majority(b, c, d) : cd_avx512_xor3(b, c, d);
}

/* The constants of section 4.2.1. */
INLINE __m512i constant(unsigned t) {
    return cd_avx512_all(t < 20   ? 0x5a827999u
                         : t < 40 ? 0x6ed9eba1u
                         : t < 60 ? 0x8f1bbcdcu
                                  : 0xca62c1d6u);
}

/* W[t]; from 16 on it takes the place of W[t - 16]. */
INLINE __m512i word(__m512i w[16], unsigned t) {
    if (t >= 16) {
        __m512i mixed = cd_avx512_xor3(w[(t + 13) % 16], w[(t + 8) % 16], w[(t + 2) % 16]);

        w[t % 16] = _mm512_rol_epi32(_mm512_xor_si512(mixed, w[t % 16]), 1);
    }
    return w[t % 16];
}

/* One round: `e` becomes the next a, and `b` is rotated. */
INLINE void step(__m512i a, __m512i *b, __m512i c, __m512i d, __m512i *e, __m512i w[16],
                 unsigned t) {
    __m512i sum = cd_avx512_add(cd_avx512_add(*e, constant(t)), word(w, t));

    *e = cd_avx512_add(cd_avx512_add(sum, mix(*b, c, d, t)), _mm512_rol_epi32(a, 5));
    *b = _mm512_rol_epi32(*b, 30);
}

/* Five rounds from t on, after which the names of the variables are back in place. */
INLINE void five(struct variables *v, __m512i w[16], unsigned t) {
    step(v->a, &v->b, v->c, v->d, &v->e, w, t);
    step(v->e, &v->a, v->b, v->c, &v->d, w, t + 1);
    step(v->d, &v->e, v->a, v->b, &v->c, w, t + 2);
    step(v->c, &v->d, v->e, v->a, &v->b, w, t + 3);
    step(v->b, &v->c, v->d, v->e, &v->a, w, t + 4);
}

INLINE void eighty(struct variables *v, __m512i w[16]) {
    five(v, w, 0), five(v, w, 5), five(v, w, 10), five(v, w, 15);
    five(v, w, 20), five(v, w, 25), five(v, w, 30), five(v, w, 35);
    five(v, w, 40), five(v, w, 45), five(v, w, 50), five(v, w, 55);
    five(v, w, 60), five(v, w, 65), five(v, w, 70), five(v, w, 75);
}

CD_AVX512_KERNEL void cd_sha1_blocks_avx512(struct cd_md_wide *wide, size_t blocks) {
    for (size_t offset = 0; offset < blocks * CD_MD_BLOCK; offset += CD_MD_BLOCK) {
        struct variables v = {cd_avx512_load_word(wide, 0), cd_avx512_load_word(wide, 1),
                              cd_avx512_load_word(wide, 2), cd_avx512_load_word(wide, 3),
                              cd_avx512_load_word(wide, 4)};
        __m512i w[16];

        cd_avx512_take_block(w, wide, offset);
        eighty(&v, w);
        cd_avx512_add_word(wide, 0, v.a);
        cd_avx512_add_word(wide, 1, v.b);
        cd_avx512_add_word(wide, 2, v.c);
        cd_avx512_add_word(wide, 3, v.d);
        cd_avx512_add_word(wide, 4, v.e);
    }
    _mm256_zeroupper();
}

#endif
