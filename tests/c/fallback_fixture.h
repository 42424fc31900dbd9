/*
 * A registry with a fake device and fake software, and a fallback of two groups over them:
 * "aes" (measured with cbc(aes); members cbc, ctr and an ecb that the device lacks) and "des".
 */
#ifndef FALLBACK_FIXTURE_H
#define FALLBACK_FIXTURE_H

#include "fallback_support.h"

#define AES 0u /* indices of the groups */
#define DES 1u

static const char *const aes_members[] = {"cbc(aes-dev)", "ctr(aes-dev)", "ecb(aes-dev)"};
static const char *const des_members[] = {"cbc(des-dev)"};

static const struct cd_group_config fixture_groups[] = {
    {
        .name = "aes",
        .type = CD_TYPE_CIPHER,
        .algorithm = "cbc(aes)",
        .driver = "cbc(aes-dev)",
        .key = fixture_key,
        .key_len = sizeof(fixture_key),
        .members = aes_members,
        .member_count = 3,
    },
    {
        .name = "des",
        .type = CD_TYPE_CIPHER,
        .algorithm = "cbc(des)",
        .driver = "cbc(des-dev)",
        .key = fixture_key,
        .key_len = sizeof(fixture_key),
        .members = des_members,
        .member_count = 1,
    },
};

enum { HW_CBC, HW_CTR, HW_DES, SW_CBC, SW_CTR, SW_DES, FAKES };

static struct fake fakes[FAKES];

static inline void describe_fakes(void) {
    memset(&clock_state, 0, sizeof(clock_state));
    memset(&error, 0, sizeof(error));
    fake_describe(&fakes[HW_CBC], &clock_state, 'h', "cbc(aes)", "cbc(aes-dev)", CD_FLAG_ASYNC);
    fake_describe(&fakes[HW_CTR], &clock_state, 'h', "ctr(aes)", "ctr(aes-dev)", CD_FLAG_ASYNC);
    fake_describe(&fakes[HW_DES], &clock_state, 'h', "cbc(des)", "cbc(des-dev)", 0);
    fake_describe(&fakes[SW_CBC], &clock_state, 's', "cbc(aes)", "cbc(aes-soft)", 0);
    fake_describe(&fakes[SW_CTR], &clock_state, 's', "ctr(aes)", "ctr(aes-soft)", 0);
    fake_describe(&fakes[SW_DES], &clock_state, 's', "cbc(des)", "cbc(des-soft)", 0);
    fakes[HW_CTR].implementation.block_size = 1;
    fakes[SW_CTR].implementation.block_size = 1;
    fakes[HW_CBC].cost = cost_low_from_1024;
    fakes[HW_CTR].cost = cost_flat;
    fakes[HW_DES].cost = cost_high;
    for (size_t i = SW_CBC; i < FAKES; i++) {
        fakes[i].cost = cost_flat;
    }
}

static inline void set_up(void) {
    describe_fakes();
    register_and_make(fakes, FAKES, fixture_groups, 2);
}

static inline void check_nothing_left(void) {
    check_released(fakes, FAKES);
}

static inline void tear_down(void) {
    free_and_check(fakes, FAKES);
}

/* A keyed transform as a plain user gets it. */
static inline struct cd_cipher *new_cipher(const char *name) {
    struct cd_cipher *cipher = NULL;
    CHECK_EQ(cd_cipher_new(&cipher, registry, name, 0, CD_FLAG_MODELLED), CD_OK);
    if (cipher != NULL) {
        CHECK_EQ(cd_cipher_set_key(cipher, fixture_key, sizeof(fixture_key)), CD_OK);
    }
    return cipher;
}

static inline bool is_bound_to(const struct cd_cipher *cipher, const char *driver) {
    return strcmp(cd_cipher_implementation(cipher)->driver, driver) == 0;
}

/* Encrypt `length` bytes and compare with what every fake computes. */
static inline cd_status run(struct cd_cipher *cipher, size_t length) {
    static _Thread_local uint8_t buffer[70000];
    struct cd_cipher_request request;
    memset(&request, 0, sizeof(request));
    memset(buffer, 0x55, length);
    memset(request.iv, 3, sizeof(request.iv));
    request.source = buffer;
    request.destination = buffer;
    request.length = length;
    cd_status status = cd_cipher_encrypt_wait(cipher, &request);
    for (size_t i = 0; status == CD_OK && i < length; i++) {
        if (buffer[i] != (uint8_t)(0x58u + fixture_key[i % 16] + i)) {
            printf("wrong byte %zu of %zu\n", i, length);
            return CD_E_DEVICE;
        }
    }
    return status != CD_OK || request.iv[0] == 4 ? status : CD_E_DEVICE;
}

/* The side that served one request of `length` bytes, by the fakes' own counts. */
static inline char side_of(struct cd_cipher *cipher, size_t length, const struct fake *hardware,
                           const struct fake *software) {
    unsigned hardware_before = hardware->operations;
    unsigned software_before = software->operations;
    cd_status status = run(cipher, length);
    if (status != CD_OK) {
        printf("%zu bytes: %s\n", length, cd_status_name(status));
        return 'e';
    }
    unsigned hardware_more = hardware->operations - hardware_before;
    unsigned software_more = software->operations - software_before;
    return hardware_more + software_more != 1 ? '?' : hardware_more == 1 ? 'h' : 's';
}

#endif
