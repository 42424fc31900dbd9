/* The cipher halves of authenc: cbc and rfc3686 of AES in every backend, cbc of DES and triple DES
 * (whose keys follow the rule in software_des.c). */
#include "software/software_authenc.h"

#include <string.h>

/* ---- cbc(aes) ---- */

static void cbc_aes_prepare(struct cd_authenc_context *context, const uint8_t *key,
                            size_t key_len) {
    context->pair->cipher->aes->prepare(&context->key.aes, key, key_len);
}

static void cbc_aes_encrypt(const struct cd_authenc_context *context, uint8_t *out,
                            const uint8_t *in, size_t length, const uint8_t *iv) {
    uint8_t chain[CD_AES_BLOCK];

    memcpy(chain, iv, sizeof chain);
    context->pair->cipher->aes->cbc_encrypt(&context->key.aes.encrypt, out, in,
                                            length / CD_AES_BLOCK, chain);
}

static void cbc_aes_decrypt(const struct cd_authenc_context *context, uint8_t *out,
                            const uint8_t *in, size_t length, const uint8_t *iv) {
    uint8_t chain[CD_AES_BLOCK];

    memcpy(chain, iv, sizeof chain);
    context->pair->cipher->aes->cbc_decrypt(&context->key.aes, out, in, length / CD_AES_BLOCK,
                                            chain);
}

/* ---- rfc3686(ctr(aes)) ---- */

static void rfc3686_prepare(struct cd_authenc_context *context, const uint8_t *key,
                            size_t key_len) {
    size_t aes_len = key_len - CD_RFC3686_NONCE;

    context->pair->cipher->aes->prepare_encrypt(&context->key.rfc3686.aes, key, aes_len);
    memcpy(context->key.rfc3686.nonce, key + aes_len, CD_RFC3686_NONCE);
}

/* Both directions. The counter block is nonce, IV and a 32-bit counter from 1 on (RFC 3686 section
 * 4); length_max keeps it from wrapping, so the 128-bit counter never carries into the IV. */
static void rfc3686_crypt(const struct cd_authenc_context *context, uint8_t *out, const uint8_t *in,
                          size_t length, const uint8_t *iv) {
    uint8_t counter[CD_AES_BLOCK];

    cd_software_rfc3686_counter(counter, context->key.rfc3686.nonce, iv, 0);
    context->pair->cipher->aes->ctr(&context->key.rfc3686.aes, out, in, length, counter);
}

/* ---- cbc(des) ---- */

static void cbc_des_prepare(struct cd_authenc_context *context, const uint8_t *key,
                            size_t key_len) {
    (void)key_len; /* the only one in key_sizes */
    cd_des_portable.prepare(&context->key.des, key);
}

static void cbc_des_encrypt(const struct cd_authenc_context *context, uint8_t *out,
                            const uint8_t *in, size_t length, const uint8_t *iv) {
    uint8_t chain[CD_DES_BLOCK];

    memcpy(chain, iv, sizeof chain);
    cd_des_portable.cbc_encrypt(&context->key.des, out, in, length / CD_DES_BLOCK, chain);
}

static void cbc_des_decrypt(const struct cd_authenc_context *context, uint8_t *out,
                            const uint8_t *in, size_t length, const uint8_t *iv) {
    uint8_t chain[CD_DES_BLOCK];

    memcpy(chain, iv, sizeof chain);
    cd_des_portable.cbc_decrypt(&context->key.des, out, in, length / CD_DES_BLOCK, chain);
}

/* ---- cbc(des3_ede) ---- */

static void cbc_des3_prepare(struct cd_authenc_context *context, const uint8_t *key,
                             size_t key_len) {
    (void)key_len; /* the only one in key_sizes */
    cd_des3_portable.prepare(&context->key.des3, key);
}

static void cbc_des3_encrypt(const struct cd_authenc_context *context, uint8_t *out,
                             const uint8_t *in, size_t length, const uint8_t *iv) {
    uint8_t chain[CD_DES_BLOCK];

    memcpy(chain, iv, sizeof chain);
    cd_des3_portable.cbc_encrypt(&context->key.des3, out, in, length / CD_DES_BLOCK, chain);
}

static void cbc_des3_decrypt(const struct cd_authenc_context *context, uint8_t *out,
                             const uint8_t *in, size_t length, const uint8_t *iv) {
    uint8_t chain[CD_DES_BLOCK];

    memcpy(chain, iv, sizeof chain);
    cd_des3_portable.cbc_decrypt(&context->key.des3, out, in, length / CD_DES_BLOCK, chain);
}

/* ---- tables ---- */

#define CBC_AES(backend, lane_backend)                                                             \
    {                                                                                              \
        .length_max = UINT64_MAX, .aes = &(backend), .lanes = &(lane_backend),                     \
        .prepare = cbc_aes_prepare, .encrypt = cbc_aes_encrypt, .decrypt = cbc_aes_decrypt,        \
    }

#define RFC3686(backend)                                                                           \
    {                                                                                              \
        .length_max = CD_RFC3686_BLOCKS_MAX * CD_AES_BLOCK, .aes = &(backend),                     \
        .prepare = rfc3686_prepare, .encrypt = rfc3686_crypt, .decrypt = rfc3686_crypt,            \
    }

const struct cd_authenc_cipher cd_authenc_cbc_aes_portable =
    CBC_AES(cd_aes_portable, cd_aes_lanes_portable);
const struct cd_authenc_cipher cd_authenc_cbc_aes_aesni = CBC_AES(cd_aes_aesni, cd_aes_lanes_aesni);
const struct cd_authenc_cipher cd_authenc_cbc_aes_vaes = CBC_AES(cd_aes_vaes, cd_aes_lanes_vaes);
const struct cd_authenc_cipher cd_authenc_rfc3686_vaes = RFC3686(cd_aes_vaes);
const struct cd_authenc_cipher cd_authenc_rfc3686_portable = RFC3686(cd_aes_portable);
const struct cd_authenc_cipher cd_authenc_rfc3686_aesni = RFC3686(cd_aes_aesni);

const struct cd_authenc_cipher cd_authenc_cbc_des_portable = {
    .length_max = UINT64_MAX,
    .prepare = cbc_des_prepare,
    .encrypt = cbc_des_encrypt,
    .decrypt = cbc_des_decrypt,
};

const struct cd_authenc_cipher cd_authenc_cbc_des3_portable = {
    .length_max = UINT64_MAX,
    .prepare = cbc_des3_prepare,
    .encrypt = cbc_des3_encrypt,
    .decrypt = cbc_des3_decrypt,
};
