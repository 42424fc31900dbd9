/*
 * AES-CBC encryption by AES-NI and SHA-224 or SHA-256 by SHA-NI and AVX-512VL in one pass (see
 * authenc_x86.h). Only registers of 128 bits: their upper halves stay clean.
 */
#include "crypto/authenc.h"

#include "crypto/sha2.h"

#if defined(__x86_64__)

#include "crypto/x86/sha2_shani_avx512.h"

#define CD_AUTHENC_TARGET "aes,sha,avx512f,avx512bw,avx512vl"
#define CD_AUTHENC_FOUR_EXPAND cd_sha2_four_expand_avx512

#include "crypto/x86/authenc_x86.h"

CD_TARGET(CD_AUTHENC_TARGET)
static void cbc_sha256(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                       size_t steps, uint8_t iv[CD_AES_BLOCK], uint32_t *words,
                       const uint8_t *hashed) {
    cd_authenc_cbc_sha256(key, out, in, steps, iv, words, hashed);
}

#define AUTHENC_CBC_SHA256 cbc_sha256

#else
#define AUTHENC_CBC_SHA256 NULL
#endif

const struct cd_authenc_functions cd_authenc_cbc_sha224_avx512 = {
    CD_AUTHENC_AVX512_CPU, &cd_aes_aesni, &cd_sha224_avx512, AUTHENC_CBC_SHA256};
const struct cd_authenc_functions cd_authenc_cbc_sha256_avx512 = {
    CD_AUTHENC_AVX512_CPU, &cd_aes_aesni, &cd_sha256_avx512, AUTHENC_CBC_SHA256};
