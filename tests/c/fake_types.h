/*
 * Fake hashes and aeads, scripted as the fake ciphers are. All fakes of a type compute the same: a
 * digest of key, bytes and count; a text moved as by the ciphers, and a tag that is a sum.
 */
#ifndef FAKE_TYPES_H
#define FAKE_TYPES_H

#include "cryptodispatch/aead.h"
#include "cryptodispatch/hash.h"
#include "fake_cipher.h"

#define FAKE_DIGEST_SIZE 16

/* What an asynchronous fake keeps in a request. */
struct fake_job {
    struct fake_job *next;
    void *transform;
    void *request;
    void (*end)(struct fake_job *job); /* run and complete it */
    bool decrypt;
};

struct fake_aead_context {
    struct fake_context base;
    uint8_t auth_sum;
    uint32_t tag_size; /* as told; 0: the largest */
};

static inline cd_status fake_accept(struct fake *fake, struct fake_job *job) {
    pthread_mutex_lock(&fake->lock);
    job->next = fake->jobs;
    fake->jobs = job;
    pthread_mutex_unlock(&fake->lock);
    return CD_IN_PROGRESS;
}

static inline cd_status fake_wait_for(struct fake *fake, const int32_t *status) {
    pthread_mutex_lock(&fake->lock);
    struct fake_job *job = fake->jobs;
    fake->jobs = NULL;
    pthread_mutex_unlock(&fake->lock);
    while (job != NULL) {
        struct fake_job *next = job->next;
        job->end(job);
        job = next;
    }
    return __atomic_load_n(status, __ATOMIC_ACQUIRE) == CD_IN_PROGRESS ? CD_E_TIMEOUT : CD_OK;
}

/* Hash */

static inline struct fake *fake_of_hash(const struct cd_hash *hash) {
    return fake_behind(cd_hash_implementation(hash));
}

static inline cd_status fake_hash_init(struct cd_hash *hash) {
    return fake_open(fake_of_hash(hash));
}

static inline void fake_hash_cleanup(struct cd_hash *hash) {
    fake_of_hash(hash)->transforms--;
}

static inline cd_status fake_hash_set_key(struct cd_hash *hash, const uint8_t *key,
                                          size_t key_len) {
    return fake_keep_key(fake_of_hash(hash), cd_hash_context(hash), key, key_len);
}

static inline void fake_absorb(struct cd_hash_state *state, const uint8_t *data, size_t length) {
    for (size_t i = 0; i < length; i++) {
        state->words[0] = state->words[0] * 33 + data[i];
    }
    state->count += length;
}

static inline void fake_hash_start(const struct fake_context *context,
                                   struct cd_hash_state *state) {
    memset(state, 0, sizeof(*state));
    fake_absorb(state, context->key, context->key_len);
    state->count = 0;
}

static inline void fake_squeeze(const struct cd_hash_state *state, uint8_t *out_digest) {
    for (unsigned i = 0; i < FAKE_DIGEST_SIZE; i++) {
        out_digest[i] = (uint8_t)((state->words[0] >> 8 * (i % 4)) ^ state->count ^ i);
    }
}

static inline cd_status fake_hash_run(struct cd_hash *hash, struct cd_hash_request *request) {
    struct cd_hash_state state;
    bool odd = request->length >= 16 && fake_is_zero(request->source);
    cd_status status = fake_operate(fake_of_hash(hash), request->length, odd);
    if (status == CD_OK) {
        fake_hash_start(cd_hash_context(hash), &state);
        fake_absorb(&state, request->source, request->length);
        fake_squeeze(&state, request->digest);
    }
    return status;
}

static inline void fake_hash_end(struct fake_job *job) {
    cd_hash_request_complete(job->request, fake_hash_run(job->transform, job->request));
}

static inline cd_status fake_hash_digest(struct cd_hash *hash, struct cd_hash_request *request) {
    struct fake *fake = fake_of_hash(hash);
    cd_status status = fake_takes(fake, request->length);
    if (status != CD_OK || (fake->implementation.flags & CD_FLAG_ASYNC) == 0) {
        return status != CD_OK ? status : fake_hash_run(hash, request);
    }
    struct fake_job *job = (void *)request->implementation_private;
    *job = (struct fake_job){.transform = hash, .request = request, .end = fake_hash_end};
    return fake_accept(fake, job);
}

