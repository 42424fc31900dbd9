/*
 * authenc(hmac(H),C) as aead implementations: encrypt-then-MAC over the AAD and then the
 * ciphertext, the tag cut to the transform's tag size.
 *
 * A decryption computes the tag of what it was given and compares it before it decrypts anything:
 * on a mismatch the destination is not touched, so in place the ciphertext is kept.
 *
 * The driver name is made of those of the halves: authenc(hmac(sha1-ni),cbc(aes-ni)).
 */
#include "software/software_authenc.h"

#include <string.h>

#include "base/secure.h"
#include "crypto/authenc.h"
#include "crypto/md5.h"
#include "crypto/sha1.h"
#include "crypto/sha2.h"
#include "software/software_internal.h"

_Static_assert(CD_TAG_MAX == CD_MD_DIGEST_MAX, "a tag is a digest, whole or cut");

/* Bytes of text from which one pass is faster than two: shorter ones hardly have a block of the
 * hash beside one of the cipher (measured on Ice Lake: 3 % slower at 128 bytes, 2 to 4 % faster at
 * 192).
 */
#define ONE_PASS_FROM 192u

struct authenc_implementation {
    struct cd_implementation implementation; /* first: transforms point to it */
    struct cd_authenc_pair pair;
};

static cd_status init(struct cd_aead *aead) {
    struct cd_authenc_context *context = cd_aead_context(aead);
    const struct cd_implementation *implementation = cd_aead_implementation(aead);

    context->pair = &((const struct authenc_implementation *)(const void *)implementation)->pair;
    return CD_OK;
}

static cd_status set_key(struct cd_aead *aead, const uint8_t *key, size_t key_len,
                         const uint8_t *auth_key, size_t auth_key_len) {
    struct cd_authenc_context *context = cd_aead_context(aead);

    context->pair->cipher->prepare(context, key, key_len);
    cd_hmac_prepare(&context->auth, context->pair->hash, auth_key, auth_key_len);
    return CD_OK;
}

/* Both halves at once, for the keys of AES-NI (which VAES shares). */
#define SEAL_IN_ONE_PASS(name, functions)                                                          \
    static void name(const struct cd_authenc_context *context, struct cd_hmac_state *mac,          \
                     uint8_t *out, const uint8_t *in, size_t length, const uint8_t *iv) {          \
        uint8_t chain[CD_AES_BLOCK];                                                               \
                                                                                                   \
        memcpy(chain, iv, sizeof chain);                                                           \
        cd_authenc_cbc_encrypt(&(functions), &context->key.aes.encrypt, &mac->hash, out, in,       \
                               length / CD_AES_BLOCK, chain);                                      \
    }

SEAL_IN_ONE_PASS(seal_cbc_sha1, cd_authenc_cbc_sha1_shani)
SEAL_IN_ONE_PASS(seal_cbc_sha224, cd_authenc_cbc_sha224_shani)
SEAL_IN_ONE_PASS(seal_cbc_sha256, cd_authenc_cbc_sha256_shani)
SEAL_IN_ONE_PASS(seal_cbc_sha224_avx512, cd_authenc_cbc_sha224_avx512)
SEAL_IN_ONE_PASS(seal_cbc_sha256_avx512, cd_authenc_cbc_sha256_avx512)

/* The whole tag over AAD and ciphertext; without AAD in one call, which keeps no state. */
static void compute_tag(const struct cd_authenc_context *context, uint8_t out_tag[CD_TAG_MAX],
                        const struct cd_aead_request *request, const uint8_t *ciphertext) {
    struct cd_hmac_state mac;

    if (request->aad_len == 0) {
        cd_hmac_digest(&context->auth, out_tag, ciphertext, request->length);
        return;
    }
    cd_hmac_init(&context->auth, &mac);
    cd_hmac_update(&context->auth, &mac, request->aad, request->aad_len);
    cd_hmac_update(&context->auth, &mac, ciphertext, request->length);
    cd_hmac_final(&context->auth, &mac, out_tag);
}

static void encrypt_in_one_pass(const struct cd_authenc_context *context,
                                uint8_t out_tag[CD_TAG_MAX],
                                const struct cd_aead_request *request) {
    struct cd_hmac_state mac;

    cd_hmac_init(&context->auth, &mac);
    cd_hmac_update(&context->auth, &mac, request->aad, request->aad_len);
    context->pair->seal(context, &mac, request->destination, request->source, request->length,
                        request->iv);
    cd_hmac_final(&context->auth, &mac, out_tag);
}

static cd_status encrypt(struct cd_aead *aead, struct cd_aead_request *request) {
    const struct cd_authenc_context *context = cd_aead_context(aead);
    uint8_t tag[CD_TAG_MAX];

    if (request->length > context->pair->cipher->length_max) {
        return CD_E_LENGTH;
    }
    if (context->pair->seal != NULL && request->length >= ONE_PASS_FROM) {
        encrypt_in_one_pass(context, tag, request);
    } else {
        if (request->length > 0) {
            context->pair->cipher->encrypt(context, request->destination, request->source,
                                           request->length, request->iv);
        }
        compute_tag(context, tag, request, request->destination);
    }
    memcpy(request->tag, tag, cd_aead_tag_size(aead));
    cd_wipe(tag, sizeof tag);
    return CD_OK;
}

