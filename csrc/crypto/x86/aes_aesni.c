/*
 * AES with the AES-NI instructions, eight blocks interleaved.
 *
 * An AES instruction takes 3 to 7 cycles and one or two start per cycle, so eight independent
 * blocks hide the latency; chained CBC encryption cannot. Constant time: no index and no branch
 * depends on key or text. Only SSE encodings, so no upper register halves are left dirty.
 *
 * Tails of 2 to 8 blocks run as one pass of four or eight lanes: lanes beyond the last block do the
 * last block again, which costs nothing and needs no branch per lane. Round keys are the bytes of
 * FIPS 197 in order.
 */
#include "crypto/aes.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#include "base/endian.h"
#include "base/target.h"
#include "crypto/x86/aes_aesni.h"

#define KERNEL CD_TARGET("aes,ssse3")
#define INLINE CD_ALWAYS_INLINE KERNEL
#define LANES 8u

/* ---- lanes ---- */

/* A schedule of either direction. */
struct schedule {
    const __m128i *keys;
    uint32_t rounds;
};

INLINE struct schedule forward_of(const struct cd_aes_encrypt_key *key) {
    return (struct schedule){(const __m128i *)(const void *)key->words, key->rounds};
}

INLINE struct schedule backward_of(const struct cd_aes_key *key) {
    return (struct schedule){(const __m128i *)(const void *)key->decrypt, key->encrypt.rounds};
}

/* Where a pass of several lanes reads and writes: lane i block i, lanes beyond the last block that
 * block again. */
struct span {
    uint8_t *out;
    const uint8_t *in;
    size_t last; /* index of the last block */
};

INLINE struct span span_of(uint8_t *out, const uint8_t *in, size_t blocks) {
    return (struct span){out, in, blocks - 1};
}

INLINE size_t lane_block(struct span span, size_t lane) {
    return lane < span.last ? lane : span.last;
}

INLINE __m128i load(const uint8_t *block) {
    return _mm_loadu_si128((const __m128i *)(const void *)block);
}

INLINE void store(uint8_t *block, __m128i value) {
    _mm_storeu_si128((__m128i *)(void *)block, value);
}

INLINE __m128i lane_load(struct span span, size_t lane) {
    return load(span.in + lane_block(span, lane) * CD_AES_BLOCK);
}

INLINE void lane_store(struct span span, size_t lane, __m128i value) {
    store(span.out + lane_block(span, lane) * CD_AES_BLOCK, value);
}

struct four {
    __m128i a, b, c, d;
};

INLINE struct four four_load(struct span span, size_t first) {
    return (struct four){lane_load(span, first), lane_load(span, first + 1),
                         lane_load(span, first + 2), lane_load(span, first + 3)};
}

INLINE void four_store(struct span span, size_t first, struct four x) {
    lane_store(span, first, x.a);
    lane_store(span, first + 1, x.b);
    lane_store(span, first + 2, x.c);
    lane_store(span, first + 3, x.d);
}

INLINE struct four four_xor(struct four x, struct four y) {
    return (struct four){_mm_xor_si128(x.a, y.a), _mm_xor_si128(x.b, y.b), _mm_xor_si128(x.c, y.c),
                         _mm_xor_si128(x.d, y.d)};
}

INLINE struct four four_same(__m128i value) {
    return (struct four){value, value, value, value};
}

INLINE struct four four_enc(struct four x, __m128i key) {
    return (struct four){_mm_aesenc_si128(x.a, key), _mm_aesenc_si128(x.b, key),
                         _mm_aesenc_si128(x.c, key), _mm_aesenc_si128(x.d, key)};
}

INLINE struct four four_enc_last(struct four x, __m128i key) {
    return (struct four){_mm_aesenclast_si128(x.a, key), _mm_aesenclast_si128(x.b, key),
                         _mm_aesenclast_si128(x.c, key), _mm_aesenclast_si128(x.d, key)};
}

INLINE struct four four_dec(struct four x, __m128i key) {
    return (struct four){_mm_aesdec_si128(x.a, key), _mm_aesdec_si128(x.b, key),
                         _mm_aesdec_si128(x.c, key), _mm_aesdec_si128(x.d, key)};
}

INLINE struct four four_dec_last(struct four x, __m128i key) {
    return (struct four){_mm_aesdeclast_si128(x.a, key), _mm_aesdeclast_si128(x.b, key),
                         _mm_aesdeclast_si128(x.c, key), _mm_aesdeclast_si128(x.d, key)};
}

/* ---- the cipher on one, four and eight blocks ---- */

