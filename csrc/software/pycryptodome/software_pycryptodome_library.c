/* Loading PyCryptodome's modules: fixed names in one folder, fixed functions. */
#include "software/pycryptodome/software_pycryptodome_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cryptodispatch/cpu.h"

static const char *const suffixes[] = {".abi3.so", ".so"};

/* AES by the CPU features it needs, best first. */
static const struct {
    const char *module, *start, *stop;
    uint32_t cpu;
} ciphers[] = {
    {"_raw_aesni", "AESNI_start_operation", "AESNI_stop_operation", CD_CPU_AESNI},
    {"_raw_aes_armv8", "AES_ARMV8_start_operation", "AES_ARMV8_stop_operation", CD_CPU_ARM_AES},
    {"_raw_aes", "AES_start_operation", "AES_stop_operation", 0},
};

#define POINTER(member) offsetof(struct cd_pycryptodome_library, member)

static const struct {
    enum cd_pycryptodome_module module;
    const char *name;
    size_t offset; /* of its pointer */
} functions[] = {
    {CD_PYCRYPTODOME_ECB, "ECB_start_operation", POINTER(ecb_start)},
    {CD_PYCRYPTODOME_ECB, "ECB_encrypt", POINTER(ecb_encrypt)},
    {CD_PYCRYPTODOME_ECB, "ECB_decrypt", POINTER(ecb_decrypt)},
    {CD_PYCRYPTODOME_ECB, "ECB_stop_operation", POINTER(ecb_stop)},
    {CD_PYCRYPTODOME_CBC, "CBC_start_operation", POINTER(cbc_start)},
    {CD_PYCRYPTODOME_CBC, "CBC_encrypt", POINTER(cbc_encrypt)},
    {CD_PYCRYPTODOME_CBC, "CBC_decrypt", POINTER(cbc_decrypt)},
    {CD_PYCRYPTODOME_CBC, "CBC_stop_operation", POINTER(cbc_stop)},
    {CD_PYCRYPTODOME_CTR, "CTR_start_operation", POINTER(ctr_start)},
    {CD_PYCRYPTODOME_CTR, "CTR_encrypt", POINTER(ctr_encrypt)},
    {CD_PYCRYPTODOME_CTR, "CTR_stop_operation", POINTER(ctr_stop)},
};

static void *open_module(const char *folder, const char *name) {
    char path[PATH_MAX];
    void *handle = NULL;

    for (size_t i = 0; handle == NULL && i < sizeof suffixes / sizeof suffixes[0]; i++) {
        int length = snprintf(path, sizeof path, "%s/%s%s", folder, name, suffixes[i]);

        if (length > 0 && (size_t)length < sizeof path) {
            handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
    }
    return handle;
}

/* POSIX says that the bytes of dlsym's result are those of a pointer to the function. */
static bool find(struct cd_pycryptodome_library *library, enum cd_pycryptodome_module module,
                 const char *name, size_t offset) {
    void *address = dlsym(library->handles[module], name);

    memcpy((uint8_t *)library + offset, &address, sizeof address);
    return address != NULL;
}

static bool open_cipher(struct cd_pycryptodome_library *library, const char *folder) {
    for (size_t i = 0; i < sizeof ciphers / sizeof ciphers[0]; i++) {
        if ((cd_cpu_detect() & ciphers[i].cpu) != ciphers[i].cpu) {
            continue;
        }
        void *handle = open_module(folder, ciphers[i].module);

        library->handles[CD_PYCRYPTODOME_AES] = handle;
        if (handle == NULL) {
            continue;
        }
        if (find(library, CD_PYCRYPTODOME_AES, ciphers[i].start, POINTER(aes_start)) &&
            find(library, CD_PYCRYPTODOME_AES, ciphers[i].stop, POINTER(aes_stop))) {
            return true;
        }
        dlclose(handle);
        library->handles[CD_PYCRYPTODOME_AES] = NULL;
    }
    return false;
}

static cd_status open_all(struct cd_pycryptodome_library *library, const char *folder,
                          struct cd_error *out_error) {
    static const char *const modes[CD_PYCRYPTODOME_MODULES] = {
        [CD_PYCRYPTODOME_ECB] = "_raw_ecb",
        [CD_PYCRYPTODOME_CBC] = "_raw_cbc",
        [CD_PYCRYPTODOME_CTR] = "_raw_ctr",
    };

    if (!open_cipher(library, folder)) {
        return cd_error_set(CD_E_UNAVAILABLE, out_error,
                            "PyCryptodome: %.180s has no _raw_aes that can be loaded", folder);
    }
    for (size_t i = CD_PYCRYPTODOME_ECB; i < CD_PYCRYPTODOME_MODULES; i++) {
        library->handles[i] = open_module(folder, modes[i]);
        if (library->handles[i] == NULL) {
            return cd_error_set(CD_E_UNAVAILABLE, out_error,
                                "PyCryptodome: %.180s has no %s that can be loaded", folder,
                                modes[i]);
        }
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (!find(library, functions[i].module, functions[i].name, functions[i].offset)) {
            return cd_error_set(CD_E_UNAVAILABLE, out_error,
                                "PyCryptodome: there is no function %s", functions[i].name);
        }
    }
    return CD_OK;
}

cd_status cd_pycryptodome_library_open(struct cd_pycryptodome_library *out_library,
                                       const char *folder, struct cd_error *out_error) {
    cd_status status;

    memset(out_library, 0, sizeof *out_library);
    status = open_all(out_library, folder, out_error);
    if (status != CD_OK) {
        cd_pycryptodome_library_close(out_library);
    }
    return status;
}

void cd_pycryptodome_library_close(struct cd_pycryptodome_library *library) {
    for (size_t i = 0; i < CD_PYCRYPTODOME_MODULES; i++) {
        if (library->handles[i] != NULL) {
            dlclose(library->handles[i]);
        }
    }
    memset(library, 0, sizeof *library);
}
