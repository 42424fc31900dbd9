/* The table of algorithms, and their registration from what OPTION_1 offers (1.3). */
#include "eip93/driver/driver_internal.h"

/* SA words that the Linux driver builds (5.7), from their fields. Zero padding adds nothing to
 * whole blocks. */
#define CMD0_CIPHER(cipher)                                                                        \
    (EIP93_PUT(EIP93_SA0_IV_SOURCE_STATE, EIP93_SA0_IV_SOURCE) |                                   \
     EIP93_PUT(EIP93_SA0_HASH_NULL, EIP93_SA0_HASH) | EIP93_PUT(cipher, EIP93_SA0_CIPHER) |        \
     EIP93_PUT(EIP93_SA0_PAD_TYPE_ZERO, EIP93_SA0_PAD_TYPE))
#define CMD1_MODE(mode) EIP93_PUT(mode, EIP93_SA1_CIPHER_MODE)

static const struct cd_driver_mode modes[] = {
    {
        .algorithm = "ecb(aes)",
        .driver = "ecb(aes-eip93)",
        .options = EIP93_OPTION_AES,
        .cmd0 = CMD0_CIPHER(EIP93_SA0_CIPHER_AES),
        .cmd1 = CMD1_MODE(EIP93_SA1_CIPHER_MODE_ECB),
        .block_size = 16,
        .chunk_size = 16,
        .ops = &cd_driver_job_chained,
        .cipher = &cd_driver_cipher_ops,
    },
    {
        .algorithm = "cbc(aes)",
        .driver = "cbc(aes-eip93)",
        .options = EIP93_OPTION_AES,
        .cmd0 = CMD0_CIPHER(EIP93_SA0_CIPHER_AES) | EIP93_SA0_SAVE_IV,
        .cmd1 = CMD1_MODE(EIP93_SA1_CIPHER_MODE_CBC),
        .block_size = 16,
        .chunk_size = 16,
        .iv_size = 16,
        .ops = &cd_driver_job_chained,
        .cipher = &cd_driver_cipher_ops,
    },
    {
        .algorithm = "ctr(aes)",
        .driver = "ctr(aes-eip93)",
        .options = EIP93_OPTION_AES,
        .cmd0 = CMD0_CIPHER(EIP93_SA0_CIPHER_AES) | EIP93_SA0_SAVE_IV,
        .cmd1 = CMD1_MODE(EIP93_SA1_CIPHER_MODE_CTR),
        .block_size = 1,
        .chunk_size = 16,
        .iv_size = 16,
        .ops = &cd_driver_job_ctr,
        .cipher = &cd_driver_cipher_ops,
    },
    {
        .algorithm = "rfc3686(ctr(aes))",
        .driver = "rfc3686(ctr(aes-eip93))",
        .options = EIP93_OPTION_AES,
        .cmd0 = CMD0_CIPHER(EIP93_SA0_CIPHER_AES) | EIP93_SA0_SAVE_IV,
        .cmd1 = CMD1_MODE(EIP93_SA1_CIPHER_MODE_CTR),
        .block_size = 1,
        .chunk_size = 16,
        .iv_size = 8,
        .nonce_size = 4,
        .ops = &cd_driver_job_rfc3686,
        .cipher = &cd_driver_cipher_ops,
    },
};
static_assert(sizeof(modes) / sizeof(modes[0]) <= CD_DRIVER_ALGORITHMS_MAX, "the driver has room");

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

static void describe(struct cd_eip93_driver *driver, struct cd_driver_implementation *out,
                     const struct cd_driver_mode *mode, uint64_t key_sizes) {
    out->mode = mode;
    out->public = (struct cd_implementation){
        .algorithm = mode->algorithm,
        .driver = mode->driver,
        .type = CD_TYPE_CIPHER,
        .flags = CD_FLAG_ASYNC,
        .priority = CD_EIP93_PRIORITY,
        .block_size = mode->block_size,
        .iv_size = mode->iv_size,
        .chunk_size = mode->chunk_size,
        .alignment = 4,
        .key_sizes = key_sizes,
        .context_size = cd_driver_cipher_context_size,
        .cipher = mode->cipher,
        .provider = driver,
        .retain = cd_driver_retain,
        .release = cd_driver_release,
    };
}

cd_status cd_driver_register(struct cd_eip93_driver *driver, struct cd_error *out_error) {
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        uint64_t key_sizes = aes_key_sizes(&modes[i], driver->option_1);
        if ((driver->option_1 & modes[i].options) != modes[i].options || key_sizes == 0) {
            continue;
        }
        struct cd_driver_implementation *implementation =
            &driver->implementations[driver->implementation_count];
        describe(driver, implementation, &modes[i], key_sizes);
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