static inline cd_status fake_hash_wait(struct cd_hash *hash, struct cd_hash_request *request,
                                       uint64_t timeout_ns) {
    (void)timeout_ns;
    return fake_wait_for(fake_of_hash(hash), &request->status);
}

/* Pieces: a begin has length 0, a finish the length of the message. */
static inline cd_status fake_piece(struct cd_hash *hash, size_t length) {
    struct fake *fake = fake_of_hash(hash);
    cd_status status = fake_takes(fake, length);
    return status == CD_OK ? fake_operate(fake, length, false) : status;
}

static inline cd_status fake_hash_begin(struct cd_hash *hash, struct cd_hash_state *state) {
    cd_status status = fake_piece(hash, 0);
    if (status == CD_OK) {
        fake_hash_start(cd_hash_context(hash), state);
    }
    return status;
}

static inline cd_status fake_hash_update(struct cd_hash *hash, struct cd_hash_state *state,
                                         const uint8_t *data, size_t length) {
    cd_status status = fake_piece(hash, length);
    if (status == CD_OK) {
        fake_absorb(state, data, length);
    }
    return status;
}

static inline cd_status fake_hash_finish(struct cd_hash *hash, const struct cd_hash_state *state,
                                         uint8_t *out_digest) {
    cd_status status = fake_piece(hash, (size_t)state->count);
    if (status == CD_OK) {
        fake_squeeze(state, out_digest);
    }
    return status;
}

static const struct cd_hash_ops fake_hash_ops = {
    .init = fake_hash_init,
    .cleanup = fake_hash_cleanup,
    .set_key = fake_hash_set_key,
    .digest = fake_hash_digest,
    .wait = fake_hash_wait,
    .begin = fake_hash_begin,
    .update = fake_hash_update,
    .finish = fake_hash_finish,
};

/* A fake hash; keyed ones are hmacs. */
static inline void fake_describe_hash(struct fake *fake, struct fake_clock *clock, char mark,
                                      const char *algorithm, const char *driver, uint32_t flags,
                                      bool keyed) {
    fake_describe(fake, clock, mark, algorithm, driver, flags);
    fake->implementation.type = CD_TYPE_HASH;
    fake->implementation.cipher = NULL;
    fake->implementation.hash = &fake_hash_ops;
    fake->implementation.block_size = 1;
    fake->implementation.chunk_size = 1;
    fake->implementation.iv_size = 0;
    fake->implementation.digest_size = FAKE_DIGEST_SIZE;
    fake->implementation.key_sizes = keyed ? CD_KEY_ANY : 0;
}

/* Aead */

static inline struct fake *fake_of_aead(const struct cd_aead *aead) {
    return fake_behind(cd_aead_implementation(aead));
}

static inline cd_status fake_aead_init(struct cd_aead *aead) {
    return fake_open(fake_of_aead(aead));
}

static inline void fake_aead_cleanup(struct cd_aead *aead) {
    fake_of_aead(aead)->transforms--;
}

static inline uint8_t fake_sum(const uint8_t *bytes, size_t length) {
    uint8_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        sum = (uint8_t)(sum + bytes[i]);
    }
    return sum;
}

static inline cd_status fake_aead_set_key(struct cd_aead *aead, const uint8_t *key, size_t key_len,
                                          const uint8_t *auth_key, size_t auth_key_len) {
    struct fake_aead_context *context = cd_aead_context(aead);
    context->auth_sum = fake_sum(auth_key, auth_key_len);
    return fake_keep_key(fake_of_aead(aead), &context->base, key, key_len);
}

static inline cd_status fake_aead_set_tag_size(struct cd_aead *aead, uint32_t tag_size) {
    struct fake *fake = fake_of_aead(aead);
    struct fake_aead_context *context = cd_aead_context(aead);
    fake_mark(fake->clock, fake->mark == 'h' ? 'T' : 't');
    if (fake->tag_status == CD_OK) {
        context->tag_size = tag_size;
    }
    return fake->tag_status;
}

