/*
 * The registry: which implementations there are, and which one a name stands for.
 *
 * All functions may be called from any thread, except cd_registry_free.
 */
#ifndef CD_REGISTRY_H
#define CD_REGISTRY_H

#include "cryptodispatch/algorithm.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cd_registry;

/* Allocate a registry with nothing in it. Errors: CD_E_NO_MEMORY. */
CD_MUST_CHECK cd_status cd_registry_new(struct cd_registry **out_registry);

/* Free the registry. Implementations that are still registered are dropped, not freed: transforms
 * bound to them live on. No other call may be running. NULL does nothing. */
void cd_registry_free(struct cd_registry *registry);

/*
 * Register an implementation; it must stay valid until removed and released by all its users.
 *
 * Errors: CD_E_INVALID (a malformed description; `out_error` says which field), CD_E_EXISTS (the
 * driver name is taken), CD_E_NO_MEMORY.
 */
CD_MUST_CHECK cd_status cd_registry_add(struct cd_registry *registry,
                                        const struct cd_implementation *implementation,
                                        struct cd_error *out_error);

/* Unregister: lookups no longer find it, transforms bound to it are not touched. Removing what is
 * not registered does nothing. */
void cd_registry_remove(struct cd_registry *registry,
                        const struct cd_implementation *implementation);

/*
 * Find the implementation of `type` that a name stands for and retain it (the caller releases it
 * with cd_implementation_release): the one whose driver name is `name`, else the available one with
 * the highest priority whose algorithm is `name` (the first registered among equals).
 *
 * An algorithm name considers only implementations with (flags & mask) == flags given here; a
 * driver name considers that one whatever its flags. Plain users pass flags 0, mask
 * CD_FLAG_MODELLED.
 *
 * Errors: CD_E_UNKNOWN_ALGORITHM; CD_E_UNAVAILABLE (only ones this CPU cannot run).
 */
CD_MUST_CHECK cd_status cd_registry_find(const struct cd_implementation **out_implementation,
                                         struct cd_registry *registry, const char *name,
                                         enum cd_type type, uint32_t flags, uint32_t mask);

/*
 * Put another priority than its own in force for a registered implementation, in this registry and
 * until it is removed; lookups from now on go by it. Transforms that are bound are not touched.
 *
 * Errors: CD_E_UNKNOWN_ALGORITHM (no implementation has that driver name).
 */
CD_MUST_CHECK cd_status cd_registry_set_priority(struct cd_registry *registry, const char *driver,
                                                 int32_t priority);

/* One user more, one user less; releasing the last user of a provider may free the implementation.
 */
void cd_implementation_retain(const struct cd_implementation *implementation);
void cd_implementation_release(const struct cd_implementation *implementation);

/*
 * Call `visit` for every implementation in order of registration, under the registry's lock: the
 * visitor must not call the registry. Stops when it returns false.
 */
void cd_registry_each(struct cd_registry *registry,
                      bool (*visit)(const struct cd_implementation *implementation, void *context),
                      void *context);

/* The same, with the priority in force, which may differ from `implementation->priority`. */
void cd_registry_each_priority(struct cd_registry *registry,
                               bool (*visit)(const struct cd_implementation *implementation,
                                             int32_t priority, void *context),
                               void *context);

#ifdef __cplusplus
}
#endif

#endif
