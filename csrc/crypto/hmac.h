/*
 * HMAC (RFC 2104, FIPS 198-1) over the hash functions of crypto/md.h.
 *
 * A prepared key holds the chaining words after the inner and after the outer padded key, so that a
 * message costs no key set-up. Preparing is the only place that sees the key.
 */
#ifndef CD_HMAC_H
#define CD_HMAC_H

#include "crypto/md.h"

/* Secret: as good as the key. Wipe it with cd_wipe. */
struct cd_hmac_key {
    const struct cd_md_algorithm *algorithm;
    uint32_t inner[CD_MD_WORDS_MAX]; /* after the block key ^ 36 36 ... */
    uint32_t outer[CD_MD_WORDS_MAX]; /* after the block key ^ 5c 5c ... */
};

/* A message in pieces; `hash.count` includes the 64 bytes of the padded key. */
struct cd_hmac_state {
    struct cd_md_state hash;
};

/* Prepare a key of any length, also none; one of more than 64 bytes is replaced by its digest (RFC
 * 2104 section 2). NULL is fine for no bytes. */
void cd_hmac_prepare(struct cd_hmac_key *out_key, const struct cd_md_algorithm *algorithm,
                     const uint8_t *key, size_t key_len);

/* The tag of one whole message: digest_size bytes, which a caller truncates. */
void cd_hmac_digest(const struct cd_hmac_key *key, uint8_t *out_tag, const uint8_t *data,
                    size_t length);

/* Start a message. */
void cd_hmac_init(const struct cd_hmac_key *key, struct cd_hmac_state *out_state);

/* Add `length` bytes to the message. */
void cd_hmac_update(const struct cd_hmac_key *key, struct cd_hmac_state *state, const uint8_t *data,
                    size_t length);

/* End the message and write digest_size bytes. Wipes the state. */
void cd_hmac_final(const struct cd_hmac_key *key, struct cd_hmac_state *state, uint8_t *out_tag);

/* The tag from the final chaining words of the inner hash (as cd_md_finish leaves them), which are
 * wiped. For inner hashes that were computed elsewhere, such as several at once. */
void cd_hmac_finish(const struct cd_hmac_key *key, uint8_t *out_tag, uint32_t *words);

#endif
