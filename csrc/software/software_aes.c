/*
 * AES as cipher implementations: ecb, cbc, ctr and rfc3686 in every backend of crypto/aes.h.
 *
 * The modes are written once; a backend is its table of functions and a line of AES_BACKEND below.
 */
#include <string.h>

#include "base/endian.h"
#include "crypto/aes.h"
#include "cryptodispatch/cipher.h"
#include "software/software_aes.h"
#include "software/software_internal.h"

/* An implementation and the backend it computes with. */
struct aes_implementation {
    struct cd_implementation implementation; /* first: transforms point to it */
    const struct cd_aes_functions *functions;
};

static const struct cd_aes_functions *functions_of(const struct cd_cipher *cipher) {
    const struct cd_implementation *implementation = cd_cipher_implementation(cipher);

    return ((const struct aes_implementation *)(const void *)implementation)->functions;
}

static cd_status init_both(struct cd_cipher *cipher) {
    struct cd_software_aes *context = cd_cipher_context(cipher);

    context->functions = functions_of(cipher);
    return CD_OK;
}

static cd_status init_counter(struct cd_cipher *cipher) {
    struct cd_software_aes_counter *context = cd_cipher_context(cipher);

    context->functions = functions_of(cipher);
    return CD_OK;
}

static cd_status set_key_both(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    struct cd_software_aes *context = cd_cipher_context(cipher);

    context->functions->prepare(&context->key, key, key_len);
    return CD_OK;
}

static cd_status set_key_ctr(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    struct cd_software_aes_counter *context = cd_cipher_context(cipher);

    context->functions->prepare_encrypt(&context->key, key, key_len);
    return CD_OK;
}

/* The AES key, then the nonce (RFC 3686 section 5.1). */
static cd_status set_key_rfc3686(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    struct cd_software_aes_counter *context = cd_cipher_context(cipher);
    size_t aes_len = key_len - CD_RFC3686_NONCE;

    context->functions->prepare_encrypt(&context->key, key, aes_len);
    memcpy(context->nonce, key + aes_len, CD_RFC3686_NONCE);
    return CD_OK;
}

static cd_status ecb_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct cd_software_aes *context = cd_cipher_context(cipher);

    context->functions->ecb_encrypt(&context->key.encrypt, request->destination, request->source,
                                    request->length / CD_AES_BLOCK);
    return CD_OK;
}

static cd_status ecb_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct cd_software_aes *context = cd_cipher_context(cipher);

    context->functions->ecb_decrypt(&context->key, request->destination, request->source,
                                    request->length / CD_AES_BLOCK);
    return CD_OK;
}

static cd_status cbc_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct cd_software_aes *context = cd_cipher_context(cipher);

    context->functions->cbc_encrypt(&context->key.encrypt, request->destination, request->source,
                                    request->length / CD_AES_BLOCK, request->iv);
    return CD_OK;
}

static cd_status cbc_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct cd_software_aes *context = cd_cipher_context(cipher);

    context->functions->cbc_decrypt(&context->key, request->destination, request->source,
                                    request->length / CD_AES_BLOCK, request->iv);
    return CD_OK;
}

/* Both directions. */
static cd_status ctr_crypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct cd_software_aes_counter *context = cd_cipher_context(cipher);

    context->functions->ctr(&context->key, request->destination, request->source, request->length,
                            request->iv);
    return CD_OK;
}

void cd_software_rfc3686_counter(uint8_t out_counter[CD_AES_BLOCK], const uint8_t *nonce,
                                 const uint8_t *iv, uint64_t block_offset) {
    memcpy(out_counter, nonce, CD_RFC3686_NONCE);
    memcpy(out_counter + CD_RFC3686_NONCE, iv, CD_RFC3686_IV);
    cd_store_be32(out_counter + CD_RFC3686_NONCE + CD_RFC3686_IV, (uint32_t)block_offset + 1);
}

/* Both directions. The counter block is nonce, IV, and a 32-bit counter that starts at 1 (RFC 3686
 * section 4); it must not wrap, so the 128-bit counter of the backend does not carry into the IV.
 */
