/*
 * PyCryptodome's AES as cipher implementations.
 *
 * ecb keeps one state per transform: it has no IV and does not change, so threads share it. A state
 * of cbc or ctr belongs to one message, so each request makes one from the key, runs, and ends it.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/secure.h"
#include "crypto/aes.h"
#include "cryptodispatch/cipher.h"
#include "cryptodispatch/pycryptodome.h"
#include "software/pycryptodome/software_pycryptodome_library.h"

#define KEY_MAX 32u /* bytes */
#define IMPLEMENTATIONS 3u

struct cd_pycryptodome {
    struct cd_pycryptodome_library library;
    struct cd_registry *registry;
    uint32_t users; /* the owner and the transforms; accessed atomically */
    size_t count;
    struct cd_implementation implementations[IMPLEMENTATIONS];
};

struct pycryptodome_context {
    const struct cd_pycryptodome_library *library;
    void *ecb; /* ecb only */
    uint8_t key[KEY_MAX];
    size_t key_len;
};

static cd_status status_of(int result) {
    if (result == 0) {
        return CD_OK;
    }
    return result == CD_PYCRYPTODOME_NO_MEMORY ? CD_E_NO_MEMORY : CD_E_UNSUPPORTED;
}

static cd_status init(struct cd_cipher *cipher) {
    struct pycryptodome_context *context = cd_cipher_context(cipher);
    const struct cd_pycryptodome *provider = cd_cipher_implementation(cipher)->provider;

    context->library = &provider->library;
    return CD_OK;
}

/* ---- ecb ---- */

static void ecb_cleanup(struct cd_cipher *cipher) {
    struct pycryptodome_context *context = cd_cipher_context(cipher);

    if (context->ecb != NULL) {
        (void)context->library->ecb_stop(context->ecb);
        context->ecb = NULL;
    }
}

static cd_status ecb_set_key(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    struct pycryptodome_context *context = cd_cipher_context(cipher);
    void *aes;
    int result;

    ecb_cleanup(cipher);
    result = context->library->aes_start(key, key_len, &aes);
    if (result == 0) {
        result = context->library->ecb_start(aes, &context->ecb);
        if (result != 0) {
            (void)context->library->aes_stop(aes);
            context->ecb = NULL;
        }
    }
    return status_of(result);
}

static cd_status ecb_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct pycryptodome_context *context = cd_cipher_context(cipher);

    return status_of(context->library->ecb_encrypt(context->ecb, request->source,
                                                   request->destination, request->length));
}

static cd_status ecb_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct pycryptodome_context *context = cd_cipher_context(cipher);

    return status_of(context->library->ecb_decrypt(context->ecb, request->source,
                                                   request->destination, request->length));
}

/* ---- cbc, ctr ---- */

static cd_status keep_key(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    struct pycryptodome_context *context = cd_cipher_context(cipher);

    cd_wipe(context->key, sizeof context->key);
    memcpy(context->key, key, key_len);
    context->key_len = key_len;
    return CD_OK;
}

/* Make the state of one message, run it, end it. */
static cd_status run(const struct pycryptodome_context *context,
                     const struct cd_cipher_request *request, cd_pycryptodome_crypt *crypt,
                     bool counter) {
    const struct cd_pycryptodome_library *library = context->library;
    uint8_t iv[CD_AES_BLOCK];
    void *aes, *state;
    int result = library->aes_start(context->key, context->key_len, &aes);

    if (result != 0) {
        return status_of(result);
    }
    memcpy(iv, request->iv, sizeof iv);
    result = counter ? library->ctr_start(aes, iv, sizeof iv, 0, sizeof iv, 0, &state)
                     : library->cbc_start(aes, iv, sizeof iv, &state);
    if (result != 0) {
        (void)library->aes_stop(aes);
        return status_of(result);
    }
    result = crypt(state, request->source, request->destination, request->length);
    (void)(counter ? library->ctr_stop : library->cbc_stop)(state);
    return status_of(result);
}

static cd_status cbc_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct pycryptodome_context *context = cd_cipher_context(cipher);
    cd_status status = run(context, request, context->library->cbc_encrypt, false);

    if (status == CD_OK) {
        memcpy(request->iv, request->destination + request->length - CD_AES_BLOCK, CD_AES_BLOCK);
    }
    return status;
}

static cd_status cbc_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct pycryptodome_context *context = cd_cipher_context(cipher);
    uint8_t next[CD_AES_BLOCK];
    cd_status status;

    /* Saved first: in place, decrypting overwrites it. */
    memcpy(next, request->source + request->length - CD_AES_BLOCK, CD_AES_BLOCK);
    status = run(context, request, context->library->cbc_decrypt, false);
    if (status == CD_OK) {
        memcpy(request->iv, next, CD_AES_BLOCK);
    }
    return status;
}

