/* Registration of what OPTION_1 offers (1.3). */
#include "eip93/driver/driver_internal.h"

/* Key sizes of an AES row on this variant; 0: none. */
static uint64_t aes_key_sizes(const struct cd_driver_mode *mode, uint32_t option_1) {
    static const struct {
        uint32_t option;
        uint32_t bytes;
    } sizes[] = {
        {EIP93_OPTION_AES_KEY128, 16},
        {EIP93_OPTION_AES_KEY192, 24},
        {EIP93_OPTION_AES_KEY256, 32},
    };
    uint64_t set = 0;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if ((option_1 & sizes[i].option) != 0) {
            set |= CD_KEY_SIZE(sizes[i].bytes + mode->nonce_size);
        }
    }
    return set;
}

/* True if this variant has every part of the row; then also its key sizes. */
static bool is_offered(const struct cd_driver_mode *mode, uint32_t option_1,
                       uint64_t *out_key_sizes) {
    *out_key_sizes = mode->key_sizes;
    if ((mode->options & EIP93_OPTION_AES) != 0) {
        *out_key_sizes = aes_key_sizes(mode, option_1);
        if (*out_key_sizes == 0) {
            return false;
        }
    }
    return (option_1 & mode->options) == mode->options;
}

static void describe(struct cd_eip93_driver *driver, struct cd_driver_implementation *out,
                     const struct cd_driver_mode *mode, uint64_t key_sizes) {
    struct cd_implementation *public = &out->public;
    out->mode = mode;
    *public = (struct cd_implementation){
        .algorithm = mode->algorithm,
        .driver = mode->driver,
        .flags = CD_FLAG_ASYNC,
        .priority = CD_EIP93_PRIORITY,
        .block_size = mode->block_size,
        .iv_size = mode->iv_size,
        .chunk_size = mode->chunk_size,
        .alignment = 4,
        .key_sizes = key_sizes,
        .cipher = mode->cipher,
        .hash = mode->hashing,
        .aead = mode->aead,
        .provider = driver,
        .retain = cd_driver_retain,
        .release = cd_driver_release,
    };
    if (mode->cipher != NULL) {
        public->type = CD_TYPE_CIPHER;
        public->context_size = cd_driver_cipher_context_size;
        return;
    }
    public->flags |= CD_FLAG_NEED_FALLBACK;
    if (mode->hashing != NULL) {
        public->type = CD_TYPE_HASH;
        public->digest_size = mode->digest_size;
        public->context_size = cd_driver_hash_context_size;
    } else {
        public->type = CD_TYPE_AEAD;
        public->max_tag_size = mode->digest_size;
        public->context_size = cd_driver_aead_context_size;
    }
}

cd_status cd_driver_register(struct cd_eip93_driver *driver, struct cd_error *out_error) {
    for (size_t i = 0; i < CD_DRIVER_ALGORITHMS_MAX; i++) {
        uint64_t key_sizes;
        if (!is_offered(&cd_driver_modes[i], driver->option_1, &key_sizes)) {
            continue;
        }
        struct cd_driver_implementation *implementation =
            &driver->implementations[driver->implementation_count];
        describe(driver, implementation, &cd_driver_modes[i], key_sizes);
        cd_status status = cd_registry_add(driver->registry, &implementation->public, out_error);
        if (status != CD_OK) {
            cd_driver_unregister(driver);
            return status;
        }
        driver->implementation_count++;
    }
    return CD_OK;
}

void cd_driver_unregister(struct cd_eip93_driver *driver) {
    while (driver->implementation_count > 0) {
        driver->implementation_count--;
        cd_registry_remove(driver->registry,
                           &driver->implementations[driver->implementation_count].public);
    }
}
