/* Group tables: checking every field, copying, freeing. */
#include "base/error.h"
#include "base/secure.h"
#include "fallback/fallback_internal.h"

#include <stdlib.h>
#include <string.h>

static const struct cd_fallback_type *const types[] = {
    &cd_fallback_type_cipher,
    &cd_fallback_type_hash,
    &cd_fallback_type_aead,
};

static const struct cd_fallback_type *find_type(enum cd_type type) {
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (types[i]->type == type) {
            return types[i];
        }
    }
    return NULL;
}

static bool is_empty(const char *text) {
    return text == NULL || text[0] == '\0';
}

/* NULL, or what is wrong with a name that must be shorter than `limit` bytes. */
static const char *name_problem(const char *text, size_t limit) {
    if (is_empty(text)) {
        return "missing";
    }
    return strlen(text) >= limit ? "too long" : NULL;
}

static cd_status check_name(const struct cd_group_config *configs, size_t index,
                            struct cd_error *out_error) {
    const char *name = configs[index].name;
    const char *problem = name_problem(name, CD_NAME_MAX);
    if (problem != NULL) {
        return cd_error_set(CD_E_INVALID, out_error, "group number %zu: name: %s", index, problem);
    }
    if (strcmp(name, "enabled") == 0) {
        return cd_error_set(CD_E_INVALID, out_error,
                            "group 'enabled': name: taken by the switch of that name");
    }
    for (size_t i = 0; i < index; i++) {
        if (strcmp(configs[i].name, name) == 0) {
            return cd_error_set(CD_E_INVALID, out_error, "group '%s': name: another group has it",
                                name);
        }
    }
    return CD_OK;
}

static cd_status refuse(const struct cd_group_config *config, const char *field,
                        const char *problem, struct cd_error *out_error) {
    return cd_error_set(CD_E_INVALID, out_error, "group '%s': %s: %s", config->name, field,
                        problem);
}

static cd_status check_representative(const struct cd_group_config *config,
                                      struct cd_error *out_error) {
    if (find_type(config->type) == NULL) {
        return refuse(config, "type", "not cipher, hash or aead", out_error);
    }
    const char *problem = name_problem(config->algorithm, CD_NAME_MAX);
    if (problem != NULL) {
        return refuse(config, "algorithm", problem, out_error);
    }
    problem = name_problem(config->driver, CD_NAME_MAX);
    return problem != NULL ? refuse(config, "driver", problem, out_error) : CD_OK;
}

/* The keys of the benchmark; one of no bytes counts as none. A fixed group, which has no benchmark,
 * may do without. */
static cd_status check_keys(const struct cd_group_config *config, struct cd_error *out_error) {
    bool aead = config->type == CD_TYPE_AEAD;
    bool required = !config->fixed;
    if (config->key_len > 0 ? config->key == NULL : required && config->type != CD_TYPE_HASH) {
        return refuse(config, "key", "missing", out_error);
    }
    if (!aead && config->auth_key_len > 0) {
        return refuse(config, "auth_key", "only for type aead", out_error);
    }
    if (config->auth_key_len > 0
            ? config->auth_key == NULL
            : required && aead && strncmp(config->algorithm, "authenc(", 8) == 0) {
        return refuse(config, "auth_key", "missing", out_error);
    }
    if (aead && required && config->tag_size == 0) {
        return refuse(config, "tag_size", "required for type aead, not 0", out_error);
    }
    if (!aead && config->tag_size != 0) {
        return refuse(config, "tag_size", "only for type aead", out_error);
    }
    return CD_OK;
}

/* True if a member of configs[0..group] before configs[group].members[member] has its name. */
static bool is_repeated(const char **out_group, const struct cd_group_config *configs, size_t group,
                        size_t member) {
    const char *name = configs[group].members[member];
    for (size_t g = 0; g <= group; g++) {
        size_t count = g < group ? configs[g].member_count : member;
        for (size_t m = 0; m < count; m++) {
            if (strcmp(configs[g].members[m], name) == 0) {
                *out_group = configs[g].name;
                return true;
            }
        }
    }
    return false;
}