/* The tag of what came in, compared with the one that came with it. The right one for a forged
 * message is a secret. */
static bool is_authentic(const struct cd_authenc_context *context,
                         const struct cd_aead_request *request, size_t tag_size) {
    uint8_t tag[CD_TAG_MAX];

    compute_tag(context, tag, request, request->source);

    bool authentic = cd_equal_ct(tag, request->tag, tag_size);

    cd_wipe(tag, sizeof tag);
    return authentic;
}

static cd_status decrypt(struct cd_aead *aead, struct cd_aead_request *request) {
    const struct cd_authenc_context *context = cd_aead_context(aead);

    if (request->length > context->pair->cipher->length_max) {
        return CD_E_LENGTH;
    }
    if (!is_authentic(context, request, cd_aead_tag_size(aead))) {
        return CD_E_AUTHENTICATION;
    }
    if (request->length > 0) {
        context->pair->cipher->decrypt(context, request->destination, request->source,
                                       request->length, request->iv);
    }
    return CD_OK;
}

static const struct cd_aead_ops ops = {
    .init = init,
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .records = cd_authenc_records,
};

/* The hash halves: algorithm, driver, CPU features, digest, functions. */
#define MD5_LIB "md5", "md5-lib", 0, CD_MD5_DIGEST, cd_md5_portable
#define SHA1_LIB "sha1", "sha1-lib", 0, CD_SHA1_DIGEST, cd_sha1_portable
#define SHA224_LIB "sha224", "sha224-lib", 0, CD_SHA224_DIGEST, cd_sha224_portable
#define SHA256_LIB "sha256", "sha256-lib", 0, CD_SHA256_DIGEST, cd_sha256_portable
#define SHA1_NI "sha1", "sha1-ni", CD_SHA1_SHANI_CPU, CD_SHA1_DIGEST, cd_sha1_shani
#define SHA224_NI "sha224", "sha224-ni", CD_SHA2_SHANI_CPU, CD_SHA224_DIGEST, cd_sha224_shani
#define SHA256_NI "sha256", "sha256-ni", CD_SHA2_SHANI_CPU, CD_SHA256_DIGEST, cd_sha256_shani
#define SHA224_AVX512                                                                              \
    "sha224", "sha224-avx512", CD_SHA2_AVX512_CPU, CD_SHA224_DIGEST, cd_sha224_avx512
#define SHA256_AVX512                                                                              \
    "sha256", "sha256-avx512", CD_SHA2_AVX512_CPU, CD_SHA256_DIGEST, cd_sha256_avx512

#define AES_KEYS (CD_KEY_SIZE(16) | CD_KEY_SIZE(24) | CD_KEY_SIZE(32))
#define RFC3686_KEYS (AES_KEYS << CD_RFC3686_NONCE)

/* The cipher halves: algorithm, driver, CPU features, block, IV and chunk, keys, functions. */
#define CBC_AES_LIB                                                                                \
    "cbc(aes)", "cbc(aes-lib)", 0, CD_AES_BLOCK, CD_AES_BLOCK, CD_AES_BLOCK, AES_KEYS,             \
        cd_authenc_cbc_aes_portable
#define CBC_AES_NI                                                                                 \
    "cbc(aes)", "cbc(aes-ni)", CD_AES_AESNI_CPU, CD_AES_BLOCK, CD_AES_BLOCK, CD_AES_BLOCK,         \
        AES_KEYS, cd_authenc_cbc_aes_aesni
#define CBC_AES_VAES                                                                               \
    "cbc(aes)", "cbc(aes-vaes)", CD_AES_VAES_CPU, CD_AES_BLOCK, CD_AES_BLOCK, CD_AES_BLOCK,        \
        AES_KEYS, cd_authenc_cbc_aes_vaes
#define RFC3686_VAES                                                                               \
    "rfc3686(ctr(aes))", "rfc3686(ctr(aes-vaes))", CD_AES_VAES_CPU, 1, CD_RFC3686_IV,              \
        CD_AES_BLOCK, RFC3686_KEYS, cd_authenc_rfc3686_vaes
#define RFC3686_LIB                                                                                \
    "rfc3686(ctr(aes))", "rfc3686(ctr(aes-lib))", 0, 1, CD_RFC3686_IV, CD_AES_BLOCK, RFC3686_KEYS, \
        cd_authenc_rfc3686_portable
#define RFC3686_NI                                                                                 \
    "rfc3686(ctr(aes))", "rfc3686(ctr(aes-ni))", CD_AES_AESNI_CPU, 1, CD_RFC3686_IV, CD_AES_BLOCK, \
        RFC3686_KEYS, cd_authenc_rfc3686_aesni
