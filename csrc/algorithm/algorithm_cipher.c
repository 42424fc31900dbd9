/* Cipher transforms and requests: allocation, and the checks every request passes once. */
#include "algorithm/algorithm_internal.h"
#include "base/secure.h"

#include <string.h>

cd_status cd_cipher_new_bound(struct cd_cipher **out_cipher,
                              const struct cd_implementation *implementation) {
    struct cd_transform *transform;
    cd_status status = cd_transform_allocate(&transform, implementation, CD_TYPE_CIPHER);
    if (status != CD_OK) {
        return status;
    }
    struct cd_cipher *cipher = (struct cd_cipher *)transform;
    cipher->ops = implementation->cipher;
    status = cipher->ops->init != NULL ? cipher->ops->init(cipher) : CD_OK;
    if (status != CD_OK) {
        cd_transform_wipe_free(transform);
        return status;
    }
    cd_implementation_retain(implementation);
    *out_cipher = cipher;
    return CD_OK;
}

cd_status cd_cipher_new(struct cd_cipher **out_cipher, struct cd_registry *registry,
                        const char *name, uint32_t flags, uint32_t mask) {
    const struct cd_implementation *implementation;
    cd_status status =
        cd_registry_find(&implementation, registry, name, CD_TYPE_CIPHER, flags, mask);
    if (status != CD_OK) {
        return status;
    }
    status = cd_cipher_new_bound(out_cipher, implementation);
    cd_implementation_release(implementation);
    return status;
}

void cd_cipher_free(struct cd_cipher *cipher) {
    if (cipher == NULL) {
        return;
    }
    const struct cd_implementation *implementation = cipher->base.implementation;
    if (cipher->ops->cleanup != NULL) {
        cipher->ops->cleanup(cipher);
    }
    cd_transform_wipe_free(&cipher->base);
    cd_implementation_release(implementation);
}

cd_status cd_cipher_set_key(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    cipher->base.keyed = false;
    if (key == NULL) {
        return CD_E_INVALID;
    }
    if (!cd_key_size_is_allowed(cipher->base.implementation, key_len)) {
        return CD_E_KEY;
    }
    cd_status status = cipher->ops->set_key(cipher, key, key_len);
    cipher->base.keyed = status == CD_OK;
    return status;
}

/* CD_OK: hand it to the implementation. */
static cd_status check_request(const struct cd_cipher *cipher,
                               const struct cd_cipher_request *request) {
    if (!cipher->base.keyed) {
        return CD_E_NO_KEY;
    }
    if ((request->length & cipher->base.block_mask) != 0) {
        return CD_E_LENGTH;
    }
    if (request->source == NULL || request->destination == NULL) {
        return request->length == 0 ? CD_OK : CD_E_INVALID;
    }
    return cd_overlaps(request->source, request->destination, request->length) ? CD_E_OVERLAP
                                                                               : CD_OK;
}

cd_status cd_cipher_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    cd_status status = check_request(cipher, request);
    if (status != CD_OK || request->length == 0) {
        return cd_status_returned(&request->status, status);
    }
    cd_status_store(&request->status, CD_IN_PROGRESS);
    return cd_status_returned(&request->status, cipher->ops->encrypt(cipher, request));
}

cd_status cd_cipher_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    cd_status status = check_request(cipher, request);
    if (status != CD_OK || request->length == 0) {
        return cd_status_returned(&request->status, status);
    }
    cd_status_store(&request->status, CD_IN_PROGRESS);
    return cd_status_returned(&request->status, cipher->ops->decrypt(cipher, request));
}

cd_status cd_cipher_wait(struct cd_cipher *cipher, struct cd_cipher_request *request,
                         uint64_t timeout_ns) {
    if (cd_status_load(&request->status) != CD_IN_PROGRESS) {
        return CD_OK;
    }
    return cipher->ops->wait != NULL ? cipher->ops->wait(cipher, request, timeout_ns)
                                     : CD_E_INVALID;
}

cd_status cd_cipher_finish_request(struct cd_cipher *cipher, struct cd_cipher_request *request,
                                   cd_status started) {
    if (started != CD_IN_PROGRESS) {
        return started;
    }
    cd_status status;
    do {
        status = cd_cipher_wait(cipher, request, CD_WAIT_SLICE_NS);
    } while (status == CD_E_TIMEOUT);
    return status == CD_OK ? cd_status_load(&request->status) : status;
}

cd_status cd_cipher_encrypt_wait(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    return cd_cipher_finish_request(cipher, request, cd_cipher_encrypt(cipher, request));
}

cd_status cd_cipher_decrypt_wait(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    return cd_cipher_finish_request(cipher, request, cd_cipher_decrypt(cipher, request));
}

const struct cd_implementation *cd_cipher_implementation(const struct cd_cipher *cipher) {
    return cipher->base.implementation;
}

void *cd_cipher_context(const struct cd_cipher *cipher) {
    return (uint8_t *)(uintptr_t)cipher + CD_TRANSFORM_HEADER;
}

bool cd_cipher_has_key(const struct cd_cipher *cipher) {
    return cipher->base.keyed;
}

void cd_cipher_request_complete(struct cd_cipher_request *request, cd_status status) {
    void (*complete)(struct cd_cipher_request *, void *) = request->complete;
    void *context = request->context;
    /* Without a callback the request belongs to its owner, who may free it, from the store on. */
    cd_status_store(&request->status, status);
    if (complete != NULL) {
        complete(request, context);
    }
}
