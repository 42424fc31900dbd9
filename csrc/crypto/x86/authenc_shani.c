/*
 * AES-CBC encryption by AES-NI and SHA-1 or SHA-256 by SHA-NI in one pass (see authenc_x86.h). Only
 * SSE encodings.
 */
#include "crypto/authenc.h"

#include "crypto/sha1.h"
#include "crypto/sha2.h"

#if defined(__x86_64__)

#include "crypto/x86/authenc_x86.h"
#include "crypto/x86/sha1_shani.h"

#define KERNEL CD_TARGET(CD_AUTHENC_TARGET)
#define INLINE CD_ALWAYS_INLINE KERNEL

/* ---- with SHA-1: 20 groups of four rounds, five per block of AES ---- */

INLINE void sha1_five(struct cd_sha1_lane *lane, struct cd_authenc_chain *chain, unsigned rounds,
                      unsigned group) {
    cd_sha1_four(lane, group), cd_authenc_chain_part(chain, rounds, 0, 5);
    cd_sha1_four(lane, group + 1), cd_authenc_chain_part(chain, rounds, 1, 5);
    cd_sha1_four(lane, group + 2), cd_authenc_chain_part(chain, rounds, 2, 5);
    cd_sha1_four(lane, group + 3), cd_authenc_chain_part(chain, rounds, 3, 5);
    cd_sha1_four(lane, group + 4), cd_authenc_chain_part(chain, rounds, 4, 5);
}

INLINE void sha1_steps(const struct cd_aes_encrypt_key *key, unsigned rounds, uint8_t *out,
                       const uint8_t *in, size_t steps, uint8_t *iv, uint32_t *words,
                       const uint8_t *hashed) {
    struct cd_sha1_lane lane;
    struct cd_authenc_chain chain;

    cd_sha1_lane_load(&lane, words);
    cd_authenc_chain_start(&chain, key, out, in, steps * CD_AUTHENC_BLOCKS, iv);
    for (; steps > 0; steps--, hashed += CD_MD_BLOCK) {
        const __m128i abcd = lane.abcd, e = lane.e;

        cd_sha1_lane_take_block(&lane, hashed);
        sha1_five(&lane, &chain, rounds, 0);
        sha1_five(&lane, &chain, rounds, 5);
        sha1_five(&lane, &chain, rounds, 10);
        sha1_five(&lane, &chain, rounds, 15);
        cd_sha1_lane_add(&lane, abcd, e);
    }
    cd_sha1_lane_store(&lane, words);
    cd_aesni_store(iv, chain.ciphertext);
}

KERNEL static void cbc_sha256(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                              size_t steps, uint8_t iv[CD_AES_BLOCK], uint32_t *words,
                              const uint8_t *hashed) {
    cd_authenc_cbc_sha256(key, out, in, steps, iv, words, hashed);
}

KERNEL static void cbc_sha1(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                            size_t steps, uint8_t iv[CD_AES_BLOCK], uint32_t *words,
                            const uint8_t *hashed) {
    if (steps == 0) {
        return;
    }
    if (key->rounds == 10) {
        sha1_steps(key, 10, out, in, steps, iv, words, hashed);
    } else if (key->rounds == 12) {
        sha1_steps(key, 12, out, in, steps, iv, words, hashed);
    } else {
        sha1_steps(key, 14, out, in, steps, iv, words, hashed);
    }
}

#define AUTHENC_CBC_SHA1 cbc_sha1
#define AUTHENC_CBC_SHA256 cbc_sha256

#else
#define AUTHENC_CBC_SHA1 NULL
#define AUTHENC_CBC_SHA256 NULL
#endif

const struct cd_authenc_functions cd_authenc_cbc_sha1_shani = {CD_AUTHENC_SHANI_CPU, &cd_aes_aesni,
                                                               &cd_sha1_shani, AUTHENC_CBC_SHA1};
const struct cd_authenc_functions cd_authenc_cbc_sha224_shani = {
    CD_AUTHENC_SHANI_CPU, &cd_aes_aesni, &cd_sha224_shani, AUTHENC_CBC_SHA256};
const struct cd_authenc_functions cd_authenc_cbc_sha256_shani = {
    CD_AUTHENC_SHANI_CPU, &cd_aes_aesni, &cd_sha256_shani, AUTHENC_CBC_SHA256};
