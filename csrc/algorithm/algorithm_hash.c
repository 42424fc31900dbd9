/* Hash transforms: one-shot requests and messages in pieces. */
#include "algorithm/algorithm_internal.h"

#include <string.h>

cd_status cd_hash_new_bound(struct cd_hash **out_hash,
                            const struct cd_implementation *implementation) {
    struct cd_transform *transform;
    cd_status status = cd_transform_allocate(&transform, implementation, CD_TYPE_HASH);
    if (status != CD_OK) {
        return status;
    }
    struct cd_hash *hash = (struct cd_hash *)transform;
    hash->ops = implementation->hash;
    hash->base.keyed = implementation->key_sizes == 0;
    status = hash->ops->init != NULL ? hash->ops->init(hash) : CD_OK;
    if (status != CD_OK) {
        cd_transform_wipe_free(transform);
        return status;
    }
    cd_implementation_retain(implementation);
    *out_hash = hash;
    return CD_OK;
}

cd_status cd_hash_new(struct cd_hash **out_hash, struct cd_registry *registry, const char *name,
                      uint32_t flags, uint32_t mask) {
    const struct cd_implementation *implementation;
    cd_status status = cd_registry_find(&implementation, registry, name, CD_TYPE_HASH, flags, mask);
    if (status != CD_OK) {
        return status;
    }
    status = cd_hash_new_bound(out_hash, implementation);
    cd_implementation_release(implementation);
    return status;
}

void cd_hash_free(struct cd_hash *hash) {
    if (hash == NULL) {
        return;
    }
    const struct cd_implementation *implementation = hash->base.implementation;
    if (hash->ops->cleanup != NULL) {
        hash->ops->cleanup(hash);
    }
    cd_transform_wipe_free(&hash->base);
    cd_implementation_release(implementation);
}

cd_status cd_hash_set_key(struct cd_hash *hash, const uint8_t *key, size_t key_len) {
    if (hash->base.implementation->key_sizes == 0) {
        return CD_E_KEY;
    }
    hash->base.keyed = false;
    if (key == NULL && key_len > 0) {
        return CD_E_INVALID;
    }
    if (!cd_key_size_is_allowed(hash->base.implementation, key_len)) {
        return CD_E_KEY;
    }
    cd_status status = hash->ops->set_key(hash, key, key_len);
    hash->base.keyed = status == CD_OK;
    return status;
}

cd_status cd_hash_digest(struct cd_hash *hash, struct cd_hash_request *request) {
    if (!hash->base.keyed) {
        return cd_status_returned(&request->status, CD_E_NO_KEY);
    }
    if (request->digest == NULL || (request->source == NULL && request->length > 0)) {
        return cd_status_returned(&request->status, CD_E_INVALID);
    }
    if (request->length > CD_MESSAGE_MAX) {
        return cd_status_returned(&request->status, CD_E_LENGTH);
    }
    cd_status_store(&request->status, CD_IN_PROGRESS);
    return cd_status_returned(&request->status, hash->ops->digest(hash, request));
}

cd_status cd_hash_wait(struct cd_hash *hash, struct cd_hash_request *request, uint64_t timeout_ns) {
    if (cd_status_load(&request->status) != CD_IN_PROGRESS) {
        return CD_OK;
    }
    return hash->ops->wait != NULL ? hash->ops->wait(hash, request, timeout_ns) : CD_E_INVALID;
}

cd_status cd_hash_finish_request(struct cd_hash *hash, struct cd_hash_request *request,
                                 cd_status started) {
    if (started != CD_IN_PROGRESS) {
        return started;
    }
    cd_status status;
    do {
        status = cd_hash_wait(hash, request, CD_WAIT_SLICE_NS);
    } while (status == CD_E_TIMEOUT);
    return status == CD_OK ? cd_status_load(&request->status) : status;
}

cd_status cd_hash_digest_wait(struct cd_hash *hash, struct cd_hash_request *request) {
    return cd_hash_finish_request(hash, request, cd_hash_digest(hash, request));
}

cd_status cd_hash_begin(struct cd_hash *hash, struct cd_hash_state *state) {
    if (!hash->base.keyed) {
        return CD_E_NO_KEY;
    }
    memset(state, 0, sizeof(*state));
    return hash->ops->begin(hash, state);
}

cd_status cd_hash_update(struct cd_hash *hash, struct cd_hash_state *state, const uint8_t *data,
                         size_t length) {
    if (!hash->base.keyed) {
        return CD_E_NO_KEY;
    }
    if (data == NULL && length > 0) {
        return CD_E_INVALID;
    }
    if (length > CD_MESSAGE_MAX - state->count) {
        return CD_E_LENGTH;
    }
    return length > 0 ? hash->ops->update(hash, state, data, length) : CD_OK;
}

cd_status cd_hash_finish(struct cd_hash *hash, const struct cd_hash_state *state,
                         uint8_t *out_digest) {
    if (!hash->base.keyed) {
        return CD_E_NO_KEY;
    }
    return hash->ops->finish(hash, state, out_digest);
}

const struct cd_implementation *cd_hash_implementation(const struct cd_hash *hash) {
    return hash->base.implementation;
}

void *cd_hash_context(const struct cd_hash *hash) {
    return (uint8_t *)(uintptr_t)hash + CD_TRANSFORM_HEADER;
}

bool cd_hash_has_key(const struct cd_hash *hash) {
    return hash->base.keyed;
}

void cd_hash_request_complete(struct cd_hash_request *request, cd_status status) {
    void (*complete)(struct cd_hash_request *, void *) = request->complete;
    void *context = request->context;
    /* Without a callback the request belongs to its owner, who may free it, from the store on. */
    cd_status_store(&request->status, status);
    if (complete != NULL) {
        complete(request, context);
    }
}
