/*
 * The system's libcrypto (OpenSSL 3 or 4) as a source of software implementations, loaded at run
 * time: `cbc(aes-openssl)`, `sha256-openssl`, ...
 *
 * Nothing is linked against it, and a system without it loses nothing but these implementations.
 * Requests work in contexts that each transform keeps, so that this library allocates nothing for
 * up to eight requests of a transform at a time, once each context has been used; libcrypto itself
 * may allocate inside, as it does for every HMAC in many versions.
 *
 * Functions: any thread.
 */
#ifndef CD_OPENSSL_H
#define CD_OPENSSL_H

#include "cryptodispatch/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cd_openssl; /* a loaded libcrypto and the implementations made from it */

/*
 * Load libcrypto and register what it offers: ecb, cbc, ctr and rfc3686 of aes, ecb and cbc of
 * des3_ede, md5, sha1, sha224, sha256 and their hmacs. What this libcrypto does not have (by its
 * configuration) is left out; single DES always, it needs a provider that is not loaded.
 *
 * `path`: NULL loads libcrypto.so.4 or libcrypto.so.3 by these names, wherever the system's loader
 * finds them; otherwise this file. `registry` must outlive the object.
 *
 * A message in pieces is hashed by this library's own compression functions, not by libcrypto,
 * whose contexts cannot be exported: an exported state fits every implementation (hash.h).
 *
 * Errors, with the reason in `out_error`: CD_E_UNAVAILABLE (there is no such library, it is not
 * version 3 or 4, lacks a function, or is a copy that belongs to a Python package);
 * CD_E_NO_MEMORY; those of cd_registry_add. After an error nothing is registered.
 */
CD_MUST_CHECK cd_status cd_openssl_new(struct cd_openssl **out_openssl,
                                       struct cd_registry *registry, const char *path,
                                       struct cd_error *out_error);

/* Unregister and drop the caller's hold. Transforms live on; libcrypto is unloaded with the last
 * of them. NULL does nothing. */
void cd_openssl_free(struct cd_openssl *openssl);

/* What libcrypto calls itself ("OpenSSL 3.0.19 27 Jan 2026"); valid as long as the object. */
const char *cd_openssl_version(const struct cd_openssl *openssl);

/* The file that it was loaded from; valid as long as the object. */
const char *cd_openssl_path(const struct cd_openssl *openssl);

#ifdef __cplusplus
}
#endif

#endif
