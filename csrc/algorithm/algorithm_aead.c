/* Aead transforms and requests: the checks every request passes once. */
#include "algorithm/algorithm_internal.h"

cd_status cd_aead_new_bound(struct cd_aead **out_aead,
                            const struct cd_implementation *implementation) {
    struct cd_transform *transform;
    cd_status status = cd_transform_allocate(&transform, implementation, CD_TYPE_AEAD);
    if (status != CD_OK) {
        return status;
    }
    struct cd_aead *aead = (struct cd_aead *)transform;
    aead->ops = implementation->aead;
    status = aead->ops->init != NULL ? aead->ops->init(aead) : CD_OK;
    if (status != CD_OK) {
        cd_transform_wipe_free(transform);
        return status;
    }
    cd_implementation_retain(implementation);
    *out_aead = aead;
    return CD_OK;
}

cd_status cd_aead_new(struct cd_aead **out_aead, struct cd_registry *registry, const char *name,
                      uint32_t flags, uint32_t mask) {
    const struct cd_implementation *implementation;
    cd_status status = cd_registry_find(&implementation, registry, name, CD_TYPE_AEAD, flags, mask);
    if (status != CD_OK) {
        return status;
    }
    status = cd_aead_new_bound(out_aead, implementation);
    cd_implementation_release(implementation);
    return status;
}

void cd_aead_free(struct cd_aead *aead) {
    if (aead == NULL) {
        return;
    }
    const struct cd_implementation *implementation = aead->base.implementation;
    if (aead->ops->cleanup != NULL) {
        aead->ops->cleanup(aead);
    }
    cd_transform_wipe_free(&aead->base);
    cd_implementation_release(implementation);
}

cd_status cd_aead_set_key(struct cd_aead *aead, const uint8_t *key, size_t key_len,
                          const uint8_t *auth_key, size_t auth_key_len) {
    aead->base.keyed = false;
    if (key == NULL || (auth_key == NULL && auth_key_len > 0)) {
        return CD_E_INVALID;
    }
    if (!cd_key_size_is_allowed(aead->base.implementation, key_len) ||
        auth_key_len > CD_AUTH_KEY_MAX) {
        return CD_E_KEY;
    }
    cd_status status = aead->ops->set_key(aead, key, key_len, auth_key, auth_key_len);
    aead->base.keyed = status == CD_OK;
    return status;
}

cd_status cd_aead_set_tag_size(struct cd_aead *aead, uint32_t tag_size) {
    if (tag_size == 0 || tag_size > aead->base.implementation->max_tag_size) {
        return CD_E_RANGE;
    }
    cd_status status =
        aead->ops->set_tag_size != NULL ? aead->ops->set_tag_size(aead, tag_size) : CD_OK;
    if (status == CD_OK) {
        aead->base.tag_size = tag_size;
    }
    return status;
}

/* CD_OK: hand it to the implementation. */
static cd_status check_request(const struct cd_aead *aead, const struct cd_aead_request *request) {
    if (!aead->base.keyed) {
        return CD_E_NO_KEY;
    }
    if ((request->length & aead->base.block_mask) != 0) {
        return CD_E_LENGTH;
    }
    if (request->tag == NULL || (request->aad == NULL && request->aad_len > 0) ||
        ((request->source == NULL || request->destination == NULL) && request->length > 0)) {
        return CD_E_INVALID;
    }
    return cd_overlaps(request->source, request->destination, request->length) ? CD_E_OVERLAP
                                                                               : CD_OK;
}

cd_status cd_aead_encrypt(struct cd_aead *aead, struct cd_aead_request *request) {
    cd_status status = check_request(aead, request);
    if (status != CD_OK) {
        return cd_status_returned(&request->status, status);
    }
    cd_status_store(&request->status, CD_IN_PROGRESS);
    return cd_status_returned(&request->status, aead->ops->encrypt(aead, request));
}

cd_status cd_aead_decrypt(struct cd_aead *aead, struct cd_aead_request *request) {
    cd_status status = check_request(aead, request);
    if (status != CD_OK) {
        return cd_status_returned(&request->status, status);
    }
    cd_status_store(&request->status, CD_IN_PROGRESS);
    return cd_status_returned(&request->status, aead->ops->decrypt(aead, request));
}

cd_status cd_aead_wait(struct cd_aead *aead, struct cd_aead_request *request, uint64_t timeout_ns) {
    if (cd_status_load(&request->status) != CD_IN_PROGRESS) {
        return CD_OK;
    }
    return aead->ops->wait != NULL ? aead->ops->wait(aead, request, timeout_ns) : CD_E_INVALID;
}

cd_status cd_aead_finish_request(struct cd_aead *aead, struct cd_aead_request *request,
                                 cd_status started) {
    if (started != CD_IN_PROGRESS) {
        return started;
    }
    cd_status status;
    do {
        status = cd_aead_wait(aead, request, CD_WAIT_SLICE_NS);
    } while (status == CD_E_TIMEOUT);
    return status == CD_OK ? cd_status_load(&request->status) : status;
}

cd_status cd_aead_encrypt_wait(struct cd_aead *aead, struct cd_aead_request *request) {
    return cd_aead_finish_request(aead, request, cd_aead_encrypt(aead, request));
}

cd_status cd_aead_decrypt_wait(struct cd_aead *aead, struct cd_aead_request *request) {
    return cd_aead_finish_request(aead, request, cd_aead_decrypt(aead, request));
}

const struct cd_implementation *cd_aead_implementation(const struct cd_aead *aead) {
    return aead->base.implementation;
}

void *cd_aead_context(const struct cd_aead *aead) {
    return (uint8_t *)(uintptr_t)aead + CD_TRANSFORM_HEADER;
}

bool cd_aead_has_key(const struct cd_aead *aead) {
    return aead->base.keyed;
}

uint32_t cd_aead_tag_size(const struct cd_aead *aead) {
    return aead->base.tag_size;
}

void cd_aead_request_complete(struct cd_aead_request *request, cd_status status) {
    void (*complete)(struct cd_aead_request *, void *) = request->complete;
    void *context = request->context;
    /* Without a callback the request belongs to its owner, who may free it, from the store on. */
    cd_status_store(&request->status, status);
    if (complete != NULL) {
        complete(request, context);
    }
}
