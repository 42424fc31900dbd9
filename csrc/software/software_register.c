/* Registration of the software implementations. */
#include "cryptodispatch/software.h"

#include "software/software_internal.h"

static cd_software_family *const families[] = {
    cd_software_aes,
    cd_software_des,
    cd_software_hash,
    cd_software_authenc,
};

#define FAMILY_COUNT (sizeof families / sizeof families[0])

/* Remove every implementation before the one at `index` of `families[family]`, last ones first. */
static void roll_back(struct cd_registry *registry, size_t family, size_t index) {
    for (;;) {
        while (index > 0) {
            index--;
            cd_registry_remove(registry, families[family](index));
        }
        if (family == 0) {
            return;
        }
        family--;
        while (families[family](index) != NULL) {
            index++;
        }
    }
}

cd_status cd_software_register(struct cd_registry *registry, struct cd_error *out_error) {
    for (size_t family = 0; family < FAMILY_COUNT; family++) {
        const struct cd_implementation *implementation;

        for (size_t i = 0; (implementation = families[family](i)) != NULL; i++) {
            cd_status status = cd_registry_add(registry, implementation, out_error);

            if (status != CD_OK) {
                roll_back(registry, family, i);
                return status;
            }
        }
    }
    return CD_OK;
}
