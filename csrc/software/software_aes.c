/*
 * AES as cipher implementations: ecb, cbc, ctr and rfc3686 in every backend of crypto/aes.h.
 *
 * The modes are written once; a backend is its table of functions and a line of AES_BACKEND below.
 */
#include <string.h>

#include "base/endian.h"
#include "crypto/aes.h"
#include "cryptodispatch/cipher.h"
#include "software/software_internal.h"

/* An implementation and the backend it computes with. */
struct aes_implementation {
    struct cd_implementation implementation; /* first: transforms point to it */
    const struct cd_aes_functions *functions;
};

/* Context of ecb and cbc. */
struct aes_context {
    const struct cd_aes_functions *functions;
    struct cd_aes_key key;
};

/* Context of ctr and rfc3686: neither ever decrypts a block, so half the schedule is enough. */
struct aes_counter_context {
    const struct cd_aes_functions *functions;
    struct cd_aes_encrypt_key key;
    uint8_t nonce[4]; /* rfc3686 only */
};

#define RFC3686_NONCE 4u                        /* bytes, at the end of the key */
#define RFC3686_IV 8u                           /* bytes */
#define RFC3686_BLOCKS_MAX UINT64_C(0xffffffff) /* under one IV: the counter starts at 1 */

static const struct cd_aes_functions *functions_of(const struct cd_cipher *cipher) {
    const struct cd_implementation *implementation = cd_cipher_implementation(cipher);

    return ((const struct aes_implementation *)(const void *)implementation)->functions;
}

static cd_status init_both(struct cd_cipher *cipher) {
    struct aes_context *context = cd_cipher_context(cipher);

    context->functions = functions_of(cipher);
    return CD_OK;
}

static cd_status init_counter(struct cd_cipher *cipher) {
    struct aes_counter_context *context = cd_cipher_context(cipher);

    context->functions = functions_of(cipher);
    return CD_OK;
}

static cd_status set_key_both(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    struct aes_context *context = cd_cipher_context(cipher);

    context->functions->prepare(&context->key, key, key_len);
    return CD_OK;
}

static cd_status set_key_ctr(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    struct aes_counter_context *context = cd_cipher_context(cipher);

    context->functions->prepare_encrypt(&context->key, key, key_len);
    return CD_OK;
}

/* The AES key, then the nonce (RFC 3686 section 5.1). */
static cd_status set_key_rfc3686(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    struct aes_counter_context *context = cd_cipher_context(cipher);
    size_t aes_len = key_len - RFC3686_NONCE;

    context->functions->prepare_encrypt(&context->key, key, aes_len);
    memcpy(context->nonce, key + aes_len, RFC3686_NONCE);
    return CD_OK;
}

static cd_status ecb_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct aes_context *context = cd_cipher_context(cipher);

    context->functions->ecb_encrypt(&context->key.encrypt, request->destination, request->source,
                                    request->length / CD_AES_BLOCK);
    return CD_OK;
}

static cd_status ecb_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct aes_context *context = cd_cipher_context(cipher);

    context->functions->ecb_decrypt(&context->key, request->destination, request->source,
                                    request->length / CD_AES_BLOCK);
    return CD_OK;
}

static cd_status cbc_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct aes_context *context = cd_cipher_context(cipher);

    context->functions->cbc_encrypt(&context->key.encrypt, request->destination, request->source,
                                    request->length / CD_AES_BLOCK, request->iv);
    return CD_OK;
}

static cd_status cbc_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct aes_context *context = cd_cipher_context(cipher);

    context->functions->cbc_decrypt(&context->key, request->destination, request->source,
                                    request->length / CD_AES_BLOCK, request->iv);
    return CD_OK;
}

/* Both directions. */
static cd_status ctr_crypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct aes_counter_context *context = cd_cipher_context(cipher);

    context->functions->ctr(&context->key, request->destination, request->source, request->length,
                            request->iv);
    return CD_OK;
}

/* Both directions. The counter block is nonce, IV, and a 32-bit counter that starts at 1 (RFC 3686
 * section 4); it must not wrap, so the 128-bit counter of the backend does not carry into the IV.
 */
