/*
 * Packed batches of ciphers: to the implementation as they are where it can take them, otherwise as
 * records, some at a time.
 */
#include "algorithm/algorithm_internal.h"
#include "cryptodispatch/batch.h"

/* Records described at a time: many times the lanes of any CPU, few enough for the stack (10 KiB).
 */
#define CHUNK 256u

/* Whether all records are of whole blocks. Block sizes are powers of two, so that the differences
 * of offsets are multiples if all offsets have the same low bits. */
static bool are_whole_blocks(const struct cd_cipher *cipher,
                             const struct cd_cipher_packed *packed) {
    uint64_t differing = 0;

    for (size_t i = 1; i <= packed->count; i++) {
        differing |= (uint64_t)packed->offsets[i] ^ (uint64_t)packed->offsets[0];
    }
    return (differing & cipher->base.block_mask) == 0;
}

/* What `encrypt_packed` may expect. */
static bool is_allowed(const struct cd_cipher *cipher, const struct cd_cipher_packed *packed) {
    size_t length = (size_t)packed->offsets[packed->count];

    return cipher->base.keyed && packed->values != NULL && packed->out != NULL &&
           !cd_overlaps(packed->values, packed->out, length) && are_whole_blocks(cipher, packed);
}

static void describe(const struct cd_cipher_packed *packed, size_t first, size_t count,
                     uint32_t iv_size, struct cd_cipher_record *out_records) {
    for (size_t i = 0; i < count; i++) {
        int64_t start = packed->offsets[first + i];

        out_records[i].source = packed->values + start;
        out_records[i].destination = packed->out + start;
        out_records[i].length = (size_t)(packed->offsets[first + i + 1] - start);
        out_records[i].iv = iv_size > 0 ? packed->ivs + (first + i) * iv_size : NULL;
    }
}

static size_t run_as_records(struct cd_cipher *cipher, const struct cd_cipher_packed *packed,
                             bool decrypt, cd_packed_failed *failed, void *context) {
    struct cd_cipher_record records[CHUNK];
    uint32_t iv_size = cipher->base.implementation->iv_size;
    size_t all_bad = 0;

    for (size_t first = 0; first < packed->count; first += CHUNK) {
        size_t count = packed->count - first < CHUNK ? packed->count - first : CHUNK;
        size_t bad;

        describe(packed, first, count, iv_size, records);
        bad = decrypt ? cd_cipher_decrypt_records(cipher, records, count)
                      : cd_cipher_encrypt_records(cipher, records, count);
        for (size_t i = 0; bad > 0 && i < count; i++) {
            if (records[i].status != CD_OK) {
                failed(context, first + i, records[i].length, (cd_status)records[i].status);
            }
        }
        all_bad += bad;
    }
    return all_bad;
}

size_t cd_cipher_encrypt_packed(struct cd_cipher *cipher, const struct cd_cipher_packed *packed,
                                cd_packed_failed *failed, void *context) {
    if (cipher->ops->encrypt_packed != NULL && is_allowed(cipher, packed)) {
        cipher->ops->encrypt_packed(cipher, packed);
        return 0;
    }
    return run_as_records(cipher, packed, false, failed, context);
}

size_t cd_cipher_decrypt_packed(struct cd_cipher *cipher, const struct cd_cipher_packed *packed,
                                cd_packed_failed *failed, void *context) {
    return run_as_records(cipher, packed, true, failed, context);
}
