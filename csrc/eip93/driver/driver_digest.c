/* Preparation of HMAC keys and the ends of messages in software, through the registry's hashes. */
#include "eip93/driver/driver_digest.h"

#include "base/endian.h"
#include "base/secure.h"

#include <string.h>

cd_status cd_driver_digest_init(struct cd_driver_digest *digest, struct cd_eip93_driver *driver,
                                const struct cd_driver_mode *mode) {
    struct cd_hash_state state;
    /* The registry lives at least as long as the driver is open. */
    cd_status status = cd_driver_check_ready(driver);
    if (status == CD_OK) {
        status = cd_hash_new(&digest->child, driver->registry, mode->hash, 0, CD_DRIVER_CHILD_MASK);
    }
    if (status != CD_OK) {
        return status;
    }
    status = cd_hash_begin(digest->child, &state);
    if (status != CD_OK) {
        cd_driver_digest_cleanup(digest);
        return status;
    }
    memcpy(digest->inner, state.words, sizeof(digest->inner));
    digest->size = mode->digest_size;
    digest->big_endian = EIP93_GET(mode->cmd0, EIP93_SA0_HASH) != EIP93_SA0_HASH_MD5;
    return CD_OK;
}

void cd_driver_digest_cleanup(struct cd_driver_digest *digest) {
    cd_hash_free(digest->child);
    digest->child = NULL;
}

/* Chaining words after one block of the padded key xor `pad`. */
static cd_status absorb_pad(struct cd_hash *child, uint32_t out_words[8],
                            const uint8_t key[CD_HASH_BLOCK], uint8_t pad) {
    uint8_t block[CD_HASH_BLOCK];
    struct cd_hash_state state;
    for (size_t i = 0; i < sizeof(block); i++) {
        block[i] = key[i] ^ pad;
    }
    cd_status status = cd_hash_begin(child, &state);
    if (status == CD_OK) {
        status = cd_hash_update(child, &state, block, sizeof(block));
    }
    if (status == CD_OK) {
        memcpy(out_words, state.words, sizeof(state.words));
    }
    cd_wipe(block, sizeof(block));
    cd_wipe(&state, sizeof(state));
    return status;
}

/* A key above one block is replaced by its digest (RFC 2104, section 2). */
static cd_status shorten(struct cd_hash *child, uint8_t out_key[CD_HASH_BLOCK], const uint8_t *key,
                         size_t key_len) {
    struct cd_hash_request request = {.source = key, .length = key_len, .digest = out_key};
    if (key_len > CD_HASH_BLOCK) {
        cd_status status = cd_hash_digest_wait(child, &request);
        cd_wipe(&request, sizeof(request));
        return status;
    }
    if (key_len > 0) {
        memcpy(out_key, key, key_len);
    }
    return CD_OK;
}

cd_status cd_driver_digest_set_key(struct cd_driver_digest *digest, const uint8_t *key,
                                   size_t key_len) {
    uint8_t padded[CD_HASH_BLOCK] = {0};
    uint32_t inner[8];
    uint32_t outer[8];
    cd_status status = shorten(digest->child, padded, key, key_len);
    if (status == CD_OK) {
        status = absorb_pad(digest->child, inner, padded, 0x36);
    }
    if (status == CD_OK) {
        status = absorb_pad(digest->child, outer, padded, 0x5C);
    }
    if (status == CD_OK) {
        memcpy(digest->inner, inner, sizeof(inner));
        memcpy(digest->outer, outer, sizeof(outer));
        digest->before = CD_HASH_BLOCK;
    }
    cd_wipe(padded, sizeof(padded));
    cd_wipe(inner, sizeof(inner));
    cd_wipe(outer, sizeof(outer));
    return status;
}

/* The outer hash of an hmac over the inner digest in out_digest, which it replaces. */
static cd_status finish_outer(const struct cd_driver_digest *digest, uint8_t *out_digest) {
    struct cd_hash_state state = {.count = CD_HASH_BLOCK};
    memcpy(state.words, digest->outer, sizeof(state.words));
    cd_status status = cd_hash_update(digest->child, &state, out_digest, digest->size);
    if (status == CD_OK) {
        status = cd_hash_finish(digest->child, &state, out_digest);
    }
    cd_wipe(&state, sizeof(state));
    return status;
}

cd_status cd_driver_digest_finish(const struct cd_driver_digest *digest,
                                  const struct cd_hash_state *state, uint8_t *out_digest) {
    struct cd_hash_state whole = *state;
    whole.count += digest->before;
    cd_status status = cd_hash_finish(digest->child, &whole, out_digest);
    cd_wipe(&whole, sizeof(whole));
    if (status == CD_OK && digest->before > 0) {
        status = finish_outer(digest, out_digest);
    }
    return status;
}

void cd_driver_digest_bytes(const struct cd_driver_digest *digest, uint8_t *out_digest,
                            const uint32_t *words) {
    for (size_t i = 0; i < digest->size / 4; i++) {
        uint32_t word = cd_driver_le32(words[i]);
        if (digest->big_endian) {
            cd_store_be32(out_digest + 4 * i, word);
        } else {
            cd_store_le32(out_digest + 4 * i, word);
        }
    }
}
