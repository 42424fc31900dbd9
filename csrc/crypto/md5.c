/*
 * MD5 (RFC 1321 section 3.4) in portable C, one message or two interleaved.
 *
 * A step waits for the one before it, so a single message leaves most of the CPU idle; the order of
 * the additions keeps that wait short. No branch or address depends on the data.
 */
#include "crypto/md5.h"

#include "base/endian.h"
#include "base/target.h"

/* T[i] = floor(2^32 * abs(sin(i + 1))), RFC 1321 section 3.4. */
static const uint32_t sines[64] = {
    0xd76aa478u, 0xe8c7b756u, 0x242070dbu, 0xc1bdceeeu, 0xf57c0fafu, 0x4787c62au, 0xa8304613u,
    0xfd469501u, 0x698098d8u, 0x8b44f7afu, 0xffff5bb1u, 0x895cd7beu, 0x6b901122u, 0xfd987193u,
    0xa679438eu, 0x49b40821u, 0xf61e2562u, 0xc040b340u, 0x265e5a51u, 0xe9b6c7aau, 0xd62f105du,
    0x02441453u, 0xd8a1e681u, 0xe7d3fbc8u, 0x21e1cde6u, 0xc33707d6u, 0xf4d50d87u, 0x455a14edu,
    0xa9e3e905u, 0xfcefa3f8u, 0x676f02d9u, 0x8d2a4c8au, 0xfffa3942u, 0x8771f681u, 0x6d9d6122u,
    0xfde5380cu, 0xa4beea44u, 0x4bdecfa9u, 0xf6bb4b60u, 0xbebfbc70u, 0x289b7ec6u, 0xeaa127fau,
    0xd4ef3085u, 0x04881d05u, 0xd9d4d039u, 0xe6db99e5u, 0x1fa27cf8u, 0xc4ac5665u, 0xf4292244u,
    0x432aff97u, 0xab9423a7u, 0xfc93a039u, 0x655b59c3u, 0x8f0ccc92u, 0xffeff47du, 0x85845dd1u,
    0x6fa87e4fu, 0xfe2ce6e0u, 0xa3014314u, 0x4e0811a1u, 0xf7537e82u, 0xbd3af235u, 0x2ad7d2bbu,
    0xeb86d391u,
};

static const uint32_t initial[4] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u};

struct lane {
    uint32_t a, b, c, d;
    const uint8_t *data;
};

CD_ALWAYS_INLINE uint32_t rotate(uint32_t value, unsigned bits) {
    return value << bits | value >> (32 - bits);
}

/* Keep the compiler from taking a sum apart: it would add what is ready last, so that it would be
 * waited for. */
CD_ALWAYS_INLINE uint32_t summed(uint32_t sum) {
    __asm__("" : "+r"(sum));
    return sum;
}

/* Everything of a step that does not wait for the step before it. */
CD_ALWAYS_INLINE uint32_t prepared(const struct lane *lane, uint32_t a, unsigned step,
                                   unsigned word) {
    return summed(a + sines[step] + cd_load_le32(lane->data + 4 * (size_t)(word % 16)));
}

CD_ALWAYS_INLINE uint32_t step_f(const struct lane *lane, uint32_t a, uint32_t b, uint32_t c,
                                 uint32_t d, unsigned i, unsigned bits) {
    return b + rotate(prepared(lane, a, i, i) + (((c ^ d) & b) ^ d), bits);
}

/* The two halves of G share no bit, so they may be added one by one: only one of them waits for b.
 */
CD_ALWAYS_INLINE uint32_t step_g(const struct lane *lane, uint32_t a, uint32_t b, uint32_t c,
                                 uint32_t d, unsigned i, unsigned bits) {
    return b + rotate(summed(prepared(lane, a, i, 1 + 5 * i) + (~d & c)) + (d & b), bits);
}

CD_ALWAYS_INLINE uint32_t step_h(const struct lane *lane, uint32_t a, uint32_t b, uint32_t c,
                                 uint32_t d, unsigned i, unsigned bits) {
    return b + rotate(prepared(lane, a, i, 5 + 3 * i) + ((c ^ d) ^ b), bits);
}

CD_ALWAYS_INLINE uint32_t step_i(const struct lane *lane, uint32_t a, uint32_t b, uint32_t c,
                                 uint32_t d, unsigned i, unsigned bits) {
    return b + rotate(prepared(lane, a, i, 7 * i) + ((b | ~d) ^ c), bits);
}

/* Four steps; `i` is the first one's number, 0..60. */
CD_ALWAYS_INLINE void four_f(struct lane *s, unsigned i) {
    s->a = step_f(s, s->a, s->b, s->c, s->d, i, 7);
    s->d = step_f(s, s->d, s->a, s->b, s->c, i + 1, 12);
    s->c = step_f(s, s->c, s->d, s->a, s->b, i + 2, 17);
    s->b = step_f(s, s->b, s->c, s->d, s->a, i + 3, 22);
}

