/*
 * What an implementation of an algorithm is: names, limits and functions, as data.
 *
 * Names follow the Linux Crypto API: the algorithm is `cbc(aes)`, its implementations are
 * `cbc(aes-lib)`, `cbc(aes-ni)`, `cbc(aes-eip93)`, `fallback(cbc(aes-eip93))`.
 */
#ifndef CD_ALGORITHM_H
#define CD_ALGORITHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cryptodispatch/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum cd_type {
    CD_TYPE_CIPHER = 1, /* skcipher: text in, text of the same length out */
    CD_TYPE_HASH = 2,   /* ahash */
    CD_TYPE_AEAD = 3,   /* aead */
};

/* Name of a type ("cipher", "hash", "aead"); NULL for any other number. */
const char *cd_type_name(int type);

enum cd_flag {
    CD_FLAG_ASYNC = 1 << 0,         /* requests may complete later */
    CD_FLAG_NEED_FALLBACK = 1 << 1, /* leans on another implementation of the same algorithm */
    CD_FLAG_MODELLED = 1 << 2,      /* the CPU of a simulated machine: costs virtual time */
    CD_FLAG_PROXY = 1 << 3,         /* dispatches to two other implementations */
};

#define CD_NAME_MAX 96 /* bytes of an algorithm or driver name, with the terminator */

/* A set of key sizes: bit n stands for a key of n bytes, n = 1..63. */
#define CD_KEY_SIZE(bytes) ((uint64_t)1 << (bytes))
#define CD_KEY_ANY UINT64_MAX /* any size, also beyond 63: hmac */

struct cd_cipher_ops;
struct cd_hash_ops;
struct cd_aead_ops;

/*
 * One implementation. Software ones are constant data; a driver or a fallback makes its own and
 * counts who uses them through retain and release.
 */
struct cd_implementation {
    const char *algorithm; /* generic name */
    const char *driver;    /* unique in a registry */
    enum cd_type type;
    uint32_t flags;        /* enum cd_flag */
    int32_t priority;      /* asked for by algorithm name, the highest available one is bound */
    uint32_t cpu;          /* enum cd_cpu_feature bits it needs, all of them */
    uint32_t block_size;   /* texts are multiples of it, bytes; 1 for a stream mode */
    uint32_t iv_size;      /* bytes, 0..16 */
    uint32_t chunk_size;   /* texts that are not the last of a message are multiples of it, bytes */
    uint32_t alignment;    /* preferred alignment of buffers, bytes; any alignment works */
    uint32_t digest_size;  /* bytes; hash only */
    uint32_t max_tag_size; /* bytes; aead only */
    uint64_t key_sizes;    /* CD_KEY_SIZE bits; 0: takes no key */
    size_t
        context_size; /* bytes of state per transform: zeroed, 64-byte aligned, wiped at the end */
    const struct cd_cipher_ops *cipher; /* exactly for CD_TYPE_CIPHER */
    const struct cd_hash_ops *hash;     /* exactly for CD_TYPE_HASH */
    const struct cd_aead_ops *aead;     /* exactly for CD_TYPE_AEAD */
    void *provider;                     /* who made it; NULL for constant data */
    void (*retain)(void *provider);     /* one more user; NULL for constant data */
    void (*release)(void *provider);    /* one user less; may free the provider */
};

/* True if this CPU (as narrowed) has everything the implementation needs. */
bool cd_implementation_available(const struct cd_implementation *implementation);

/*
 * Say why an implementation is not available ("needs aesni, avx2"): writes at most `out_len` bytes
 * with the terminator. Writes "" if it is available.
 */
void cd_implementation_reason(const struct cd_implementation *implementation, char *out,
                              size_t out_len);

#ifdef __cplusplus
}
#endif

#endif
