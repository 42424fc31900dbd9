/*
 * libcrypto as it is loaded: the functions that are used of it, and nothing else.
 *
 * No header of OpenSSL is included: the types are opaque, and the few numbers are part of its
 * stable ABI (the manual pages named beside them). So the same build runs with 3.x, with 4.x and
 * without.
 */
#ifndef CD_SOFTWARE_OPENSSL_LIBRARY_H
#define CD_SOFTWARE_OPENSSL_LIBRARY_H

#include <stddef.h>

#include "cryptodispatch/status.h"

/* OSSL_PARAM(3). */
struct cd_openssl_parameter {
    const char *key;
    unsigned data_type;
    void *data;
    size_t data_size;
    size_t return_size;
};

#define CD_OPENSSL_UTF8_STRING 4u /* OSSL_PARAM_UTF8_STRING */
#define CD_OPENSSL_VERSION 0      /* OPENSSL_VERSION, for OpenSSL_version(3) */

/* Every function: result, name, parameters. */
#define CD_OPENSSL_FUNCTIONS(X)                                                                    \
    X(unsigned, OPENSSL_version_major, (void))                                                     \
    X(const char *, OpenSSL_version, (int type))                                                   \
    X(void *, OSSL_LIB_CTX_new, (void))                                                            \
    X(void, OSSL_LIB_CTX_free, (void *context))                                                    \
    X(int, ERR_set_mark, (void))                                                                   \
    X(int, ERR_pop_to_mark, (void))                                                                \
    X(void *, EVP_CIPHER_fetch, (void *context, const char *name, const char *properties))         \
    X(void, EVP_CIPHER_free, (void *cipher))                                                       \
    X(void *, EVP_CIPHER_CTX_new, (void))                                                          \
    X(void, EVP_CIPHER_CTX_free, (void *context))                                                  \
    X(int, EVP_CIPHER_CTX_copy, (void *out, const void *in))                                       \
    X(int, EVP_CIPHER_CTX_set_padding, (void *context, int padding))                               \
    X(int, EVP_CipherInit_ex2,                                                                     \
      (void *context, const void *cipher, const unsigned char *key, const unsigned char *iv,       \
       int encrypt, const struct cd_openssl_parameter *parameters))                                \
    X(int, EVP_CipherUpdate,                                                                       \
      (void *context, unsigned char *out, int *out_len, const unsigned char *in, int in_len))      \
    X(void *, EVP_MD_fetch, (void *context, const char *name, const char *properties))             \
    X(void, EVP_MD_free, (void *digest))                                                           \
    X(void *, EVP_MD_CTX_new, (void))                                                              \
    X(void, EVP_MD_CTX_free, (void *context))                                                      \
    X(int, EVP_DigestInit_ex2,                                                                     \
      (void *context, const void *digest, const struct cd_openssl_parameter *parameters))          \
    X(int, EVP_DigestUpdate, (void *context, const void *data, size_t length))                     \
    X(int, EVP_DigestFinal_ex, (void *context, unsigned char *out, unsigned *out_len))             \
    X(void *, EVP_MAC_fetch, (void *context, const char *name, const char *properties))            \
    X(void, EVP_MAC_free, (void *mac))                                                             \
    X(void *, EVP_MAC_CTX_new, (void *mac))                                                        \
    X(void *, EVP_MAC_CTX_dup, (const void *context))                                              \
    X(void, EVP_MAC_CTX_free, (void *context))                                                     \
    X(int, EVP_MAC_init,                                                                           \
      (void *context, const unsigned char *key, size_t key_len,                                    \
       const struct cd_openssl_parameter *parameters))                                             \
    X(int, EVP_MAC_update, (void *context, const unsigned char *data, size_t length))              \
    X(int, EVP_MAC_final, (void *context, unsigned char *out, size_t *out_len, size_t out_size))

#define CD_OPENSSL_POINTER(result, name, parameters) result(*name) parameters;

struct cd_openssl_library {
    void *handle;    /* of dlopen */
    void *context;   /* an OSSL_LIB_CTX of our own: no configuration file changes what we fetch */
    char path[1024]; /* the file */
    CD_OPENSSL_FUNCTIONS(CD_OPENSSL_POINTER)
};

/* Load; `path` as in cd_openssl_new. Errors: CD_E_UNAVAILABLE, CD_E_NO_MEMORY, with the reason. */
CD_MUST_CHECK cd_status cd_openssl_library_open(struct cd_openssl_library *out_library,
                                                const char *path, struct cd_error *out_error);

/* Unload. A library that was never opened, all zeros, is left alone. */
void cd_openssl_library_close(struct cd_openssl_library *library);

#endif
