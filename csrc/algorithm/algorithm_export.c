/*
 * Exported hash states. Layout of the blob, 240 bytes, numbers little-endian: "cdhs", version 1 (4
 * bytes), side (4), zero (4), count (8), eight chaining words (32), buffer (64), algorithm name
 * with zeros up to 96 bytes, zeros.
 */
#include "algorithm/algorithm_internal.h"
#include "base/endian.h"

#include <string.h>

#define MAGIC 0x73686463u
#define VERSION 1u

enum {
    AT_MAGIC = 0,
    AT_VERSION = 4,
    AT_SIDE = 8,
    AT_ZERO = 12,
    AT_COUNT = 16,
    AT_WORDS = 24,
    AT_BUFFER = 56,
    AT_NAME = 120,
    AT_END = AT_NAME + CD_NAME_MAX,
};
_Static_assert(AT_END <= CD_HASH_BLOB_SIZE, "the fields fit");

void cd_hash_export(const struct cd_hash *hash, const struct cd_hash_state *state,
                    uint8_t out_blob[CD_HASH_BLOB_SIZE]) {
    memset(out_blob, 0, CD_HASH_BLOB_SIZE);
    cd_store_le32(out_blob + AT_MAGIC, MAGIC);
    cd_store_le32(out_blob + AT_VERSION, VERSION);
    cd_store_le32(out_blob + AT_SIDE, (uint32_t)state->side);
    cd_store_le32(out_blob + AT_COUNT, (uint32_t)state->count);
    cd_store_le32(out_blob + AT_COUNT + 4, (uint32_t)(state->count >> 32));
    for (unsigned i = 0; i < 8; i++) {
        cd_store_le32(out_blob + AT_WORDS + 4 * i, state->words[i]);
    }
    memcpy(out_blob + AT_BUFFER, state->buffer, state->count % CD_HASH_BLOCK);
    const char *name = hash->base.implementation->algorithm;
    memcpy(out_blob + AT_NAME, name, strlen(name));
}

static bool is_blob(const uint8_t *blob, size_t blob_len) {
    if (blob == NULL || blob_len != CD_HASH_BLOB_SIZE || cd_load_le32(blob + AT_MAGIC) != MAGIC ||
        cd_load_le32(blob + AT_VERSION) != VERSION || cd_load_le32(blob + AT_ZERO) != 0 ||
        cd_load_le32(blob + AT_SIDE) > 2 || blob[AT_END - 1] != 0) {
        return false;
    }
    return cd_load_le32(blob + AT_COUNT + 4) < (uint32_t)1 << 29; /* below 2^61 bytes */
}

cd_status cd_hash_import(const struct cd_hash *hash, struct cd_hash_state *out_state,
                         const uint8_t *blob, size_t blob_len) {
    if (!is_blob(blob, blob_len)) {
        return CD_E_INVALID;
    }
    if (strcmp((const char *)blob + AT_NAME, hash->base.implementation->algorithm) != 0) {
        return CD_E_MISMATCH;
    }
    memset(out_state, 0, sizeof(*out_state));
    out_state->side = (int32_t)cd_load_le32(blob + AT_SIDE);
    out_state->count = cd_load_le32(blob + AT_COUNT) | (uint64_t)cd_load_le32(blob + AT_COUNT + 4)
                                                           << 32;
    for (unsigned i = 0; i < 8; i++) {
        out_state->words[i] = cd_load_le32(blob + AT_WORDS + 4 * i);
    }
    memcpy(out_state->buffer, blob + AT_BUFFER, CD_HASH_BLOCK);
    return CD_OK;
}
