/*
 * MD5, SHA-1, SHA-224, SHA-256 and their HMACs as hash implementations, in every backend of
 * crypto/md.h.
 *
 * A message in pieces lives in the public struct cd_hash_state alone, and the primitives work on
 * its words and buffer directly. An hmac's state starts behind the block of the padded key, which
 * `count` leaves out; here is the only place that adds it.
 */
#include <string.h>

#include "base/secure.h"
#include "crypto/hmac.h"
#include "crypto/md5.h"
#include "crypto/sha1.h"
#include "crypto/sha2.h"
#include "cryptodispatch/hash.h"
#include "software/software_hash.h"
#include "software/software_internal.h"

_Static_assert(CD_HASH_BLOCK == CD_MD_BLOCK && CD_DIGEST_MAX == CD_MD_DIGEST_MAX &&
                   sizeof(((struct cd_hash_state *)0)->words) == 4 * CD_MD_WORDS_MAX,
               "the public sizes are those of the primitives");

/* An implementation and the backend it computes with. */
struct hash_implementation {
    struct cd_implementation implementation; /* first: transforms point to it */
    const struct cd_md_algorithm *algorithm;
};

/* Context of a plain hash. That of an hmac is a struct cd_hmac_key. */
struct hash_context {
    const struct cd_md_algorithm *algorithm;
};

static const struct cd_md_algorithm *algorithm_of(const struct cd_hash *hash) {
    const struct cd_implementation *implementation = cd_hash_implementation(hash);

    return ((const struct hash_implementation *)(const void *)implementation)->algorithm;
}

/* Bytes that wait in the buffer. */
static inline size_t used_of(const struct cd_hash_state *state) {
    return (size_t)(state->count % CD_HASH_BLOCK);
}

/* Turn a copy of the state's words into final ones; `before` bytes of padded key came first. */
static void finish_words(const struct cd_md_algorithm *algorithm, uint32_t *out_words,
                         const struct cd_hash_state *state, uint64_t before) {
    size_t used = used_of(state);

    memcpy(out_words, state->words, sizeof state->words);
    cd_md_finish(algorithm, out_words, before + state->count - used, state->buffer, used);
}

/* ---- plain ---- */

static cd_status hash_init(struct cd_hash *hash) {
    struct hash_context *context = cd_hash_context(hash);

    context->algorithm = algorithm_of(hash);
    return CD_OK;
}

static cd_status hash_digest(struct cd_hash *hash, struct cd_hash_request *request) {
    const struct hash_context *context = cd_hash_context(hash);

    cd_md_digest(context->algorithm, request->digest, request->source, request->length);
    return CD_OK;
}

static cd_status hash_begin(struct cd_hash *hash, struct cd_hash_state *state) {
    const struct hash_context *context = cd_hash_context(hash);

    memcpy(state->words, context->algorithm->initial,
           context->algorithm->state_words * sizeof state->words[0]);
    state->count = 0;
    return CD_OK;
}

static cd_status hash_update(struct cd_hash *hash, struct cd_hash_state *state, const uint8_t *data,
                             size_t length) {
    const struct hash_context *context = cd_hash_context(hash);

    cd_md_absorb(context->algorithm, state->words, state->buffer, used_of(state), data, length);
    state->count += length;
    return CD_OK;
}

static cd_status hash_finish(struct cd_hash *hash, const struct cd_hash_state *state,
                             uint8_t *out_digest) {
    const struct hash_context *context = cd_hash_context(hash);
    uint32_t words[CD_MD_WORDS_MAX];

    finish_words(context->algorithm, words, state, 0);
    cd_md_store(context->algorithm, out_digest, words);
    cd_wipe(words, sizeof words); /* SHA-224 keeps one word back */
    return CD_OK;
}

static void hash_records(struct cd_hash *hash, struct cd_hash_record *records, size_t count) {
    const struct hash_context *context = cd_hash_context(hash);

    cd_software_hash_records(context->algorithm, records, count);
}

/* ---- hmac ---- */

static cd_status hmac_set_key(struct cd_hash *hash, const uint8_t *key, size_t key_len) {
    struct cd_hmac_key *context = cd_hash_context(hash);

    cd_hmac_prepare(context, algorithm_of(hash), key, key_len);
    return CD_OK;
}

static cd_status hmac_digest(struct cd_hash *hash, struct cd_hash_request *request) {
    const struct cd_hmac_key *context = cd_hash_context(hash);

    cd_hmac_digest(context, request->digest, request->source, request->length);
    return CD_OK;
}