INLINE __m128i encrypt_one(struct schedule key, __m128i x) {
    x = _mm_xor_si128(x, key.keys[0]);
    for (uint32_t i = 1; i < key.rounds; i++) {
        x = _mm_aesenc_si128(x, key.keys[i]);
    }
    return _mm_aesenclast_si128(x, key.keys[key.rounds]);
}

INLINE __m128i decrypt_one(struct schedule key, __m128i x) {
    x = _mm_xor_si128(x, key.keys[0]);
    for (uint32_t i = 1; i < key.rounds; i++) {
        x = _mm_aesdec_si128(x, key.keys[i]);
    }
    return _mm_aesdeclast_si128(x, key.keys[key.rounds]);
}

INLINE struct four encrypt_four(struct schedule key, struct four x) {
    x = four_xor(x, four_same(key.keys[0]));
    for (uint32_t i = 1; i < key.rounds; i++) {
        x = four_enc(x, key.keys[i]);
    }
    return four_enc_last(x, key.keys[key.rounds]);
}

INLINE struct four decrypt_four(struct schedule key, struct four x) {
    x = four_xor(x, four_same(key.keys[0]));
    for (uint32_t i = 1; i < key.rounds; i++) {
        x = four_dec(x, key.keys[i]);
    }
    return four_dec_last(x, key.keys[key.rounds]);
}

struct eight {
    struct four low, high;
};

INLINE struct eight encrypt_eight(struct schedule key, struct eight x) {
    x.low = four_xor(x.low, four_same(key.keys[0]));
    x.high = four_xor(x.high, four_same(key.keys[0]));
    for (uint32_t i = 1; i < key.rounds; i++) {
        x.low = four_enc(x.low, key.keys[i]);
        x.high = four_enc(x.high, key.keys[i]);
    }
    x.low = four_enc_last(x.low, key.keys[key.rounds]);
    x.high = four_enc_last(x.high, key.keys[key.rounds]);
    return x;
}

