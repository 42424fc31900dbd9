/*
 * What an authenc is made of: the prepared HMAC key, a cipher half, and the step that joins them.
 *
 * The step is the seam for kernels that encrypt and authenticate in one pass: such a kernel is a
 * cd_authenc_seal function and a row of software_authenc.c, nothing else.
 */
#ifndef CD_SOFTWARE_AUTHENC_H
#define CD_SOFTWARE_AUTHENC_H

#include "crypto/aes_lanes.h"
#include "crypto/des.h"
#include "crypto/hmac.h"
#include "cryptodispatch/batch.h"
#include "software/software_aes.h"

struct cd_authenc_context;

/* One cipher in one backend. It keeps what it needs in the context's `key`. */
struct cd_authenc_cipher {
    uint64_t length_max;                       /* bytes of text under one IV */
    const struct cd_aes_functions *aes;        /* the AES ones: their backend */
    const struct cd_aes_lane_functions *lanes; /* cbc(aes): that encrypt many texts; else NULL */
    void (*prepare)(struct cd_authenc_context *context, const uint8_t *key, size_t key_len);
    /* `length` is a positive multiple of the block; `iv` is left as it is. */
    void (*encrypt)(const struct cd_authenc_context *context, uint8_t *out, const uint8_t *in,
                    size_t length, const uint8_t *iv);
    void (*decrypt)(const struct cd_authenc_context *context, uint8_t *out, const uint8_t *in,
                    size_t length, const uint8_t *iv);
};

/* Both halves of an encryption in one pass. Encrypt the text (length > 0) from `in` to `out` (`in`
 * itself or not overlapping it) and add the ciphertext to `mac`, which holds the AAD already. `iv`
 * is left as it is. */
typedef void cd_authenc_seal(const struct cd_authenc_context *context, struct cd_hmac_state *mac,
                             uint8_t *out, const uint8_t *in, size_t length, const uint8_t *iv);

/* One authenc as a combination of its parts. */
struct cd_authenc_pair {
    const struct cd_md_algorithm *hash;
    const struct cd_authenc_cipher *cipher;
    cd_authenc_seal *seal; /* NULL: one half after the other */
};

/* State of a transform. */
struct cd_authenc_context {
    const struct cd_authenc_pair *pair;
    struct cd_hmac_key auth;
    union {
        struct cd_aes_key aes;
        struct {
            struct cd_aes_encrypt_key aes;
            uint8_t nonce[CD_RFC3686_NONCE];
        } rfc3686;
        struct cd_des_key des;
        struct cd_des3_key des3;
    } key;
};

/* `records` of struct cd_aead_ops. */
void cd_authenc_records(struct cd_aead *aead, struct cd_aead_record *records, size_t count,
                        bool decrypt);

extern const struct cd_authenc_cipher cd_authenc_cbc_aes_portable;
extern const struct cd_authenc_cipher cd_authenc_cbc_aes_aesni;
extern const struct cd_authenc_cipher cd_authenc_rfc3686_portable;
extern const struct cd_authenc_cipher cd_authenc_rfc3686_aesni;
extern const struct cd_authenc_cipher cd_authenc_cbc_aes_vaes;
extern const struct cd_authenc_cipher cd_authenc_rfc3686_vaes;
extern const struct cd_authenc_cipher cd_authenc_cbc_des_portable;
extern const struct cd_authenc_cipher cd_authenc_cbc_des3_portable;

#endif
