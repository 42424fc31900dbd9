/*
 * SHA-1 (FIPS 180-4 section 6.1.2) in portable C; batches 16 at a time where the CPU has AVX-512.
 * No branch or address depends on the data; the message schedule is wiped.
 */
#include "crypto/sha1.h"

#include "base/endian.h"
#include "base/secure.h"
#include "base/target.h"
#include "cryptodispatch/cpu.h"

#if defined(__x86_64__)
#include "crypto/x86/sha1_avx512.h"
#endif

const uint32_t cd_sha1_initial[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u,
                                     0xc3d2e1f0u};

/* The working variables, and the last 16 words of the message schedule. */
struct lane {
    uint32_t a, b, c, d, e;
    uint32_t schedule[16];
};

CD_ALWAYS_INLINE uint32_t rotate(uint32_t value, unsigned bits) {
    return value << bits | value >> (32 - bits);
}

/* W[t], FIPS 180-4 section 6.1.2 step 1. */
CD_ALWAYS_INLINE uint32_t schedule_next(uint32_t *w, unsigned t) {
    uint32_t mixed = w[(t + 13) % 16] ^ w[(t + 8) % 16] ^ w[(t + 2) % 16] ^ w[t % 16];
    return w[t % 16] = rotate(mixed, 1);
}

/* The functions and constants of FIPS 180-4 sections 4.1.1 and 4.2.1 for round t. In Ch and Maj the
 * terms share no bit, so they may be added one by one. */
CD_ALWAYS_INLINE uint32_t mix(uint32_t sum, uint32_t b, uint32_t c, uint32_t d, unsigned t) {
    if (t < 20) {
        return sum + 0x5a827999u + (((c ^ d) & b) ^ d);
    }
    if (t < 40) {
        return sum + 0x6ed9eba1u + (b ^ c ^ d);
    }
    if (t < 60) {
        return sum + 0x8f1bbcdcu + (c & d) + (b & (c ^ d));
    }
    return sum + 0xca62c1d6u + (b ^ c ^ d);
}

CD_ALWAYS_INLINE void step(uint32_t a, uint32_t *b, uint32_t c, uint32_t d, uint32_t *e, uint32_t w,
                           unsigned t) {
    *e = mix(*e + w, *b, c, d, t) + rotate(a, 5);
    *b = rotate(*b, 30);
}

/* Five rounds from t on, after which the names of the variables are back in place. */
CD_ALWAYS_INLINE void five(struct lane *s, unsigned t) {
    step(s->a, &s->b, s->c, s->d, &s->e, schedule_next(s->schedule, t), t);
    step(s->e, &s->a, s->b, s->c, &s->d, schedule_next(s->schedule, t + 1), t + 1);
    step(s->d, &s->e, s->a, s->b, &s->c, schedule_next(s->schedule, t + 2), t + 2);
    step(s->c, &s->d, s->e, s->a, &s->b, schedule_next(s->schedule, t + 3), t + 3);
    step(s->b, &s->c, s->d, s->e, &s->a, schedule_next(s->schedule, t + 4), t + 4);
}

/* Rounds 0 to 15, whose schedule is the block itself. */
CD_ALWAYS_INLINE void first_sixteen(struct lane *s, const uint8_t *data) {
    for (unsigned t = 0; t < 16; t++) {
        s->schedule[t] = cd_load_be32(data + 4 * (size_t)t);
    }
    const uint32_t *w = s->schedule;
    for (unsigned t = 0; t < 15; t += 5) {
        step(s->a, &s->b, s->c, s->d, &s->e, w[t], t);
        step(s->e, &s->a, s->b, s->c, &s->d, w[t + 1], t + 1);
        step(s->d, &s->e, s->a, s->b, &s->c, w[t + 2], t + 2);
        step(s->c, &s->d, s->e, s->a, &s->b, w[t + 3], t + 3);
        step(s->b, &s->c, s->d, s->e, &s->a, w[t + 4], t + 4);
    }
    step(s->a, &s->b, s->c, s->d, &s->e, w[15], 15);
}

/* Rounds 16 to 19, which complete the group of five that round 15 began. */
CD_ALWAYS_INLINE void next_four(struct lane *s) {
    step(s->e, &s->a, s->b, s->c, &s->d, schedule_next(s->schedule, 16), 16);
    step(s->d, &s->e, s->a, s->b, &s->c, schedule_next(s->schedule, 17), 17);
    step(s->c, &s->d, s->e, s->a, &s->b, schedule_next(s->schedule, 18), 18);
    step(s->b, &s->c, s->d, s->e, &s->a, schedule_next(s->schedule, 19), 19);
}

static void blocks_portable(uint32_t *words, const uint8_t *data, size_t blocks) {
    struct lane lane;
    for (; blocks > 0; blocks--, data += CD_MD_BLOCK) {
        lane.a = words[0];
        lane.b = words[1];
        lane.c = words[2];
        lane.d = words[3];
        lane.e = words[4];
        first_sixteen(&lane, data);
        next_four(&lane);
        five(&lane, 20), five(&lane, 25), five(&lane, 30), five(&lane, 35);
        five(&lane, 40), five(&lane, 45), five(&lane, 50), five(&lane, 55);
        five(&lane, 60), five(&lane, 65), five(&lane, 70), five(&lane, 75);
        words[0] += lane.a;
        words[1] += lane.b;
        words[2] += lane.c;
        words[3] += lane.d;
        words[4] += lane.e;
    }
    cd_wipe(&lane, sizeof lane);
}

static void blocks_portable_x2(uint32_t *words_a, const uint8_t *data_a, uint32_t *words_b,
                               const uint8_t *data_b, size_t blocks) {
    blocks_portable(words_a, data_a, blocks);
    blocks_portable(words_b, data_b, blocks);
}

static void blocks_portable_x3(uint32_t *words_a, const uint8_t *data_a, uint32_t *words_b,
                               const uint8_t *data_b, uint32_t *words_c, const uint8_t *data_c,
                               size_t blocks) {
    blocks_portable_x2(words_a, data_a, words_b, data_b, blocks);
    blocks_portable(words_c, data_c, blocks);
}

#if defined(__x86_64__)
/* A batch of any two messages is worth the 16 lanes (benchmarks/kernels.py). */
#define WIDE_FUNCTIONS                                                                             \
    .blocks_wide = cd_sha1_blocks_avx512, .wide_cpu = CD_MD_AVX512_CPU, .wide_from = 2
#else
#define WIDE_FUNCTIONS .blocks_wide = NULL
#endif

const struct cd_md_algorithm cd_sha1_portable = {
    .algorithm = "sha1",
    .name = "lib",
    .digest_size = CD_SHA1_DIGEST,
    .state_words = 5,
    .big_endian = true,
    .initial = cd_sha1_initial,
    .blocks = blocks_portable,
    .blocks_x2 = blocks_portable_x2,
    .blocks_x3 = blocks_portable_x3,
    WIDE_FUNCTIONS,
};

const struct cd_md_algorithm *cd_sha1_best(void) {
    bool can = cd_sha1_shani.blocks != NULL && (cd_sha1_shani.cpu & ~cd_cpu_detect()) == 0;
    return can ? &cd_sha1_shani : &cd_sha1_portable;
}
