/*
 * Contexts of libcrypto for the requests of one transform.
 *
 * A context of libcrypto is one caller's at a time, a transform is several threads'. So a transform
 * keeps a prototype, which is only ever copied, and eight places for copies: a request takes a free
 * place with one atomic exchange and makes the copy if that place has none yet. A request that
 * finds all eight taken works with a copy of its own.
 */
#ifndef CD_SOFTWARE_OPENSSL_POOL_H
#define CD_SOFTWARE_OPENSSL_POOL_H

#include "software/openssl/software_openssl_library.h"

#define CD_OPENSSL_POOL_SIZE 8u

/* Make a context like `prototype`; NULL: no memory. */
typedef void *cd_openssl_copy(const struct cd_openssl_library *library, const void *prototype);
/* Wipe and free one; NULL does nothing. */
typedef void cd_openssl_drop(const struct cd_openssl_library *library, void *context);

struct cd_openssl_pool {
    void *prototype; /* NULL: none yet, or contexts need none */
    void *contexts[CD_OPENSSL_POOL_SIZE];
    unsigned char taken[CD_OPENSSL_POOL_SIZE]; /* accessed atomically; guards the context beside */
};

/* Take a context; `out_place` is for giving it back. NULL: no memory. */
void *cd_openssl_pool_take(struct cd_openssl_pool *pool, size_t *out_place,
                           const struct cd_openssl_library *library, cd_openssl_copy *copy);

void cd_openssl_pool_give(struct cd_openssl_pool *pool, void *context, size_t place,
                          const struct cd_openssl_library *library, cd_openssl_drop *drop);

/* Drop prototype and contexts; no request may be under way. */
void cd_openssl_pool_clear(struct cd_openssl_pool *pool, const struct cd_openssl_library *library,
                           cd_openssl_drop *drop);

#endif
