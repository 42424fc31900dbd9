/* What the tests of authenc share: every implementation of it, keyed transforms, requests. */
#ifndef AUTHENC_FIXTURE_H
#define AUTHENC_FIXTURE_H

#include <stdlib.h>

#include "cryptodispatch/aead.h"
#include "cryptodispatch/software.h"
#include "test_hash_all.h"

enum { CBC_AES, RFC3686, CBC_DES, CBC_DES3, CIPHERS };

static const struct half {
    const char *algorithm, *portable; /* the cipher alone: its name, its portable driver */
    uint32_t block_size, iv_size, chunk_size;
    size_t key_len;
    uint64_t key_sizes;
} halves[CIPHERS] = {
    {"cbc(aes)", "cbc(aes-lib)", 16, 16, 16, 32, UINT64_C(0x101010000)},
    {"rfc3686(ctr(aes))", "rfc3686(ctr(aes-lib))", 1, 8, 16, 36, UINT64_C(0x1010100000)},
    {"cbc(des)", "cbc(des-lib)", 8, 8, 8, 8, UINT64_C(0x100)},
    {"cbc(des3_ede)", "cbc(des3_ede-lib)", 8, 8, 8, 24, UINT64_C(0x1000000)},
};

static const char *const hash_names[HASHES] = {"md5", "sha1", "sha224", "sha256"};
static const size_t digest_sizes[HASHES] = {16, 20, 28, 32};

/* Every authenc that is registered, those this CPU cannot run included. */
#define SUBJECTS_MAX 64u
static struct subject {
    const struct cd_implementation *implementation;
    const struct half *half;
    size_t hash, cipher;
} subjects[SUBJECTS_MAX];
static size_t subject_count;

static struct cd_registry *registry;

static inline bool collect(const struct cd_implementation *implementation, void *context) {
    (void)context;
    for (size_t i = 0; i < HASHES * CIPHERS && subject_count < SUBJECTS_MAX; i++) {
        char name[CD_NAME_MAX];

        snprintf(name, sizeof name, "authenc(hmac(%s),%s)", hash_names[i / CIPHERS],
                 halves[i % CIPHERS].algorithm);
        if (strcmp(implementation->algorithm, name) == 0) {
            subjects[subject_count++] =
                (struct subject){implementation, &halves[i % CIPHERS], i / CIPHERS, i % CIPHERS};
        }
    }
    return true;
}

/* For every subject that this CPU can run. */
#define FOR_EVERY_SUBJECT(name)                                                                    \
    for (const struct subject *name = subjects; name < subjects + subject_count; name++)           \
        if (cd_implementation_available((name)->implementation))

/* A transform keyed with test_bytes + 40 and, for 20 bytes, + 11. */
static inline struct cd_aead *new_aead(const struct subject *subject) {
    struct cd_aead *aead = NULL;

    if (cd_aead_new(&aead, registry, subject->implementation->driver, 0, CD_FLAG_MODELLED) !=
        CD_OK) {
        printf("no aead %s\n", subject->implementation->driver);
        exit(1);
    }
    CHECK_EQ(cd_aead_set_key(aead, test_bytes + 40, subject->half->key_len, test_bytes + 11, 20),
             CD_OK);
    return aead;
}

/* A request with IV and AAD out of test_bytes. */
static inline struct cd_aead_request request_of(uint8_t *out, const uint8_t *in, size_t length,
                                                size_t aad_len, uint8_t *tag) {
    struct cd_aead_request request = {.source = in,
                                      .destination = out,
                                      .length = length,
                                      .aad = test_bytes,
                                      .aad_len = aad_len,
                                      .tag = tag};

    memcpy(request.iv, test_bytes + 500, sizeof request.iv);
    return request;
}

/* The registry with all the software in it, and the subjects. False: no use going on. */
static inline bool subjects_set_up(void) {
    struct cd_error error = {"no registry"};

    test_hashes_set_up();
    if (cd_registry_new(&registry) != CD_OK || cd_software_register(registry, &error) != CD_OK) {
        printf("%s\n", error.message);
        return false;
    }
    cd_registry_each(registry, collect, NULL);
    return subject_count > 0;
}

#endif
