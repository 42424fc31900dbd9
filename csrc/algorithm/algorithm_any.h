/*
 * Transforms whose type is known only when the program runs, for code that treats all types alike.
 * A transform is a `struct cd_cipher *`, `struct cd_hash *` or `struct cd_aead *` as void pointer.
 */
#ifndef CD_ALGORITHM_ANY_H
#define CD_ALGORITHM_ANY_H

#include "cryptodispatch/algorithm.h"

/* Make a transform of the implementation's type, as cd_cipher_new_bound. */
CD_MUST_CHECK cd_status cd_transform_new_bound(void **out_transform,
                                               const struct cd_implementation *implementation);

/* Free a transform of any type. NULL does nothing. */
void cd_transform_free(void *transform);

/* The functions of the implementation's type: a struct cd_cipher_ops, cd_hash_ops or cd_aead_ops.
 */
const void *cd_implementation_functions(const struct cd_implementation *implementation);

#endif