/* Both directions. */
static cd_status ctr_crypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    const struct pycryptodome_context *context = cd_cipher_context(cipher);
    uint64_t blocks =
        (uint64_t)request->length / CD_AES_BLOCK + (request->length % CD_AES_BLOCK != 0 ? 1 : 0);
    cd_status status = run(context, request, context->library->ctr_encrypt, true);

    if (status == CD_OK) {
        cd_aes_counter_add(request->iv, blocks);
    }
    return status;
}

static const struct cd_cipher_ops ecb_ops = {
    .init = init,
    .cleanup = ecb_cleanup,
    .set_key = ecb_set_key,
    .encrypt = ecb_encrypt,
    .decrypt = ecb_decrypt,
};

static const struct cd_cipher_ops cbc_ops = {
    .init = init,
    .set_key = keep_key,
    .encrypt = cbc_encrypt,
    .decrypt = cbc_decrypt,
};

static const struct cd_cipher_ops ctr_ops = {
    .init = init,
    .set_key = keep_key,
    .encrypt = ctr_crypt,
    .decrypt = ctr_crypt,
};

/* ---- the object ---- */

static void retain(void *provider) {
    struct cd_pycryptodome *pycryptodome = provider;

    __atomic_add_fetch(&pycryptodome->users, 1, __ATOMIC_RELAXED);
}

static void release(void *provider) {
    struct cd_pycryptodome *pycryptodome = provider;

    if (__atomic_sub_fetch(&pycryptodome->users, 1, __ATOMIC_ACQ_REL) == 0) {
        cd_pycryptodome_library_close(&pycryptodome->library);
        free(pycryptodome);
    }
}

/* Below the portable code: for comparison, and never bound by algorithm name. */
#define PRIORITY 40

static const struct {
    const char *algorithm, *driver;
    uint32_t block_size, iv_size;
    const struct cd_cipher_ops *ops;
} rows[IMPLEMENTATIONS] = {
    {"ecb(aes)", "ecb(aes-pycryptodome)", CD_AES_BLOCK, 0, &ecb_ops},
    {"cbc(aes)", "cbc(aes-pycryptodome)", CD_AES_BLOCK, CD_AES_BLOCK, &cbc_ops},
    {"ctr(aes)", "ctr(aes-pycryptodome)", 1, CD_AES_BLOCK, &ctr_ops},
};

static cd_status add_all(struct cd_pycryptodome *pycryptodome, struct cd_error *out_error) {
    for (size_t i = 0; i < IMPLEMENTATIONS; i++) {
        struct cd_implementation *implementation = &pycryptodome->implementations[i];
        cd_status status;

        *implementation = (struct cd_implementation){
            .algorithm = rows[i].algorithm,
            .driver = rows[i].driver,
            .type = CD_TYPE_CIPHER,
            .priority = PRIORITY,
            .block_size = rows[i].block_size,
            .iv_size = rows[i].iv_size,
            .chunk_size = CD_AES_BLOCK,
            .alignment = 1,
            .key_sizes = CD_KEY_SIZE(16) | CD_KEY_SIZE(24) | CD_KEY_SIZE(32),
            .context_size = sizeof(struct pycryptodome_context),
            .cipher = rows[i].ops,
            .provider = pycryptodome,
            .retain = retain,
            .release = release,
        };
        status = cd_registry_add(pycryptodome->registry, implementation, out_error);
        if (status != CD_OK) {
            return status;
        }
        pycryptodome->count++;
    }
    return CD_OK;
}

cd_status cd_pycryptodome_new(struct cd_pycryptodome **out_pycryptodome,
                              struct cd_registry *registry, const char *folder,
                              struct cd_error *out_error) {
    struct cd_pycryptodome *pycryptodome = calloc(1, sizeof *pycryptodome);
    cd_status status;

    if (pycryptodome == NULL) {
        return cd_error_set(CD_E_NO_MEMORY, out_error, "PyCryptodome: out of memory");
    }
    pycryptodome->registry = registry;
    pycryptodome->users = 1;
    status = cd_pycryptodome_library_open(&pycryptodome->library, folder, out_error);
    if (status == CD_OK) {
        status = add_all(pycryptodome, out_error);
    }
    if (status != CD_OK) {
        cd_pycryptodome_free(pycryptodome);
        return status;
    }
    *out_pycryptodome = pycryptodome;
    return CD_OK;
}

void cd_pycryptodome_free(struct cd_pycryptodome *pycryptodome) {
    if (pycryptodome == NULL) {
        return;
    }
    while (pycryptodome->count > 0) {
        pycryptodome->count--;
        cd_registry_remove(pycryptodome->registry,
                           &pycryptodome->implementations[pycryptodome->count]);
    }
    release(pycryptodome);
}
