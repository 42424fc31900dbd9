/* Memory of transforms of every type. */
#include "algorithm/algorithm_internal.h"
#include "base/secure.h"

#include <stdlib.h>
#include <string.h>

static size_t transform_size(const struct cd_implementation *implementation) {
    return (CD_TRANSFORM_HEADER + implementation->context_size + 63) & ~(size_t)63;
}

cd_status cd_transform_allocate(struct cd_transform **out_transform,
                                const struct cd_implementation *implementation, enum cd_type type) {
    if (implementation->type != type) {
        return CD_E_INVALID;
    }
    if (!cd_implementation_available(implementation)) {
        return CD_E_UNAVAILABLE;
    }
    struct cd_transform *transform = aligned_alloc(64, transform_size(implementation));
    if (transform == NULL) {
        return CD_E_NO_MEMORY;
    }
    memset(transform, 0, transform_size(implementation));
    transform->implementation = implementation;
    transform->block_mask = implementation->block_size - 1;
    transform->tag_size = implementation->max_tag_size;
    *out_transform = transform;
    return CD_OK;
}

void cd_transform_wipe_free(struct cd_transform *transform) {
    cd_wipe(transform, transform_size(transform->implementation));
    free(transform);
}
