/*
 * Ciphers: transforms (one keyed instance of one implementation) and requests (one operation).
 *
 * In this order: cd_registry_new (registry.h), cd_software_register (software.h) and whatever else
 * is to be found by name; cd_cipher_new, cd_cipher_set_key; then requests, as many as wanted, by
 * cd_cipher_encrypt_wait; cd_cipher_free, cd_registry_free. All of it is in cryptodispatch.h.
 *
 * A transform may be used by several threads at once as long as each request is its own and nobody
 * sets the key meanwhile. The request path of software implementations neither allocates nor locks.
 */
#ifndef CD_CIPHER_H
#define CD_CIPHER_H

#include "cryptodispatch/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CD_IV_MAX 16 /* bytes of the longest IV */
#define CD_REQUEST_PRIVATE_WORDS                                                                   \
    24 /* words of 8 bytes that an implementation may keep in a request */

struct cd_cipher; /* a transform */
struct cd_cipher_record;
struct cd_cipher_packed;

/*
 * One operation: caller-owned, and not touched by the caller between submission and completion.
 * Zero it, set source, destination, length and iv (and for asynchronous use complete and context).
 */
struct cd_cipher_request {
    const uint8_t *source; /* `length` bytes, any alignment */
    uint8_t *destination;  /* `length` bytes: source itself (in place) or not overlapping it */
    size_t length;         /* bytes; a multiple of the block size; 0 is allowed and does nothing */
    uint8_t
        iv[CD_IV_MAX]; /* in: the IV, first iv_size bytes; out: the IV that continues the message */
    uint64_t block_offset; /* rfc3686 only. in: blocks of 16 bytes already done under this IV;
                              out: the same, to continue the message */
    /* Called once when a request that was CD_IN_PROGRESS has ended, from whichever thread made the
     * device progress, with `status` final and no lock held; may submit. With it set the request
     * stays the library's until it is called; NULL: until cd_cipher_wait returns CD_OK. */
    void (*complete)(struct cd_cipher_request *request, void *context);
    void *context;
    int32_t status; /* CD_IN_PROGRESS while under way, then the outcome; accessed atomically */
    uint64_t implementation_private[CD_REQUEST_PRIVATE_WORDS];
};

/*
 * What a cipher implementation does. Callers are the functions below, which have checked the
 * request: keyed, length > 0 and a multiple of the block size, pointers set, overlap allowed.
 */
struct cd_cipher_ops {
    /* Prepare the zeroed context of a new transform; NULL if there is nothing to do. */
    cd_status (*init)(struct cd_cipher *cipher);
    /* Undo init; NULL if there is nothing to do. The context is wiped afterwards by the caller. */
    void (*cleanup)(struct cd_cipher *cipher);
    /* Take a key whose length is in key_sizes. */
    cd_status (*set_key)(struct cd_cipher *cipher, const uint8_t *key, size_t key_len);
    /* Run, or accept (CD_IN_PROGRESS) and complete later. */
    cd_status (*encrypt)(struct cd_cipher *cipher, struct cd_cipher_request *request);
    cd_status (*decrypt)(struct cd_cipher *cipher, struct cd_cipher_request *request);
    /* Make progress until `request` has ended or `timeout_ns` passed (CD_E_TIMEOUT, the request is
     * still under way); 0 polls. Returns CD_OK when it has ended (its status says how). NULL if
     * requests never stay in progress. */
    cd_status (*wait)(struct cd_cipher *cipher, struct cd_cipher_request *request,
                      uint64_t timeout_ns);
    /* Run those records of a batch (batch.h) whose status is CD_OK, synchronously, and set the
     * status of those that fail. NULL if they are best run as one request each. */
    void (*records)(struct cd_cipher *cipher, struct cd_cipher_record *records, size_t count,
                    bool decrypt);
    /* Encrypt packed records (batch.h), all of whole blocks and allowed to run, synchronously.
     * NULL if they are best run through `records`. */
    void (*encrypt_packed)(struct cd_cipher *cipher, const struct cd_cipher_packed *packed);
};

/*
 * Allocate a transform of the implementation that `name`, `flags` and `mask` stand for (see
 * cd_registry_find). It has no key yet. Errors: those of cd_registry_find, CD_E_NO_MEMORY, and what
 * the implementation's init reports.
 */
CD_MUST_CHECK cd_status cd_cipher_new(struct cd_cipher **out_cipher, struct cd_registry *registry,
                                      const char *name, uint32_t flags, uint32_t mask);

/* The same for an implementation at hand; retains it for the life of the transform. */
CD_MUST_CHECK cd_status cd_cipher_new_bound(struct cd_cipher **out_cipher,
                                            const struct cd_implementation *implementation);

/* Wipe and free; no request may be under way. NULL does nothing. */
void cd_cipher_free(struct cd_cipher *cipher);

/*
 * Set the key of `key_len` bytes. No request may be under way. Errors: CD_E_KEY (length),
 * CD_E_INVALID (NULL), CD_E_NO_DEVICE, and what the implementation reports; after any error the
 * transform has no key.
 */
CD_MUST_CHECK cd_status cd_cipher_set_key(struct cd_cipher *cipher, const uint8_t *key,
                                          size_t key_len);

/*
 * Start one request. CD_OK: done. CD_IN_PROGRESS: accepted, it completes later. Otherwise an error
 * and nothing under way: CD_E_NO_KEY, CD_E_LENGTH (not a multiple of the block), CD_E_OVERLAP,
 * CD_E_INVALID (NULL), CD_E_NO_DEVICE, CD_E_DEVICE, CD_E_NO_MEMORY. On an error the destination's
 * content is undefined and iv is unchanged.
 */
CD_MUST_CHECK cd_status cd_cipher_encrypt(struct cd_cipher *cipher,
                                          struct cd_cipher_request *request);
CD_MUST_CHECK cd_status cd_cipher_decrypt(struct cd_cipher *cipher,
                                          struct cd_cipher_request *request);

/* Make progress until `request` has ended, at most `timeout_ns` (CD_E_TIMEOUT; it is still under
 * way). CD_OK: it has ended, request->status says how. */
CD_MUST_CHECK cd_status cd_cipher_wait(struct cd_cipher *cipher, struct cd_cipher_request *request,
                                       uint64_t timeout_ns);

/* Start and wait without a bound of its own (devices bound every request themselves): returns the
 * final outcome, never CD_IN_PROGRESS. */
CD_MUST_CHECK cd_status cd_cipher_encrypt_wait(struct cd_cipher *cipher,
                                               struct cd_cipher_request *request);
CD_MUST_CHECK cd_status cd_cipher_decrypt_wait(struct cd_cipher *cipher,
                                               struct cd_cipher_request *request);

/* The implementation that the transform is bound to; valid as long as the transform. */
const struct cd_implementation *cd_cipher_implementation(const struct cd_cipher *cipher);

/* The implementation's own state: context_size bytes, 64-byte aligned. For implementations. */
void *cd_cipher_context(const struct cd_cipher *cipher);

/* True if a key is set. */
bool cd_cipher_has_key(const struct cd_cipher *cipher);

/* End an asynchronous request: publish `status`, then call its completion. For implementations. */
void cd_cipher_request_complete(struct cd_cipher_request *request, cd_status status);

#ifdef __cplusplus
}
#endif

#endif
