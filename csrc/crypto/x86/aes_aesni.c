/*
 * AES with the AES-NI instructions, eight blocks interleaved.
 *
 * An AES instruction takes 3 to 7 cycles and one or two start per cycle, so eight independent
 * blocks hide the latency; chained CBC encryption cannot. Constant time: no index and no branch
 * depends on key or text. Only SSE encodings, so no upper register halves are left dirty.
 */
#include "crypto/aes.h"

#if defined(__x86_64__)

#include <string.h>

#include "base/endian.h"
#include "base/target.h"
#include "crypto/x86/aes_aesni.h"
#include "crypto/x86/aes_aesni_vectors.h"

#define KERNEL CD_TARGET("aes,ssse3")
#define INLINE CD_ALWAYS_INLINE KERNEL

/* ---- ECB ---- */

KERNEL void cd_aes_ecb_encrypt_aesni(const struct cd_aes_encrypt_key *key, uint8_t *out,
                                     const uint8_t *in, size_t blocks) {
    struct cd_aesni_schedule schedule = cd_aesni_forward_of(key);

    for (; blocks >= CD_AESNI_LANES; blocks -= CD_AESNI_LANES) {
        struct cd_aesni_span span = cd_aesni_span_of(out, in, CD_AESNI_LANES);

        cd_aesni_eight_store(span, cd_aesni_encrypt_eight(schedule, cd_aesni_eight_load(span)));
        in += CD_AESNI_LANES * CD_AES_BLOCK;
        out += CD_AESNI_LANES * CD_AES_BLOCK;
    }
    if (blocks > 4) {
        struct cd_aesni_span span = cd_aesni_span_of(out, in, blocks);

        cd_aesni_eight_store(span, cd_aesni_encrypt_eight(schedule, cd_aesni_eight_load(span)));
    } else if (blocks > 1) {
        struct cd_aesni_span span = cd_aesni_span_of(out, in, blocks);

        cd_aesni_four_store(span, 0, cd_aesni_encrypt_four(schedule, cd_aesni_four_load(span, 0)));
    } else if (blocks == 1) {
        cd_aesni_store(out, cd_aesni_encrypt_one(schedule, cd_aesni_load(in)));
    }
}

KERNEL void cd_aes_ecb_decrypt_aesni(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in,
                                     size_t blocks) {
    struct cd_aesni_schedule schedule = cd_aesni_backward_of(key);

    for (; blocks >= CD_AESNI_LANES; blocks -= CD_AESNI_LANES) {
        struct cd_aesni_span span = cd_aesni_span_of(out, in, CD_AESNI_LANES);

        cd_aesni_eight_store(span, cd_aesni_decrypt_eight(schedule, cd_aesni_eight_load(span)));
        in += CD_AESNI_LANES * CD_AES_BLOCK;
        out += CD_AESNI_LANES * CD_AES_BLOCK;
    }
    if (blocks > 4) {
        struct cd_aesni_span span = cd_aesni_span_of(out, in, blocks);

        cd_aesni_eight_store(span, cd_aesni_decrypt_eight(schedule, cd_aesni_eight_load(span)));
    } else if (blocks > 1) {
        struct cd_aesni_span span = cd_aesni_span_of(out, in, blocks);

        cd_aesni_four_store(span, 0, cd_aesni_decrypt_four(schedule, cd_aesni_four_load(span, 0)));
    } else if (blocks == 1) {
        cd_aesni_store(out, cd_aesni_decrypt_one(schedule, cd_aesni_load(in)));
    }
}

/* ---- CBC ---- */

/*
 * The chain is one block's latency per block. To keep the XORs out of it, the last round's key is
 * combined with the next block's text and first key: AESENCLAST then gives the next block's state
 * after AddRoundKey, and the ciphertext is recovered beside the chain.
 */
