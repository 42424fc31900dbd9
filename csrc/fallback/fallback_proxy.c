/* Pairing hardware and software into one implementation (fallback-semantics.md section 5). */
#include "base/error.h"
#include "cryptodispatch/registry.h"
#include "fallback/fallback_dispatch.h"

#include <stdio.h>
#include <string.h>

static uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static void generation_retain(void *provider) {
    cd_fallback_generation_retain(provider);
}

static void generation_release(void *provider) {
    cd_fallback_generation_release(provider);
}

static cd_status refuse_difference(const struct cd_fallback_proxy *proxy, const char *what,
                                   uint32_t hardware, uint32_t software,
                                   struct cd_error *out_error) {
    return cd_error_set(CD_E_MISMATCH, out_error,
                        "group '%s': '%.70s' and '%.70s' do not fit: %s %u and %u",
                        proxy->group->config.name, proxy->hardware->driver, proxy->software->driver,
                        what, hardware, software);
}

static cd_status check_fit(const struct cd_fallback_proxy *proxy, struct cd_error *out_error) {
    const struct cd_implementation *hw = proxy->hardware;
    const struct cd_implementation *sw = proxy->software;
    if (hw->block_size != sw->block_size) {
        return refuse_difference(proxy, "block size", hw->block_size, sw->block_size, out_error);
    }
    if (hw->iv_size != sw->iv_size) {
        return refuse_difference(proxy, "IV size", hw->iv_size, sw->iv_size, out_error);
    }
    if (hw->digest_size != sw->digest_size) {
        return refuse_difference(proxy, "digest size", hw->digest_size, sw->digest_size, out_error);
    }
    if ((hw->key_sizes & sw->key_sizes) == 0 && (hw->key_sizes | sw->key_sizes) != 0) {
        return cd_error_set(CD_E_MISMATCH, out_error,
                            "group '%s': '%.70s' and '%.70s' do not fit: no common key size",
                            proxy->group->config.name, hw->driver, sw->driver);
    }
    return CD_OK;
}

static void describe(struct cd_fallback_proxy *proxy, struct cd_fallback_generation *generation) {
    const struct cd_implementation *hw = proxy->hardware;
    const struct cd_implementation *sw = proxy->software;
    snprintf(proxy->algorithm, sizeof(proxy->algorithm), "%s", hw->algorithm);
    snprintf(proxy->driver, sizeof(proxy->driver), "fallback(%.*s)",
             (int)(sizeof(proxy->driver) - sizeof("fallback()")), hw->driver);
    proxy->implementation = (struct cd_implementation){
        .algorithm = proxy->algorithm,
        .driver = proxy->driver,
        .type = hw->type,
        .flags = (hw->flags & CD_FLAG_ASYNC) | CD_FLAG_NEED_FALLBACK | CD_FLAG_PROXY,
        .priority = hw->priority < INT32_MAX ? hw->priority + 1 : INT32_MAX,
        .cpu = hw->cpu | sw->cpu,
        .block_size = hw->block_size,
        .iv_size = hw->iv_size,
        .chunk_size = larger(hw->chunk_size, sw->chunk_size),
        .alignment = larger(hw->alignment, sw->alignment),
        .digest_size = hw->digest_size,
        .max_tag_size = smaller(hw->max_tag_size, sw->max_tag_size),
        .key_sizes =
            sw->key_sizes & (hw->key_sizes | cd_fallback_rules_refused_sizes(proxy->group)),
        .context_size = sizeof(struct cd_fallback_transform),
        .provider = generation,
        .retain = generation_retain,
        .release = generation_release,
    };
    proxy->group->type->describe(proxy);
}

cd_status
cd_fallback_proxy_init(struct cd_fallback_proxy *proxy, struct cd_fallback_generation *generation,
                       struct cd_fallback_group *group, const struct cd_implementation *hardware,
                       const struct cd_implementation *software, struct cd_error *out_error) {
    proxy->group = group;
    proxy->hardware = hardware;
    proxy->software = software;
    cd_status status = check_fit(proxy, out_error);
    if (status == CD_OK) {
        describe(proxy, generation);
    }
    return status;
}

void cd_fallback_proxy_cleanup(struct cd_fallback_proxy *proxy) {
    cd_implementation_release(proxy->hardware);
    cd_implementation_release(proxy->software);
}