static cd_status hmac_begin(struct cd_hash *hash, struct cd_hash_state *state) {
    const struct cd_hmac_key *context = cd_hash_context(hash);

    memcpy(state->words, context->inner, sizeof state->words);
    state->count = 0;
    return CD_OK;
}

static cd_status hmac_update(struct cd_hash *hash, struct cd_hash_state *state, const uint8_t *data,
                             size_t length) {
    const struct cd_hmac_key *context = cd_hash_context(hash);

    cd_md_absorb(context->algorithm, state->words, state->buffer, used_of(state), data, length);
    state->count += length;
    return CD_OK;
}

static cd_status hmac_finish(struct cd_hash *hash, const struct cd_hash_state *state,
                             uint8_t *out_digest) {
    const struct cd_hmac_key *context = cd_hash_context(hash);
    uint32_t words[CD_MD_WORDS_MAX];

    finish_words(context->algorithm, words, state, CD_MD_BLOCK);
    cd_hmac_finish(context, out_digest, words);
    return CD_OK;
}

static void hmac_records(struct cd_hash *hash, struct cd_hash_record *records, size_t count) {
    cd_software_hmac_records(cd_hash_context(hash), records, count);
}

static const struct cd_hash_ops hash_ops = {
    .init = hash_init,
    .digest = hash_digest,
    .begin = hash_begin,
    .update = hash_update,
    .finish = hash_finish,
    .records = hash_records,
};

static const struct cd_hash_ops hmac_ops = {
    .set_key = hmac_set_key,
    .digest = hmac_digest,
    .begin = hmac_begin,
    .update = hmac_update,
    .finish = hmac_finish,
    .records = hmac_records,
};

/* One implementation: names, CPU features, priority, digest, keys, context, functions, backend. */
#define HASH_ROW(algorithm_name, driver_name, cpu_bits, rank, digest, keys, state, functions,      \
                 table)                                                                            \
    {                                                                                              \
        .implementation =                                                                          \
            {                                                                                      \
                .algorithm = (algorithm_name),                                                     \
                .driver = (driver_name),                                                           \
                .type = CD_TYPE_HASH,                                                              \
                .priority = (rank),                                                                \
                .cpu = (cpu_bits),                                                                 \
                .block_size = CD_HASH_BLOCK,                                                       \
                .chunk_size = 1,                                                                   \
                .alignment = 1,                                                                    \
                .digest_size = (digest),                                                           \
                .key_sizes = (keys),                                                               \
                .context_size = sizeof(state),                                                     \
                .hash = &(functions),                                                              \
            },                                                                                     \
        .algorithm = &(table),                                                                     \
    }

/* A hash and its hmac in one backend: its name in driver names, CPU features, priority. */
#define HASH_BACKEND(name, backend, cpu_bits, rank, digest, table)                                 \
    HASH_ROW(name, name "-" backend, cpu_bits, rank, digest, 0, struct hash_context, hash_ops,     \
             table),                                                                               \
        HASH_ROW("hmac(" name ")", "hmac(" name "-" backend ")", cpu_bits, rank, digest,           \
                 CD_KEY_ANY, struct cd_hmac_key, hmac_ops, table)

static const struct hash_implementation implementations[] = {
    HASH_BACKEND("md5", "lib", 0, 100, CD_MD5_DIGEST, cd_md5_portable),
    HASH_BACKEND("sha1", "lib", 0, 100, CD_SHA1_DIGEST, cd_sha1_portable),
    HASH_BACKEND("sha224", "lib", 0, 100, CD_SHA224_DIGEST, cd_sha224_portable),
    HASH_BACKEND("sha256", "lib", 0, 100, CD_SHA256_DIGEST, cd_sha256_portable),
    HASH_BACKEND("sha1", "ni", CD_SHA1_SHANI_CPU, 300, CD_SHA1_DIGEST, cd_sha1_shani),
    HASH_BACKEND("sha224", "ni", CD_SHA2_SHANI_CPU, 300, CD_SHA224_DIGEST, cd_sha224_shani),
    HASH_BACKEND("sha256", "ni", CD_SHA2_SHANI_CPU, 300, CD_SHA256_DIGEST, cd_sha256_shani),
    HASH_BACKEND("sha224", "avx512", CD_SHA2_AVX512_CPU, 400, CD_SHA224_DIGEST, cd_sha224_avx512),
    HASH_BACKEND("sha256", "avx512", CD_SHA2_AVX512_CPU, 400, CD_SHA256_DIGEST, cd_sha256_avx512),
};

const struct cd_implementation *cd_software_hash(size_t index) {
    return index < sizeof implementations / sizeof implementations[0]
               ? &implementations[index].implementation
               : NULL;
}
