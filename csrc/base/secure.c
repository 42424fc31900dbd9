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
    uint32_t difference = 0;

    for (size_t i = 0; i < length; i++) {
        difference |= (uint32_t)(a[i] ^ b[i]);
        /* Keeps the compiler from leaving the loop once the outcome is known. */
        __asm__ volatile("" : "+r"(difference));
    }
    return difference == 0;
}
