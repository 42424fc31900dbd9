/* The static policy of a group: a fixed threshold, and rules by key size (fallback-semantics.md
 * section 9). */
#include "base/error.h"
#include "fallback/fallback_internal.h"

#include <stdlib.h>

cd_status cd_fallback_rules_check(const struct cd_group_config *config,
                                  struct cd_error *out_error) {
    if (config->fixed ? config->fixed_threshold < CD_THRESHOLD_SOFTWARE
                      : config->fixed_threshold != 0) {
        return cd_error_set(CD_E_INVALID, out_error, "group '%s': fixed_threshold: %s",
                            config->name,
                            config->fixed ? "-1 and above are allowed" : "only for a fixed group");
    }
    if (config->rules == NULL && config->rule_count > 0) {
        return cd_error_set(CD_E_INVALID, out_error, "group '%s': rules: missing", config->name);
    }
    for (size_t i = 0; i < config->rule_count; i++) {
        const struct cd_key_rule *rule = &config->rules[i];
        const char *problem = rule->key_size == 0 ? "key_size: 0 is no size of a key" : NULL;
        if (!rule->cannot && rule->threshold < CD_THRESHOLD_SOFTWARE) {
            problem = "threshold: -1 and above are allowed";
        }
        for (size_t j = 0; j < i; j++) {
            problem =
                config->rules[j].key_size == rule->key_size ? "key_size: is there twice" : problem;
        }
        if (problem != NULL) {
            return cd_error_set(CD_E_INVALID, out_error, "group '%s': rules: number %zu: %s",
                                config->name, i, problem);
        }
    }
    return CD_OK;
}

bool cd_fallback_rules_copy(struct cd_fallback_group *group, const struct cd_group_config *config) {
    group->rules = calloc(config->rule_count + 1, sizeof(*group->rules));
    if (group->rules == NULL) {
        return false;
    }
    group->config.fixed = config->fixed;
    group->config.fixed_threshold = config->fixed_threshold;
    group->config.rule_count = config->rule_count;
    for (size_t i = 0; i < config->rule_count; i++) {
        group->rules[i].rule = config->rules[i];
    }
    return true;
}

void cd_fallback_rules_publish(struct cd_fallback_group *group, bool on) {
    for (size_t i = 0; i < group->config.rule_count; i++) {
        struct cd_fallback_rule *rule = &group->rules[i];
        atomic_store_explicit(&rule->effective, on ? rule->rule.threshold : CD_THRESHOLD_HARDWARE,
                              memory_order_relaxed);
    }
}

const struct cd_fallback_rule *cd_fallback_rule_find(const struct cd_fallback_group *group,
                                                     size_t key_len) {
    for (size_t i = 0; i < group->config.rule_count; i++) {
        if (group->rules[i].rule.key_size == key_len) {
            return &group->rules[i];
        }
    }
    return NULL;
}

uint64_t cd_fallback_rules_refused_sizes(const struct cd_fallback_group *group) {
    uint64_t sizes = 0;
    for (size_t i = 0; i < group->config.rule_count; i++) {
        const struct cd_key_rule *rule = &group->rules[i].rule;
        if (rule->cannot && rule->key_size < 64) {
            sizes |= CD_KEY_SIZE(rule->key_size);
        }
    }
    return sizes;
}

bool cd_fallback_fixed(const struct cd_fallback *fallback, size_t group, int32_t *out_threshold) {
    if (group >= fallback->group_count || !fallback->groups[group].config.fixed) {
        return false;
    }
    *out_threshold = fallback->groups[group].config.fixed_threshold;
    return true;
}

size_t cd_fallback_rules(const struct cd_fallback *fallback, size_t group,
                         struct cd_key_rule *out_rules, size_t capacity) {
    if (group >= fallback->group_count) {
        return 0;
    }
    size_t count = fallback->groups[group].config.rule_count;
    for (size_t i = 0; i < count && i < capacity; i++) {
        out_rules[i] = fallback->groups[group].rules[i].rule;
    }
    return count;
}
