/* Wiping and constant-time comparison. */
#include "base/secure.h"

#include <string.h>

void cd_wipe(void *memory, size_t length) {
    if (length == 0) {
        return;
    }
    memset(memory, 0, length);
    /* The compiler has to assume that this statement reads the zeros. */
    __asm__ volatile("" : : "r"(memory) : "memory");
}

bool cd_equal_ct(const uint8_t *a, const uint8_t *b, size_t length) {
    uint64_t difference = 0;

    for (; length >= 8; length -= 8, a += 8, b += 8) {
        uint64_t word_a, word_b;

        memcpy(&word_a, a, sizeof word_a);
        memcpy(&word_b, b, sizeof word_b);
        difference |= word_a ^ word_b;
        /* Keeps the compiler from leaving the loop once the outcome is known. */
        __asm__ volatile("" : "+r"(difference));
    }
    for (size_t i = 0; i < length; i++) {
        difference |= (uint64_t)(a[i] ^ b[i]);
        __asm__ volatile("" : "+r"(difference));
    }
    return difference == 0;
}
