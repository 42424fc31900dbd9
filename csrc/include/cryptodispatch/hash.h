/*
 * Hashes and HMACs: transforms, one-shot requests, and messages in pieces.
 *
 * A transform may be used by several threads at once as long as each request and state is its own
 * and nobody sets the key meanwhile. The request path of software neither allocates nor locks.
 */
#ifndef CD_HASH_H
#define CD_HASH_H

#include "cryptodispatch/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CD_DIGEST_MAX 32                 /* bytes of the longest digest */
#define CD_HASH_BLOCK 64                 /* bytes of a block of MD5, SHA-1, SHA-224, SHA-256 */
#define CD_HASH_REQUEST_PRIVATE_WORDS 24 /* words of 8 bytes that an implementation may keep */

struct cd_hash; /* a transform */
struct cd_hash_record;

/* One digest of one whole message: caller-owned, untouched between submission and completion. */
struct cd_hash_request {
    const uint8_t *source; /* `length` bytes, any alignment; may be NULL if length is 0 */
    size_t length;         /* bytes, 0 included */
    uint8_t *digest;       /* out: digest_size bytes; may lie in the source */
    /* As in struct cd_cipher_request. */
    void (*complete)(struct cd_hash_request *request, void *context);
    void *context;
    int32_t status; /* CD_IN_PROGRESS while under way, then the outcome; accessed atomically */
    uint64_t implementation_private[CD_HASH_REQUEST_PRIVATE_WORDS];
};

/*
 * A message in pieces, in the one form that all implementations of an algorithm share, so that any
 * of them can go on where another stopped. Caller-owned, one caller's; copying it forks the
 * message. Contains what the message hashed to so far: wipe it if that is secret.
 */
struct cd_hash_state {
    uint32_t words[8]; /* chaining words after the whole blocks so far, as numbers; for an
                          hmac after the key block too */
    uint64_t count;    /* bytes of message so far, without the key block */
    uint8_t buffer[CD_HASH_BLOCK]; /* the last count % 64 bytes of them */
    int32_t side;                  /* proxies: enum cd_side that init chose; otherwise 0 */
};

/* Called by the functions below, which have checked key and pointers. */
struct cd_hash_ops {
    cd_status (*init)(struct cd_hash *hash); /* as in struct cd_cipher_ops */
    void (*cleanup)(struct cd_hash *hash);
    cd_status (*set_key)(struct cd_hash *hash, const uint8_t *key, size_t key_len); /* hmac only */
    cd_status (*digest)(struct cd_hash *hash, struct cd_hash_request *request);
    cd_status (*wait)(struct cd_hash *hash, struct cd_hash_request *request, uint64_t timeout_ns);
    /* Pieces. They return when done, also on an engine. An error leaves the state as it was. */
    cd_status (*begin)(struct cd_hash *hash, struct cd_hash_state *state);
    cd_status (*update)(struct cd_hash *hash, struct cd_hash_state *state, const uint8_t *data,
                        size_t length);
    cd_status (*finish)(struct cd_hash *hash, const struct cd_hash_state *state,
                        uint8_t *out_digest);
    /* As of struct cd_cipher_ops; NULL if a batch is best run as one request each. */
    void (*records)(struct cd_hash *hash, struct cd_hash_record *records, size_t count);
};

/* Allocate a transform, as cd_cipher_new. A hash without a key is ready; an hmac needs set_key. */
CD_MUST_CHECK cd_status cd_hash_new(struct cd_hash **out_hash, struct cd_registry *registry,
                                    const char *name, uint32_t flags, uint32_t mask);
/* The same for an implementation at hand; retains it for the life of the transform. */
CD_MUST_CHECK cd_status cd_hash_new_bound(struct cd_hash **out_hash,
                                          const struct cd_implementation *implementation);
/* Wipe and free; no request may be under way. NULL does nothing. */
void cd_hash_free(struct cd_hash *hash);

/* Set the key of an hmac, any length up to 2^20 bytes, 0 included (RFC 2104). CD_E_KEY for a longer
 * one or for a hash that takes none; after any error the transform has no key. */
CD_MUST_CHECK cd_status cd_hash_set_key(struct cd_hash *hash, const uint8_t *key, size_t key_len);

/* Start one digest; returns as cd_cipher_encrypt (CD_E_NO_KEY, CD_E_INVALID for NULL pointers). */
CD_MUST_CHECK cd_status cd_hash_digest(struct cd_hash *hash, struct cd_hash_request *request);
CD_MUST_CHECK cd_status cd_hash_wait(struct cd_hash *hash, struct cd_hash_request *request,
                                     uint64_t timeout_ns);
CD_MUST_CHECK cd_status cd_hash_digest_wait(struct cd_hash *hash, struct cd_hash_request *request);

/* Start a message. A proxy chooses its side here, for good. CD_E_NO_KEY for an hmac without key. */
CD_MUST_CHECK cd_status cd_hash_begin(struct cd_hash *hash, struct cd_hash_state *state);
/* Take `length` bytes more. The message may have up to 2^61 - 1 bytes (CD_E_LENGTH). */
CD_MUST_CHECK cd_status cd_hash_update(struct cd_hash *hash, struct cd_hash_state *state,
                                       const uint8_t *data, size_t length);
/* Write the digest of the message so far (digest_size bytes); the state can go on. */
CD_MUST_CHECK cd_status cd_hash_finish(struct cd_hash *hash, const struct cd_hash_state *state,
                                       uint8_t *out_digest);

#define CD_HASH_BLOB_SIZE 240 /* bytes of an exported state */

/*
 * Write the state as bytes that another process can import: a version, the algorithm name, side,
 * count, chaining words, buffer; fixed byte order. As secret as the state itself.
 */
void cd_hash_export(const struct cd_hash *hash, const struct cd_hash_state *state,
                    uint8_t out_blob[CD_HASH_BLOB_SIZE]);

/*
 * Read an exported state. The rule: any implementation of the same algorithm name takes it; for an
 * hmac the transform must have the same key (which cannot be checked). A side that a proxy chose is
 * kept by proxies and ignored by others; a state without one is given it by a proxy's next update.
 * CD_E_INVALID: not an exported state; CD_E_MISMATCH: of another algorithm. An error leaves
 * `out_state` as it was.
 */
CD_MUST_CHECK cd_status cd_hash_import(const struct cd_hash *hash, struct cd_hash_state *out_state,
                                       const uint8_t *blob, size_t blob_len);

/* The implementation that the transform is bound to; valid as long as the transform. */
const struct cd_implementation *cd_hash_implementation(const struct cd_hash *hash);
/* The implementation's own state: context_size bytes, 64-byte aligned. For implementations. */
void *cd_hash_context(const struct cd_hash *hash);
/* True if a key is set, or the hash takes none. */
bool cd_hash_has_key(const struct cd_hash *hash);

/* End an asynchronous request, as cd_cipher_request_complete. For implementations. */
void cd_hash_request_complete(struct cd_hash_request *request, cd_status status);

#ifdef __cplusplus
}
#endif

#endif
