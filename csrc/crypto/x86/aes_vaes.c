/*
 * AES with the 256-bit VAES instructions: two blocks per register, sixteen blocks interleaved.
 *
 * Below ten blocks the functions of cd_aes_aesni are as fast (measured on Ice Lake: 0.95 of their
 * speed at nine blocks, 1.1 to 1.2 at ten, 1.8 from 4 KiB); chained CBC encryption cannot use more
 * than one block at a time. 512-bit registers would not help there: half as many instructions
 * start per cycle. Constant time: no index and no branch depends on key or text.
 *
 * Every kernel leaves the upper register halves clean, also before it calls code with SSE encodings
 * (Intel SDM volume 1, section 14.9.1): one way out without VZEROUPPER slows the caller's SSE code
 * down by more than a whole small request.
 *
 * Tails of 2 to 15 blocks run as one pass of four or eight pairs: pairs beyond the last one do the
 * last one again, which needs no branch per pair. All pairs are read before one is written.
 */
#include "crypto/aes.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/endian.h"
#include "base/target.h"
#include "crypto/x86/aes_aesni.h"

#define KERNEL CD_TARGET("vaes,avx2,aes")
#define INLINE CD_ALWAYS_INLINE KERNEL

#define WIDE 16u      /* blocks per pass */
#define WIDE_FROM 10u /* blocks; fewer are left to cd_aes_aesni */

/* ---- pairs of blocks ---- */

/* A schedule of either direction. */
struct schedule {
    const __m128i *keys;
    uint32_t rounds;
};

static inline struct schedule forward_of(const struct cd_aes_encrypt_key *key) {
    return (struct schedule){(const __m128i *)(const void *)key->words, key->rounds};
}

static inline struct schedule backward_of(const struct cd_aes_key *key) {
    return (struct schedule){(const __m128i *)(const void *)key->decrypt, key->encrypt.rounds};
}

/* A round key for both halves. */
INLINE __m256i round_key(struct schedule schedule, uint32_t round) {
    return _mm256_broadcastsi128_si256(schedule.keys[round]);
}

/* Where a pass reads and writes: pair i at block 2 i, pairs beyond the end at the last two blocks
 * (of an odd number, they share one with the pair before). */
struct span {
    uint8_t *out;
    const uint8_t *in;
    size_t last; /* index of the last block but one */
};

INLINE struct span span_of(uint8_t *out, const uint8_t *in, size_t blocks) {
    return (struct span){out, in, blocks - 2};
}

INLINE size_t pair_block(struct span span, size_t pair) {
    return 2 * pair < span.last ? 2 * pair : span.last;
}

INLINE __m128i load(const uint8_t *block) {
    return _mm_loadu_si128((const __m128i *)(const void *)block);
}

INLINE __m256i pair_load(struct span span, size_t pair) {
    const uint8_t *block = span.in + pair_block(span, pair) * CD_AES_BLOCK;

    return _mm256_loadu_si256((const __m256i *)(const void *)block);
}

INLINE void pair_store(struct span span, size_t pair, __m256i value) {
    uint8_t *block = span.out + pair_block(span, pair) * CD_AES_BLOCK;

    _mm256_storeu_si256((__m256i *)(void *)block, value);
}

/* ---- four pairs ---- */

struct four {
    __m256i a, b, c, d;
};

INLINE struct four four_load(struct span span, size_t first) {
    return (struct four){pair_load(span, first), pair_load(span, first + 1),
                         pair_load(span, first + 2), pair_load(span, first + 3)};
}

INLINE void four_store(struct span span, size_t first, struct four x) {
    pair_store(span, first, x.a);
    pair_store(span, first + 1, x.b);
    pair_store(span, first + 2, x.c);
    pair_store(span, first + 3, x.d);
}

INLINE struct four four_xor(struct four x, __m256i y) {
    return (struct four){_mm256_xor_si256(x.a, y), _mm256_xor_si256(x.b, y),
                         _mm256_xor_si256(x.c, y), _mm256_xor_si256(x.d, y)};
}

