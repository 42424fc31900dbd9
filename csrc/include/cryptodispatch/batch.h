/*
 * Batches: many independent records in one call, so that the lanes of the CPU (or the ring of an
 * engine) are full.
 *
 * Every record has an outcome of its own; a bad one does not stop the others. Nothing is allocated.
 * A proxy chooses for each record, and counts it, as for a request: those of the software then go
 * through its lanes together, those of the hardware are requests in flight.
 * Threads: as for requests of the transform.
 */
#ifndef CD_BATCH_H
#define CD_BATCH_H

#include "cryptodispatch/aead.h"
#include "cryptodispatch/cipher.h"
#include "cryptodispatch/hash.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One text; as the fields of struct cd_cipher_request. */
struct cd_cipher_record {
    const uint8_t *source;
    uint8_t *destination; /* source itself, or overlapping no source or destination of the batch */
    size_t length;
    const uint8_t *iv; /* iv_size bytes, in no destination of the batch; unchanged */
    int32_t status;    /* out: CD_OK, or what a request would have returned */
};

/*
 * Encrypt (decrypt) `count` records, each as one request would. Returns how many of them failed;
 * their status says why.
 */
size_t cd_cipher_encrypt_records(struct cd_cipher *cipher, struct cd_cipher_record *records,
                                 size_t count);
size_t cd_cipher_decrypt_records(struct cd_cipher *cipher, struct cd_cipher_record *records,
                                 size_t count);

/* Records one behind the other, as Arrow has them: record i is at offsets[i] up to offsets[i + 1].
 */
struct cd_cipher_packed {
    const uint8_t *values;
    uint8_t *out;           /* at the same offsets: values itself, or overlapping it nowhere */
    const int64_t *offsets; /* count + 1 of them in bytes, not below 0 and never descending */
    size_t count;           /* records */
    const uint8_t *ivs;     /* iv_size bytes for each, one behind the other, not in `out` */
};

/* Called for each record that failed, in order. Not NULL. */
typedef void cd_packed_failed(void *context, size_t index, size_t length, cd_status status);

/* Encrypt (decrypt) packed records, each as one request would. Returns how many of them failed. */
size_t cd_cipher_encrypt_packed(struct cd_cipher *cipher, const struct cd_cipher_packed *packed,
                                cd_packed_failed *failed, void *context);
size_t cd_cipher_decrypt_packed(struct cd_cipher *cipher, const struct cd_cipher_packed *packed,
                                cd_packed_failed *failed, void *context);

/* One message. */
struct cd_hash_record {
    const uint8_t *source;
    size_t length;
    uint8_t *digest; /* digest_size bytes, in no source of the batch */
    int32_t status;  /* out */
};

/* Digest `count` messages; returns as above. */
size_t cd_hash_digest_records(struct cd_hash *hash, struct cd_hash_record *records, size_t count);

/* One text with its tag; as the fields of struct cd_aead_request. What is written (the destination,
 * and the tag in encryption) overlaps nothing else of the batch, but the record's own source. */
struct cd_aead_record {
    const uint8_t *source;
    uint8_t *destination; /* source itself, or not overlapping it */
    size_t length;
    const uint8_t *aad;
    size_t aad_len;
    uint8_t *tag;
    const uint8_t *iv; /* iv_size bytes, in no destination of the batch; unchanged */
    int32_t status;    /* out: CD_OK, or what a request would have returned */
};

/* Encrypt (decrypt) `count` records; returns as above. A record whose tag does not match ends with
 * CD_E_AUTHENTICATION and releases nothing. */
size_t cd_aead_encrypt_records(struct cd_aead *aead, struct cd_aead_record *records, size_t count);
size_t cd_aead_decrypt_records(struct cd_aead *aead, struct cd_aead_record *records, size_t count);

#ifdef __cplusplus
}
#endif

#endif