static inline cd_status fake_aead_run(struct cd_aead *aead, struct cd_aead_request *request,
                                      bool decrypt) {
    const struct fake_aead_context *context = cd_aead_context(aead);
    uint32_t tag_size =
        context->tag_size != 0 ? context->tag_size : cd_aead_implementation(aead)->max_tag_size;
    bool odd = !fake_is_zero(request->iv) || request->source == request->destination ||
               request->aad_len > 0 || (request->length >= 16 && fake_is_zero(request->source));
    cd_status status = fake_operate(fake_of_aead(aead), request->length, odd);
    uint8_t sum = (uint8_t)(context->auth_sum + fake_sum(request->aad, request->aad_len));
    if (decrypt && status == CD_OK) {
        sum = (uint8_t)(sum + fake_sum(request->source, request->length));
        for (uint32_t i = 0; i < tag_size; i++) {
            status = request->tag[i] == (uint8_t)(sum + i) ? status : CD_E_AUTHENTICATION;
        }
    }
    for (size_t i = 0; status == CD_OK && i < request->length; i++) {
        uint8_t step =
            (uint8_t)(context->base.key[i % context->base.key_len] + request->iv[i % 16] + i);
        request->destination[i] =
            (uint8_t)(decrypt ? request->source[i] - step : request->source[i] + step);
    }
    if (!decrypt && status == CD_OK) {
        sum = (uint8_t)(sum + fake_sum(request->destination, request->length));
        for (uint32_t i = 0; i < tag_size; i++) {
            request->tag[i] = (uint8_t)(sum + i);
        }
    }
    return status;
}

static inline void fake_aead_end(struct fake_job *job) {
    cd_aead_request_complete(job->request,
                             fake_aead_run(job->transform, job->request, job->decrypt));
}

static inline cd_status fake_aead_start(struct cd_aead *aead, struct cd_aead_request *request,
                                        bool decrypt) {
    struct fake *fake = fake_of_aead(aead);
    cd_status status = fake_takes(fake, request->length);
    if (status != CD_OK || (fake->implementation.flags & CD_FLAG_ASYNC) == 0) {
        return status != CD_OK ? status : fake_aead_run(aead, request, decrypt);
    }
    struct fake_job *job = (void *)request->implementation_private;
    *job = (struct fake_job){NULL, aead, request, fake_aead_end, decrypt};
    return fake_accept(fake, job);
}

static inline cd_status fake_aead_encrypt(struct cd_aead *aead, struct cd_aead_request *request) {
    return fake_aead_start(aead, request, false);
}

static inline cd_status fake_aead_decrypt(struct cd_aead *aead, struct cd_aead_request *request) {
    return fake_aead_start(aead, request, true);
}

static inline cd_status fake_aead_wait(struct cd_aead *aead, struct cd_aead_request *request,
                                       uint64_t timeout_ns) {
    (void)timeout_ns;
    return fake_wait_for(fake_of_aead(aead), &request->status);
}

static const struct cd_aead_ops fake_aead_ops = {
    .init = fake_aead_init,
    .cleanup = fake_aead_cleanup,
    .set_key = fake_aead_set_key,
    .set_tag_size = fake_aead_set_tag_size,
    .encrypt = fake_aead_encrypt,
    .decrypt = fake_aead_decrypt,
    .wait = fake_aead_wait,
};

/* A fake aead of blocks of 16 bytes and tags of up to 16. */
static inline void fake_describe_aead(struct fake *fake, struct fake_clock *clock, char mark,
                                      const char *algorithm, const char *driver, uint32_t flags) {
    fake_describe(fake, clock, mark, algorithm, driver, flags);
    fake->implementation.type = CD_TYPE_AEAD;
    fake->implementation.cipher = NULL;
    fake->implementation.aead = &fake_aead_ops;
    fake->implementation.max_tag_size = 16;
    fake->implementation.context_size = sizeof(struct fake_aead_context);
}

#endif