INLINE struct eight decrypt_eight(struct schedule key, struct eight x) {
    x.low = four_xor(x.low, four_same(key.keys[0]));
    x.high = four_xor(x.high, four_same(key.keys[0]));
    for (uint32_t i = 1; i < key.rounds; i++) {
        x.low = four_dec(x.low, key.keys[i]);
        x.high = four_dec(x.high, key.keys[i]);
    }
    x.low = four_dec_last(x.low, key.keys[key.rounds]);
    x.high = four_dec_last(x.high, key.keys[key.rounds]);
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

KERNEL static void ecb_encrypt(const struct cd_aes_encrypt_key *key, uint8_t *out,
                               const uint8_t *in, size_t blocks) {
    struct schedule schedule = forward_of(key);

    for (; blocks >= LANES; blocks -= LANES) {
        struct span span = span_of(out, in, LANES);

        eight_store(span, encrypt_eight(schedule, eight_load(span)));
        in += LANES * CD_AES_BLOCK;
        out += LANES * CD_AES_BLOCK;
    }
    if (blocks > 4) {
        struct span span = span_of(out, in, blocks);

        eight_store(span, encrypt_eight(schedule, eight_load(span)));
    } else if (blocks > 1) {
        struct span span = span_of(out, in, blocks);

        four_store(span, 0, encrypt_four(schedule, four_load(span, 0)));
    } else if (blocks == 1) {
        store(out, encrypt_one(schedule, load(in)));
    }
}

KERNEL static void ecb_decrypt(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in,
                               size_t blocks) {
    struct schedule schedule = backward_of(key);

    for (; blocks >= LANES; blocks -= LANES) {
        struct span span = span_of(out, in, LANES);

        eight_store(span, decrypt_eight(schedule, eight_load(span)));
        in += LANES * CD_AES_BLOCK;
        out += LANES * CD_AES_BLOCK;
    }
    if (blocks > 4) {
        struct span span = span_of(out, in, blocks);

        eight_store(span, decrypt_eight(schedule, eight_load(span)));
    } else if (blocks > 1) {
        struct span span = span_of(out, in, blocks);

        four_store(span, 0, decrypt_four(schedule, four_load(span, 0)));
    } else if (blocks == 1) {
        store(out, decrypt_one(schedule, load(in)));
    }
}

/* ---- CBC ---- */

/*
 * The chain is one block's latency per block. To keep the XORs out of it, the last round's key is
 * combined with the next block's text and first key: AESENCLAST then gives the next block's state
 * after AddRoundKey, and the ciphertext is recovered beside the chain.
 */
KERNEL static void cbc_encrypt(const struct cd_aes_encrypt_key *key, uint8_t *out,
                               const uint8_t *in, size_t blocks, uint8_t iv[CD_AES_BLOCK]) {
    struct schedule schedule = forward_of(key);
    __m128i first = schedule.keys[0], last = schedule.keys[schedule.rounds];
    __m128i state;

    if (blocks == 0) {
        return;
    }
    state = _mm_xor_si128(_mm_xor_si128(load(in), first), load(iv));
    for (;;) {
        __m128i next;

        for (uint32_t i = 1; i < schedule.rounds; i++) {
            state = _mm_aesenc_si128(state, schedule.keys[i]);
        }
        if (--blocks == 0) {
            break;
        }
        in += CD_AES_BLOCK;
        next = _mm_xor_si128(load(in), first);
        state = _mm_aesenclast_si128(state, _mm_xor_si128(next, last));
        store(out, _mm_xor_si128(state, next));
        out += CD_AES_BLOCK;
    }
    state = _mm_aesenclast_si128(state, last);
    store(out, state);
    store(iv, state);
}

/* XOR lanes 1.. with the ciphertext before them and store. Downwards: in place, a lane's store
 * overwrites only ciphertext that the lanes below do not need. */
INLINE void unchain_lane(struct span span, size_t lane, __m128i value) {
    size_t block = lane_block(span, lane);

    value = _mm_xor_si128(value, load(span.in + (block - 1) * CD_AES_BLOCK));
    store(span.out + block * CD_AES_BLOCK, value);
}

INLINE void unchain_four(struct span span, size_t first, struct four x) {
    unchain_lane(span, first + 3, x.d);
    unchain_lane(span, first + 2, x.c);
    unchain_lane(span, first + 1, x.b);
    if (first > 0) {
        unchain_lane(span, first, x.a);
    }
}

/* One pass over 2 to 8 blocks; returns the next IV. */
INLINE __m128i cbc_decrypt_eight(struct schedule key, struct span span, __m128i iv) {
    __m128i next = lane_load(span, LANES);
    struct eight x = decrypt_eight(key, eight_load(span));

    unchain_four(span, 4, x.high);
    unchain_four(span, 0, x.low);
    store(span.out, _mm_xor_si128(x.low.a, iv));
    return next;
}

/* One pass over 2 to 4 blocks; returns the next IV. */
INLINE __m128i cbc_decrypt_four(struct schedule key, struct span span, __m128i iv) {
    __m128i next = lane_load(span, LANES);
    struct four x = decrypt_four(key, four_load(span, 0));

    unchain_four(span, 0, x);
    store(span.out, _mm_xor_si128(x.a, iv));
    return next;
}

KERNEL static void cbc_decrypt(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in,
                               size_t blocks, uint8_t iv[CD_AES_BLOCK]) {
    struct schedule schedule = backward_of(key);
    __m128i chain = load(iv);

    for (; blocks >= LANES; blocks -= LANES) {
        chain = cbc_decrypt_eight(schedule, span_of(out, in, LANES), chain);
        in += LANES * CD_AES_BLOCK;
        out += LANES * CD_AES_BLOCK;
    }
    if (blocks > 4) {
        chain = cbc_decrypt_eight(schedule, span_of(out, in, blocks), chain);
    } else if (blocks > 1) {
        chain = cbc_decrypt_four(schedule, span_of(out, in, blocks), chain);
    } else if (blocks == 1) {
        __m128i next = load(in);

        store(out, _mm_xor_si128(decrypt_one(schedule, next), chain));
        chain = next;
    }
    store(iv, chain);
}

/* ---- CTR ---- */

/* A 128-bit counter as two numbers. */
struct counter {
    uint64_t high, low;
};

INLINE struct counter counter_plus(struct counter counter, uint64_t blocks) {
    uint64_t low = counter.low + blocks;

    return (struct counter){counter.high + (low < blocks ? 1 : 0), low};
}

INLINE __m128i counter_vector(struct counter counter) {
    return _mm_set_epi64x((long long)counter.high, (long long)counter.low);
}

/* The counter as it is encrypted: 16 bytes, big-endian. */
INLINE __m128i counter_bytes(__m128i vector) {
    return _mm_shuffle_epi8(vector,
                            _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

_Alignas(16) static const uint64_t steps[LANES][2] = {{0, 0}, {1, 0}, {2, 0}, {3, 0},
                                                      {4, 0}, {5, 0}, {6, 0}, {7, 0}};

/* The counter block of one lane: the addition goes within 64 bits unless `carries`. */
INLINE __m128i counter_lane(struct counter counter, bool carries, size_t step) {
    if (carries) {
        return counter_bytes(counter_vector(counter_plus(counter, step)));
    }
    return counter_bytes(
        _mm_add_epi64(counter_vector(counter), *(const __m128i *)(const void *)steps[step]));
}

INLINE struct four counter_four(struct counter counter, bool carries, struct span span,
                                size_t first) {
    return (struct four){counter_lane(counter, carries, lane_block(span, first)),
                         counter_lane(counter, carries, lane_block(span, first + 1)),
                         counter_lane(counter, carries, lane_block(span, first + 2)),
                         counter_lane(counter, carries, lane_block(span, first + 3))};
}

/* One pass over 2 to 8 blocks. Text is read in all lanes before any is written: several may share
 * the last block. */
INLINE void ctr_eight(struct schedule key, struct span span, struct counter counter) {
    struct eight x;

    if (counter.low > UINT64_MAX - LANES) {
        x.low = counter_four(counter, true, span, 0);
        x.high = counter_four(counter, true, span, 4);
    } else {
        x.low = counter_four(counter, false, span, 0);
        x.high = counter_four(counter, false, span, 4);
    }
    x = encrypt_eight(key, x);
    x.low = four_xor(x.low, four_load(span, 0));
    x.high = four_xor(x.high, four_load(span, 4));
    eight_store(span, x);
}

/* One pass over 2 to 4 blocks. */
INLINE void ctr_four(struct schedule key, struct span span, struct counter counter) {
    bool carries = counter.low > UINT64_MAX - LANES;
    struct four x =
        carries ? counter_four(counter, true, span, 0) : counter_four(counter, false, span, 0);

    four_store(span, 0, four_xor(encrypt_four(key, x), four_load(span, 0)));
}

INLINE __m128i ctr_one(struct schedule key, struct counter counter) {
    return encrypt_one(key, counter_bytes(counter_vector(counter)));
}

/* out = in ^ stream for 1 to 15 bytes, through registers alone: a buffer would hold key stream, and
 * loading it right after storing its parts stalls. */
INLINE void xor_partial(uint8_t *out, const uint8_t *in, size_t length, __m128i stream) {
    uint64_t bytes = (uint64_t)_mm_cvtsi128_si64(stream), text;

    if (length >= 8) {
        memcpy(&text, in, 8);
        text ^= bytes;
        memcpy(out, &text, 8);
        bytes = (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(stream, stream));
        in += 8;
        out += 8;
        length -= 8;
    }
    for (size_t i = 0; i < length; i++) {
        out[i] = (uint8_t)(in[i] ^ (uint8_t)(bytes >> 8 * i));
    }
}

KERNEL static void ctr(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                       size_t length, uint8_t counter_block[CD_AES_BLOCK]) {
    struct schedule schedule = forward_of(key);
    struct counter counter = {cd_load_be64(counter_block), cd_load_be64(counter_block + 8)};
    size_t blocks = length / CD_AES_BLOCK, partial = length % CD_AES_BLOCK;

    for (; blocks >= LANES; blocks -= LANES) {
        ctr_eight(schedule, span_of(out, in, LANES), counter);
        counter = counter_plus(counter, LANES);
        in += LANES * CD_AES_BLOCK;
        out += LANES * CD_AES_BLOCK;
    }
    if (blocks > 4) {
        ctr_eight(schedule, span_of(out, in, blocks), counter);
    } else if (blocks > 1) {
        ctr_four(schedule, span_of(out, in, blocks), counter);
    } else if (blocks == 1) {
        store(out, _mm_xor_si128(ctr_one(schedule, counter), load(in)));
    }
    counter = counter_plus(counter, blocks);
    if (partial != 0) {
        xor_partial(out + blocks * CD_AES_BLOCK, in + blocks * CD_AES_BLOCK, partial,
                    ctr_one(schedule, counter));
        counter = counter_plus(counter, 1);
    }
    cd_store_be64(counter_block, counter.high);
    cd_store_be64(counter_block + 8, counter.low);
}

const struct cd_aes_functions cd_aes_aesni = {
    .name = "ni",
    .cpu = CD_AES_AESNI_CPU,
    .prepare_encrypt = cd_aes_prepare_encrypt_aesni,
    .prepare = cd_aes_prepare_aesni,
    .ecb_encrypt = ecb_encrypt,
    .ecb_decrypt = ecb_decrypt,
    .cbc_encrypt = cbc_encrypt,
    .cbc_decrypt = cbc_decrypt,
    .ctr = ctr,
};

#else

const struct cd_aes_functions cd_aes_aesni = {.name = "ni", .cpu = CD_AES_AESNI_CPU};

#endif
