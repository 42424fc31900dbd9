/* Precomputed tables of DES, private to crypto/des*.c. */
#ifndef CD_DES_TABLES_H
#define CD_DES_TABLES_H

#include <stdint.h>

/*
 * S-box and permutation P in one (FIPS 46-3, "The key-dependent function f" and appendix 1): entry
 * [i - 1][v] is P(S_i(v)) for the six bits v in the order of the standard, rotated left by one as
 * the halves are kept.
 */
extern const uint32_t cd_des_sp[8][64];

/*
 * Permuted choice 2 (FIPS 46-3 appendix 1): entry [i][v] is what six bits v of C (i = 0..3) or D
 * (i = 4..7) contribute, of the 24 bits that PC-2 uses of each, highest first. C gives the key bits
 * of S1, S3, S2, S4, D those of S5, S7, S6, S8, a byte each, highest first.
 */
extern const uint32_t cd_des_pc2[8][64];

#endif
