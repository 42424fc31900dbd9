/*
 * What the implementations of a simulated machine do: let the time pass that the cost model says,
 * and run a real implementation. Requests were checked by algorithm/ when they came here, and the
 * child has the same limits, so its functions are called directly.
 */
#include "algorithm/algorithm_any.h"
#include "benchmark/benchmark_internal.h"
#include "cryptodispatch/aead.h"
#include "cryptodispatch/cipher.h"
#include "cryptodispatch/hash.h"

struct modelled_context {
    void *child;
    const void *child_ops; /* of the type */
    struct cd_machine *machine;
    const char *algorithm;
    const struct cd_cpu_cost *cost; /* of the key's size; NULL: no key of a known size yet */
};

static cd_status init(struct modelled_context *context,
                      const struct cd_implementation *implementation) {
    const struct cd_modelled *modelled = (const struct cd_modelled *)(const void *)implementation;
    context->machine = modelled->machine;
    context->algorithm = modelled->algorithm;
    context->child_ops = cd_implementation_functions(modelled->child);
    context->cost = cd_cpu_cost_find(context->machine->costs, context->machine->cost_count,
                                     context->algorithm, 0);
    return cd_transform_new_bound(&context->child, modelled->child);
}

/* Take the row of a key's size. */
static cd_status find_cost(struct modelled_context *context, size_t key_len) {
    context->cost = cd_cpu_cost_find(context->machine->costs, context->machine->cost_count,
                                     context->algorithm, key_len);
    return context->cost != NULL ? CD_OK : CD_E_KEY;
}

/* Let time pass; CD_E_NO_DEVICE if the machine was freed. It passes before the work is done, so
 * that the end of the machine finds a request either refused as a whole or paid. */
static cd_status spend(const struct modelled_context *context, uint64_t picoseconds) {
    struct cd_machine *machine = context->machine;
    pthread_mutex_lock(&machine->lock);
    bool gone = machine->gone;
    if (!gone && picoseconds > 0) {
        machine->clock.advance(machine->clock.context, picoseconds);
    }
    pthread_mutex_unlock(&machine->lock);
    return gone ? CD_E_NO_DEVICE : CD_OK;
}

static cd_status spend_request(const struct modelled_context *context, size_t length) {
    return spend(context, cd_cpu_cost_request_ps(context->cost, length));
}

static cd_status cipher_init(struct cd_cipher *cipher) {
    return init(cd_cipher_context(cipher), cd_cipher_implementation(cipher));
}

static void cipher_cleanup(struct cd_cipher *cipher) {
    cd_transform_free(((struct modelled_context *)cd_cipher_context(cipher))->child);
}

static cd_status cipher_set_key(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    struct modelled_context *context = cd_cipher_context(cipher);
    cd_status status = find_cost(context, key_len);
    return status == CD_OK ? cd_cipher_set_key(context->child, key, key_len) : status;
}

static cd_status cipher_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct modelled_context *context = cd_cipher_context(cipher);
    const struct cd_cipher_ops *ops = context->child_ops;
    cd_status status = spend_request(context, request->length);
    return status == CD_OK ? ops->encrypt(context->child, request) : status;
}

static cd_status cipher_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct modelled_context *context = cd_cipher_context(cipher);
    const struct cd_cipher_ops *ops = context->child_ops;
    cd_status status = spend_request(context, request->length);
    return status == CD_OK ? ops->decrypt(context->child, request) : status;
}

static cd_status hash_init(struct cd_hash *hash) {
    return init(cd_hash_context(hash), cd_hash_implementation(hash));
}

static void hash_cleanup(struct cd_hash *hash) {
    cd_transform_free(((struct modelled_context *)cd_hash_context(hash))->child);
}

static cd_status hash_set_key(struct cd_hash *hash, const uint8_t *key, size_t key_len) {
    struct modelled_context *context = cd_hash_context(hash);
    cd_status status = find_cost(context, key_len);
    return status == CD_OK ? cd_hash_set_key(context->child, key, key_len) : status;
}

static cd_status hash_digest(struct cd_hash *hash, struct cd_hash_request *request) {
    const struct modelled_context *context = cd_hash_context(hash);
    const struct cd_hash_ops *ops = context->child_ops;
    cd_status status = spend_request(context, request->length);
    return status == CD_OK ? ops->digest(context->child, request) : status;
}

