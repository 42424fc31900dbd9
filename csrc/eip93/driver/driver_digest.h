/* What hash and aead transforms share: chaining words to start from, and software to lean on. */
#ifndef CD_DRIVER_DIGEST_H
#define CD_DRIVER_DIGEST_H

#include "eip93/driver/driver_internal.h"

/* How a transform hashes. A message starts from `inner`: the constants of a plain hash, or what
 * they have become after the block of an hmac's key xor 0x36 (6.6). */
struct cd_driver_digest {
    struct cd_hash *child; /* the plain hash in software */
    uint32_t inner[8];     /* chaining words, as numbers */
    uint32_t outer[8];     /* hmac: after the block of the key xor 0x5c */
    uint32_t before;       /* bytes in front of a message: 64 for an hmac, else 0 */
    uint32_t size;         /* bytes of the digest */
    bool big_endian;       /* the digest's bytes are the words' in big-endian order: not MD5 */
};

/* Prepare a zeroed digest of the row's hash. CD_E_NO_DEVICE, CD_E_UNKNOWN_ALGORITHM (no software
 * of the plain hash is registered), CD_E_NO_MEMORY. */
cd_status cd_driver_digest_init(struct cd_driver_digest *digest, struct cd_eip93_driver *driver,
                                const struct cd_driver_mode *mode);
void cd_driver_digest_cleanup(struct cd_driver_digest *digest);

/* Make it an hmac with this key, of any length. Unchanged on an error. */
cd_status cd_driver_digest_set_key(struct cd_driver_digest *digest, const uint8_t *key,
                                   size_t key_len);

/* Digest of the message of `state`, all of it, in software. */
cd_status cd_driver_digest_finish(const struct cd_driver_digest *digest,
                                  const struct cd_hash_state *state, uint8_t *out_digest);

/* The digest's bytes from words as the engine writes them. */
void cd_driver_digest_bytes(const struct cd_driver_digest *digest, uint8_t *out_digest,
                            const uint32_t *words);

/* Chaining words between the host's form and the engine's. */
static inline void cd_driver_digest_words(uint32_t out[8], const uint32_t words[8]) {
    for (size_t i = 0; i < 8; i++) {
        out[i] = cd_driver_le32(words[i]);
    }
}

#define CD_DRIVER_CHILD_MASK                                                                       \
    (CD_FLAG_ASYNC | CD_FLAG_NEED_FALLBACK | CD_FLAG_MODELLED | CD_FLAG_PROXY)

#endif
