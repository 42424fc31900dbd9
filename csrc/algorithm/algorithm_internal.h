/* What the files of algorithm/ share: the transform behind the opaque handles. */
#ifndef CD_ALGORITHM_INTERNAL_H
#define CD_ALGORITHM_INTERNAL_H

#include "algorithm/algorithm_batch.h"

/* Header of every transform; the implementation's context lies behind it, 64-byte aligned. */
struct cd_transform {
    _Alignas(64) const struct cd_implementation *implementation;
    uint32_t block_mask; /* block_size - 1 */
    uint32_t tag_size;   /* aead only */
    bool keyed;
};

struct cd_cipher {
    struct cd_transform base;
    const struct cd_cipher_ops *ops; /* one load nearer to the request path */
};

struct cd_hash {
    struct cd_transform base;
    const struct cd_hash_ops *ops;
};

struct cd_aead {
    struct cd_transform base;
    const struct cd_aead_ops *ops;
};

_Static_assert(sizeof(struct cd_cipher) == 128, "the context starts 128 bytes behind the header");
_Static_assert(sizeof(struct cd_hash) == 128 && sizeof(struct cd_aead) == 128, "for every type");
#define CD_TRANSFORM_HEADER 128u

/* Longest key of an hmac; far above any use, it keeps set_key from hashing gigabytes. */
#define CD_AUTH_KEY_MAX ((size_t)1 << 20)

/* 2^61 bytes are 2^64 bits, the limit of the length field of all four hashes (FIPS 180-4, 5.1.1).
 */
#define CD_MESSAGE_MAX (((uint64_t)1 << 61) - 1)

/* How long one look for progress lasts when the caller gave no bound; any value works. */
#define CD_WAIT_SLICE_NS 1000000000u

/* Zeroed memory for a transform of `type`. CD_E_INVALID for another type, CD_E_UNAVAILABLE,
 * CD_E_NO_MEMORY. The implementation is not retained yet. */
cd_status cd_transform_allocate(struct cd_transform **out_transform,
                                const struct cd_implementation *implementation, enum cd_type type);

/* Wipe and free the memory alone. */
void cd_transform_wipe_free(struct cd_transform *transform);

static inline bool cd_key_size_is_allowed(const struct cd_implementation *implementation,
                                          size_t key_len) {
    if (implementation->key_sizes == CD_KEY_ANY) {
        return key_len <= CD_AUTH_KEY_MAX;
    }
    return key_len < 64 && (implementation->key_sizes & CD_KEY_SIZE(key_len)) != 0;
}

/* True if two buffers of `length` bytes share bytes without being the same. */
static inline bool cd_overlaps(const uint8_t *a, const uint8_t *b, size_t length) {
    uintptr_t distance = a > b ? (uintptr_t)a - (uintptr_t)b : (uintptr_t)b - (uintptr_t)a;
    return distance != 0 && distance < length;
}

/* A request's status is read by waiters in other threads. */
static inline void cd_status_store(int32_t *out_status, cd_status status) {
    __atomic_store_n(out_status, (int32_t)status, __ATOMIC_RELEASE);
}

static inline cd_status cd_status_load(const int32_t *status) {
    return (cd_status)__atomic_load_n(status, __ATOMIC_ACQUIRE);
}

/* Record what an implementation returned at submission; after CD_IN_PROGRESS the request may be
 * gone. */
static inline cd_status cd_status_returned(int32_t *out_status, cd_status status) {
    if (status != CD_IN_PROGRESS) {
        __atomic_store_n(out_status, (int32_t)status, __ATOMIC_RELAXED);
    }
    return status;
}

#endif
