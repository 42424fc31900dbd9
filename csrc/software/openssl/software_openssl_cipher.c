/*
 * libcrypto's AES and triple DES as cipher implementations.
 *
 * A request sets its IV in a context that has the key and runs the text; the IV that continues the
 * message is computed here, as in software_aes.c, for libcrypto has no cheap way to ask for it.
 */
#include <string.h>

#include "base/endian.h"
#include "crypto/aes.h"
#include "crypto/des.h"
#include "cryptodispatch/cipher.h"
#include "software/openssl/software_openssl_internal.h"
#include "software/openssl/software_openssl_pool.h"

#define RFC3686_NONCE 4u                        /* bytes, at the end of the key */
#define RFC3686_IV 8u                           /* bytes */
#define RFC3686_BLOCKS_MAX UINT64_C(0xffffffff) /* under one IV: the counter starts at 1 */
#define UPDATE_MAX ((size_t)1 << 30)            /* bytes of one EVP_CipherUpdate: they are an int */

struct openssl_context {
    const struct cd_openssl_implementation *implementation;
    struct cd_openssl_pool encrypt;
    struct cd_openssl_pool decrypt; /* not of the counter modes */
    uint8_t nonce[RFC3686_NONCE];   /* rfc3686 only */
};

static void *copy(const struct cd_openssl_library *library, const void *prototype) {
    void *context = library->EVP_CIPHER_CTX_new();

    if (context != NULL && library->EVP_CIPHER_CTX_copy(context, prototype) != 1) {
        library->EVP_CIPHER_CTX_free(context);
        context = NULL;
    }
    return context;
}

static void drop(const struct cd_openssl_library *library, void *context) {
    library->EVP_CIPHER_CTX_free(context);
}

static cd_status init(struct cd_cipher *cipher) {
    struct openssl_context *context = cd_cipher_context(cipher);
    const struct cd_implementation *implementation = cd_cipher_implementation(cipher);

    context->implementation =
        (const struct cd_openssl_implementation *)(const void *)implementation;
    return CD_OK;
}

static void cleanup(struct cd_cipher *cipher) {
    struct openssl_context *context = cd_cipher_context(cipher);

    cd_openssl_pool_clear(&context->encrypt, context->implementation->library, drop);
    cd_openssl_pool_clear(&context->decrypt, context->implementation->library, drop);
}

/* The prototype of one direction: key set, no padding. */
static cd_status prepare(const struct cd_openssl_library *library, struct cd_openssl_pool *pool,
                         const void *fetched, const uint8_t *key, int encrypt) {
    pool->prototype = library->EVP_CIPHER_CTX_new();
    if (pool->prototype == NULL) {
        return CD_E_NO_MEMORY;
    }
    if (library->EVP_CipherInit_ex2(pool->prototype, fetched, key, NULL, encrypt, NULL) != 1 ||
        library->EVP_CIPHER_CTX_set_padding(pool->prototype, 0) != 1) {
        return CD_E_UNSUPPORTED;
    }
    return CD_OK;
}

/* `cipher_len`: bytes of the key that are the block cipher's. */
static cd_status set_key_of(struct cd_cipher *cipher, const uint8_t *key, size_t cipher_len,
                            bool both) {
    struct openssl_context *context = cd_cipher_context(cipher);
    const struct cd_openssl_library *library = context->implementation->library;
    size_t size = context->implementation->row->names[1] != NULL ? cipher_len / 8 - 2 : 0;
    const void *fetched = context->implementation->fetched[size];
    cd_status status;

    cleanup(cipher);
    status = prepare(library, &context->encrypt, fetched, key, 1);
    if (status == CD_OK && both) {
        status = prepare(library, &context->decrypt, fetched, key, 0);
    }
    if (status != CD_OK) {
        cleanup(cipher);
    }
    return status;
}

static cd_status set_key_both(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    return set_key_of(cipher, key, key_len, true);
}

static cd_status set_key_ctr(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    return set_key_of(cipher, key, key_len, false);
}

/* The AES key, then the nonce (RFC 3686 section 5.1). */
static cd_status set_key_rfc3686(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    struct openssl_context *context = cd_cipher_context(cipher);

    memcpy(context->nonce, key + key_len - RFC3686_NONCE, RFC3686_NONCE);
    return set_key_of(cipher, key, key_len - RFC3686_NONCE, false);
}