static cd_status rfc3686_crypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct aes_counter_context *context = cd_cipher_context(cipher);
    uint64_t blocks =
        (uint64_t)request->length / CD_AES_BLOCK + (request->length % CD_AES_BLOCK != 0 ? 1 : 0);
    uint8_t counter[CD_AES_BLOCK];

    if (request->block_offset > RFC3686_BLOCKS_MAX ||
        blocks > RFC3686_BLOCKS_MAX - request->block_offset) {
        return CD_E_LENGTH;
    }
    memcpy(counter, context->nonce, RFC3686_NONCE);
    memcpy(counter + RFC3686_NONCE, request->iv, RFC3686_IV);
    cd_store_be32(counter + RFC3686_NONCE + RFC3686_IV, (uint32_t)request->block_offset + 1);
    context->functions->ctr(&context->key, request->destination, request->source, request->length,
                            counter);
    request->block_offset += blocks;
    return CD_OK;
}

static const struct cd_cipher_ops ecb_ops = {
    .init = init_both,
    .set_key = set_key_both,
    .encrypt = ecb_encrypt,
    .decrypt = ecb_decrypt,
};

static const struct cd_cipher_ops cbc_ops = {
    .init = init_both,
    .set_key = set_key_both,
    .encrypt = cbc_encrypt,
    .decrypt = cbc_decrypt,
};

static const struct cd_cipher_ops ctr_ops = {
    .init = init_counter,
    .set_key = set_key_ctr,
    .encrypt = ctr_crypt,
    .decrypt = ctr_crypt,
};

static const struct cd_cipher_ops rfc3686_ops = {
    .init = init_counter,
    .set_key = set_key_rfc3686,
    .encrypt = rfc3686_crypt,
    .decrypt = rfc3686_crypt,
};

#define AES_KEYS (CD_KEY_SIZE(16) | CD_KEY_SIZE(24) | CD_KEY_SIZE(32))
#define RFC3686_KEYS (AES_KEYS << RFC3686_NONCE)

/* One implementation: names, CPU features, priority, backend's functions, sizes, context, mode. */
#define AES_ROW(algorithm_name, driver_name, cpu_bits, rank, table, block, iv, keys, state,        \
                mode_ops)                                                                          \
    {                                                                                              \
        .implementation =                                                                          \
            {                                                                                      \
                .algorithm = (algorithm_name),                                                     \
                .driver = (driver_name),                                                           \
                .type = CD_TYPE_CIPHER,                                                            \
                .priority = (rank),                                                                \
                .cpu = (cpu_bits),                                                                 \
                .block_size = (block),                                                             \
                .iv_size = (iv),                                                                   \
                .chunk_size = CD_AES_BLOCK,                                                        \
                .alignment = 1,                                                                    \
                .key_sizes = (keys),                                                               \
                .context_size = sizeof(state),                                                     \
                .cipher = &(mode_ops),                                                             \
            },                                                                                     \
        .functions = &(table),                                                                     \
    }

/* The four modes of one backend: name in driver names, CPU features, priority, functions. */
#define AES_BACKEND(name, cpu_bits, rank, table)                                                   \
    AES_ROW("ecb(aes)", "ecb(aes-" name ")", cpu_bits, rank, table, CD_AES_BLOCK, 0, AES_KEYS,     \
            struct aes_context, ecb_ops),                                                          \
        AES_ROW("cbc(aes)", "cbc(aes-" name ")", cpu_bits, rank, table, CD_AES_BLOCK,              \
                CD_AES_BLOCK, AES_KEYS, struct aes_context, cbc_ops),                              \
        AES_ROW("ctr(aes)", "ctr(aes-" name ")", cpu_bits, rank, table, 1, CD_AES_BLOCK, AES_KEYS, \
                struct aes_counter_context, ctr_ops),                                              \
        AES_ROW("rfc3686(ctr(aes))", "rfc3686(ctr(aes-" name "))", cpu_bits, rank, table, 1,       \
                RFC3686_IV, RFC3686_KEYS, struct aes_counter_context, rfc3686_ops)

static const struct aes_implementation implementations[] = {
    AES_BACKEND("lib", 0, 100, cd_aes_portable),
    AES_BACKEND("ni", CD_AES_AESNI_CPU, 300, cd_aes_aesni),
};

const struct cd_implementation *cd_software_aes(size_t index) {
    return index < sizeof implementations / sizeof implementations[0]
               ? &implementations[index].implementation
               : NULL;
}
