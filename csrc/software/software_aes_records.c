/*
 * Batches of AES. Encrypting in CBC is all latency, so records go side by side through the lanes of
 * crypto/aes_lanes.h; every other mode fills the CPU with one record, and a loop will do.
 */
#include "software/software_aes.h"

#include <string.h>

#include "crypto/aes_lanes.h"

/* Records described to the lanes at once: many times their number, for lengths that differ, and
 * small enough for the stack (10 KiB). */
#define CHUNK 256u

/* The lanes that take the keys of a backend; NULL if it has none. */
static const struct cd_aes_lane_functions *lanes_of(const struct cd_aes_functions *functions) {
    static const struct cd_aes_lane_functions *const tables[] = {&cd_aes_lanes_vaes,
                                                                 &cd_aes_lanes_aesni};

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        if (tables[i]->aes == functions && tables[i]->cbc_encrypt != NULL) {
            return tables[i];
        }
    }
    return NULL;
}

void cd_software_ecb_records(struct cd_cipher *cipher, struct cd_cipher_record *records,
                             size_t count, bool decrypt) {
    const struct cd_software_aes *context = cd_cipher_context(cipher);

    for (size_t i = 0; i < count; i++) {
        const struct cd_cipher_record *record = &records[i];
        size_t blocks = record->length / CD_AES_BLOCK;

        if (record->status != CD_OK || blocks == 0) {
            continue;
        }
        if (decrypt) {
            context->functions->ecb_decrypt(&context->key, record->destination, record->source,
                                            blocks);
        } else {
            context->functions->ecb_encrypt(&context->key.encrypt, record->destination,
                                            record->source, blocks);
        }
    }
}

static void cbc_one_by_one(const struct cd_software_aes *context, struct cd_cipher_record *records,
                           size_t count, bool decrypt) {
    for (size_t i = 0; i < count; i++) {
        const struct cd_cipher_record *record = &records[i];
        size_t blocks = record->length / CD_AES_BLOCK;
        uint8_t iv[CD_AES_BLOCK];

        if (record->status != CD_OK || blocks == 0) {
            continue;
        }
        memcpy(iv, record->iv, sizeof iv);
        if (decrypt) {
            context->functions->cbc_decrypt(&context->key, record->destination, record->source,
                                            blocks, iv);
        } else {
            context->functions->cbc_encrypt(&context->key.encrypt, record->destination,
                                            record->source, blocks, iv);
        }
    }
}

static void cbc_in_lanes(const struct cd_aes_lane_functions *lanes,
                         const struct cd_software_aes *context, struct cd_cipher_record *records,
                         size_t count) {
    struct cd_aes_lane_job jobs[CHUNK];
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        const struct cd_cipher_record *record = &records[i];

        if (record->status == CD_OK && record->length > 0) {
            struct cd_aes_lane_job *job = &jobs[used++];

            job->key = &context->key.encrypt;
            job->out = record->destination;
            job->in = record->source;
            job->blocks = record->length / CD_AES_BLOCK;
            job->iv = record->iv;
        }
        if (used == CHUNK || i + 1 == count) {
            lanes->cbc_encrypt(jobs, used);
            used = 0;
        }
    }
}

void cd_software_cbc_records(struct cd_cipher *cipher, struct cd_cipher_record *records,
                             size_t count, bool decrypt) {
    const struct cd_software_aes *context = cd_cipher_context(cipher);
    const struct cd_aes_lane_functions *lanes = decrypt ? NULL : lanes_of(context->functions);

    if (lanes == NULL) {
        cbc_one_by_one(context, records, count, decrypt);
    } else {
        cbc_in_lanes(lanes, context, records, count);
    }
}

void cd_software_cbc_encrypt_packed(struct cd_cipher *cipher,
                                    const struct cd_cipher_packed *packed) {
    const struct cd_software_aes *context = cd_cipher_context(cipher);
    struct cd_aes_lane_packed records = {
        .key = &context->key.encrypt,
        .out = packed->out,
        .in = packed->values,
        .offsets = packed->offsets,
        .count = packed->count,
        .ivs = packed->ivs,
    };

    lanes_of(context->functions)->cbc_encrypt_packed(&records);
}

void cd_software_ctr_records(struct cd_cipher *cipher, struct cd_cipher_record *records,
                             size_t count, bool decrypt) {
    const struct cd_software_aes_counter *context = cd_cipher_context(cipher);

    (void)decrypt; /* the same thing */
    for (size_t i = 0; i < count; i++) {
        uint8_t counter[CD_AES_BLOCK];

        if (records[i].status == CD_OK && records[i].length > 0) {
            memcpy(counter, records[i].iv, sizeof counter);
            context->functions->ctr(&context->key, records[i].destination, records[i].source,
                                    records[i].length, counter);
        }
    }
}

void cd_software_rfc3686_records(struct cd_cipher *cipher, struct cd_cipher_record *records,
                                 size_t count, bool decrypt) {
    const struct cd_software_aes_counter *context = cd_cipher_context(cipher);

    (void)decrypt; /* the same thing */
    for (size_t i = 0; i < count; i++) {
        uint8_t counter[CD_AES_BLOCK];

        if (records[i].status != CD_OK || records[i].length == 0) {
            continue;
        }
        if ((uint64_t)records[i].length > CD_RFC3686_BLOCKS_MAX * CD_AES_BLOCK) {
            records[i].status = CD_E_LENGTH;
            continue;
        }
        cd_software_rfc3686_counter(counter, context->nonce, records[i].iv, 0);
        context->functions->ctr(&context->key, records[i].destination, records[i].source,
                                records[i].length, counter);
    }
}
