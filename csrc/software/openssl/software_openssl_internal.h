/* What the files of software/openssl/ share: the object behind the handle, and rows of the tables.
 */
#ifndef CD_SOFTWARE_OPENSSL_INTERNAL_H
#define CD_SOFTWARE_OPENSSL_INTERNAL_H

#include "crypto/md.h"
#include "cryptodispatch/openssl.h"
#include "software/openssl/software_openssl_library.h"

#define CD_OPENSSL_KEY_SIZES 3u /* of AES: 16, 24, 32 bytes */

enum cd_openssl_kind {
    CD_OPENSSL_CIPHER = 1, /* an EVP_CIPHER for each key size */
    CD_OPENSSL_DIGEST = 2, /* an EVP_MD */
    CD_OPENSSL_HMAC = 3,   /* the EVP_MAC "HMAC", and the EVP_MD to see that it is there */
};

/* One implementation as the tables describe it. */
struct cd_openssl_row {
    struct cd_implementation implementation; /* without provider, retain, release */
    enum cd_openssl_kind kind;
    const char *names[CD_OPENSSL_KEY_SIZES]; /* libcrypto's, by key size; digests have one */
    const struct cd_md_algorithm *fast;      /* hashes: for messages in pieces, the first that */
    const struct cd_md_algorithm *portable;  /* this CPU can run */
};

/* One that is registered. */
struct cd_openssl_implementation {
    struct cd_implementation public; /* first: transforms point to it */
    const struct cd_openssl_row *row;
    const struct cd_openssl_library *library;
    void *fetched[CD_OPENSSL_KEY_SIZES]; /* as `kind` says; an hmac has its EVP_MAC in [1] */
};

/* The row of a table at `index`, counted from 0; NULL behind the last. */
const struct cd_openssl_row *cd_openssl_cipher_row(size_t index);
const struct cd_openssl_row *cd_openssl_hash_row(size_t index);

#endif