INLINE struct four four_enc(struct four x, __m256i key) {
    return (struct four){_mm256_aesenc_epi128(x.a, key), _mm256_aesenc_epi128(x.b, key),
                         _mm256_aesenc_epi128(x.c, key), _mm256_aesenc_epi128(x.d, key)};
}

INLINE struct four four_dec(struct four x, __m256i key) {
    return (struct four){_mm256_aesdec_epi128(x.a, key), _mm256_aesdec_epi128(x.b, key),
                         _mm256_aesdec_epi128(x.c, key), _mm256_aesdec_epi128(x.d, key)};
}

/* The last round, each pair with a key of its own: a mode's XOR with the output goes into the key,
 * out of the way of the rounds. */
INLINE struct four four_enc_last(struct four x, struct four keys) {
    return (struct four){
        _mm256_aesenclast_epi128(x.a, keys.a), _mm256_aesenclast_epi128(x.b, keys.b),
        _mm256_aesenclast_epi128(x.c, keys.c), _mm256_aesenclast_epi128(x.d, keys.d)};
}

INLINE struct four four_dec_last(struct four x, struct four keys) {
    return (struct four){
        _mm256_aesdeclast_epi128(x.a, keys.a), _mm256_aesdeclast_epi128(x.b, keys.b),
        _mm256_aesdeclast_epi128(x.c, keys.c), _mm256_aesdeclast_epi128(x.d, keys.d)};
}

INLINE struct four four_same(__m256i value) {
    return (struct four){value, value, value, value};
}

struct eight {
    struct four low, high;
};

INLINE struct eight eight_xor(struct eight x, __m256i y) {
    return (struct eight){four_xor(x.low, y), four_xor(x.high, y)};
}

INLINE struct eight eight_enc(struct eight x, __m256i key) {
    return (struct eight){four_enc(x.low, key), four_enc(x.high, key)};
}

INLINE struct eight eight_dec(struct eight x, __m256i key) {
    return (struct eight){four_dec(x.low, key), four_dec(x.high, key)};
}

/* All rounds but the last, on four pairs or on eight. Their number is odd: one, then two by two,
 * because GCC 12 spends a move per pair and turn of the loop. */
INLINE struct four encrypt_four(struct schedule key, struct four x) {
    x = four_enc(four_xor(x, round_key(key, 0)), round_key(key, 1));
    for (uint32_t i = 2; i < key.rounds; i += 2) {
        x = four_enc(four_enc(x, round_key(key, i)), round_key(key, i + 1));
    }
    return x;
}

INLINE struct four decrypt_four(struct schedule key, struct four x) {
    x = four_dec(four_xor(x, round_key(key, 0)), round_key(key, 1));
    for (uint32_t i = 2; i < key.rounds; i += 2) {
        x = four_dec(four_dec(x, round_key(key, i)), round_key(key, i + 1));
    }
    return x;
}

INLINE struct eight encrypt_eight(struct schedule key, struct eight x) {
    x = eight_enc(eight_xor(x, round_key(key, 0)), round_key(key, 1));
    for (uint32_t i = 2; i < key.rounds; i += 2) {
        x = eight_enc(eight_enc(x, round_key(key, i)), round_key(key, i + 1));
    }
    return x;
}

INLINE struct eight decrypt_eight(struct schedule key, struct eight x) {
    x = eight_dec(eight_xor(x, round_key(key, 0)), round_key(key, 1));
    for (uint32_t i = 2; i < key.rounds; i += 2) {
        x = eight_dec(eight_dec(x, round_key(key, i)), round_key(key, i + 1));
    }
    return x;
}

INLINE struct eight eight_load(struct span span) {
    return (struct eight){four_load(span, 0), four_load(span, 4)};
}

INLINE void eight_store(struct span span, struct eight x) {
    four_store(span, 0, x.low);
    four_store(span, 4, x.high);
}

/* ---- ECB ---- */

