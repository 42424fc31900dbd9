/*
 * Key schedules computed with AES-NI, for every backend whose round keys are the bytes of FIPS 197
 * in order. Need CD_AES_AESNI_CPU; exist on x86-64 only.
 */
#ifndef CD_AES_AESNI_H
#define CD_AES_AESNI_H

#include "crypto/aes.h"

/* As prepare_encrypt and prepare in struct cd_aes_functions. */
void cd_aes_prepare_encrypt_aesni(struct cd_aes_encrypt_key *out_key, const uint8_t *key,
                                  size_t key_len);
void cd_aes_prepare_aesni(struct cd_aes_key *out_key, const uint8_t *key, size_t key_len);

#endif
