/*
 * DES and triple DES as cipher implementations: ecb and cbc of both.
 *
 * The rule for keys, here and in authenc: the parity bits are ignored, and weak, semi-weak and
 * degenerate keys (K1 = K2 or K2 = K3) are taken like any other, as libcrypto and the chip do. What
 * such a key has encrypted must stay readable, and a pair of implementations that differed in the
 * keys they take could not stand in for each other. Who wants to refuse them asks
 * cd_des_key_is_weak and cd_des3_key_is_single (crypto/des.h) first.
 */
#include "crypto/des.h"
#include "cryptodispatch/cipher.h"
#include "software/software_internal.h"

/* Context of ecb(des) and cbc(des); prepared by set_key. */
struct des_context {
    struct cd_des_key key;
};

/* Context of ecb(des3_ede) and cbc(des3_ede). */
struct des3_context {
    struct cd_des3_key key;
};

static cd_status des_set_key(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    struct des_context *context = cd_cipher_context(cipher);

    (void)key_len; /* the only one in key_sizes */
    cd_des_portable.prepare(&context->key, key);
    return CD_OK;
}

static cd_status des_ecb_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct des_context *context = cd_cipher_context(cipher);

    cd_des_portable.ecb_encrypt(&context->key, request->destination, request->source,
                                request->length / CD_DES_BLOCK);
    return CD_OK;
}

static cd_status des_ecb_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct des_context *context = cd_cipher_context(cipher);

    cd_des_portable.ecb_decrypt(&context->key, request->destination, request->source,
                                request->length / CD_DES_BLOCK);
    return CD_OK;
}

static cd_status des_cbc_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct des_context *context = cd_cipher_context(cipher);

    cd_des_portable.cbc_encrypt(&context->key, request->destination, request->source,
                                request->length / CD_DES_BLOCK, request->iv);
    return CD_OK;
}

static cd_status des_cbc_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct des_context *context = cd_cipher_context(cipher);

    cd_des_portable.cbc_decrypt(&context->key, request->destination, request->source,
                                request->length / CD_DES_BLOCK, request->iv);
    return CD_OK;
}

static cd_status des3_set_key(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    struct des3_context *context = cd_cipher_context(cipher);

    (void)key_len; /* the only one in key_sizes */
    cd_des3_portable.prepare(&context->key, key);
    return CD_OK;
}

static cd_status des3_ecb_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct des3_context *context = cd_cipher_context(cipher);

    cd_des3_portable.ecb_encrypt(&context->key, request->destination, request->source,
                                 request->length / CD_DES_BLOCK);
    return CD_OK;
}

static cd_status des3_ecb_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct des3_context *context = cd_cipher_context(cipher);

    cd_des3_portable.ecb_decrypt(&context->key, request->destination, request->source,
                                 request->length / CD_DES_BLOCK);
    return CD_OK;
}

static cd_status des3_cbc_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct des3_context *context = cd_cipher_context(cipher);

    cd_des3_portable.cbc_encrypt(&context->key, request->destination, request->source,
                                 request->length / CD_DES_BLOCK, request->iv);
    return CD_OK;
}

static cd_status des3_cbc_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct des3_context *context = cd_cipher_context(cipher);

    cd_des3_portable.cbc_decrypt(&context->key, request->destination, request->source,
                                 request->length / CD_DES_BLOCK, request->iv);
    return CD_OK;
}

static const struct cd_cipher_ops des_ecb_ops = {
    .set_key = des_set_key,
    .encrypt = des_ecb_encrypt,
    .decrypt = des_ecb_decrypt,
};

static const struct cd_cipher_ops des_cbc_ops = {
    .set_key = des_set_key,
    .encrypt = des_cbc_encrypt,
    .decrypt = des_cbc_decrypt,
};

static const struct cd_cipher_ops des3_ecb_ops = {
    .set_key = des3_set_key,
    .encrypt = des3_ecb_encrypt,
    .decrypt = des3_ecb_decrypt,
};

static const struct cd_cipher_ops des3_cbc_ops = {
    .set_key = des3_set_key,
    .encrypt = des3_cbc_encrypt,
    .decrypt = des3_cbc_decrypt,
};

/* One implementation: names, bytes of IV and key, context, mode. */
#define DES_ROW(algorithm_name, driver_name, iv, key_len, state, mode_ops)                         \
    {                                                                                              \
        .algorithm = (algorithm_name), .driver = (driver_name), .type = CD_TYPE_CIPHER,            \
        .priority = 100, .block_size = CD_DES_BLOCK, .iv_size = (iv), .chunk_size = CD_DES_BLOCK,  \
        .alignment = 1, .key_sizes = CD_KEY_SIZE(key_len), .context_size = sizeof(state),          \
        .cipher = &(mode_ops),                                                                     \
    }

static const struct cd_implementation implementations[] = {
    DES_ROW("ecb(des)", "ecb(des-lib)", 0, CD_DES_KEY, struct des_context, des_ecb_ops),
    DES_ROW("cbc(des)", "cbc(des-lib)", CD_DES_BLOCK, CD_DES_KEY, struct des_context, des_cbc_ops),
    DES_ROW("ecb(des3_ede)", "ecb(des3_ede-lib)", 0, CD_DES3_KEY, struct des3_context,
            des3_ecb_ops),
    DES_ROW("cbc(des3_ede)", "cbc(des3_ede-lib)", CD_DES_BLOCK, CD_DES3_KEY, struct des3_context,
            des3_cbc_ops),
};

const struct cd_implementation *cd_software_des(size_t index) {
    return index < sizeof implementations / sizeof implementations[0] ? &implementations[index]
                                                                      : NULL;
}
