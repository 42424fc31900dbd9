/*
 * Hashes and HMACs on the engine: transforms, whole messages, and messages in pieces.
 *
 * A whole message is queued and completes later. A message in pieces lives in the public struct
 * cd_hash_state alone: each update or finish that has work for the engine is one job, and waits for
 * it. The engine cannot end a message without at least one byte of it (6.4), so software does that
 * for an empty message and for one in pieces that stands at a whole block.
 */
#include "eip93/driver/driver_hash.h"

#include "base/secure.h"

#include <string.h>

const size_t cd_driver_hash_context_size = sizeof(struct cd_driver_hash);

static cd_status hash_init(struct cd_hash *hash) {
    const struct cd_implementation *implementation = cd_hash_implementation(hash);
    struct cd_driver_hash *transform = cd_hash_context(hash);
    transform->driver = implementation->provider;
    transform->mode = cd_driver_mode_of(implementation);
    return cd_driver_digest_init(&transform->digest, transform->driver, transform->mode);
}

static void hash_cleanup(struct cd_hash *hash) {
    struct cd_driver_hash *transform = cd_hash_context(hash);
    cd_driver_digest_cleanup(&transform->digest);
}

static cd_status hmac_set_key(struct cd_hash *hash, const uint8_t *key, size_t key_len) {
    struct cd_driver_hash *transform = cd_hash_context(hash);
    cd_status status = cd_driver_check_ready(transform->driver);
    return status == CD_OK ? cd_driver_digest_set_key(&transform->digest, key, key_len) : status;
}

static cd_status hash_begin(struct cd_hash *hash, struct cd_hash_state *state) {
    const struct cd_driver_hash *transform = cd_hash_context(hash);
    memcpy(state->words, transform->digest.inner, sizeof(state->words));
    return cd_driver_check_ready(transform->driver);
}

static cd_status finish_in_software(const struct cd_driver_hash *transform,
                                    const struct cd_hash_state *state, uint8_t *out_digest) {
    cd_status status = cd_driver_count_software(transform->driver);
    return status == CD_OK ? cd_driver_digest_finish(&transform->digest, state, out_digest)
                           : status;
}

static cd_status hash_digest(struct cd_hash *hash, struct cd_hash_request *request) {
    const struct cd_driver_hash *transform = cd_hash_context(hash);
    if (request->length == 0) {
        struct cd_hash_state empty = {.count = 0};
        memcpy(empty.words, transform->digest.inner, sizeof(empty.words));
        return finish_in_software(transform, &empty, request->digest);
    }
    struct cd_driver_hash_job *job =
        (struct cd_driver_hash_job *)(void *)request->implementation_private;
    *job = (struct cd_driver_hash_job){
        .base =
            {
                .ops = &cd_driver_job_hash,
                .transform = transform,
                .request = request,
                .source = request->source,
                .length = request->length,
            },
        .final = true,
        .count = transform->digest.before,
        .digest = request->digest,
    };
    return cd_driver_submit(transform->driver, &job->base);
}

static cd_status hash_wait(struct cd_hash *hash, struct cd_hash_request *request,
                           uint64_t timeout_ns) {
    const struct cd_driver_hash *transform = cd_hash_context(hash);
    return cd_driver_wait(transform->driver, &request->status, timeout_ns);
}

/* Submit a part of a message and wait until it has ended: an engine that does not answer ends it,
 * too. */
static cd_status run_part(const struct cd_driver_hash *transform, struct cd_driver_hash_job *job) {
    int32_t outcome = CD_IN_PROGRESS;
    job->base.ops = &cd_driver_job_hash_part;
    job->base.transform = transform;
    job->base.request = &outcome;
    cd_status status = cd_driver_submit(transform->driver, &job->base);
    if (status != CD_IN_PROGRESS) {
        return status;
    }
    do {
        status = cd_driver_wait(transform->driver, &outcome, UINT64_MAX);
    } while (status != CD_OK);
    return (cd_status)__atomic_load_n(&outcome, __ATOMIC_ACQUIRE);
}

/* Hash `blocks` whole blocks: first the state's buffer filled up from the data, if it holds any,
 * then more of the data. Changes only the state's words. */
static cd_status update_blocks(const struct cd_driver_hash *transform, struct cd_hash_state *state,
                               const uint8_t *data, size_t blocks) {
    uint8_t head[CD_HASH_BLOCK];
    uint32_t words[8];
    size_t used = (size_t)(state->count % CD_HASH_BLOCK);
    size_t taken = used > 0 ? CD_HASH_BLOCK - used : 0;
    memcpy(words, state->words, sizeof(words));
    memcpy(head, state->buffer, used);
    memcpy(head + used, data, taken);
    struct cd_driver_hash_job job = {
        .base = {.source = data + taken, .length = blocks * CD_HASH_BLOCK},
        .head = head,
        .head_length = used > 0 ? CD_HASH_BLOCK : 0,
        .words = words,
        .count = transform->digest.before + state->count - used,
    };
    cd_status status = run_part(transform, &job);
    if (status == CD_OK) {
        memcpy(state->words, words, sizeof(words));
    }
    cd_wipe(head, sizeof(head));
    cd_wipe(words, sizeof(words));
    return status;
}

static cd_status hash_update(struct cd_hash *hash, struct cd_hash_state *state, const uint8_t *data,
                             size_t length) {
    const struct cd_driver_hash *transform = cd_hash_context(hash);
    size_t used = (size_t)(state->count % CD_HASH_BLOCK);
    size_t blocks = length / CD_HASH_BLOCK + (used + length % CD_HASH_BLOCK) / CD_HASH_BLOCK;
    size_t rest = (used + length) % CD_HASH_BLOCK;
    cd_status status = CD_OK;
    if (blocks == 0) {
        memcpy(state->buffer + used, data, length);
    } else {
        status = update_blocks(transform, state, data, blocks);
        if (status != CD_OK) {
            return status;
        }
        memcpy(state->buffer, data + length - rest, rest);
    }
    state->count += length;
    return status;
}

static cd_status hash_finish(struct cd_hash *hash, const struct cd_hash_state *state,
                             uint8_t *out_digest) {
    const struct cd_driver_hash *transform = cd_hash_context(hash);
    size_t used = (size_t)(state->count % CD_HASH_BLOCK);
    uint32_t words[8];
    if (used == 0) {
        return finish_in_software(transform, state, out_digest);
    }
    memcpy(words, state->words, sizeof(words));
    struct cd_driver_hash_job job = {
        .base = {.source = state->buffer, .length = used},
        .final = true,
        .words = words,
        .count = transform->digest.before + state->count - used,
        .digest = out_digest,
    };
    cd_status status = run_part(transform, &job);
    cd_wipe(words, sizeof(words));
    return status;
}

const struct cd_hash_ops cd_driver_hash_ops = {
    .init = hash_init,
    .cleanup = hash_cleanup,
    .digest = hash_digest,
    .wait = hash_wait,
    .begin = hash_begin,
    .update = hash_update,
    .finish = hash_finish,
};

const struct cd_hash_ops cd_driver_hmac_ops = {
    .init = hash_init,
    .cleanup = hash_cleanup,
    .set_key = hmac_set_key,
    .digest = hash_digest,
    .wait = hash_wait,
    .begin = hash_begin,
    .update = hash_update,
    .finish = hash_finish,
};
