/* The registry: a list under a mutex. Lookups happen when transforms are made, never per request.
 */
#include "cryptodispatch/registry.h"

#include "cryptodispatch/aead.h"
#include "cryptodispatch/cipher.h"
#include "cryptodispatch/hash.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    const struct cd_implementation *implementation;
    int32_t priority; /* in force here: its own until cd_registry_set_priority */
};

struct cd_registry {
    pthread_mutex_t lock;
    struct entry *entries; /* in order of registration */
    size_t count;
    size_t capacity;
};

cd_status cd_registry_new(struct cd_registry **out_registry) {
    struct cd_registry *registry = calloc(1, sizeof(*registry));
    if (registry == NULL) {
        return CD_E_NO_MEMORY;
    }
    if (pthread_mutex_init(&registry->lock, NULL) != 0) {
        free(registry);
        return CD_E_NO_MEMORY;
    }
    *out_registry = registry;
    return CD_OK;
}

void cd_registry_free(struct cd_registry *registry) {
    if (registry == NULL) {
        return;
    }
    pthread_mutex_destroy(&registry->lock);
    free(registry->entries);
    free(registry);
}

void cd_implementation_retain(const struct cd_implementation *implementation) {
    if (implementation->retain != NULL) {
        implementation->retain(implementation->provider);
    }
}

void cd_implementation_release(const struct cd_implementation *implementation) {
    if (implementation->release != NULL) {
        implementation->release(implementation->provider);
    }
}

static bool name_is_valid(const char *name) {
    return name != NULL && name[0] != '\0' && strlen(name) < CD_NAME_MAX;
}

/* The functions of its type, and of no other. */
static const char *malformed_functions(const struct cd_implementation *implementation) {
    const struct cd_cipher_ops *cipher = implementation->cipher;
    const struct cd_hash_ops *hash = implementation->hash;
    const struct cd_aead_ops *aead = implementation->aead;
    bool waits = (implementation->flags & CD_FLAG_ASYNC) != 0;
    if ((implementation->type == CD_TYPE_CIPHER) != (cipher != NULL) ||
        (implementation->type == CD_TYPE_HASH) != (hash != NULL) ||
        (implementation->type == CD_TYPE_AEAD) != (aead != NULL)) {
        return "cipher, hash, aead: the functions of its type alone are needed";
    }
    if (cipher != NULL && (cipher->set_key == NULL || cipher->encrypt == NULL ||
                           cipher->decrypt == NULL || (waits && cipher->wait == NULL))) {
        return "cipher: set_key, encrypt and decrypt (and wait if asynchronous) are needed";
    }
    if (hash != NULL && (hash->digest == NULL || hash->begin == NULL || hash->update == NULL ||
                         hash->finish == NULL || (waits && hash->wait == NULL) ||
                         (implementation->key_sizes != 0 && hash->set_key == NULL))) {
        return "hash: digest, begin, update and finish (set_key, wait if it has them) are needed";
    }
    if (aead != NULL && (aead->set_key == NULL || aead->encrypt == NULL || aead->decrypt == NULL ||
                         (waits && aead->wait == NULL))) {
        return "aead: set_key, encrypt and decrypt (and wait if asynchronous) are needed";
    }
    return NULL;
}

/* Name of the first malformed field, or NULL. */
static const char *malformed_field(const struct cd_implementation *implementation) {
    if (!name_is_valid(implementation->algorithm)) {
        return "algorithm: 1 to 95 bytes are allowed";
    }
    if (!name_is_valid(implementation->driver)) {
        return "driver: 1 to 95 bytes are allowed";
    }
    if (cd_type_name((int)implementation->type) == NULL) {
        return "type: cipher, hash or aead is allowed";
    }
    if (implementation->block_size == 0 ||
        (implementation->block_size & (implementation->block_size - 1)) != 0) {
        return "block_size: a power of two is allowed";
    }
    if (implementation->iv_size > 16) {
        return "iv_size: 0 to 16 is allowed";
    }
    if (implementation->digest_size > CD_DIGEST_MAX) {
        return "digest_size: 0 to 32 is allowed";
    }
    if (implementation->max_tag_size > CD_TAG_MAX) {
        return "max_tag_size: 0 to 32 is allowed";
    }
    if ((implementation->retain == NULL) != (implementation->release == NULL)) {
        return "retain and release: both or neither is allowed";
    }
    return malformed_functions(implementation);
}

static size_t find_driver(const struct cd_registry *registry, const char *driver) {
    size_t index = 0;
    while (index < registry->count &&
           strcmp(registry->entries[index].implementation->driver, driver) != 0) {
        index++;
    }
    return index;
}

