/* AES key schedules with the AES-NI instructions. Constant time. */
#include "crypto/x86/aes_aesni.h"

#if defined(__x86_64__)

#include <assert.h>
#include <immintrin.h>

#include "base/target.h"

#define KERNEL CD_TARGET("aes,ssse3")
#define INLINE CD_ALWAYS_INLINE KERNEL

/* Words a, b, c, d become a, a^b, a^b^c, a^b^c^d. */
INLINE __m128i prefix_xor(__m128i words) {
    words = _mm_xor_si128(words, _mm_slli_si128(words, 4));
    return _mm_xor_si128(words, _mm_slli_si128(words, 8));
}

/*
 * SubWord(RotWord(word)) ^ constant in all four words, for the word at byte `index` (FIPS 197
 * section 5.2). AESENCLAST on four equal columns is exactly that, ShiftRows having no effect, and
 * takes a third of the time of AESKEYGENASSIST.
 */
INLINE __m128i rotate_substitute(__m128i words, int index, int constant) {
    __m128i rotated =
        _mm_set1_epi32((index + 1) | (index + 2) << 8 | (index + 3) << 16 | index << 24);

    return _mm_aesenclast_si128(_mm_shuffle_epi8(words, rotated), _mm_set1_epi32(constant));
}

INLINE __m128i substitute(__m128i words) {
    return _mm_aesenclast_si128(_mm_shuffle_epi32(words, 0xff), _mm_setzero_si128());
}

static const uint8_t round_constants[10] = {0x01, 0x02, 0x04, 0x08, 0x10,
                                            0x20, 0x40, 0x80, 0x1b, 0x36};

KERNEL static void expand_128(__m128i *out_keys, const uint8_t *key) {
    __m128i words = _mm_loadu_si128((const __m128i *)(const void *)key);

    out_keys[0] = words;
    for (int i = 0; i < 10; i++) {
        words = _mm_xor_si128(prefix_xor(words), rotate_substitute(words, 12, round_constants[i]));
        out_keys[i + 1] = words;
    }
}

/* Six words a step, so that the stores do not fall on whole round keys. */
KERNEL static void expand_192(uint32_t *out_words, const uint8_t *key) {
    __m128i low = _mm_loadu_si128((const __m128i *)(const void *)key);
    __m128i high = _mm_loadl_epi64((const __m128i *)(const void *)(key + 16));

    for (int i = 0;; i++) {
        _mm_storeu_si128((__m128i *)(void *)(out_words + 6 * i), low);
        if (i == 8) {
            break;
        }
        _mm_storel_epi64((__m128i *)(void *)(out_words + 6 * i + 4), high);
        low = _mm_xor_si128(prefix_xor(low), rotate_substitute(high, 4, round_constants[i]));
        high = _mm_xor_si128(high, _mm_slli_si128(high, 4));
        high = _mm_xor_si128(high, _mm_shuffle_epi32(low, 0xff));
    }
}

KERNEL static void expand_256(__m128i *out_keys, const uint8_t *key) {
    __m128i low = _mm_loadu_si128((const __m128i *)(const void *)key);
    __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(key + 16));

    for (int i = 0;; i++) {
        out_keys[2 * i] = low;
        if (i == 7) {
            break;
        }
        out_keys[2 * i + 1] = high;
        low = _mm_xor_si128(prefix_xor(low), rotate_substitute(high, 12, round_constants[i]));
        high = _mm_xor_si128(prefix_xor(high), substitute(low));
    }
}

void cd_aes_prepare_encrypt_aesni(struct cd_aes_encrypt_key *out_key, const uint8_t *key,
                                  size_t key_len) {
    assert(key_len == 16 || key_len == 24 || key_len == 32);
    out_key->rounds = (uint32_t)key_len / 4 + 6;
    if (key_len == 16) {
        expand_128((__m128i *)(void *)out_key->words, key);
    } else if (key_len == 24) {
        expand_192(out_key->words, key);
    } else {
        expand_256((__m128i *)(void *)out_key->words, key);
    }
}

/* The schedule of the equivalent inverse cipher in the order of use, FIPS 197 section 5.3.5. */
KERNEL void cd_aes_prepare_aesni(struct cd_aes_key *out_key, const uint8_t *key, size_t key_len) {
    const __m128i *forward = (const __m128i *)(const void *)out_key->encrypt.words;
    __m128i *backward = (__m128i *)(void *)out_key->decrypt;
    uint32_t rounds;

    cd_aes_prepare_encrypt_aesni(&out_key->encrypt, key, key_len);
    rounds = out_key->encrypt.rounds;
    backward[0] = forward[rounds];
    for (uint32_t i = 1; i < rounds; i++) {
        backward[i] = _mm_aesimc_si128(forward[rounds - i]);
    }
    backward[rounds] = forward[0];
}

#else

typedef int cd_aes_aesni_key_is_empty; /* ISO C forbids an empty file */

#endif