KERNEL void cd_aes_cbc_encrypt_aesni(const struct cd_aes_encrypt_key *key, uint8_t *out,
                                     const uint8_t *in, size_t blocks, uint8_t iv[CD_AES_BLOCK]) {
    struct cd_aesni_schedule schedule = cd_aesni_forward_of(key);
    __m128i first = schedule.keys[0], last = schedule.keys[schedule.rounds];
    __m128i state;

    if (blocks == 0) {
        return;
    }
    state = _mm_xor_si128(_mm_xor_si128(cd_aesni_load(in), first), cd_aesni_load(iv));
    for (;;) {
        __m128i next;

        for (uint32_t i = 1; i < schedule.rounds; i++) {
            state = _mm_aesenc_si128(state, schedule.keys[i]);
        }
        if (--blocks == 0) {
            break;
        }
        in += CD_AES_BLOCK;
        next = _mm_xor_si128(cd_aesni_load(in), first);
        state = _mm_aesenclast_si128(state, _mm_xor_si128(next, last));
        cd_aesni_store(out, _mm_xor_si128(state, next));
        out += CD_AES_BLOCK;
    }
    state = _mm_aesenclast_si128(state, last);
    cd_aesni_store(out, state);
    cd_aesni_store(iv, state);
}

/* XOR lanes 1.. with the ciphertext before them and store. Downwards: in place, a lane's store
 * overwrites only ciphertext that the lanes below do not need. */
INLINE void unchain_lane(struct cd_aesni_span span, size_t lane, __m128i value) {
    size_t block = cd_aesni_lane_block(span, lane);

    value = _mm_xor_si128(value, cd_aesni_load(span.in + (block - 1) * CD_AES_BLOCK));
    cd_aesni_store(span.out + block * CD_AES_BLOCK, value);
}

INLINE void unchain_four(struct cd_aesni_span span, size_t first, struct cd_aesni_four x) {
    unchain_lane(span, first + 3, x.d);
    unchain_lane(span, first + 2, x.c);
    unchain_lane(span, first + 1, x.b);
    if (first > 0) {
        unchain_lane(span, first, x.a);
    }
}

/* One pass over 2 to 8 blocks; returns the next IV. */
INLINE __m128i cbc_decrypt_eight(struct cd_aesni_schedule key, struct cd_aesni_span span,
                                 __m128i iv) {
    __m128i next = cd_aesni_lane_load(span, CD_AESNI_LANES);
    struct cd_aesni_eight x = cd_aesni_decrypt_eight(key, cd_aesni_eight_load(span));

    unchain_four(span, 4, x.high);
    unchain_four(span, 0, x.low);
    cd_aesni_store(span.out, _mm_xor_si128(x.low.a, iv));
    return next;
}

/* One pass over 2 to 4 blocks; returns the next IV. */
INLINE __m128i cbc_decrypt_four(struct cd_aesni_schedule key, struct cd_aesni_span span,
                                __m128i iv) {
    __m128i next = cd_aesni_lane_load(span, CD_AESNI_LANES);
    struct cd_aesni_four x = cd_aesni_decrypt_four(key, cd_aesni_four_load(span, 0));

    unchain_four(span, 0, x);
    cd_aesni_store(span.out, _mm_xor_si128(x.a, iv));
    return next;
}