CD_ALWAYS_INLINE void four_g(struct lane *s, unsigned i) {
    s->a = step_g(s, s->a, s->b, s->c, s->d, i, 5);
    s->d = step_g(s, s->d, s->a, s->b, s->c, i + 1, 9);
    s->c = step_g(s, s->c, s->d, s->a, s->b, i + 2, 14);
    s->b = step_g(s, s->b, s->c, s->d, s->a, i + 3, 20);
}

CD_ALWAYS_INLINE void four_h(struct lane *s, unsigned i) {
    s->a = step_h(s, s->a, s->b, s->c, s->d, i, 4);
    s->d = step_h(s, s->d, s->a, s->b, s->c, i + 1, 11);
    s->c = step_h(s, s->c, s->d, s->a, s->b, i + 2, 16);
    s->b = step_h(s, s->b, s->c, s->d, s->a, i + 3, 23);
}

CD_ALWAYS_INLINE void four_i(struct lane *s, unsigned i) {
    s->a = step_i(s, s->a, s->b, s->c, s->d, i, 6);
    s->d = step_i(s, s->d, s->a, s->b, s->c, i + 1, 10);
    s->c = step_i(s, s->c, s->d, s->a, s->b, i + 2, 15);
    s->b = step_i(s, s->b, s->c, s->d, s->a, i + 3, 21);
}

CD_ALWAYS_INLINE void lane_load(struct lane *out_lane, const uint32_t *words, const uint8_t *data) {
    out_lane->a = words[0];
    out_lane->b = words[1];
    out_lane->c = words[2];
    out_lane->d = words[3];
    out_lane->data = data;
}

CD_ALWAYS_INLINE void lane_add(const struct lane *lane, uint32_t *words) {
    words[0] += lane->a;
    words[1] += lane->b;
    words[2] += lane->c;
    words[3] += lane->d;
}

static void blocks_portable(uint32_t *words, const uint8_t *data, size_t blocks) {
    for (; blocks > 0; blocks--, data += CD_MD_BLOCK) {
        struct lane lane;
        lane_load(&lane, words, data);
        four_f(&lane, 0), four_f(&lane, 4), four_f(&lane, 8), four_f(&lane, 12);
        four_g(&lane, 16), four_g(&lane, 20), four_g(&lane, 24), four_g(&lane, 28);
        four_h(&lane, 32), four_h(&lane, 36), four_h(&lane, 40), four_h(&lane, 44);
        four_i(&lane, 48), four_i(&lane, 52), four_i(&lane, 56), four_i(&lane, 60);
        lane_add(&lane, words);
    }
}

CD_ALWAYS_INLINE void two_f(struct lane *a, struct lane *b, unsigned i) {
    four_f(a, i);
    four_f(b, i);
}

CD_ALWAYS_INLINE void two_g(struct lane *a, struct lane *b, unsigned i) {
    four_g(a, i);
    four_g(b, i);
}

CD_ALWAYS_INLINE void two_h(struct lane *a, struct lane *b, unsigned i) {
    four_h(a, i);
    four_h(b, i);
}

CD_ALWAYS_INLINE void two_i(struct lane *a, struct lane *b, unsigned i) {
    four_i(a, i);
    four_i(b, i);
}

static void blocks_portable_x2(uint32_t *words_a, const uint8_t *data_a, uint32_t *words_b,
                               const uint8_t *data_b, size_t blocks) {
    for (; blocks > 0; blocks--, data_a += CD_MD_BLOCK, data_b += CD_MD_BLOCK) {
        struct lane a, b;
        lane_load(&a, words_a, data_a);
        lane_load(&b, words_b, data_b);
        two_f(&a, &b, 0), two_f(&a, &b, 4), two_f(&a, &b, 8), two_f(&a, &b, 12);
        two_g(&a, &b, 16), two_g(&a, &b, 20), two_g(&a, &b, 24), two_g(&a, &b, 28);
        two_h(&a, &b, 32), two_h(&a, &b, 36), two_h(&a, &b, 40), two_h(&a, &b, 44);
        two_i(&a, &b, 48), two_i(&a, &b, 52), two_i(&a, &b, 56), two_i(&a, &b, 60);
        lane_add(&a, words_a);
        lane_add(&b, words_b);
    }
}

/* Three messages need more registers than there are: two, then the third. */
static void blocks_portable_x3(uint32_t *words_a, const uint8_t *data_a, uint32_t *words_b,
                               const uint8_t *data_b, uint32_t *words_c, const uint8_t *data_c,
                               size_t blocks) {
    blocks_portable_x2(words_a, data_a, words_b, data_b, blocks);
    blocks_portable(words_c, data_c, blocks);
}

const struct cd_md_algorithm cd_md5_portable = {
    .algorithm = "md5",
    .name = "lib",
    .digest_size = CD_MD5_DIGEST,
    .state_words = 4,
    .big_endian = false,
    .initial = initial,
    .blocks = blocks_portable,
    .blocks_x2 = blocks_portable_x2,
    .blocks_x3 = blocks_portable_x3,
};