INLINE void ecb_encrypt_eight(struct schedule key, struct span span) {
    struct four last = four_same(round_key(key, key.rounds));
    struct eight x = encrypt_eight(key, eight_load(span));

    x.low = four_enc_last(x.low, last);
    x.high = four_enc_last(x.high, last);
    eight_store(span, x);
}

INLINE void ecb_decrypt_eight(struct schedule key, struct span span) {
    struct four last = four_same(round_key(key, key.rounds));
    struct eight x = decrypt_eight(key, eight_load(span));

    x.low = four_dec_last(x.low, last);
    x.high = four_dec_last(x.high, last);
    eight_store(span, x);
}

/* Return how many blocks are done: all of them, or all but one. The others below do the same. */
KERNEL static size_t ecb_encrypt_wide(struct schedule key, uint8_t *out, const uint8_t *in,
                                      size_t blocks) {
    size_t done = 0;

    for (; blocks - done >= WIDE; done += WIDE) {
        ecb_encrypt_eight(key, span_of(out + done * CD_AES_BLOCK, in + done * CD_AES_BLOCK, WIDE));
    }
    struct span span = span_of(out + done * CD_AES_BLOCK, in + done * CD_AES_BLOCK, blocks - done);

    if (blocks - done > WIDE / 2) {
        ecb_encrypt_eight(key, span);
        done = blocks;
    } else if (blocks - done > 1) {
        struct four x = encrypt_four(key, four_load(span, 0));

        four_store(span, 0, four_enc_last(x, four_same(round_key(key, key.rounds))));
        done = blocks;
    }
    _mm256_zeroupper();
    return done;
}

KERNEL static size_t ecb_decrypt_wide(struct schedule key, uint8_t *out, const uint8_t *in,
                                      size_t blocks) {
    size_t done = 0;

    for (; blocks - done >= WIDE; done += WIDE) {
        ecb_decrypt_eight(key, span_of(out + done * CD_AES_BLOCK, in + done * CD_AES_BLOCK, WIDE));
    }
    struct span span = span_of(out + done * CD_AES_BLOCK, in + done * CD_AES_BLOCK, blocks - done);

    if (blocks - done > WIDE / 2) {
        ecb_decrypt_eight(key, span);
        done = blocks;
    } else if (blocks - done > 1) {
        struct four x = decrypt_four(key, four_load(span, 0));

        four_store(span, 0, four_dec_last(x, four_same(round_key(key, key.rounds))));
        done = blocks;
    }
    _mm256_zeroupper();
    return done;
}

static void ecb_encrypt(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks) {
    if (blocks >= WIDE_FROM) {
        size_t done = ecb_encrypt_wide(forward_of(key), out, in, blocks);

        out += done * CD_AES_BLOCK;
        in += done * CD_AES_BLOCK;
        blocks -= done;
    }
    if (blocks > 0) {
        cd_aes_ecb_encrypt_aesni(key, out, in, blocks);
    }
}

static void ecb_decrypt(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks) {
    if (blocks >= WIDE_FROM) {
        size_t done = ecb_decrypt_wide(backward_of(key), out, in, blocks);

        out += done * CD_AES_BLOCK;
        in += done * CD_AES_BLOCK;
        blocks -= done;
    }
    if (blocks > 0) {
        cd_aes_ecb_decrypt_aesni(key, out, in, blocks);
    }
}

/* ---- CBC ---- */

/* The last round's key of a pair, and the two blocks of ciphertext before it. */
INLINE __m256i chain_key(struct span span, size_t pair, __m128i iv, __m256i last) {
    size_t block = pair_block(span, pair);
    __m256i before;

    if (block == 0) {
        before = _mm256_inserti128_si256(_mm256_castsi128_si256(iv), load(span.in), 1);
    } else {
        before = _mm256_loadu_si256(
            (const __m256i *)(const void *)(span.in + (block - 1) * CD_AES_BLOCK));
    }
    return _mm256_xor_si256(before, last);
}

