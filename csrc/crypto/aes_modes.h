/*
 * CBC and CTR built from a function that runs whole blocks, for backends without kernels of their
 * own for these modes.
 *
 * The block functions get up to CD_AES_MODES_BLOCKS blocks at a time, so that one that works on
 * several blocks at once (bit-sliced, vectors) fills its lanes.
 */
#ifndef CD_AES_MODES_H
#define CD_AES_MODES_H

#include "crypto/aes.h"

#define CD_AES_MODES_BLOCKS 8u

typedef void cd_aes_encrypt_blocks(const struct cd_aes_encrypt_key *key, uint8_t *out,
                                   const uint8_t *in, size_t blocks);
typedef void cd_aes_decrypt_blocks(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in,
                                   size_t blocks);

/* SP 800-38A section 6.2. The parameters and aliasing rules are those of the functions in
 * struct cd_aes_functions, here and below. */
void cd_aes_modes_cbc_encrypt(cd_aes_encrypt_blocks *encrypt, const struct cd_aes_encrypt_key *key,
                              uint8_t *out, const uint8_t *in, size_t blocks,
                              uint8_t iv[CD_AES_BLOCK]);

void cd_aes_modes_cbc_decrypt(cd_aes_decrypt_blocks *decrypt, const struct cd_aes_key *key,
                              uint8_t *out, const uint8_t *in, size_t blocks,
                              uint8_t iv[CD_AES_BLOCK]);

/* SP 800-38A section 6.5. */
void cd_aes_modes_ctr(cd_aes_encrypt_blocks *encrypt, const struct cd_aes_encrypt_key *key,
                      uint8_t *out, const uint8_t *in, size_t length,
                      uint8_t counter[CD_AES_BLOCK]);

#endif
