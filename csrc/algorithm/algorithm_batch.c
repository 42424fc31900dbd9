/*
 * Batches. Implementations with a `records` function take the checked records as they are; for the
 * others requests are started one after the other, up to CD_BATCH_WINDOW of them in flight on an
 * engine.
 */
#include "algorithm/algorithm_internal.h"

#include <string.h>

/* Records that are checked, run and counted before the next ones: 10 KiB of them, which stay in the
 * first-level cache meanwhile. */
#define SLICE 256u

/* One batch of any type, run as requests. */
struct batch {
    void *transform;
    void *records;
    void *window; /* CD_BATCH_WINDOW requests of the type */
    bool decrypt;
    /* Start record `index` in a slot of the window; what the request returned. */
    cd_status (*start)(const struct batch *batch, size_t index, unsigned slot);
    /* Wait for the request in a slot; its outcome. */
    cd_status (*finish)(const struct batch *batch, unsigned slot);
    int32_t *(*status)(const struct batch *batch, size_t index);
};

/* Returns how many records failed. A synchronous implementation uses one slot after the other. */
static size_t run_one_by_one(const struct batch *batch, size_t count) {
    size_t failed = 0;
    for (size_t started = 0, ended = 0; ended < count; ended++) {
        while (started < count && started - ended < CD_BATCH_WINDOW) {
            *batch->status(batch, started) =
                batch->start(batch, started, started % CD_BATCH_WINDOW);
            started++;
            if (*batch->status(batch, ended) != CD_IN_PROGRESS) {
                break;
            }
        }
        int32_t *status = batch->status(batch, ended);
        if (*status == CD_IN_PROGRESS) {
            *status = batch->finish(batch, ended % CD_BATCH_WINDOW);
        }
        failed += *status != CD_OK;
    }
    return failed;
}

/* ---- ciphers ---- */

static int32_t *cipher_status(const struct batch *batch, size_t index) {
    return &((struct cd_cipher_record *)batch->records)[index].status;
}

cd_status cd_cipher_start_record(struct cd_cipher *cipher, struct cd_cipher_request *request,
                                 const struct cd_cipher_record *record, bool decrypt) {
    uint32_t iv_size = cipher->base.implementation->iv_size;
    request->source = record->source;
    request->destination = record->destination;
    request->length = record->length;
    request->block_offset = 0;
    request->complete = NULL;
    request->context = NULL;
    if (iv_size > 0) {
        memcpy(request->iv, record->iv, iv_size);
    }
    return decrypt ? cd_cipher_decrypt(cipher, request) : cd_cipher_encrypt(cipher, request);
}

static cd_status cipher_start(const struct batch *batch, size_t index, unsigned slot) {
    return cd_cipher_start_record(
        batch->transform, &((struct cd_cipher_request *)batch->window)[slot],
        &((struct cd_cipher_record *)batch->records)[index], batch->decrypt);
}

static cd_status cipher_finish(const struct batch *batch, unsigned slot) {
    return cd_cipher_finish_request(
        batch->transform, &((struct cd_cipher_request *)batch->window)[slot], CD_IN_PROGRESS);
}

static size_t cipher_one_by_one(struct cd_cipher *cipher, struct cd_cipher_record *records,
                                size_t count, bool decrypt) {
    struct cd_cipher_request window[CD_BATCH_WINDOW];
    struct batch batch = {cipher,       records,       window,       decrypt,
                          cipher_start, cipher_finish, cipher_status};
    return run_one_by_one(&batch, count);
}

static cd_status check_cipher_record(const struct cd_cipher *cipher,
                                     const struct cd_cipher_record *record) {
    if ((record->length & cipher->base.block_mask) != 0) {
        return CD_E_LENGTH;
    }
    if (record->length > 0 && (record->source == NULL || record->destination == NULL)) {
        return CD_E_INVALID;
    }
    return cd_overlaps(record->source, record->destination, record->length) ? CD_E_OVERLAP : CD_OK;
}

static size_t run_cipher_slice(struct cd_cipher *cipher, struct cd_cipher_record *records,
                               size_t count, bool decrypt) {
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        records[i].status = check_cipher_record(cipher, &records[i]);
    }
    cipher->ops->records(cipher, records, count, decrypt);
    for (size_t i = 0; i < count; i++) {
        failed += records[i].status != CD_OK;
    }
    return failed;
}

/* Who has requests in flight gets all records at once, lest they run dry between slices. */
static size_t run_cipher(struct cd_cipher *cipher, struct cd_cipher_record *records, size_t count,
                         bool decrypt) {
    if (cipher->ops->records == NULL || !cipher->base.keyed) {
        return cipher_one_by_one(cipher, records, count, decrypt);
    }
    size_t slice = cipher->ops->wait == NULL ? SLICE : count;
    size_t failed = 0;
    for (size_t first = 0; first < count; first += slice) {
        size_t length = count - first < slice ? count - first : slice;
        failed += run_cipher_slice(cipher, records + first, length, decrypt);
    }
    return failed;
}

size_t cd_cipher_encrypt_records(struct cd_cipher *cipher, struct cd_cipher_record *records,
                                 size_t count) {
    return run_cipher(cipher, records, count, false);
}