#define CBC_DES_LIB                                                                                \
    "cbc(des)", "cbc(des-lib)", 0, CD_DES_BLOCK, CD_DES_BLOCK, CD_DES_BLOCK,                       \
        CD_KEY_SIZE(CD_DES_KEY), cd_authenc_cbc_des_portable
#define CBC_DES3_LIB                                                                               \
    "cbc(des3_ede)", "cbc(des3_ede-lib)", 0, CD_DES_BLOCK, CD_DES_BLOCK, CD_DES_BLOCK,             \
        CD_KEY_SIZE(CD_DES3_KEY), cd_authenc_cbc_des3_portable

#define AUTHENC_ROW(rank, join, hash_name, hash_driver, hash_cpu, digest, hash_table, cipher_name, \
                    cipher_driver, cipher_cpu, block, iv, chunk, keys, cipher_table)               \
    {                                                                                              \
        .implementation =                                                                          \
            {                                                                                      \
                .algorithm = "authenc(hmac(" hash_name ")," cipher_name ")",                       \
                .driver = "authenc(hmac(" hash_driver ")," cipher_driver ")",                      \
                .type = CD_TYPE_AEAD,                                                              \
                .priority = (rank),                                                                \
                .cpu = (hash_cpu) | (cipher_cpu),                                                  \
                .block_size = (block),                                                             \
                .iv_size = (iv),                                                                   \
                .chunk_size = (chunk),                                                             \
                .alignment = 1,                                                                    \
                .max_tag_size = (digest),                                                          \
                .key_sizes = (keys),                                                               \
                .context_size = sizeof(struct cd_authenc_context),                                 \
                .aead = &ops,                                                                      \
            },                                                                                     \
        .pair = {&(hash_table), &(cipher_table), join},                                            \
    }

/* A priority and two of the lists above, spread into the row's parameters; FUSED ones with a kernel
 * for both halves. */
#define PAIR(rank, ...) AUTHENC_ROW(rank, NULL, __VA_ARGS__)
#define FUSED(rank, seal, ...) AUTHENC_ROW(rank, seal, __VA_ARGS__)

#define SHA_LIB_PAIRS(rank, cipher)                                                                \
    PAIR(rank, SHA1_LIB, cipher), PAIR(rank, SHA224_LIB, cipher), PAIR(rank, SHA256_LIB, cipher)

#define SHA_NI_PAIRS(rank, cipher)                                                                 \
    PAIR(rank, SHA1_NI, cipher), PAIR(rank, SHA224_NI, cipher), PAIR(rank, SHA256_NI, cipher)

#define FUSED_PAIRS(rank, cipher)                                                                  \
    FUSED(rank, seal_cbc_sha1, SHA1_NI, cipher), FUSED(rank, seal_cbc_sha224, SHA224_NI, cipher),  \
        FUSED(rank, seal_cbc_sha256, SHA256_NI, cipher)

/* 100: portable. 200: AES-NI without SHA-NI. 300: both halves with the
 * CPU's help. 400: AES with 256-bit vectors, which pays in decryption and counter modes. 500: and
 * SHA-2 with AVX-512. */
/* clang-format off */
static const struct authenc_implementation implementations[] = {
    PAIR(100, MD5_LIB, CBC_AES_LIB),
    SHA_LIB_PAIRS(100, CBC_AES_LIB),
    PAIR(100, MD5_LIB, RFC3686_LIB),
    SHA_LIB_PAIRS(100, RFC3686_LIB),
    PAIR(100, MD5_LIB, CBC_DES_LIB),
    SHA_LIB_PAIRS(100, CBC_DES_LIB),
    PAIR(100, MD5_LIB, CBC_DES3_LIB),
    SHA_LIB_PAIRS(100, CBC_DES3_LIB),
    SHA_LIB_PAIRS(200, CBC_AES_NI),
    SHA_LIB_PAIRS(200, RFC3686_NI),
    PAIR(300, MD5_LIB, CBC_AES_NI),
    FUSED_PAIRS(300, CBC_AES_NI),
    PAIR(300, MD5_LIB, RFC3686_NI),
    SHA_NI_PAIRS(300, RFC3686_NI),
    SHA_NI_PAIRS(300, CBC_DES_LIB),
    SHA_NI_PAIRS(300, CBC_DES3_LIB),
    PAIR(400, MD5_LIB, CBC_AES_VAES),
    FUSED_PAIRS(400, CBC_AES_VAES),
    PAIR(400, MD5_LIB, RFC3686_VAES),
    SHA_NI_PAIRS(400, RFC3686_VAES),
    FUSED(500, seal_cbc_sha224_avx512, SHA224_AVX512, CBC_AES_VAES),
    FUSED(500, seal_cbc_sha256_avx512, SHA256_AVX512, CBC_AES_VAES),
    PAIR(500, SHA224_AVX512, RFC3686_VAES),
    PAIR(500, SHA256_AVX512, RFC3686_VAES),
};
/* clang-format on */

const struct cd_implementation *cd_software_authenc(size_t index) {
    return index < sizeof implementations / sizeof implementations[0]
               ? &implementations[index].implementation
               : NULL;
}