static cd_status append(struct cd_registry *registry,
                        const struct cd_implementation *implementation) {
    if (registry->count == registry->capacity) {
        size_t capacity = registry->capacity == 0 ? 64 : registry->capacity * 2;
        struct entry *entries = realloc(registry->entries, capacity * sizeof(*entries));
        if (entries == NULL) {
            return CD_E_NO_MEMORY;
        }
        registry->entries = entries;
        registry->capacity = capacity;
    }
    registry->entries[registry->count++] = (struct entry){implementation, implementation->priority};
    return CD_OK;
}

cd_status cd_registry_add(struct cd_registry *registry,
                          const struct cd_implementation *implementation,
                          struct cd_error *out_error) {
    const char *problem = malformed_field(implementation);
    cd_status status = problem != NULL ? CD_E_INVALID : CD_OK;
    if (status == CD_OK) {
        pthread_mutex_lock(&registry->lock);
        if (find_driver(registry, implementation->driver) < registry->count) {
            status = CD_E_EXISTS;
            problem = "driver: this name is registered already";
        } else {
            status = append(registry, implementation);
            problem = "out of memory";
        }
        pthread_mutex_unlock(&registry->lock);
    }
    if (status != CD_OK && out_error != NULL) {
        const char *driver = implementation->driver != NULL ? implementation->driver : "(no name)";
        snprintf(out_error->message, sizeof(out_error->message), "implementation '%.95s': %s",
                 driver, problem);
    }
    return status;
}

void cd_registry_remove(struct cd_registry *registry,
                        const struct cd_implementation *implementation) {
    pthread_mutex_lock(&registry->lock);
    for (size_t i = 0; i < registry->count; i++) {
        if (registry->entries[i].implementation == implementation) {
            registry->count--;
            memmove(&registry->entries[i], &registry->entries[i + 1],
                    (registry->count - i) * sizeof(*registry->entries));
            break;
        }
    }
    pthread_mutex_unlock(&registry->lock);
}

/* The best entry for an algorithm name; *out_unavailable tells of ones the CPU rules out. */
static const struct cd_implementation *best_entry(const struct cd_registry *registry,
                                                  const char *name, enum cd_type type,
                                                  uint32_t flags, uint32_t mask,
                                                  bool *out_unavailable) {
    const struct entry *best = NULL;
    for (size_t i = 0; i < registry->count; i++) {
        const struct entry *entry = &registry->entries[i];
        const struct cd_implementation *implementation = entry->implementation;
        if (implementation->type != type || (implementation->flags & mask) != flags ||
            strcmp(implementation->algorithm, name) != 0) {
            continue;
        }
        if (!cd_implementation_available(implementation)) {
            *out_unavailable = true;
        } else if (best == NULL || entry->priority > best->priority) {
            best = entry;
        }
    }
    return best != NULL ? best->implementation : NULL;
}

cd_status cd_registry_find(const struct cd_implementation **out_implementation,
                           struct cd_registry *registry, const char *name, enum cd_type type,
                           uint32_t flags, uint32_t mask) {
    const struct cd_implementation *found = NULL;
    bool unavailable = false;
    pthread_mutex_lock(&registry->lock);
    size_t index = find_driver(registry, name);
    if (index < registry->count && registry->entries[index].implementation->type == type) {
        found = registry->entries[index].implementation;
        if (!cd_implementation_available(found)) {
            unavailable = true;
            found = NULL;
        }
    } else {
        found = best_entry(registry, name, type, flags, mask, &unavailable);
    }
    if (found != NULL) {
        cd_implementation_retain(found);
    }
    pthread_mutex_unlock(&registry->lock);
    if (found == NULL) {
        return unavailable ? CD_E_UNAVAILABLE : CD_E_UNKNOWN_ALGORITHM;
    }
    *out_implementation = found;
    return CD_OK;
}

cd_status cd_registry_set_priority(struct cd_registry *registry, const char *driver,
                                   int32_t priority) {
    pthread_mutex_lock(&registry->lock);
    size_t index = find_driver(registry, driver);
    bool found = index < registry->count;
    if (found) {
        registry->entries[index].priority = priority;
    }
    pthread_mutex_unlock(&registry->lock);
    return found ? CD_OK : CD_E_UNKNOWN_ALGORITHM;
}

void cd_registry_each(struct cd_registry *registry,
                      bool (*visit)(const struct cd_implementation *implementation, void *context),
                      void *context) {
    pthread_mutex_lock(&registry->lock);
    for (size_t i = 0; i < registry->count && visit(registry->entries[i].implementation, context);
         i++) {
    }
    pthread_mutex_unlock(&registry->lock);
}

void cd_registry_each_priority(struct cd_registry *registry,
                               bool (*visit)(const struct cd_implementation *implementation,
                                             int32_t priority, void *context),
                               void *context) {
    pthread_mutex_lock(&registry->lock);
    for (size_t i = 0; i < registry->count; i++) {
        const struct entry *entry = &registry->entries[i];
        if (!visit(entry->implementation, entry->priority, context)) {
            break;
        }
    }
    pthread_mutex_unlock(&registry->lock);
}