static cd_status hash_begin(struct cd_hash *hash, struct cd_hash_state *state) {
    const struct modelled_context *context = cd_hash_context(hash);
    const struct cd_hash_ops *ops = context->child_ops;
    cd_status status = spend(context, 0);
    return status == CD_OK ? ops->begin(context->child, state) : status;
}

static cd_status hash_update(struct cd_hash *hash, struct cd_hash_state *state, const uint8_t *data,
                             size_t length) {
    const struct modelled_context *context = cd_hash_context(hash);
    const struct cd_hash_ops *ops = context->child_ops;
    cd_status status = spend(context, cd_cpu_cost_bytes_ps(context->cost, length));
    return status == CD_OK ? ops->update(context->child, state, data, length) : status;
}

static cd_status hash_finish(struct cd_hash *hash, const struct cd_hash_state *state,
                             uint8_t *out_digest) {
    const struct modelled_context *context = cd_hash_context(hash);
    const struct cd_hash_ops *ops = context->child_ops;
    cd_status status = spend(context, context->cost->request_ps);
    return status == CD_OK ? ops->finish(context->child, state, out_digest) : status;
}

static cd_status aead_init(struct cd_aead *aead) {
    return init(cd_aead_context(aead), cd_aead_implementation(aead));
}

static void aead_cleanup(struct cd_aead *aead) {
    cd_transform_free(((struct modelled_context *)cd_aead_context(aead))->child);
}

static cd_status aead_set_key(struct cd_aead *aead, const uint8_t *key, size_t key_len,
                              const uint8_t *auth_key, size_t auth_key_len) {
    struct modelled_context *context = cd_aead_context(aead);
    cd_status status = find_cost(context, key_len);
    return status == CD_OK ? cd_aead_set_key(context->child, key, key_len, auth_key, auth_key_len)
                           : status;
}

static cd_status aead_set_tag_size(struct cd_aead *aead, uint32_t tag_size) {
    const struct modelled_context *context = cd_aead_context(aead);
    return cd_aead_set_tag_size(context->child, tag_size);
}

static cd_status spend_aead(const struct modelled_context *context,
                            const struct cd_aead_request *request) {
    size_t length = request->length;
    return spend_request(context, request->aad_len > SIZE_MAX - length ? SIZE_MAX
                                                                       : length + request->aad_len);
}

static cd_status aead_encrypt(struct cd_aead *aead, struct cd_aead_request *request) {
    const struct modelled_context *context = cd_aead_context(aead);
    const struct cd_aead_ops *ops = context->child_ops;
    cd_status status = spend_aead(context, request);
    return status == CD_OK ? ops->encrypt(context->child, request) : status;
}

static cd_status aead_decrypt(struct cd_aead *aead, struct cd_aead_request *request) {
    const struct modelled_context *context = cd_aead_context(aead);
    const struct cd_aead_ops *ops = context->child_ops;
    cd_status status = spend_aead(context, request);
    return status == CD_OK ? ops->decrypt(context->child, request) : status;
}

static const struct cd_cipher_ops cipher_ops = {
    .init = cipher_init,
    .cleanup = cipher_cleanup,
    .set_key = cipher_set_key,
    .encrypt = cipher_encrypt,
    .decrypt = cipher_decrypt,
};

static const struct cd_hash_ops hash_ops = {
    .init = hash_init,
    .cleanup = hash_cleanup,
    .set_key = hash_set_key,
    .digest = hash_digest,
    .begin = hash_begin,
    .update = hash_update,
    .finish = hash_finish,
};

static const struct cd_aead_ops aead_ops = {
    .init = aead_init,
    .cleanup = aead_cleanup,
    .set_key = aead_set_key,
    .set_tag_size = aead_set_tag_size,
    .encrypt = aead_encrypt,
    .decrypt = aead_decrypt,
};

void cd_modelled_describe(struct cd_implementation *out_implementation) {
    out_implementation->context_size = sizeof(struct modelled_context);
    out_implementation->cipher = out_implementation->type == CD_TYPE_CIPHER ? &cipher_ops : NULL;
    out_implementation->hash = out_implementation->type == CD_TYPE_HASH ? &hash_ops : NULL;
    out_implementation->aead = out_implementation->type == CD_TYPE_AEAD ? &aead_ops : NULL;
}
