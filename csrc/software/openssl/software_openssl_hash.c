/*
 * libcrypto's MD5, SHA-1, SHA-224, SHA-256 and their HMACs as hash implementations.
 *
 * Whole messages are libcrypto's. A message in pieces is a struct cd_hash_state, which any
 * implementation must be able to go on with; libcrypto's contexts are opaque, so pieces run on this
 * library's compression functions (crypto/md.h), the fastest that this CPU has.
 */
#include <string.h>

#include "base/secure.h"
#include "crypto/hmac.h"
#include "crypto/md5.h"
#include "crypto/sha1.h"
#include "crypto/sha2.h"
#include "cryptodispatch/cpu.h"
#include "cryptodispatch/hash.h"
#include "software/openssl/software_openssl_internal.h"
#include "software/openssl/software_openssl_pool.h"

struct openssl_context {
    const struct cd_openssl_implementation *implementation;
    const struct cd_md_algorithm *pieces;
    struct cd_openssl_pool pool;
    struct cd_hmac_key key; /* hmac only: for messages in pieces */
};

static void *copy_digest(const struct cd_openssl_library *library, const void *prototype) {
    (void)prototype; /* a digest starts from nothing */
    return library->EVP_MD_CTX_new();
}

static void drop_digest(const struct cd_openssl_library *library, void *context) {
    library->EVP_MD_CTX_free(context);
}

static void *copy_hmac(const struct cd_openssl_library *library, const void *prototype) {
    return library->EVP_MAC_CTX_dup(prototype);
}

static void drop_hmac(const struct cd_openssl_library *library, void *context) {
    library->EVP_MAC_CTX_free(context);
}

static cd_status init(struct cd_hash *hash) {
    struct openssl_context *context = cd_hash_context(hash);
    const struct cd_implementation *implementation = cd_hash_implementation(hash);
    const struct cd_openssl_row *row;

    context->implementation =
        (const struct cd_openssl_implementation *)(const void *)implementation;
    row = context->implementation->row;
    context->pieces = row->fast != NULL && (cd_cpu_detect() & row->fast->cpu) == row->fast->cpu
                          ? row->fast
                          : row->portable;
    return CD_OK;
}

static void digest_cleanup(struct cd_hash *hash) {
    struct openssl_context *context = cd_hash_context(hash);

    cd_openssl_pool_clear(&context->pool, context->implementation->library, drop_digest);
}

static void hmac_cleanup(struct cd_hash *hash) {
    struct openssl_context *context = cd_hash_context(hash);

    cd_openssl_pool_clear(&context->pool, context->implementation->library, drop_hmac);
}

/* ---- whole messages ---- */

static cd_status digest(struct cd_hash *hash, struct cd_hash_request *request) {
    struct openssl_context *context = cd_hash_context(hash);
    const struct cd_openssl_library *library = context->implementation->library;
    size_t place;
    void *evp = cd_openssl_pool_take(&context->pool, &place, library, copy_digest);
    bool good;

    if (evp == NULL) {
        return CD_E_NO_MEMORY;
    }
    good = library->EVP_DigestInit_ex2(evp, context->implementation->fetched[0], NULL) == 1 &&
           library->EVP_DigestUpdate(evp, request->source, request->length) == 1 &&
           library->EVP_DigestFinal_ex(evp, request->digest, NULL) == 1;
    cd_openssl_pool_give(&context->pool, evp, place, library, drop_digest);
    return good ? CD_OK : CD_E_UNSUPPORTED;
}

static cd_status hmac_digest(struct cd_hash *hash, struct cd_hash_request *request) {
    struct openssl_context *context = cd_hash_context(hash);
    const struct cd_openssl_library *library = context->implementation->library;
    size_t place, written, size = context->implementation->public.digest_size;
    void *evp = cd_openssl_pool_take(&context->pool, &place, library, copy_hmac);
    bool good;

    if (evp == NULL) {
        return CD_E_NO_MEMORY;
    }
    /* Without a key: start again with the one that is set (EVP_MAC_init(3)). */
    good = library->EVP_MAC_init(evp, NULL, 0, NULL) == 1 &&
           library->EVP_MAC_update(evp, request->source, request->length) == 1 &&
           library->EVP_MAC_final(evp, request->digest, &written, size) == 1 && written == size;
    cd_openssl_pool_give(&context->pool, evp, place, library, drop_hmac);
    return good ? CD_OK : CD_E_UNSUPPORTED;
}

static cd_status hmac_set_key(struct cd_hash *hash, const uint8_t *key, size_t key_len) {
    struct openssl_context *context = cd_hash_context(hash);
    const struct cd_openssl_library *library = context->implementation->library;
    char name[16] = "";
    const struct cd_openssl_parameter parameters[2] = {
        {"digest", CD_OPENSSL_UTF8_STRING, name, 0, 0}, {NULL, 0, NULL, 0, 0}};
    static const uint8_t none[1];

    hmac_cleanup(hash);
    context->pool.prototype = library->EVP_MAC_CTX_new(context->implementation->fetched[1]);
    if (context->pool.prototype == NULL) {
        return CD_E_NO_MEMORY;
    }
    strncpy(name, context->implementation->row->names[0], sizeof name - 1);
    /* A key of NULL would mean none is given, not an empty one. */
    if (library->EVP_MAC_init(context->pool.prototype, key_len > 0 ? key : none, key_len,
                              parameters) != 1) {
        hmac_cleanup(hash);
        return CD_E_UNSUPPORTED;
    }
    cd_hmac_prepare(&context->key, context->pieces, key, key_len);
    return CD_OK;
}

