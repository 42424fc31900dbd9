/*
 * What is particular to hashes: the request path of their proxies, and measuring them.
 *
 * A whole message goes by its length. A message in pieces chooses once, when it begins, with an
 * unbounded size, and keeps the side in its state. Such a state may be exported and imported again,
 * also by another proxy of the algorithm. One that no proxy began has no side yet: its next update
 * chooses as begin would and the state keeps it; a finish chooses for itself alone.
 */
#include "fallback/fallback_batch.h"

static cd_status proxy_init(struct cd_hash *hash) {
    return cd_fallback_transform_init(cd_hash_context(hash), cd_hash_implementation(hash));
}

static void proxy_cleanup(struct cd_hash *hash) {
    cd_fallback_transform_cleanup(cd_hash_context(hash));
}

static cd_status proxy_set_key(struct cd_hash *hash, const uint8_t *key, size_t key_len) {
    struct cd_fallback_transform *transform = cd_hash_context(hash);
    cd_status status = cd_hash_set_key(transform->software, key, key_len);
    if (status == CD_OK && cd_fallback_key_begins(transform, key_len)) {
        status = cd_hash_set_key(transform->hardware, key, key_len);
        status = cd_fallback_key_ends(transform, status);
    }
    return status;
}

static cd_status start_digest(const void *ops, void *child, void *request) {
    return ((const struct cd_hash_ops *)ops)->digest(child, request);
}

static cd_status start_begin(const void *ops, void *child, void *state) {
    return ((const struct cd_hash_ops *)ops)->begin(child, state);
}

static cd_status proxy_digest(struct cd_hash *hash, struct cd_hash_request *request) {
    enum cd_side side;
    return cd_fallback_dispatch(&side, cd_hash_context(hash), request->length, start_digest,
                                request);
}

/* Only the hardware's requests are ever in progress. */
static cd_status proxy_wait(struct cd_hash *hash, struct cd_hash_request *request,
                            uint64_t timeout_ns) {
    const struct cd_fallback_transform *transform = cd_hash_context(hash);
    return cd_hash_wait(transform->hardware, request, timeout_ns);
}

static cd_status proxy_begin(struct cd_hash *hash, struct cd_hash_state *state) {
    enum cd_side side;
    cd_status status = cd_fallback_dispatch(&side, cd_hash_context(hash), CD_FALLBACK_UNBOUNDED,
                                            start_begin, state);
    if (status == CD_OK) {
        state->side = (int32_t)side;
    }
    return status;
}

/* The side of a message under way. The key of now may be one that the hardware cannot do, whatever
 * the key was when the message began. */
static enum cd_side side_of(const struct cd_fallback_transform *transform,
                            const struct cd_hash_state *state) {
    if (state->side != CD_SIDE_HARDWARE && state->side != CD_SIDE_SOFTWARE) {
        return cd_fallback_route(transform, CD_FALLBACK_UNBOUNDED).side;
    }
    return transform->software_only ? CD_SIDE_SOFTWARE : (enum cd_side)state->side;
}

static cd_status proxy_update(struct cd_hash *hash, struct cd_hash_state *state,
                              const uint8_t *data, size_t length) {
    const struct cd_fallback_transform *transform = cd_hash_context(hash);
    enum cd_side side = side_of(transform, state);
    bool software = side == CD_SIDE_SOFTWARE;
    const struct cd_hash_ops *ops = software ? transform->software_ops : transform->hardware_ops;
    cd_status status =
        ops->update(software ? transform->software : transform->hardware, state, data, length);
    if (status == CD_OK) {
        state->side = (int32_t)side;
    }
    return status;
}

static cd_status proxy_finish(struct cd_hash *hash, const struct cd_hash_state *state,
                              uint8_t *out_digest) {
    const struct cd_fallback_transform *transform = cd_hash_context(hash);
    bool software = side_of(transform, state) == CD_SIDE_SOFTWARE;
    const struct cd_hash_ops *ops = software ? transform->software_ops : transform->hardware_ops;
    return ops->finish(software ? transform->software : transform->hardware, state, out_digest);
}

static cd_status batch_start(const struct cd_fallback_batch *batch, size_t index, unsigned slot) {
    return cd_hash_start_record(batch->transform->hardware,
                                &((struct cd_hash_request *)batch->window)[slot],
                                &((const struct cd_hash_record *)batch->records)[index]);
}

static cd_status batch_finish(const struct cd_fallback_batch *batch, unsigned slot) {
    return cd_hash_finish_request(batch->transform->hardware,
                                  &((struct cd_hash_request *)batch->window)[slot], CD_IN_PROGRESS);
}

static void batch_software(const struct cd_fallback_batch *batch, size_t begin, size_t count) {
    const struct cd_hash_ops *ops = batch->transform->software_ops;
    ops->records(batch->transform->software, &((struct cd_hash_record *)batch->records)[begin],
                 count);
}

static void proxy_records(struct cd_hash *hash, struct cd_hash_record *records, size_t count) {
    struct cd_hash_request window[CD_BATCH_WINDOW];
    const struct cd_fallback_batch batch = {
        .transform = cd_hash_context(hash),
        .records = records,
        .window = window,
        .record_size = sizeof(*records),
        .length_offset = offsetof(struct cd_hash_record, length),
        .status_offset = offsetof(struct cd_hash_record, status),
        .start = batch_start,
        .finish = batch_finish,
        .software = batch_software,
    };
    cd_fallback_batch_run(&batch, count);
}

static const struct cd_hash_ops proxy_ops = {
    .init = proxy_init,
    .cleanup = proxy_cleanup,
    .set_key = proxy_set_key,
    .digest = proxy_digest,
    .wait = proxy_wait,
    .begin = proxy_begin,
    .update = proxy_update,
    .finish = proxy_finish,
};

/* The same over a software that takes batches. */
static const struct cd_hash_ops proxy_batch_ops = {
    .init = proxy_init,
    .cleanup = proxy_cleanup,
    .set_key = proxy_set_key,
    .digest = proxy_digest,
    .wait = proxy_wait,
    .begin = proxy_begin,
    .update = proxy_update,
    .finish = proxy_finish,
    .records = proxy_records,
};

static void proxy_describe(struct cd_fallback_proxy *proxy) {
    bool batches = proxy->software->hash->records != NULL;
    proxy->implementation.hash = batches ? &proxy_batch_ops : &proxy_ops;
}

/* A hash that takes no key is ready as it is. */
static cd_status benchmark_prepare(void *transform, const struct cd_group_config *config) {
    if (config->key_len == 0 && cd_hash_has_key(transform)) {
        return CD_OK;
    }
    return cd_hash_set_key(transform, config->key, config->key_len);
}

/* One digest of the whole message. */
static cd_status benchmark_measure(struct cd_measurement *out_measurement, void *hardware,
                                   void *software, const struct cd_clock *clock, uint8_t *source,
                                   uint8_t *destination, uint32_t size) {
    (void)destination;
    return cd_benchmark_hash_pair(out_measurement, hardware, software, clock, source, size);
}

const struct cd_fallback_type cd_fallback_type_hash = {
    .type = CD_TYPE_HASH,
    .prepare = benchmark_prepare,
    .measure = benchmark_measure,
    .describe = proxy_describe,
};
