/* The tables of table-driven AES: two S-boxes, and per direction one table of 1 KiB or four of
 * them.
 */
#ifndef CD_AES_TABLES_H
#define CD_AES_TABLES_H

#include <stdint.h>

extern const uint8_t cd_aes_sbox[256];
extern const uint8_t cd_aes_inverse_sbox[256];
/* MixColumns of the column (sbox[i], 0, 0, 0), first row in the low byte. The columns for the other
 * rows are rotations of it to the left by 8, 16 and 24 bits; byte 1 is sbox[i] itself. */
extern const uint32_t cd_aes_mix_table[256];
/* InvMixColumns of the column (inverse_sbox[i], 0, 0, 0), likewise. */
extern const uint32_t cd_aes_unmix_table[256];
/* The same columns for all rows: table r is the one above, rotated to the left by 8 * r bits. */
extern const uint32_t cd_aes_mix_tables[4][256];
extern const uint32_t cd_aes_unmix_tables[4][256];

#endif