/* Whole text in a context that is ours. `iv` may be NULL: ecb. */
static bool update(const struct cd_openssl_library *library, void *evp,
                   const struct cd_cipher_request *request, const uint8_t *iv) {
    bool good = iv == NULL || library->EVP_CipherInit_ex2(evp, NULL, NULL, iv, -1, NULL) == 1;

    for (size_t done = 0; good && done < request->length;) {
        size_t count = request->length - done < UPDATE_MAX ? request->length - done : UPDATE_MAX;
        int written = 0;

        good = library->EVP_CipherUpdate(evp, request->destination + done, &written,
                                         request->source + done, (int)count) == 1 &&
               written == (int)count;
        done += count;
    }
    return good;
}

static cd_status run(const struct openssl_context *context, struct cd_openssl_pool *pool,
                     const struct cd_cipher_request *request, const uint8_t *iv) {
    const struct cd_openssl_library *library = context->implementation->library;
    size_t place;
    void *evp = cd_openssl_pool_take(pool, &place, library, copy);
    bool good;

    if (evp == NULL) {
        return CD_E_NO_MEMORY;
    }
    good = update(library, evp, request, iv);
    cd_openssl_pool_give(pool, evp, place, library, drop);
    return good ? CD_OK : CD_E_UNSUPPORTED;
}

static cd_status ecb_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    struct openssl_context *context = cd_cipher_context(cipher);

    return run(context, &context->encrypt, request, NULL);
}

static cd_status ecb_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    struct openssl_context *context = cd_cipher_context(cipher);

    return run(context, &context->decrypt, request, NULL);
}

/* The next IV is the last block of ciphertext (SP 800-38A section 6.2). */
static cd_status cbc_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    struct openssl_context *context = cd_cipher_context(cipher);
    size_t block = context->implementation->public.block_size;
    cd_status status = run(context, &context->encrypt, request, request->iv);

    if (status == CD_OK) {
        memcpy(request->iv, request->destination + request->length - block, block);
    }
    return status;
}

static cd_status cbc_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    struct openssl_context *context = cd_cipher_context(cipher);
    size_t block = context->implementation->public.block_size;
    uint8_t next[CD_AES_BLOCK];
    cd_status status;

    memcpy(next, request->source + request->length - block, block); /* in place, it goes */
    status = run(context, &context->decrypt, request, request->iv);
    if (status == CD_OK) {
        memcpy(request->iv, next, block);
    }
    return status;
}

static uint64_t blocks_of(const struct cd_cipher_request *request) {
    return (uint64_t)request->length / CD_AES_BLOCK + (request->length % CD_AES_BLOCK != 0 ? 1 : 0);
}

/* Both directions. */
static cd_status ctr_crypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    struct openssl_context *context = cd_cipher_context(cipher);
    cd_status status = run(context, &context->encrypt, request, request->iv);

    if (status == CD_OK) {
        cd_aes_counter_add(request->iv, blocks_of(request));
    }
    return status;
}

/* Both directions; the counter block and its limit are those of RFC 3686 section 4. */
static cd_status rfc3686_crypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    struct openssl_context *context = cd_cipher_context(cipher);
    uint64_t blocks = blocks_of(request);
    uint8_t counter[CD_AES_BLOCK];
    cd_status status;

    if (request->block_offset > RFC3686_BLOCKS_MAX ||
        blocks > RFC3686_BLOCKS_MAX - request->block_offset) {
        return CD_E_LENGTH;
    }
    memcpy(counter, context->nonce, RFC3686_NONCE);
    memcpy(counter + RFC3686_NONCE, request->iv, RFC3686_IV);
    cd_store_be32(counter + RFC3686_NONCE + RFC3686_IV, (uint32_t)request->block_offset + 1);
    status = run(context, &context->encrypt, request, counter);
    if (status == CD_OK) {
        request->block_offset += blocks;
    }
    return status;
}

static const struct cd_cipher_ops ecb_ops = {
    .init = init,
    .cleanup = cleanup,
    .set_key = set_key_both,
    .encrypt = ecb_encrypt,
    .decrypt = ecb_decrypt,
};