/* ---- pieces ---- */

static cd_status begin(struct cd_hash *hash, struct cd_hash_state *state) {
    const struct openssl_context *context = cd_hash_context(hash);
    const uint32_t *words = context->implementation->row->kind == CD_OPENSSL_HMAC
                                ? context->key.inner
                                : context->pieces->initial;

    memcpy(state->words, words, context->pieces->state_words * sizeof state->words[0]);
    state->count = 0;
    return CD_OK;
}

static cd_status update(struct cd_hash *hash, struct cd_hash_state *state, const uint8_t *data,
                        size_t length) {
    const struct openssl_context *context = cd_hash_context(hash);

    cd_md_absorb(context->pieces, state->words, state->buffer,
                 (size_t)(state->count % CD_HASH_BLOCK), data, length);
    state->count += length;
    return CD_OK;
}

static cd_status finish(struct cd_hash *hash, const struct cd_hash_state *state,
                        uint8_t *out_digest) {
    const struct openssl_context *context = cd_hash_context(hash);
    bool keyed = context->implementation->row->kind == CD_OPENSSL_HMAC;
    size_t used = (size_t)(state->count % CD_HASH_BLOCK);
    uint64_t before = state->count - used + (keyed ? CD_HASH_BLOCK : 0); /* the padded key */
    uint32_t words[CD_MD_WORDS_MAX];

    memcpy(words, state->words, sizeof words);
    cd_md_finish(context->pieces, words, before, state->buffer, used);
    if (keyed) {
        cd_hmac_finish(&context->key, out_digest, words);
    } else {
        cd_md_store(context->pieces, out_digest, words);
        cd_wipe(words, sizeof words); /* SHA-224 keeps one word back */
    }
    return CD_OK;
}

static const struct cd_hash_ops digest_ops = {
    .init = init,
    .cleanup = digest_cleanup,
    .digest = digest,
    .begin = begin,
    .update = update,
    .finish = finish,
};

static const struct cd_hash_ops hmac_ops = {
    .init = init,
    .cleanup = hmac_cleanup,
    .set_key = hmac_set_key,
    .digest = hmac_digest,
    .begin = begin,
    .update = update,
    .finish = finish,
};

/* Below the portable code: EVP costs a small message more than hashing it does. */
#define HASH_PRIORITY 80

/* One implementation: names, digest, keys, functions, kind, libcrypto's name, functions for pieces.
 */
#define HASH_ROW(algorithm_name, driver_name, digest_bytes, keys, functions, row_kind, evp_name,   \
                 fast_table, portable_table)                                                       \
    {                                                                                              \
        .implementation =                                                                          \
            {                                                                                      \
                .algorithm = (algorithm_name),                                                     \
                .driver = (driver_name),                                                           \
                .type = CD_TYPE_HASH,                                                              \
                .priority = HASH_PRIORITY,                                                         \
                .block_size = CD_HASH_BLOCK,                                                       \
                .chunk_size = 1,                                                                   \
                .alignment = 1,                                                                    \
                .digest_size = (digest_bytes),                                                     \
                .key_sizes = (keys),                                                               \
                .context_size = sizeof(struct openssl_context),                                    \
                .hash = &(functions),                                                              \
            },                                                                                     \
        .kind = (row_kind), .names = {evp_name}, .fast = (fast_table),                             \
        .portable = (portable_table),                                                              \
    }

/* A hash and its hmac. */
#define HASH_ROWS(name, digest_bytes, evp_name, fast_table, portable_table)                        \
    HASH_ROW(name, name "-openssl", digest_bytes, 0, digest_ops, CD_OPENSSL_DIGEST, evp_name,      \
             fast_table, portable_table),                                                          \
        HASH_ROW("hmac(" name ")", "hmac(" name "-openssl)", digest_bytes, CD_KEY_ANY, hmac_ops,   \
                 CD_OPENSSL_HMAC, evp_name, fast_table, portable_table)

static const struct cd_openssl_row rows[] = {
    HASH_ROWS("md5", CD_MD5_DIGEST, "MD5", NULL, &cd_md5_portable),
    HASH_ROWS("sha1", CD_SHA1_DIGEST, "SHA1", &cd_sha1_shani, &cd_sha1_portable),
    HASH_ROWS("sha224", CD_SHA224_DIGEST, "SHA224", &cd_sha224_shani, &cd_sha224_portable),
    HASH_ROWS("sha256", CD_SHA256_DIGEST, "SHA256", &cd_sha256_shani, &cd_sha256_portable),
};

const struct cd_openssl_row *cd_openssl_hash_row(size_t index) {
    return index < sizeof rows / sizeof rows[0] ? &rows[index] : NULL;
}
