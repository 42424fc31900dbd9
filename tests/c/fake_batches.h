/* Fake software that takes batches of ciphers and hashes, and notes each run that it is given. */
#ifndef FAKE_BATCHES_H
#define FAKE_BATCHES_H

#include "cryptodispatch/batch.h"
#include "fake_types.h"

#define FAKE_RUNS_MAX 256u

/* The runs so far: how many, the records of the first of them, and how many began while requests
 * were pending on `fake_engine`. */
static _Atomic unsigned fake_runs, fake_run_sizes[FAKE_RUNS_MAX], fake_runs_overlapping;
static struct fake *fake_engine; /* NULL: nobody looks */

static inline void fake_begin_run(unsigned size) {
    unsigned index = fake_runs++;
    if (index < FAKE_RUNS_MAX) {
        fake_run_sizes[index] = size;
    }
    if (fake_engine != NULL && (fake_engine->pending != NULL || fake_engine->jobs != NULL)) {
        fake_runs_overlapping++;
    }
}

static inline void fake_forget_runs(void) {
    fake_runs = 0;
    fake_runs_overlapping = 0;
}

static inline void fake_cipher_records(struct cd_cipher *cipher, struct cd_cipher_record *records,
                                       size_t count, bool decrypt) {
    unsigned size = 0;
    for (size_t i = 0; i < count; i++) {
        size += records[i].status == CD_OK && records[i].length > 0;
    }
    fake_begin_run(size);
    for (size_t i = 0; i < count; i++) {
        struct cd_cipher_record *record = &records[i];
        if (record->status == CD_OK && record->length > 0) {
            struct cd_cipher_request request = {.source = record->source,
                                                .destination = record->destination,
                                                .length = record->length};
            memcpy(request.iv, record->iv, sizeof(request.iv));
            record->status = fake_run(cipher, &request, decrypt);
        }
    }
}

static const struct cd_cipher_ops fake_batch_ops = {
    .init = fake_init,
    .cleanup = fake_cleanup,
    .set_key = fake_set_key,
    .encrypt = fake_encrypt,
    .decrypt = fake_decrypt,
    .wait = fake_wait,
    .records = fake_cipher_records,
};

static inline void fake_hash_records(struct cd_hash *hash, struct cd_hash_record *records,
                                     size_t count) {
    unsigned size = 0;
    for (size_t i = 0; i < count; i++) {
        size += records[i].status == CD_OK;
    }
    fake_begin_run(size);
    for (size_t i = 0; i < count; i++) {
        struct cd_hash_record *record = &records[i];
        if (record->status == CD_OK) {
            struct cd_hash_request request = {
                .source = record->source, .length = record->length, .digest = record->digest};
            record->status = fake_hash_run(hash, &request);
        }
    }
}

static const struct cd_hash_ops fake_batch_hash_ops = {
    .init = fake_hash_init,
    .cleanup = fake_hash_cleanup,
    .set_key = fake_hash_set_key,
    .digest = fake_hash_digest,
    .wait = fake_hash_wait,
    .begin = fake_hash_begin,
    .update = fake_hash_update,
    .finish = fake_hash_finish,
    .records = fake_hash_records,
};

#endif