size_t cd_cipher_decrypt_records(struct cd_cipher *cipher, struct cd_cipher_record *records,
                                 size_t count) {
    return run_cipher(cipher, records, count, true);
}

/* ---- hashes ---- */

static int32_t *hash_status(const struct batch *batch, size_t index) {
    return &((struct cd_hash_record *)batch->records)[index].status;
}

cd_status cd_hash_start_record(struct cd_hash *hash, struct cd_hash_request *request,
                               const struct cd_hash_record *record) {
    request->source = record->source;
    request->length = record->length;
    request->digest = record->digest;
    request->complete = NULL;
    request->context = NULL;
    return cd_hash_digest(hash, request);
}

static cd_status hash_start(const struct batch *batch, size_t index, unsigned slot) {
    return cd_hash_start_record(batch->transform, &((struct cd_hash_request *)batch->window)[slot],
                                &((struct cd_hash_record *)batch->records)[index]);
}

static cd_status hash_finish(const struct batch *batch, unsigned slot) {
    return cd_hash_finish_request(batch->transform,
                                  &((struct cd_hash_request *)batch->window)[slot], CD_IN_PROGRESS);
}

static size_t hash_one_by_one(struct cd_hash *hash, struct cd_hash_record *records, size_t count) {
    struct cd_hash_request window[CD_BATCH_WINDOW];
    struct batch batch = {hash, records, window, false, hash_start, hash_finish, hash_status};
    return run_one_by_one(&batch, count);
}

static cd_status check_hash_record(const struct cd_hash_record *record) {
    if (record->digest == NULL || (record->source == NULL && record->length > 0)) {
        return CD_E_INVALID;
    }
    return record->length > CD_MESSAGE_MAX ? CD_E_LENGTH : CD_OK;
}

size_t cd_hash_digest_records(struct cd_hash *hash, struct cd_hash_record *records, size_t count) {
    if (hash->ops->records == NULL || !hash->base.keyed) {
        return hash_one_by_one(hash, records, count);
    }
    for (size_t i = 0; i < count; i++) {
        records[i].status = check_hash_record(&records[i]);
    }
    hash->ops->records(hash, records, count);
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        failed += records[i].status != CD_OK;
    }
    return failed;
}

/* ---- aead ---- */

static int32_t *aead_status(const struct batch *batch, size_t index) {
    return &((struct cd_aead_record *)batch->records)[index].status;
}

static cd_status aead_start(const struct batch *batch, size_t index, unsigned slot) {
    struct cd_aead *aead = batch->transform;
    struct cd_aead_request *request = &((struct cd_aead_request *)batch->window)[slot];
    const struct cd_aead_record *record = &((struct cd_aead_record *)batch->records)[index];
    request->source = record->source;
    request->destination = record->destination;
    request->length = record->length;
    request->aad = record->aad;
    request->aad_len = record->aad_len;
    request->tag = record->tag;
    request->complete = NULL;
    request->context = NULL;
    memcpy(request->iv, record->iv, aead->base.implementation->iv_size);
    return batch->decrypt ? cd_aead_decrypt(aead, request) : cd_aead_encrypt(aead, request);
}

static cd_status aead_finish(const struct batch *batch, unsigned slot) {
    return cd_aead_finish_request(batch->transform,
                                  &((struct cd_aead_request *)batch->window)[slot], CD_IN_PROGRESS);
}

static size_t aead_one_by_one(struct cd_aead *aead, struct cd_aead_record *records, size_t count,
                              bool decrypt) {
    struct cd_aead_request window[CD_BATCH_WINDOW];
    struct batch batch = {aead, records, window, decrypt, aead_start, aead_finish, aead_status};
    return run_one_by_one(&batch, count);
}

static cd_status check_aead_record(const struct cd_aead *aead,
                                   const struct cd_aead_record *record) {
    if ((record->length & aead->base.block_mask) != 0) {
        return CD_E_LENGTH;
    }
    if (record->tag == NULL || (record->aad == NULL && record->aad_len > 0) ||
        ((record->source == NULL || record->destination == NULL) && record->length > 0)) {
        return CD_E_INVALID;
    }
    return cd_overlaps(record->source, record->destination, record->length) ? CD_E_OVERLAP : CD_OK;
}

static size_t run_aead(struct cd_aead *aead, struct cd_aead_record *records, size_t count,
                       bool decrypt) {
    if (aead->ops->records == NULL || !aead->base.keyed) {
        return aead_one_by_one(aead, records, count, decrypt);
    }
    for (size_t i = 0; i < count; i++) {
        records[i].status = check_aead_record(aead, &records[i]);
    }
    aead->ops->records(aead, records, count, decrypt);
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        failed += records[i].status != CD_OK;
    }
    return failed;
}

size_t cd_aead_encrypt_records(struct cd_aead *aead, struct cd_aead_record *records, size_t count) {
    return run_aead(aead, records, count, false);
}

size_t cd_aead_decrypt_records(struct cd_aead *aead, struct cd_aead_record *records, size_t count) {
    return run_aead(aead, records, count, true);
}
