/* Facts about one implementation: type names and availability. */
#include "cryptodispatch/algorithm.h"

#include "cryptodispatch/cpu.h"

#include <stdio.h>

const char *cd_type_name(int type) {
    switch (type) {
    case CD_TYPE_CIPHER:
        return "cipher";
    case CD_TYPE_HASH:
        return "hash";
    case CD_TYPE_AEAD:
        return "aead";
    default:
        return NULL;
    }
}

bool cd_implementation_available(const struct cd_implementation *implementation) {
    return (implementation->cpu & ~cd_cpu_detect()) == 0;
}

void cd_implementation_reason(const struct cd_implementation *implementation, char *out,
                              size_t out_len) {
    uint32_t missing = implementation->cpu & ~cd_cpu_detect();
    size_t used = 0;
    if (out_len == 0) {
        return;
    }
    out[0] = '\0';
    for (uint32_t bit = 1; bit != 0; bit <<= 1) {
        const char *name = (missing & bit) != 0 ? cd_cpu_feature_name(bit) : NULL;
        if (name == NULL || used >= out_len) {
            continue;
        }
        int written = snprintf(out + used, out_len - used, "%s%s",
                               used == 0 ? "needs CPU feature " : ", ", name);
        used += written > 0 ? (size_t)written : 0;
    }
}
