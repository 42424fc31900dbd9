/*
 * What is particular to aeads: the request path of their proxies, and measuring them. The size of a
 * request is its text without the tag; associated data does not count.
 */
#include "cryptodispatch/aead.h"
#include "fallback/fallback_dispatch.h"

/* Both children write and read tags of the proxy's size, which is the smaller of their largest. */
static cd_status proxy_init(struct cd_aead *aead) {
    struct cd_fallback_transform *transform = cd_aead_context(aead);
    uint32_t tag_size = cd_aead_tag_size(aead);
    cd_status status = cd_fallback_transform_init(transform, cd_aead_implementation(aead));
    if (status != CD_OK) {
        return status;
    }
    status = cd_aead_set_tag_size(transform->software, tag_size);
    if (status == CD_OK) {
        status = cd_aead_set_tag_size(transform->hardware, tag_size);
    }
    if (status != CD_OK) {
        cd_fallback_transform_cleanup(transform);
    }
    return status;
}

static void proxy_cleanup(struct cd_aead *aead) {
    cd_fallback_transform_cleanup(cd_aead_context(aead));
}

static cd_status proxy_set_key(struct cd_aead *aead, const uint8_t *key, size_t key_len,
                               const uint8_t *auth_key, size_t auth_key_len) {
    struct cd_fallback_transform *transform = cd_aead_context(aead);
    cd_status status = cd_aead_set_key(transform->software, key, key_len, auth_key, auth_key_len);
    if (status == CD_OK && cd_fallback_key_begins(transform, key_len)) {
        status = cd_aead_set_key(transform->hardware, key, key_len, auth_key, auth_key_len);
        status = cd_fallback_key_ends(transform, status);
    }
    return status;
}

/* If the hardware refuses the size, the software goes back to the one before, which it had taken:
 * the two must never differ, as the caller's tags have one size. */
static cd_status proxy_set_tag_size(struct cd_aead *aead, uint32_t tag_size) {
    struct cd_fallback_transform *transform = cd_aead_context(aead);
    cd_status status = cd_aead_set_tag_size(transform->software, tag_size);
    if (status != CD_OK) {
        return status;
    }
    status = cd_aead_set_tag_size(transform->hardware, tag_size);
    if (status == CD_OK) {
        return CD_OK;
    }
    cd_status restored = cd_aead_set_tag_size(transform->software, cd_aead_tag_size(aead));
    return restored == CD_OK ? status : restored;
}

static cd_status start_encrypt(const void *ops, void *child, void *request) {
    return ((const struct cd_aead_ops *)ops)->encrypt(child, request);
}

static cd_status start_decrypt(const void *ops, void *child, void *request) {
    return ((const struct cd_aead_ops *)ops)->decrypt(child, request);
}

static cd_status proxy_encrypt(struct cd_aead *aead, struct cd_aead_request *request) {
    enum cd_side side;
    return cd_fallback_dispatch(&side, cd_aead_context(aead), request->length, start_encrypt,
                                request);
}

static cd_status proxy_decrypt(struct cd_aead *aead, struct cd_aead_request *request) {
    enum cd_side side;
    return cd_fallback_dispatch(&side, cd_aead_context(aead), request->length, start_decrypt,
                                request);
}

static cd_status proxy_wait(struct cd_aead *aead, struct cd_aead_request *request,
                            uint64_t timeout_ns) {
    const struct cd_fallback_transform *transform = cd_aead_context(aead);
    return cd_aead_wait(transform->hardware, request, timeout_ns);
}

static const struct cd_aead_ops proxy_ops = {
    .init = proxy_init,
    .cleanup = proxy_cleanup,
    .set_key = proxy_set_key,
    .set_tag_size = proxy_set_tag_size,
    .encrypt = proxy_encrypt,
    .decrypt = proxy_decrypt,
    .wait = proxy_wait,
};

static void proxy_describe(struct cd_fallback_proxy *proxy) {
    proxy->implementation.aead = &proxy_ops;
}

static cd_status benchmark_prepare(void *transform, const struct cd_group_config *config) {
    cd_status status = cd_aead_set_tag_size(transform, config->tag_size);
    return status == CD_OK ? cd_aead_set_key(transform, config->key, config->key_len,
                                             config->auth_key, config->auth_key_len)
                           : status;
}

static cd_status benchmark_measure(struct cd_measurement *out_measurement, void *hardware,
                                   void *software, const struct cd_clock *clock, uint8_t *source,
                                   uint8_t *destination, uint32_t size) {
    return cd_benchmark_aead_pair(out_measurement, hardware, software, clock, source, destination,
                                  size);
}

const struct cd_fallback_type cd_fallback_type_aead = {
    .type = CD_TYPE_AEAD,
    .prepare = benchmark_prepare,
    .measure = benchmark_measure,
    .describe = proxy_describe,
};
