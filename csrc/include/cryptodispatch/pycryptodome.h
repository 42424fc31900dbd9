/*
 * An installed PyCryptodome as a source of software implementations, through the C functions of its
 * compiled modules: `ecb(aes-pycryptodome)`, `cbc(aes-pycryptodome)`, `ctr(aes-pycryptodome)`.
 *
 * No Python is involved, and nothing is loaded before the caller asks. It is here for comparison:
 * PyCryptodome sets an IV only when it makes a state, key schedule included, so that every request
 * of cbc and ctr allocates and expands the key, as in its Python interface.
 *
 * Functions: any thread.
 */
#ifndef CD_PYCRYPTODOME_H
#define CD_PYCRYPTODOME_H

#include "cryptodispatch/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cd_pycryptodome; /* loaded modules and the implementations made from them */

/*
 * Load the modules in `folder` (the package's `Cipher`) and register the modes of AES. AES
 * instructions are used if PyCryptodome has code for them and this CPU (as narrowed now) has them.
 * `registry` must outlive the object.
 *
 * Errors, with the reason in `out_error`: CD_E_UNAVAILABLE (a module or a function is not there);
 * CD_E_NO_MEMORY; those of cd_registry_add. After an error nothing is registered.
 */
CD_MUST_CHECK cd_status cd_pycryptodome_new(struct cd_pycryptodome **out_pycryptodome,
                                            struct cd_registry *registry, const char *folder,
                                            struct cd_error *out_error);

/* Unregister and drop the caller's hold. Transforms live on; the modules are unloaded with the last
 * of them. NULL does nothing. */
void cd_pycryptodome_free(struct cd_pycryptodome *pycryptodome);

#ifdef __cplusplus
}
#endif

#endif
