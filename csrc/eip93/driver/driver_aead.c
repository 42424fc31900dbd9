/*
 * authenc(hmac(H),C) on the engine: transforms, and what goes to the engine or to software.
 *
 * A decryption with a wrong tag does not touch the destination: in place the ciphertext is kept.
 * Requests that the engine cannot do are run by the software child at once, and counted.
 */
#include "eip93/driver/driver_aead.h"

#include "base/secure.h"

#include <string.h>

const size_t cd_driver_aead_context_size = sizeof(struct cd_driver_aead);

static cd_status aead_init(struct cd_aead *aead) {
    const struct cd_implementation *implementation = cd_aead_implementation(aead);
    struct cd_driver_aead *transform = cd_aead_context(aead);
    transform->driver = implementation->provider;
    transform->mode = cd_driver_mode_of(implementation);
    cd_status status =
        cd_driver_digest_init(&transform->digest, transform->driver, transform->mode);
    if (status != CD_OK) {
        return status;
    }
    status = cd_aead_new(&transform->child, transform->driver->registry, implementation->algorithm,
                         0, CD_DRIVER_CHILD_MASK);
    if (status != CD_OK) {
        cd_driver_digest_cleanup(&transform->digest);
    }
    return status;
}

static void aead_cleanup(struct cd_aead *aead) {
    struct cd_driver_aead *transform = cd_aead_context(aead);
    cd_aead_free(transform->child);
    cd_driver_digest_cleanup(&transform->digest);
}

/* The child's key is set last, so that after an error neither side has one. */
static cd_status aead_set_key(struct cd_aead *aead, const uint8_t *key, size_t key_len,
                              const uint8_t *auth_key, size_t auth_key_len) {
    struct cd_driver_aead *transform = cd_aead_context(aead);
    cd_status status = cd_driver_check_ready(transform->driver);
    if (status == CD_OK) {
        status = cd_driver_digest_set_key(&transform->digest, auth_key, auth_key_len);
    }
    if (status == CD_OK) {
        status = cd_aead_set_key(transform->child, key, key_len, auth_key, auth_key_len);
    }
    if (status != CD_OK) {
        cd_wipe(&transform->sa, sizeof(transform->sa));
        return status;
    }
    cd_driver_cipher_sa(&transform->sa, transform->mode, key, key_len);
    cd_driver_digest_words(transform->sa.i_digest, transform->digest.inner);
    cd_driver_digest_words(transform->sa.o_digest, transform->digest.outer);
    return CD_OK;
}

static cd_status aead_set_tag_size(struct cd_aead *aead, uint32_t tag_size) {
    const struct cd_driver_aead *transform = cd_aead_context(aead);
    return cd_aead_set_tag_size(transform->child, tag_size);
}

static cd_status run_in_software(const struct cd_driver_aead *transform,
                                 const struct cd_aead_request *request, bool decrypt) {
    struct cd_aead_request copy = {
        .source = request->source,
        .destination = request->destination,
        .length = request->length,
        .aad = request->aad,
        .aad_len = request->aad_len,
        .tag = request->tag,
    };
    memcpy(copy.iv, request->iv, sizeof(copy.iv));
    cd_status status = cd_driver_count_software(transform->driver);
    if (status != CD_OK) {
        return status;
    }
    return decrypt ? cd_aead_decrypt_wait(transform->child, &copy)
                   : cd_aead_encrypt_wait(transform->child, &copy);
}

static cd_status start_request(struct cd_aead *aead, struct cd_aead_request *request,
                               bool decrypt) {
    const struct cd_driver_aead *transform = cd_aead_context(aead);
    uint32_t tag_size = cd_aead_tag_size(aead);
    if (!cd_driver_aead_fits(request, tag_size, decrypt)) {
        return run_in_software(transform, request, decrypt);
    }
    struct cd_driver_aead_job *job =
        (struct cd_driver_aead_job *)(void *)request->implementation_private;
    *job = (struct cd_driver_aead_job){
        .base =
            {
                .ops = &cd_driver_job_aead,
                .transform = transform,
                .request = request,
                .length = request->aad_len + request->length,
                .decrypt = decrypt,
            },
        .tag_size = tag_size,
    };
    return cd_driver_submit(transform->driver, &job->base);
}

static cd_status aead_encrypt(struct cd_aead *aead, struct cd_aead_request *request) {
    return start_request(aead, request, false);
}

static cd_status aead_decrypt(struct cd_aead *aead, struct cd_aead_request *request) {
    return start_request(aead, request, true);
}

static cd_status aead_wait(struct cd_aead *aead, struct cd_aead_request *request,
                           uint64_t timeout_ns) {
    const struct cd_driver_aead *transform = cd_aead_context(aead);
    return cd_driver_wait(transform->driver, &request->status, timeout_ns);
}

const struct cd_aead_ops cd_driver_aead_ops = {
    .init = aead_init,
    .cleanup = aead_cleanup,
    .set_key = aead_set_key,
    .set_tag_size = aead_set_tag_size,
    .encrypt = aead_encrypt,
    .decrypt = aead_decrypt,
    .wait = aead_wait,
};
