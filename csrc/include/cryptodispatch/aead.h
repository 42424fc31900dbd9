/*
 * Authenticated encryption: authenc(hmac(H),cipher), encrypt-then-MAC over AAD, then ciphertext.
 *
 * As in the Linux authenc template the IV is authenticated only if the caller puts it into the AAD.
 * Threads: as cipher.h. A decryption gives out plaintext only after the tag was found right.
 */
#ifndef CD_AEAD_H
#define CD_AEAD_H

#include "cryptodispatch/cipher.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CD_TAG_MAX 32
#define CD_AEAD_REQUEST_PRIVATE_WORDS 32

struct cd_aead;        /* a transform */
struct cd_aead_record; /* batch.h */

/* One operation: caller-owned, untouched between submission and completion. */
struct cd_aead_request {
    const uint8_t *source; /* `length` bytes of text, without the tag */
    uint8_t *destination;  /* `length` bytes: source itself or not overlapping it */
    size_t length;         /* bytes; a multiple of the block size; 0 is allowed and authenticates */
    const uint8_t *aad;    /* `aad_len` bytes; not overlapping the destination */
    size_t aad_len;        /* bytes, any */
    uint8_t *tag; /* tag_size bytes: written by encrypt, read by decrypt; outside the others */
    uint8_t iv[CD_IV_MAX]; /* in: the IV, first iv_size bytes; unchanged */
    void (*complete)(struct cd_aead_request *request, void *context); /* as in cd_cipher_request */
    void *context;
    int32_t status;
    uint64_t implementation_private[CD_AEAD_REQUEST_PRIVATE_WORDS];
};

/* Called by the functions below, which have checked key, tag size, lengths, pointers and overlap.
 */
struct cd_aead_ops {
    cd_status (*init)(struct cd_aead *aead);
    void (*cleanup)(struct cd_aead *aead);
    cd_status (*set_key)(struct cd_aead *aead, const uint8_t *key, size_t key_len,
                         const uint8_t *auth_key, size_t auth_key_len);
    cd_status (*set_tag_size)(struct cd_aead *aead, uint32_t tag_size); /* NULL: nothing to do */
    cd_status (*encrypt)(struct cd_aead *aead, struct cd_aead_request *request);
    cd_status (*decrypt)(struct cd_aead *aead, struct cd_aead_request *request);
    cd_status (*wait)(struct cd_aead *aead, struct cd_aead_request *request, uint64_t timeout_ns);
    /* As of struct cd_cipher_ops; NULL if a batch is best run as one request each. */
    void (*records)(struct cd_aead *aead, struct cd_aead_record *records, size_t count,
                    bool decrypt);
};

/* Allocate a transform, as cd_cipher_new; its tag size is the largest one. */
CD_MUST_CHECK cd_status cd_aead_new(struct cd_aead **out_aead, struct cd_registry *registry,
                                    const char *name, uint32_t flags, uint32_t mask);
/* The same for an implementation at hand; retains it for the life of the transform. */
CD_MUST_CHECK cd_status cd_aead_new_bound(struct cd_aead **out_aead,
                                          const struct cd_implementation *implementation);
/* Wipe and free; no request may be under way. NULL does nothing. */
void cd_aead_free(struct cd_aead *aead);

/* Set the cipher's key (a size in key_sizes, else CD_E_KEY) and the authentication key (any length
 * up to 2^20 bytes). After any error the transform has no key. */
CD_MUST_CHECK cd_status cd_aead_set_key(struct cd_aead *aead, const uint8_t *key, size_t key_len,
                                        const uint8_t *auth_key, size_t auth_key_len);

/* Set the bytes of the tag: 1 .. max_tag_size, else CD_E_RANGE. */
CD_MUST_CHECK cd_status cd_aead_set_tag_size(struct cd_aead *aead, uint32_t tag_size);

/*
 * Start one request; returns as cd_cipher_encrypt. A decryption ends with CD_E_AUTHENTICATION if
 * the tag does not match (compared in constant time); the destination then holds no plaintext. In
 * place the ciphertext is kept or wiped, as documented by the implementation.
 */
CD_MUST_CHECK cd_status cd_aead_encrypt(struct cd_aead *aead, struct cd_aead_request *request);
CD_MUST_CHECK cd_status cd_aead_decrypt(struct cd_aead *aead, struct cd_aead_request *request);
CD_MUST_CHECK cd_status cd_aead_wait(struct cd_aead *aead, struct cd_aead_request *request,
                                     uint64_t timeout_ns);
CD_MUST_CHECK cd_status cd_aead_encrypt_wait(struct cd_aead *aead, struct cd_aead_request *request);
CD_MUST_CHECK cd_status cd_aead_decrypt_wait(struct cd_aead *aead, struct cd_aead_request *request);

/* The implementation that the transform is bound to; valid as long as the transform. */
const struct cd_implementation *cd_aead_implementation(const struct cd_aead *aead);
/* The implementation's own state: context_size bytes, 64-byte aligned. For implementations. */
void *cd_aead_context(const struct cd_aead *aead);
/* True if a key is set. */
bool cd_aead_has_key(const struct cd_aead *aead);
/* Bytes of the tag. */
uint32_t cd_aead_tag_size(const struct cd_aead *aead);

/* End an asynchronous request, as cd_cipher_request_complete. For implementations. */
void cd_aead_request_complete(struct cd_aead_request *request, cd_status status);

#ifdef __cplusplus
}
#endif

#endif