static cd_status check_members(const struct cd_group_config *configs, size_t index,
                               struct cd_error *out_error) {
    const struct cd_group_config *config = &configs[index];
    if (config->members == NULL || config->member_count == 0) {
        return refuse(config, "members", "at least one is required", out_error);
    }
    for (size_t i = 0; i < config->member_count; i++) {
        const char *group;
        /* The proxy's name is longer by what stands around it. */
        const char *problem =
            name_problem(config->members[i], CD_NAME_MAX - (sizeof("fallback()") - 1));
        if (problem != NULL) {
            return cd_error_set(CD_E_INVALID, out_error, "group '%s': members: number %zu: %s",
                                config->name, i, problem);
        }
        if (is_repeated(&group, configs, index, i)) {
            return cd_error_set(CD_E_INVALID, out_error,
                                "group '%s': members: '%s' is already in group '%s'", config->name,
                                config->members[i], group);
        }
    }
    return CD_OK;
}

cd_status cd_fallback_table_check(const struct cd_group_config *configs, size_t count,
                                  struct cd_error *out_error) {
    if (configs == NULL || count == 0) {
        return cd_error_set(CD_E_INVALID, out_error, "groups: at least one is required");
    }
    for (size_t i = 0; i < count; i++) {
        cd_status status = check_name(configs, i, out_error);
        status = status == CD_OK ? check_representative(&configs[i], out_error) : status;
        status = status == CD_OK ? check_keys(&configs[i], out_error) : status;
        status = status == CD_OK ? cd_fallback_rules_check(&configs[i], out_error) : status;
        status = status == CD_OK ? check_members(configs, i, out_error) : status;
        if (status != CD_OK) {
            return status;
        }
    }
    return CD_OK;
}

/* Copy `length` bytes; *failed is set if memory is short. No bytes become NULL. */
static void *copy_bytes(bool *failed, const void *bytes, size_t length) {
    if (bytes == NULL || length == 0) {
        return NULL;
    }
    void *copy = malloc(length);
    if (copy == NULL) {
        *failed = true;
    } else {
        memcpy(copy, bytes, length);
    }
    return copy;
}

static const char *copy_text(bool *failed, const char *text) {
    return copy_bytes(failed, text, strlen(text) + 1);
}

static bool copy_group(struct cd_fallback_group *group, const struct cd_group_config *config) {
    bool failed = false;
    struct cd_group_config *copy = &group->config;
    group->type = find_type(config->type);
    copy->type = config->type;
    copy->tag_size = config->tag_size;
    copy->name = copy_text(&failed, config->name);
    copy->algorithm = copy_text(&failed, config->algorithm);
    copy->driver = copy_text(&failed, config->driver);
    copy->key = copy_bytes(&failed, config->key, config->key_len);
    copy->key_len = config->key_len;
    copy->auth_key = copy_bytes(&failed, config->auth_key, config->auth_key_len);
    copy->auth_key_len = config->auth_key_len;
    const char **members = calloc(config->member_count, sizeof(*members));
    copy->members = members;
    if (members == NULL || !cd_fallback_rules_copy(group, config)) {
        return false;
    }
    copy->member_count = config->member_count;
    for (size_t i = 0; i < config->member_count; i++) {
        members[i] = copy_text(&failed, config->members[i]);
    }
    return !failed;
}

struct cd_fallback_group *cd_fallback_table_copy(const struct cd_group_config *configs,
                                                 size_t count) {
    struct cd_fallback_group *groups = NULL;
    if (count <= SIZE_MAX / sizeof(*groups)) {
        groups = aligned_alloc(_Alignof(struct cd_fallback_group), count * sizeof(*groups));
    }
    if (groups == NULL) {
        return NULL;
    }
    memset(groups, 0, count * sizeof(*groups));
    for (size_t i = 0; i < count; i++) {
        if (!copy_group(&groups[i], &configs[i])) {
            cd_fallback_table_free(groups, count);
            return NULL;
        }
    }
    return groups;
}

/* What the copies are owned through: a table handed in is constant, its copy is ours. */
static void free_constant(const void *memory) {
    free((void *)(uintptr_t)memory);
}

static void free_key(const uint8_t *key, size_t length) {
    if (key != NULL) {
        cd_wipe((void *)(uintptr_t)key, length);
        free_constant(key);
    }
}

void cd_fallback_table_free(struct cd_fallback_group *groups, size_t count) {
    for (size_t i = 0; groups != NULL && i < count; i++) {
        struct cd_group_config *config = &groups[i].config;
        free_constant(config->name);
        free_constant(config->algorithm);
        free_constant(config->driver);
        free_key(config->key, config->key_len);
        free_key(config->auth_key, config->auth_key_len);
        for (size_t m = 0; m < config->member_count; m++) {
            free_constant(config->members[m]);
        }
        free_constant(config->members);
        free(groups[i].rules);
    }
    free(groups);
}
