/* The functions that are used of PyCryptodome's compiled modules. Results are 0 or an error. */
#ifndef CD_SOFTWARE_PYCRYPTODOME_LIBRARY_H
#define CD_SOFTWARE_PYCRYPTODOME_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include "cryptodispatch/status.h"

#define CD_PYCRYPTODOME_NO_MEMORY 2 /* ERR_MEMORY in its errors.h */

typedef int cd_pycryptodome_crypt(void *state, const uint8_t *in, uint8_t *out, size_t length);
typedef int cd_pycryptodome_stop(void *state);

enum cd_pycryptodome_module {
    CD_PYCRYPTODOME_AES = 0,
    CD_PYCRYPTODOME_ECB = 1,
    CD_PYCRYPTODOME_CBC = 2,
    CD_PYCRYPTODOME_CTR = 3,
    CD_PYCRYPTODOME_MODULES = 4,
};

struct cd_pycryptodome_library {
    void *handles[CD_PYCRYPTODOME_MODULES]; /* of dlopen */
    int (*aes_start)(const uint8_t *key, size_t key_len, void **out_cipher);
    cd_pycryptodome_stop *aes_stop;
    /* A mode's state takes the cipher over when its start succeeds, and its stop ends both. */
    int (*ecb_start)(void *cipher, void **out_state);
    cd_pycryptodome_crypt *ecb_encrypt, *ecb_decrypt;
    cd_pycryptodome_stop *ecb_stop;
    int (*cbc_start)(void *cipher, const uint8_t *iv, size_t iv_len, void **out_state);
    cd_pycryptodome_crypt *cbc_encrypt, *cbc_decrypt;
    cd_pycryptodome_stop *cbc_stop;
    int (*ctr_start)(void *cipher, uint8_t *counter, size_t counter_block_len, size_t prefix_len,
                     unsigned counter_len, unsigned little_endian, void **out_state);
    cd_pycryptodome_crypt *ctr_encrypt;
    cd_pycryptodome_stop *ctr_stop;
};

/* Load; `folder` as in cd_pycryptodome_new. Errors: CD_E_UNAVAILABLE, with the reason. */
CD_MUST_CHECK cd_status cd_pycryptodome_library_open(struct cd_pycryptodome_library *out_library,
                                                     const char *folder,
                                                     struct cd_error *out_error);

/* Unload what is loaded. */
void cd_pycryptodome_library_close(struct cd_pycryptodome_library *library);

#endif
