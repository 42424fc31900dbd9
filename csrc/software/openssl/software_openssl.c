/* The object behind a loaded libcrypto: what it offers is fetched once, registered, and counted. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "software/openssl/software_openssl_internal.h"

#define IMPLEMENTATIONS_MAX 16u

struct cd_openssl {
    struct cd_openssl_library library;
    struct cd_registry *registry;
    uint32_t users; /* the owner and the transforms; accessed atomically */
    size_t count;
    struct cd_openssl_implementation implementations[IMPLEMENTATIONS_MAX];
};

static void unfetch(const struct cd_openssl_implementation *implementation) {
    const struct cd_openssl_library *library = implementation->library;

    for (size_t i = 0; i < CD_OPENSSL_KEY_SIZES; i++) {
        if (implementation->fetched[i] == NULL) {
            continue;
        }
        if (implementation->row->kind == CD_OPENSSL_CIPHER) {
            library->EVP_CIPHER_free(implementation->fetched[i]);
        } else if (i == 0) {
            library->EVP_MD_free(implementation->fetched[i]);
        } else {
            library->EVP_MAC_free(implementation->fetched[i]);
        }
    }
}

/* False if this libcrypto lacks a part of it; the error that libcrypto then notes is taken back,
 * for its list of errors may be shared with others in this thread. */
static bool fetch(struct cd_openssl_implementation *implementation) {
    const struct cd_openssl_library *library = implementation->library;
    const struct cd_openssl_row *row = implementation->row;
    bool complete = true;

    (void)library->ERR_set_mark();
    for (size_t i = 0; i < CD_OPENSSL_KEY_SIZES && row->names[i] != NULL; i++) {
        implementation->fetched[i] =
            row->kind == CD_OPENSSL_CIPHER
                ? library->EVP_CIPHER_fetch(library->context, row->names[i], NULL)
                : library->EVP_MD_fetch(library->context, row->names[i], NULL);
        complete = complete && implementation->fetched[i] != NULL;
    }
    if (row->kind == CD_OPENSSL_HMAC) {
        implementation->fetched[1] = library->EVP_MAC_fetch(library->context, "HMAC", NULL);
        complete = complete && implementation->fetched[1] != NULL;
    }
    (void)library->ERR_pop_to_mark();
    return complete;
}

static void retain(void *provider) {
    struct cd_openssl *openssl = provider;

    __atomic_add_fetch(&openssl->users, 1, __ATOMIC_RELAXED);
}

static void release(void *provider) {
    struct cd_openssl *openssl = provider;

    if (__atomic_sub_fetch(&openssl->users, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    for (size_t i = 0; i < openssl->count; i++) {
        unfetch(&openssl->implementations[i]);
    }
    cd_openssl_library_close(&openssl->library);
    free(openssl);
}

static void unregister(struct cd_openssl *openssl) {
    for (size_t i = openssl->count; i-- > 0;) {
        cd_registry_remove(openssl->registry, &openssl->implementations[i].public);
    }
}

static cd_status add(struct cd_openssl *openssl, const struct cd_openssl_row *row,
                     struct cd_error *out_error) {
    struct cd_openssl_implementation *implementation = &openssl->implementations[openssl->count];
    cd_status status;

    if (openssl->count == IMPLEMENTATIONS_MAX) {
        return cd_error_set(CD_E_INVALID, out_error, "libcrypto: more rows than there is room for");
    }
    *implementation = (struct cd_openssl_implementation){
        .public = row->implementation, .row = row, .library = &openssl->library};
    implementation->public.provider = openssl;
    implementation->public.retain = retain;
    implementation->public.release = release;
    if (!fetch(implementation)) {
        unfetch(implementation);
        return CD_OK;
    }
    status = cd_registry_add(openssl->registry, &implementation->public, out_error);
    if (status != CD_OK) {
        unfetch(implementation);
        return status;
    }
    openssl->count++;
    return CD_OK;
}

static cd_status add_all(struct cd_openssl *openssl, struct cd_error *out_error) {
    const struct cd_openssl_row *row;
    cd_status status = CD_OK;

    for (size_t i = 0; status == CD_OK && (row = cd_openssl_cipher_row(i)) != NULL; i++) {
        status = add(openssl, row, out_error);
    }
    for (size_t i = 0; status == CD_OK && (row = cd_openssl_hash_row(i)) != NULL; i++) {
        status = add(openssl, row, out_error);
    }
    if (status == CD_OK && openssl->count == 0) {
        status = cd_error_set(CD_E_UNAVAILABLE, out_error, "libcrypto %.180s offers no algorithm",
                              openssl->library.path);
    }
    return status;
}

cd_status cd_openssl_new(struct cd_openssl **out_openssl, struct cd_registry *registry,
                         const char *path, struct cd_error *out_error) {
    struct cd_openssl *openssl = calloc(1, sizeof *openssl);
    cd_status status;

    if (openssl == NULL) {
        return cd_error_set(CD_E_NO_MEMORY, out_error, "libcrypto: out of memory");
    }
    openssl->registry = registry;
    openssl->users = 1;
    status = cd_openssl_library_open(&openssl->library, path, out_error);
    if (status == CD_OK) {
        status = add_all(openssl, out_error);
    }
    if (status != CD_OK) {
        cd_openssl_free(openssl);
        return status;
    }
    *out_openssl = openssl;
    return CD_OK;
}

void cd_openssl_free(struct cd_openssl *openssl) {
    if (openssl == NULL) {
        return;
    }
    unregister(openssl);
    release(openssl);
}

const char *cd_openssl_version(const struct cd_openssl *openssl) {
    return openssl->library.OpenSSL_version(CD_OPENSSL_VERSION);
}

const char *cd_openssl_path(const struct cd_openssl *openssl) {
    return openssl->library.path;
}
