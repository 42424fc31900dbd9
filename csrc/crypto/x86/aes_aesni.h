/*
 * The functions of cd_aes_aesni by name, for backends that take over some of them: their round keys
 * are the bytes of FIPS 197 in order. Need CD_AES_AESNI_CPU; exist on x86-64 only. Only SSE
 * encodings.
 */
#ifndef CD_AES_AESNI_H
#define CD_AES_AESNI_H

#include "crypto/aes.h"

/* As the members of these names in struct cd_aes_functions. */
void cd_aes_prepare_encrypt_aesni(struct cd_aes_encrypt_key *out_key, const uint8_t *key,
                                  size_t key_len);
void cd_aes_prepare_aesni(struct cd_aes_key *out_key, const uint8_t *key, size_t key_len);
void cd_aes_ecb_encrypt_aesni(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                              size_t blocks);
void cd_aes_ecb_decrypt_aesni(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in,
                              size_t blocks);
void cd_aes_cbc_encrypt_aesni(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                              size_t blocks, uint8_t iv[CD_AES_BLOCK]);
void cd_aes_cbc_decrypt_aesni(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in,
                              size_t blocks, uint8_t iv[CD_AES_BLOCK]);
void cd_aes_ctr_aesni(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                      size_t length, uint8_t counter[CD_AES_BLOCK]);

#endif
