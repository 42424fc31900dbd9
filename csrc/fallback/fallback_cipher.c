/* What is particular to ciphers: the request path of their proxies, and measuring them. */
#include "fallback/fallback_batch.h"

static cd_status proxy_init(struct cd_cipher *cipher) {
    return cd_fallback_transform_init(cd_cipher_context(cipher), cd_cipher_implementation(cipher));
}

static void proxy_cleanup(struct cd_cipher *cipher) {
    cd_fallback_transform_cleanup(cd_cipher_context(cipher));
}

static cd_status proxy_set_key(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    struct cd_fallback_transform *transform = cd_cipher_context(cipher);
    cd_status status = cd_cipher_set_key(transform->software, key, key_len);
    if (status == CD_OK && cd_fallback_key_begins(transform, key_len)) {
        status = cd_cipher_set_key(transform->hardware, key, key_len);
        status = cd_fallback_key_ends(transform, status);
    }
    return status;
}

static cd_status start_encrypt(const void *ops, void *child, void *request) {
    return ((const struct cd_cipher_ops *)ops)->encrypt(child, request);
}

static cd_status start_decrypt(const void *ops, void *child, void *request) {
    return ((const struct cd_cipher_ops *)ops)->decrypt(child, request);
}

static cd_status proxy_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    enum cd_side side;
    return cd_fallback_dispatch(&side, cd_cipher_context(cipher), request->length, start_encrypt,
                                request);
}

static cd_status proxy_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    enum cd_side side;
    return cd_fallback_dispatch(&side, cd_cipher_context(cipher), request->length, start_decrypt,
                                request);
}

/* Only the hardware's requests are ever in progress. */
static cd_status proxy_wait(struct cd_cipher *cipher, struct cd_cipher_request *request,
                            uint64_t timeout_ns) {
    const struct cd_fallback_transform *transform = cd_cipher_context(cipher);
    return cd_cipher_wait(transform->hardware, request, timeout_ns);
}

static cd_status batch_start(const struct cd_fallback_batch *batch, size_t index, unsigned slot) {
    return cd_cipher_start_record(
        batch->transform->hardware, &((struct cd_cipher_request *)batch->window)[slot],
        &((const struct cd_cipher_record *)batch->records)[index], batch->decrypt);
}

static cd_status batch_finish(const struct cd_fallback_batch *batch, unsigned slot) {
    return cd_cipher_finish_request(batch->transform->hardware,
                                    &((struct cd_cipher_request *)batch->window)[slot],
                                    CD_IN_PROGRESS);
}

static void batch_software(const struct cd_fallback_batch *batch, size_t begin, size_t count) {
    const struct cd_cipher_ops *ops = batch->transform->software_ops;
    ops->records(batch->transform->software, &((struct cd_cipher_record *)batch->records)[begin],
                 count, batch->decrypt);
}

static void proxy_records(struct cd_cipher *cipher, struct cd_cipher_record *records, size_t count,
                          bool decrypt) {
    struct cd_cipher_request window[CD_BATCH_WINDOW];
    const struct cd_fallback_batch batch = {
        .transform = cd_cipher_context(cipher),
        .records = records,
        .window = window,
        .decrypt = decrypt,
        .record_size = sizeof(*records),
        .length_offset = offsetof(struct cd_cipher_record, length),
        .status_offset = offsetof(struct cd_cipher_record, status),
        .empty_does_nothing = true,
        .start = batch_start,
        .finish = batch_finish,
        .software = batch_software,
    };
    cd_fallback_batch_run(&batch, count);
}

static const struct cd_cipher_ops proxy_ops = {
    .init = proxy_init,
    .cleanup = proxy_cleanup,
    .set_key = proxy_set_key,
    .encrypt = proxy_encrypt,
    .decrypt = proxy_decrypt,
    .wait = proxy_wait,
};

/* The same over a software that takes batches. */
static const struct cd_cipher_ops proxy_batch_ops = {
    .init = proxy_init,
    .cleanup = proxy_cleanup,
    .set_key = proxy_set_key,
    .encrypt = proxy_encrypt,
    .decrypt = proxy_decrypt,
    .wait = proxy_wait,
    .records = proxy_records,
};

static void proxy_describe(struct cd_fallback_proxy *proxy) {
    bool batches = proxy->software->cipher->records != NULL;
    proxy->implementation.cipher = batches ? &proxy_batch_ops : &proxy_ops;
}

static cd_status benchmark_prepare(void *transform, const struct cd_group_config *config) {
    return cd_cipher_set_key(transform, config->key, config->key_len);
}

/* In place. */
static cd_status benchmark_measure(struct cd_measurement *out_measurement, void *hardware,
                                   void *software, const struct cd_clock *clock, uint8_t *source,
                                   uint8_t *destination, uint32_t size) {
    (void)destination;
    return cd_benchmark_cipher_pair(out_measurement, hardware, software, clock, source, size);
}

const struct cd_fallback_type cd_fallback_type_cipher = {
    .type = CD_TYPE_CIPHER,
    .prepare = benchmark_prepare,
    .measure = benchmark_measure,
    .describe = proxy_describe,
};
