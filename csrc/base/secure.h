/* Wiping secrets and comparing them without telling where they differ. */
#ifndef CD_SECURE_H
#define CD_SECURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Overwrite `length` bytes with zeros in a way the compiler may not leave out. NULL with 0 is fine.
 */
void cd_wipe(void *memory, size_t length);

/* True if the first `length` bytes are equal; time depends on `length` alone. */
bool cd_equal_ct(const uint8_t *a, const uint8_t *b, size_t length);

#endif
