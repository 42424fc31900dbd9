/*
 * Little-endian words in DMA memory that a driver may read or write in another thread: ownership
 * words are loaded with acquire and stored with release, so that the words they guard follow.
 *
 * A hostile ring base can make the host pointer odd: then bytes are moved one by one.
 */
#ifndef CD_EMULATOR_WORDS_H
#define CD_EMULATOR_WORDS_H

#include "base/endian.h"

#include <stdbool.h>
#include <stdint.h>

/* Memory holds what its owner put there, under whatever type. */
typedef uint32_t __attribute__((may_alias)) cd_emulator_word;

static inline bool cd_emulator_word_aligned(const uint8_t *bytes) {
    return ((uintptr_t)bytes & 3u) == 0;
}

static inline uint32_t cd_emulator_word_swap(uint32_t value) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap32(value);
#else
    return value;
#endif
}

static inline uint32_t cd_emulator_word_acquire(const uint8_t *bytes) {
    if (!cd_emulator_word_aligned(bytes)) {
        uint32_t value = 0;
        for (unsigned i = 0; i < 4; i++) {
            value |= (uint32_t)__atomic_load_n(bytes + i, __ATOMIC_ACQUIRE) << (8 * i);
        }
        return value;
    }
    const void *word = bytes;
    return cd_emulator_word_swap(__atomic_load_n((const cd_emulator_word *)word, __ATOMIC_ACQUIRE));
}

static inline void cd_emulator_word_release(uint8_t *bytes, uint32_t value) {
    if (!cd_emulator_word_aligned(bytes)) {
        for (unsigned i = 0; i < 4; i++) {
            __atomic_store_n(bytes + i, (uint8_t)(value >> (8 * i)), __ATOMIC_RELEASE);
        }
        return;
    }
    void *word = bytes;
    __atomic_store_n((cd_emulator_word *)word, cd_emulator_word_swap(value), __ATOMIC_RELEASE);
}

#endif
