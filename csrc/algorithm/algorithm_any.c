/* Transforms of any type. Each begins with the common header, so a pointer to one tells its type.
 */
#include "algorithm/algorithm_any.h"

#include "algorithm/algorithm_internal.h"

cd_status cd_transform_new_bound(void **out_transform,
                                 const struct cd_implementation *implementation) {
    struct cd_cipher *cipher = NULL;
    struct cd_hash *hash = NULL;
    struct cd_aead *aead = NULL;
    cd_status status = CD_E_INVALID;
    switch (implementation->type) {
    case CD_TYPE_CIPHER:
        status = cd_cipher_new_bound(&cipher, implementation);
        *out_transform = cipher;
        break;
    case CD_TYPE_HASH:
        status = cd_hash_new_bound(&hash, implementation);
        *out_transform = hash;
        break;
    case CD_TYPE_AEAD:
        status = cd_aead_new_bound(&aead, implementation);
        *out_transform = aead;
        break;
    }
    return status;
}

void cd_transform_free(void *transform) {
    if (transform == NULL) {
        return;
    }
    switch (((const struct cd_transform *)transform)->implementation->type) {
    case CD_TYPE_CIPHER:
        cd_cipher_free(transform);
        break;
    case CD_TYPE_HASH:
        cd_hash_free(transform);
        break;
    case CD_TYPE_AEAD:
        cd_aead_free(transform);
        break;
    }
}

const void *cd_implementation_functions(const struct cd_implementation *implementation) {
    switch (implementation->type) {
    case CD_TYPE_CIPHER:
        return implementation->cipher;
    case CD_TYPE_HASH:
        return implementation->hash;
    case CD_TYPE_AEAD:
        return implementation->aead;
    }
    return NULL;
}