static const struct cd_cipher_ops cbc_ops = {
    .init = init,
    .cleanup = cleanup,
    .set_key = set_key_both,
    .encrypt = cbc_encrypt,
    .decrypt = cbc_decrypt,
};

static const struct cd_cipher_ops ctr_ops = {
    .init = init,
    .cleanup = cleanup,
    .set_key = set_key_ctr,
    .encrypt = ctr_crypt,
    .decrypt = ctr_crypt,
};

static const struct cd_cipher_ops rfc3686_ops = {
    .init = init,
    .cleanup = cleanup,
    .set_key = set_key_rfc3686,
    .encrypt = rfc3686_crypt,
    .decrypt = rfc3686_crypt,
};

#define AES_KEYS (CD_KEY_SIZE(16) | CD_KEY_SIZE(24) | CD_KEY_SIZE(32))

/* One implementation: names, priority, sizes of block, IV, chunk and keys, mode; then libcrypto's
 * names by key size. */
#define CIPHER_ROW(algorithm_name, driver_name, rank, block, iv, chunk, keys, mode_ops, ...)       \
    {                                                                                              \
        .implementation =                                                                          \
            {                                                                                      \
                .algorithm = (algorithm_name),                                                     \
                .driver = (driver_name),                                                           \
                .type = CD_TYPE_CIPHER,                                                            \
                .priority = (rank),                                                                \
                .block_size = (block),                                                             \
                .iv_size = (iv),                                                                   \
                .chunk_size = (chunk),                                                             \
                .alignment = 1,                                                                    \
                .key_sizes = (keys),                                                               \
                .context_size = sizeof(struct openssl_context),                                    \
                .cipher = &(mode_ops),                                                             \
            },                                                                                     \
        .kind = CD_OPENSSL_CIPHER, .names = {__VA_ARGS__},                                         \
    }

/* AES is above the portable code, below AES instructions without a layer in between; triple DES is
 * below: nobody's has instructions for it, and small requests pay for the layer. */
#define AES_PRIORITY 200
#define DES_PRIORITY 80

static const struct cd_openssl_row rows[] = {
    CIPHER_ROW("ecb(aes)", "ecb(aes-openssl)", AES_PRIORITY, CD_AES_BLOCK, 0, CD_AES_BLOCK,
               AES_KEYS, ecb_ops, "AES-128-ECB", "AES-192-ECB", "AES-256-ECB"),
    CIPHER_ROW("cbc(aes)", "cbc(aes-openssl)", AES_PRIORITY, CD_AES_BLOCK, CD_AES_BLOCK,
               CD_AES_BLOCK, AES_KEYS, cbc_ops, "AES-128-CBC", "AES-192-CBC", "AES-256-CBC"),
    CIPHER_ROW("ctr(aes)", "ctr(aes-openssl)", AES_PRIORITY, 1, CD_AES_BLOCK, CD_AES_BLOCK,
               AES_KEYS, ctr_ops, "AES-128-CTR", "AES-192-CTR", "AES-256-CTR"),
    CIPHER_ROW("rfc3686(ctr(aes))", "rfc3686(ctr(aes-openssl))", AES_PRIORITY, 1, RFC3686_IV,
               CD_AES_BLOCK, AES_KEYS << RFC3686_NONCE, rfc3686_ops, "AES-128-CTR", "AES-192-CTR",
               "AES-256-CTR"),
    CIPHER_ROW("ecb(des3_ede)", "ecb(des3_ede-openssl)", DES_PRIORITY, CD_DES_BLOCK, 0,
               CD_DES_BLOCK, CD_KEY_SIZE(CD_DES3_KEY), ecb_ops, "DES-EDE3-ECB"),
    CIPHER_ROW("cbc(des3_ede)", "cbc(des3_ede-openssl)", DES_PRIORITY, CD_DES_BLOCK, CD_DES_BLOCK,
               CD_DES_BLOCK, CD_KEY_SIZE(CD_DES3_KEY), cbc_ops, "DES-EDE3-CBC"),
};

const struct cd_openssl_row *cd_openssl_cipher_row(size_t index) {
    return index < sizeof rows / sizeof rows[0] ? &rows[index] : NULL;
}
