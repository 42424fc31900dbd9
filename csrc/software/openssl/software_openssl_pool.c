/* Contexts of libcrypto, kept per transform and taken per request. */
#include "software/openssl/software_openssl_pool.h"

#include <string.h>

void *cd_openssl_pool_take(struct cd_openssl_pool *pool, size_t *out_place,
                           const struct cd_openssl_library *library, cd_openssl_copy *copy) {
    size_t place = 0;
    void *context;

    while (place < CD_OPENSSL_POOL_SIZE &&
           __atomic_exchange_n(&pool->taken[place], 1, __ATOMIC_ACQUIRE) != 0) {
        place++;
    }
    *out_place = place;
    if (place == CD_OPENSSL_POOL_SIZE) {
        return copy(library, pool->prototype);
    }
    context = pool->contexts[place];
    if (context == NULL) {
        context = copy(library, pool->prototype);
        pool->contexts[place] = context;
    }
    if (context == NULL) {
        __atomic_store_n(&pool->taken[place], 0, __ATOMIC_RELEASE);
    }
    return context;
}

void cd_openssl_pool_give(struct cd_openssl_pool *pool, void *context, size_t place,
                          const struct cd_openssl_library *library, cd_openssl_drop *drop) {
    if (place == CD_OPENSSL_POOL_SIZE) {
        drop(library, context);
        return;
    }
    __atomic_store_n(&pool->taken[place], 0, __ATOMIC_RELEASE);
}

void cd_openssl_pool_clear(struct cd_openssl_pool *pool, const struct cd_openssl_library *library,
                           cd_openssl_drop *drop) {
    drop(library, pool->prototype);
    for (size_t i = 0; i < CD_OPENSSL_POOL_SIZE; i++) {
        drop(library, pool->contexts[i]);
    }
    memset(pool, 0, sizeof *pool);
}
