/* Loading libcrypto: by fixed names, with fixed functions, of a version that is known to fit. */
#include "software/openssl/software_openssl_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const char *const names[] = {"libcrypto.so.4", "libcrypto.so.3"};

#define MAJOR_MIN 3u
#define MAJOR_MAX 4u

#define FUNCTION_ROW(result, name, parameters) {#name, offsetof(struct cd_openssl_library, name)},

static const struct {
    const char *name;
    size_t offset; /* of its pointer */
} functions[] = {CD_OPENSSL_FUNCTIONS(FUNCTION_ROW)};

/* The library's own words for the last failure. */
static const char *loader_reason(void) {
    const char *text = dlerror();

    return text != NULL ? text : "no reason was given";
}

static cd_status open_handle(struct cd_openssl_library *library, const char *path,
                             struct cd_error *out_error) {
    if (path != NULL) {
        library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        return library->handle != NULL
                   ? CD_OK
                   : cd_error_set(CD_E_UNAVAILABLE, out_error, "libcrypto cannot be loaded: %.200s",
                                  loader_reason());
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0] && library->handle == NULL; i++) {
        library->handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    }
    return library->handle != NULL
               ? CD_OK
               : cd_error_set(CD_E_UNAVAILABLE, out_error,
                              "libcrypto cannot be loaded: neither %s nor %s (%.150s)", names[0],
                              names[1], loader_reason());
}

/* ISO C has no conversion from an object pointer to one to a function; POSIX says that the bytes
 * fit (dlsym). */
static cd_status find_functions(struct cd_openssl_library *library, struct cd_error *out_error) {
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *address = dlsym(library->handle, functions[i].name);

        if (address == NULL) {
            return cd_error_set(CD_E_UNAVAILABLE, out_error,
                                "libcrypto has no function %s: it is not OpenSSL 3 or 4",
                                functions[i].name);
        }
        memcpy((uint8_t *)library + functions[i].offset, &address, sizeof address);
    }
    return CD_OK;
}

/* True if a folder on the path says that a Python package brought the library along. */
static bool belongs_to_a_package(const char *path) {
    static const char *const folders[] = {"/site-packages/", "/dist-packages/", "/cryptography/",
                                          "/cryptography.libs/"};

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        if (strstr(path, folders[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* A library of the same name may be in the process already, and then it is what dlopen returns:
 * look where the functions really come from. */
static cd_status check_origin(struct cd_openssl_library *library, struct cd_error *out_error) {
    char resolved[PATH_MAX];
    const char *file;
    void *address;
    Dl_info info;

    memcpy(&address, &library->OPENSSL_version_major, sizeof address);
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL) {
        return cd_error_set(CD_E_UNAVAILABLE, out_error,
                            "libcrypto was loaded from a place that cannot be told");
    }
    file = realpath(info.dli_fname, resolved) != NULL ? resolved : info.dli_fname;
    snprintf(library->path, sizeof library->path, "%s", info.dli_fname);
    if (belongs_to_a_package(info.dli_fname) || belongs_to_a_package(file)) {
        return cd_error_set(CD_E_UNAVAILABLE, out_error,
                            "libcrypto %.180s belongs to a Python package, which may change it",
                            file);
    }
    return CD_OK;
}

static cd_status check_version(struct cd_openssl_library *library, struct cd_error *out_error) {
    unsigned major = library->OPENSSL_version_major();

    if (major < MAJOR_MIN || major > MAJOR_MAX) {
        return cd_error_set(CD_E_UNAVAILABLE, out_error,
                            "libcrypto is version %u, %u or %u is needed", major, MAJOR_MIN,
                            MAJOR_MAX);
    }
    library->context = library->OSSL_LIB_CTX_new();
    if (library->context == NULL) {
        return cd_error_set(CD_E_NO_MEMORY, out_error, "libcrypto has no memory for a context");
    }
    return CD_OK;
}

cd_status cd_openssl_library_open(struct cd_openssl_library *out_library, const char *path,
                                  struct cd_error *out_error) {
    cd_status status;

    memset(out_library, 0, sizeof *out_library);
    status = open_handle(out_library, path, out_error);
    if (status == CD_OK) {
        status = find_functions(out_library, out_error);
    }
    if (status == CD_OK) {
        status = check_origin(out_library, out_error);
    }
    if (status == CD_OK) {
        status = check_version(out_library, out_error);
    }
    if (status != CD_OK) {
        cd_openssl_library_close(out_library);
    }
    return status;
}

void cd_openssl_library_close(struct cd_openssl_library *library) {
    if (library->context != NULL) {
        library->OSSL_LIB_CTX_free(library->context);
    }
    if (library->handle != NULL) {
        dlclose(library->handle);
    }
    memset(library, 0, sizeof *library);
}