INLINE struct four chain_keys(struct span span, size_t first, __m128i iv, __m256i last) {
    return (struct four){chain_key(span, first, iv, last), chain_key(span, first + 1, iv, last),
                         chain_key(span, first + 2, iv, last),
                         chain_key(span, first + 3, iv, last)};
}

/* The last block of ciphertext: the next IV. */
INLINE __m128i span_end(struct span span) {
    return load(span.in + (span.last + 1) * CD_AES_BLOCK);
}

INLINE __m128i cbc_decrypt_eight(struct schedule key, struct span span, __m128i iv) {
    __m256i last = round_key(key, key.rounds);
    __m128i next = span_end(span);
    struct eight x = decrypt_eight(key, eight_load(span));

    x.low = four_dec_last(x.low, chain_keys(span, 0, iv, last));
    x.high = four_dec_last(x.high, chain_keys(span, 4, iv, last));
    eight_store(span, x);
    return next;
}

INLINE __m128i cbc_decrypt_four(struct schedule key, struct span span, __m128i iv) {
    __m256i last = round_key(key, key.rounds);
    __m128i next = span_end(span);
    struct four x = decrypt_four(key, four_load(span, 0));

    four_store(span, 0, four_dec_last(x, chain_keys(span, 0, iv, last)));
    return next;
}

KERNEL static size_t cbc_decrypt_wide(struct schedule key, uint8_t *out, const uint8_t *in,
                                      size_t blocks, uint8_t iv[CD_AES_BLOCK]) {
    __m128i chain = load(iv);
    size_t done = 0;

    for (; blocks - done >= WIDE; done += WIDE) {
        chain = cbc_decrypt_eight(
            key, span_of(out + done * CD_AES_BLOCK, in + done * CD_AES_BLOCK, WIDE), chain);
    }
    struct span span = span_of(out + done * CD_AES_BLOCK, in + done * CD_AES_BLOCK, blocks - done);

    if (blocks - done > WIDE / 2) {
        chain = cbc_decrypt_eight(key, span, chain);
        done = blocks;
    } else if (blocks - done > 1) {
        chain = cbc_decrypt_four(key, span, chain);
        done = blocks;
    }
    _mm_storeu_si128((__m128i *)(void *)iv, chain);
    _mm256_zeroupper();
    return done;
}

static void cbc_decrypt(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks, uint8_t iv[CD_AES_BLOCK]) {
    if (blocks >= WIDE_FROM) {
        size_t done = cbc_decrypt_wide(backward_of(key), out, in, blocks, iv);

        out += done * CD_AES_BLOCK;
        in += done * CD_AES_BLOCK;
        blocks -= done;
    }
    if (blocks > 0) {
        cd_aes_cbc_decrypt_aesni(key, out, in, blocks, iv);
    }
}

/* ---- CTR ---- */

_Alignas(32) static const uint64_t steps[WIDE][2] = {
    {0, 0}, {1, 0}, {2, 0},  {3, 0},  {4, 0},  {5, 0},  {6, 0},  {7, 0},
    {8, 0}, {9, 0}, {10, 0}, {11, 0}, {12, 0}, {13, 0}, {14, 0}, {15, 0}};

