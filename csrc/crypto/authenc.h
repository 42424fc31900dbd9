/*
 * AES-CBC encryption and a hash over the ciphertext in one pass: encrypting in CBC is all latency,
 * and so is hashing, so that each fits into the gaps of the other.
 *
 * For encrypt-then-MAC on the sending side. The receiving side verifies before it decrypts, so it
 * needs two passes anyway. CTR fills the CPU by itself and has nothing to gain.
 */
#ifndef CD_AUTHENC_H
#define CD_AUTHENC_H

#include "crypto/aes.h"
#include "crypto/md.h"

#define CD_AUTHENC_STEP 64u /* bytes encrypted and bytes hashed per step */

/* One way of computing AES-CBC with one hash function. */
struct cd_authenc_functions {
    uint32_t cpu;                       /* enum cd_cpu_feature bits needed */
    const struct cd_aes_functions *aes; /* whose keys it takes */
    const struct cd_md_algorithm *hash; /* whose chaining words it continues */
    /*
     * Do `steps` times: encrypt the next 64 bytes from `in` to `out` (`in` itself or not
     * overlapping it), and take the next 64 bytes of `hashed` into the chaining words. `hashed` may
     * be ciphertext of this very run, as far as it trails: hashed + 64 <= out if both are in one
     * buffer. Any alignment and any distance. `iv` is in and out. NULL where not built.
     */
    void (*cbc_encrypt)(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                        size_t steps, uint8_t iv[CD_AES_BLOCK], uint32_t *words,
                        const uint8_t *hashed);
};

extern const struct cd_authenc_functions cd_authenc_cbc_sha1_portable;
extern const struct cd_authenc_functions cd_authenc_cbc_sha224_portable;
extern const struct cd_authenc_functions cd_authenc_cbc_sha256_portable;
extern const struct cd_authenc_functions cd_authenc_cbc_sha1_shani;
extern const struct cd_authenc_functions cd_authenc_cbc_sha224_shani;
extern const struct cd_authenc_functions cd_authenc_cbc_sha256_shani;
extern const struct cd_authenc_functions cd_authenc_cbc_sha224_avx512;
extern const struct cd_authenc_functions cd_authenc_cbc_sha256_avx512;

#define CD_AUTHENC_SHANI_CPU                                                                       \
    (CD_CPU_AESNI | CD_CPU_SHANI | CD_CPU_SSE41 | CD_CPU_SSSE3) /* cpu of the shani ones */
#define CD_AUTHENC_AVX512_CPU (CD_AUTHENC_SHANI_CPU | CD_CPU_AVX512)

/*
 * Encrypt `blocks` blocks of 16 bytes from `in` to `out` (`in` itself or not overlapping it) and
 * add the ciphertext to the message in `state`, which may be at any byte: after associated data of
 * any length, in the middle of a message, or at its start. `iv` is in and out. The same as
 * aes->cbc_encrypt followed by cd_md_update. Any thread.
 */
void cd_authenc_cbc_encrypt(const struct cd_authenc_functions *functions,
                            const struct cd_aes_encrypt_key *key, struct cd_md_state *state,
                            uint8_t *out, const uint8_t *in, size_t blocks,
                            uint8_t iv[CD_AES_BLOCK]);

#endif
