/* The S-box of AES as a circuit on bit planes: no look-up, no branch. */
#ifndef CD_AES_FIXED_SBOX_H
#define CD_AES_FIXED_SBOX_H

#include <stdint.h>

/* SubBytes and InvSubBytes (FIPS 197 sections 5.1.1, 5.3.2) of 64 bytes: bit i of planes[k] is bit
 * k of byte i. */
void cd_aes_sbox_planes(uint64_t planes[8]);
void cd_aes_inverse_sbox_planes(uint64_t planes[8]);

#endif