/* The counter blocks of one pair, big-endian; the lower 64 bits do not overflow. */
INLINE __m256i counter_pair(__m256i counter, struct span span, size_t pair) {
    const __m256i reverse = _mm256_broadcastsi128_si256(
        _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    const void *step = steps[pair_block(span, pair)];
    __m256i sum = _mm256_add_epi64(counter, _mm256_loadu_si256((const __m256i *)step));

    return _mm256_shuffle_epi8(sum, reverse);
}

INLINE struct four counter_four(__m256i counter, struct span span, size_t first) {
    return (struct four){counter_pair(counter, span, first), counter_pair(counter, span, first + 1),
                         counter_pair(counter, span, first + 2),
                         counter_pair(counter, span, first + 3)};
}

/* The last round's keys and the text: the last round gives the result at once. */
INLINE struct four text_keys(struct span span, size_t first, __m256i last) {
    return four_xor(four_load(span, first), last);
}

INLINE void ctr_eight(struct schedule key, struct span span, __m256i counter) {
    __m256i last = round_key(key, key.rounds);
    struct eight x = {counter_four(counter, span, 0), counter_four(counter, span, 4)};

    x = encrypt_eight(key, x);
    x.low = four_enc_last(x.low, text_keys(span, 0, last));
    x.high = four_enc_last(x.high, text_keys(span, 4, last));
    eight_store(span, x);
}

INLINE void ctr_four(struct schedule key, struct span span, __m256i counter) {
    __m256i last = round_key(key, key.rounds);
    struct four x = encrypt_four(key, counter_four(counter, span, 0));

    four_store(span, 0, four_enc_last(x, text_keys(span, 0, last)));
}

/* high and low: the counter, which must not overflow its lower half within `blocks`. */
KERNEL static size_t ctr_wide(struct schedule key, uint8_t *out, const uint8_t *in, size_t blocks,
                              uint64_t high, uint64_t low) {
    const __m256i wide = _mm256_setr_epi64x(WIDE, 0, WIDE, 0);
    __m256i counter =
        _mm256_setr_epi64x((long long)low, (long long)high, (long long)low, (long long)high);
    size_t done = 0;

    for (; blocks - done >= WIDE; done += WIDE) {
        ctr_eight(key, span_of(out + done * CD_AES_BLOCK, in + done * CD_AES_BLOCK, WIDE), counter);
        counter = _mm256_add_epi64(counter, wide);
    }
    struct span span = span_of(out + done * CD_AES_BLOCK, in + done * CD_AES_BLOCK, blocks - done);

    if (blocks - done > WIDE / 2) {
        ctr_eight(key, span, counter);
        done = blocks;
    } else if (blocks - done > 1) {
        ctr_four(key, span, counter);
        done = blocks;
    }
    _mm256_zeroupper();
    return done;
}

/* As many of the blocks as leave the upper half of the counter alone. */
static size_t blocks_before_carry(size_t blocks, uint64_t low) {
    uint64_t room = UINT64_MAX - low;

    return room < blocks ? (size_t)room : blocks;
}

/* Up to the carry by vectors; what is left then, or the pass with the carry, by cd_aes_aesni. */
static void ctr(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                size_t length, uint8_t counter[CD_AES_BLOCK]) {
    while (length >= WIDE_FROM * CD_AES_BLOCK) {
        uint64_t low = cd_load_be64(counter + 8);
        size_t blocks = blocks_before_carry(length / CD_AES_BLOCK, low), bytes;

        if (blocks >= WIDE_FROM) {
            blocks = ctr_wide(forward_of(key), out, in, blocks, cd_load_be64(counter), low);
            cd_aes_counter_add(counter, blocks);
        } else {
            blocks = WIDE_FROM;
            cd_aes_ctr_aesni(key, out, in, blocks * CD_AES_BLOCK, counter);
        }
        bytes = blocks * CD_AES_BLOCK;
        out += bytes;
        in += bytes;
        length -= bytes;
    }
    if (length > 0) {
        cd_aes_ctr_aesni(key, out, in, length, counter);
    }
}

const struct cd_aes_functions cd_aes_vaes = {
    .name = "vaes",
    .cpu = CD_AES_VAES_CPU,
    .prepare_encrypt = cd_aes_prepare_encrypt_aesni,
    .prepare = cd_aes_prepare_aesni,
    .ecb_encrypt = ecb_encrypt,
    .ecb_decrypt = ecb_decrypt,
    .cbc_encrypt = cd_aes_cbc_encrypt_aesni,
    .cbc_decrypt = cbc_decrypt,
    .ctr = ctr,
};

#else

const struct cd_aes_functions cd_aes_vaes = {.name = "vaes", .cpu = CD_AES_VAES_CPU};

#endif