KERNEL void cd_aes_cbc_decrypt_aesni(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in,
                                     size_t blocks, uint8_t iv[CD_AES_BLOCK]) {
    struct cd_aesni_schedule schedule = cd_aesni_backward_of(key);
    __m128i chain = cd_aesni_load(iv);

    for (; blocks >= CD_AESNI_LANES; blocks -= CD_AESNI_LANES) {
        chain = cbc_decrypt_eight(schedule, cd_aesni_span_of(out, in, CD_AESNI_LANES), chain);
        in += CD_AESNI_LANES * CD_AES_BLOCK;
        out += CD_AESNI_LANES * CD_AES_BLOCK;
    }
    if (blocks > 4) {
        chain = cbc_decrypt_eight(schedule, cd_aesni_span_of(out, in, blocks), chain);
    } else if (blocks > 1) {
        chain = cbc_decrypt_four(schedule, cd_aesni_span_of(out, in, blocks), chain);
    } else if (blocks == 1) {
        __m128i next = cd_aesni_load(in);

        cd_aesni_store(out, _mm_xor_si128(cd_aesni_decrypt_one(schedule, next), chain));
        chain = next;
    }
    cd_aesni_store(iv, chain);
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

_Alignas(16) static const uint64_t steps[CD_AESNI_LANES][2] = {{0, 0}, {1, 0}, {2, 0}, {3, 0},
                                                               {4, 0}, {5, 0}, {6, 0}, {7, 0}};

/* The counter block of one lane: the addition goes within 64 bits unless `carries`. */
INLINE __m128i counter_lane(struct counter counter, bool carries, size_t step) {
    if (carries) {
        return counter_bytes(counter_vector(counter_plus(counter, step)));
    }
    return counter_bytes(
        _mm_add_epi64(counter_vector(counter), *(const __m128i *)(const void *)steps[step]));
}

INLINE struct cd_aesni_four counter_four(struct counter counter, bool carries,
                                         struct cd_aesni_span span, size_t first) {
    return (struct cd_aesni_four){
        counter_lane(counter, carries, cd_aesni_lane_block(span, first)),
        counter_lane(counter, carries, cd_aesni_lane_block(span, first + 1)),
        counter_lane(counter, carries, cd_aesni_lane_block(span, first + 2)),
        counter_lane(counter, carries, cd_aesni_lane_block(span, first + 3))};
}

/* One pass over 2 to 8 blocks. Text is read in all lanes before any is written: several may share
 * the last block. */
INLINE void ctr_eight(struct cd_aesni_schedule key, struct cd_aesni_span span,
                      struct counter counter) {
    struct cd_aesni_eight x;

    if (counter.low > UINT64_MAX - CD_AESNI_LANES) {
        x.low = counter_four(counter, true, span, 0);
        x.high = counter_four(counter, true, span, 4);
    } else {
        x.low = counter_four(counter, false, span, 0);
        x.high = counter_four(counter, false, span, 4);
    }
    x = cd_aesni_encrypt_eight(key, x);
    x.low = cd_aesni_four_xor(x.low, cd_aesni_four_load(span, 0));
    x.high = cd_aesni_four_xor(x.high, cd_aesni_four_load(span, 4));
    cd_aesni_eight_store(span, x);
}

/* One pass over 2 to 4 blocks. */
INLINE void ctr_four(struct cd_aesni_schedule key, struct cd_aesni_span span,
                     struct counter counter) {
    bool carries = counter.low > UINT64_MAX - CD_AESNI_LANES;
    struct cd_aesni_four x =
        carries ? counter_four(counter, true, span, 0) : counter_four(counter, false, span, 0);

    cd_aesni_four_store(
        span, 0, cd_aesni_four_xor(cd_aesni_encrypt_four(key, x), cd_aesni_four_load(span, 0)));
}

INLINE __m128i ctr_one(struct cd_aesni_schedule key, struct counter counter) {
    return cd_aesni_encrypt_one(key, counter_bytes(counter_vector(counter)));
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

KERNEL void cd_aes_ctr_aesni(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                             size_t length, uint8_t counter_block[CD_AES_BLOCK]) {
    struct cd_aesni_schedule schedule = cd_aesni_forward_of(key);
    struct counter counter = {cd_load_be64(counter_block), cd_load_be64(counter_block + 8)};
    size_t blocks = length / CD_AES_BLOCK, partial = length % CD_AES_BLOCK;

    for (; blocks >= CD_AESNI_LANES; blocks -= CD_AESNI_LANES) {
        ctr_eight(schedule, cd_aesni_span_of(out, in, CD_AESNI_LANES), counter);
        counter = counter_plus(counter, CD_AESNI_LANES);
        in += CD_AESNI_LANES * CD_AES_BLOCK;
        out += CD_AESNI_LANES * CD_AES_BLOCK;
    }
    if (blocks > 4) {
        ctr_eight(schedule, cd_aesni_span_of(out, in, blocks), counter);
    } else if (blocks > 1) {
        ctr_four(schedule, cd_aesni_span_of(out, in, blocks), counter);
    } else if (blocks == 1) {
        cd_aesni_store(out, _mm_xor_si128(ctr_one(schedule, counter), cd_aesni_load(in)));
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
    .ecb_encrypt = cd_aes_ecb_encrypt_aesni,
    .ecb_decrypt = cd_aes_ecb_decrypt_aesni,
    .cbc_encrypt = cd_aes_cbc_encrypt_aesni,
    .cbc_decrypt = cd_aes_cbc_decrypt_aesni,
    .ctr = cd_aes_ctr_aesni,
};

#else

const struct cd_aes_functions cd_aes_aesni = {.name = "ni", .cpu = CD_AES_AESNI_CPU};

#endif