static cd_status rfc3686_crypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct cd_software_aes_counter *context = cd_cipher_context(cipher);
    uint64_t blocks =
        (uint64_t)request->length / CD_AES_BLOCK + (request->length % CD_AES_BLOCK != 0 ? 1 : 0);
    uint8_t counter[CD_AES_BLOCK];

    if (request->block_offset > CD_RFC3686_BLOCKS_MAX ||
        blocks > CD_RFC3686_BLOCKS_MAX - request->block_offset) {
        return CD_E_LENGTH;
    }
    cd_software_rfc3686_counter(counter, context->nonce, request->iv, request->block_offset);
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
    .records = cd_software_ecb_records,
};

static const struct cd_cipher_ops cbc_ops = {
    .init = init_both,
    .set_key = set_key_both,
    .encrypt = cbc_encrypt,
    .decrypt = cbc_decrypt,
    .records = cd_software_cbc_records,
};

/* Of backends with lanes. */
static const struct cd_cipher_ops cbc_lanes_ops = {
    .init = init_both,
    .set_key = set_key_both,
    .encrypt = cbc_encrypt,
    .decrypt = cbc_decrypt,
    .records = cd_software_cbc_records,
    .encrypt_packed = cd_software_cbc_encrypt_packed,
};

static const struct cd_cipher_ops ctr_ops = {
    .init = init_counter,
    .set_key = set_key_ctr,
    .encrypt = ctr_crypt,
    .decrypt = ctr_crypt,
    .records = cd_software_ctr_records,
};

static const struct cd_cipher_ops rfc3686_ops = {
    .init = init_counter,
    .set_key = set_key_rfc3686,
    .encrypt = rfc3686_crypt,
    .decrypt = rfc3686_crypt,
    .records = cd_software_rfc3686_records,
};

#define AES_KEYS (CD_KEY_SIZE(16) | CD_KEY_SIZE(24) | CD_KEY_SIZE(32))
#define RFC3686_KEYS (AES_KEYS << CD_RFC3686_NONCE)

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

/* The four modes of one backend: name in driver names, CPU features, priority, functions, and what
 * its cbc is. */
#define AES_BACKEND(name, cpu_bits, rank, table, cbc)                                              \
    AES_ROW("ecb(aes)", "ecb(aes-" name ")", cpu_bits, rank, table, CD_AES_BLOCK, 0, AES_KEYS,     \
            struct cd_software_aes, ecb_ops),                                                      \
        AES_ROW("cbc(aes)", "cbc(aes-" name ")", cpu_bits, rank, table, CD_AES_BLOCK,              \
                CD_AES_BLOCK, AES_KEYS, struct cd_software_aes, cbc),                              \
        AES_ROW("ctr(aes)", "ctr(aes-" name ")", cpu_bits, rank, table, 1, CD_AES_BLOCK, AES_KEYS, \
                struct cd_software_aes_counter, ctr_ops),                                          \
        AES_ROW("rfc3686(ctr(aes))", "rfc3686(ctr(aes-" name "))", cpu_bits, rank, table, 1,       \
                CD_RFC3686_IV, RFC3686_KEYS, struct cd_software_aes_counter, rfc3686_ops)

static const struct aes_implementation implementations[] = {
    AES_BACKEND("lib", 0, 100, cd_aes_portable, cbc_ops),
    AES_BACKEND("generic", 0, 90, cd_aes_generic, cbc_ops),
    AES_BACKEND("fixed-time", 0, 50, cd_aes_fixed, cbc_ops),
    AES_BACKEND("ni", CD_AES_AESNI_CPU, 300, cd_aes_aesni, cbc_lanes_ops),
    AES_BACKEND("vaes", CD_AES_VAES_CPU, 400, cd_aes_vaes, cbc_lanes_ops),
};

const struct cd_implementation *cd_software_aes(size_t index) {
    return index < sizeof implementations / sizeof implementations[0]
               ? &implementations[index].implementation
               : NULL;
}
