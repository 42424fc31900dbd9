/* software/: authenc(hmac(H),C) gives the right bytes, in every implementation. */
#include "authenc_fixture.h"
#include "cryptodispatch/hash.h"

#define TEXT 304u /* bytes, room for the longest text */

/* ---- registration ---- */

/* The driver name is that of an hmac and that of a cipher, and what the two need is needed. */
static void check_halves(const struct subject *subject) {
    const struct cd_implementation *entry = subject->implementation, *cipher, *hmac;
    char hash_driver[CD_NAME_MAX], cipher_driver[CD_NAME_MAX];

    CHECK_EQ(sscanf(entry->driver, "authenc(%90[^,],%90s", hash_driver, cipher_driver), 2);
    cipher_driver[strlen(cipher_driver) - 1] = '\0';
    CHECK_EQ(cd_registry_find(&hmac, registry, hash_driver, CD_TYPE_HASH, 0, 0), CD_OK);
    CHECK_EQ(cd_registry_find(&cipher, registry, cipher_driver, CD_TYPE_CIPHER, 0, 0), CD_OK);
    CHECK_EQ(entry->cpu, hmac->cpu | cipher->cpu);
    CHECK_EQ(entry->block_size, cipher->block_size);
    CHECK_EQ(entry->iv_size, cipher->iv_size);
    CHECK_EQ(entry->chunk_size, cipher->chunk_size);
    CHECK(entry->key_sizes == cipher->key_sizes);
    CHECK_EQ(entry->max_tag_size, hmac->digest_size);
}

static void every_pair_is_listed_with_its_sizes(void) {
    size_t portable = 0;

    CHECK_EQ(subject_count, 48);
    for (size_t i = 0; i < subject_count; i++) {
        const struct cd_implementation *entry = subjects[i].implementation;
        const struct half *half = subjects[i].half;

        CHECK_EQ(entry->type, CD_TYPE_AEAD);
        CHECK_EQ(entry->flags, 0);
        CHECK_EQ(entry->block_size, half->block_size);
        CHECK_EQ(entry->iv_size, half->iv_size);
        CHECK_EQ(entry->chunk_size, half->chunk_size);
        CHECK(entry->key_sizes == half->key_sizes);
        CHECK_EQ(entry->max_tag_size, digest_sizes[subjects[i].hash]);
        portable += entry->cpu == 0;
        CHECK_EQ(entry->priority == 100, entry->cpu == 0);
        if (cd_implementation_available(entry)) {
            check_halves(&subjects[i]);
        }
    }
    CHECK_EQ(portable, 16);
}

/* Of those that run, none has more instructions than the one that the algorithm name stands for. */
static void the_best_pair_is_bound_by_algorithm_name(void) {
    FOR_EVERY_SUBJECT(subject) {
        const struct cd_implementation *entry = subject->implementation, *best = NULL;

        CHECK_EQ(cd_registry_find(&best, registry, entry->algorithm, CD_TYPE_AEAD, 0, 0), CD_OK);
        CHECK_EQ(entry->cpu & ~best->cpu, 0);
        CHECK_EQ(entry == best, entry->priority == best->priority);
    }
}

/* A driver name that is taken, whichever: nothing of all the software stays registered. */
static void failed_registration_leaves_nothing(void) {
    for (size_t i = 0; i < subject_count; i++) {
        const struct cd_implementation *entry = subjects[i].implementation;
        struct cd_registry *other;
        struct cd_cipher *cipher = NULL;
        struct cd_hash *hash = NULL;

        CHECK_EQ(cd_registry_new(&other), CD_OK);
        CHECK_EQ(cd_registry_add(other, entry, NULL), CD_OK);
        CHECK_EQ(cd_software_register(other, NULL), CD_E_EXISTS);
        CHECK_EQ(cd_cipher_new(&cipher, other, "cbc(des)", 0, 0), CD_E_UNKNOWN_ALGORITHM);
        CHECK_EQ(cd_hash_new(&hash, other, "md5", 0, 0), CD_E_UNKNOWN_ALGORITHM);
        cd_registry_remove(other, entry);
        CHECK_EQ(cd_software_register(other, NULL), CD_OK);
        cd_registry_free(other);
    }
}

/* ---- known answers ---- */

/* AES-CBC of SP 800-38A F.2.1, HMAC-SHA-1 (Python's hmac) over AAD and the first two blocks. */
static void hmac_sha1_over_sp_800_38a(void) {
    uint8_t key[16], auth[20], iv[16], aad[8], text[32], cipher[32], tag[20], out[32], made[20];

    test_hex(key, "2b7e151628aed2a6abf7158809cf4f3c");
    test_hex(iv, "000102030405060708090a0b0c0d0e0f");
    test_hex(auth, "000102030405060708090a0b0c0d0e0f10111213");
    test_hex(aad, "0000123400000001");
    test_hex(text, "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51");
    test_hex(cipher, "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2");
    test_hex(tag, "dbc7eb5eb875ed1d0d6061693cb4dfb89476583f");
    FOR_EVERY_SUBJECT(subject) {
        struct cd_aead *aead;
        struct cd_aead_request request = request_of(out, text, 32, 8, made);

        if (subject->hash != SHA1 || subject->cipher != CBC_AES) {
            continue;
        }
        aead = new_aead(subject);
        CHECK_EQ(cd_aead_set_key(aead, key, 16, auth, 20), CD_OK);
        memcpy(request.iv, iv, 16);
        request.aad = aad;
        CHECK_EQ(cd_aead_encrypt(aead, &request), CD_OK);
        CHECK_BYTES(out, cipher, 32);
        CHECK_BYTES(made, tag, 20);
        CHECK_BYTES(request.iv, iv, 16);
        request.source = cipher;
        CHECK_EQ(cd_aead_decrypt(aead, &request), CD_OK);
        CHECK_BYTES(out, text, 32);
        cd_aead_free(aead);
    }
}

/*
 * Texts of 0 to 300 bytes, AAD of 0 to 100, every tag size, folded into one SHA-256. The expected
 * values are libcrypto's (cipher) and hmac's, by way of Python, for test_bytes as `data`:
 *   key = data[40:40 + key_len]; DES is triple DES with the key three times; rfc3686 is CTR from
 *   data[72:76] + iv + 00000001
 *   for n in range(0, 301, block):
 *       aad, c = data[:n % 101], encrypt(key, iv=data[n:n + iv_size], data[100:100 + n])
 *       tag = hmac.new(data[n:n + 20], aad + c, name).digest()[:1 + n % digest_size]
 *       h.update(c + tag)
 */
static const char *const folds[HASHES][CIPHERS] = {
    {"733e1cf60eb5444f63e52fee16beb4655a6c29f452bd8e6d423c6e48477881c3",
     "002afd23a354862a5ed5e62838448c7f241398321b1dbf8641087783857d5c36",
     "c57a43a89664b7d116b0d6b12f01a578fe5705e59172e929ba79604c3be2f304",
     "0aac015723b07ffeaf36b1466e1b6ecb763f499515115a9996ae563502603f6a"},
    {"6d41f7cb74f16ca23df14b2c36cacbf13bb4b57f670c81f96a384704494b955f",
     "1cca4e545f5bdbe73e4f6337e264ed52febd435218bf6ca4b08fb1e4cbdd1710",
     "ae6d40c1faf4a26d78d50b3ffa03a87f4291bb72e3de981fb9cf99ace625ac67",
     "535d056b1c7b3cb5f6c937a45f746d068fc3e21f50ec5edeaa5660b997ca6d53"},
    {"6d4727412f8ecb5aa0acb9f631cf16e271111c491ede838f207b3a891564a40a",
     "5e6588ce0424465d9988bd900434768479cd1d17e3273a1293fe4c4b614a6600",
     "407fdb70fb1aaef369cff91ae0aed451398d80c24400866b5401a1791f0c606b",
     "db957b1d81fc94a99b5e9de78d02de861d8693fc10bdb546e629ba8e33271088"},
    {"8a8399621fd408754b007fba7f8452b7aaa6e34f2a1dc2bcb59f206a4d2b18e3",
     "1fbd75d9be96aa89734819a2ad744aadfdd294f10512244e41951806a6ef3114",
     "1be5c992f357a64cda33b844c98ea38e8601260a8611606f9f4ec5145b72a938",
     "a6f20cf99f4afc18e4530686877b1e172fc70e06b2140ff31a1b8f7c03d1f760"}};

static void every_length_equals_two_other_libraries(void) {
    FOR_EVERY_SUBJECT(subject) {
        struct cd_aead *aead = new_aead(subject);
        struct cd_md_state fold;
        uint8_t digest[CD_MD_DIGEST_MAX], out[TEXT], tag[CD_TAG_MAX];

        cd_md_init(&cd_sha256_portable, &fold);
        for (size_t n = 0; n <= 300; n += subject->half->block_size) {
            struct cd_aead_request request = request_of(out, test_bytes + 100, n, n % 101, tag);
            uint32_t tag_size = (uint32_t)(1 + n % digest_sizes[subject->hash]);

            memcpy(request.iv, test_bytes + n, 16);
            CHECK_EQ(
                cd_aead_set_key(aead, test_bytes + 40, subject->half->key_len, test_bytes + n, 20),
                CD_OK);
            CHECK_EQ(cd_aead_set_tag_size(aead, tag_size), CD_OK);
            CHECK_EQ(cd_aead_encrypt(aead, &request), CD_OK);
            cd_md_update(&cd_sha256_portable, &fold, out, n);
            cd_md_update(&cd_sha256_portable, &fold, tag, tag_size);
        }
        cd_md_final(&cd_sha256_portable, &fold, digest);
        check_digest(&cd_sha256_portable, digest, folds[subject->hash][subject->cipher]);
        cd_aead_free(aead);
    }
}

/* ---- against separate transforms ---- */

struct composed {
    struct cd_cipher *cipher;
    struct cd_hash *hmac;
};

static struct composed compose_new(const struct subject *subject) {
    struct composed parts = {NULL, NULL};
    char name[CD_NAME_MAX];

    snprintf(name, sizeof name, "hmac(%s-lib)", hash_names[subject->hash]);
    CHECK_EQ(cd_cipher_new(&parts.cipher, registry, subject->half->portable, 0, 0), CD_OK);
    CHECK_EQ(cd_hash_new(&parts.hmac, registry, name, 0, 0), CD_OK);
    CHECK_EQ(cd_cipher_set_key(parts.cipher, test_bytes + 40, subject->half->key_len), CD_OK);
    CHECK_EQ(cd_hash_set_key(parts.hmac, test_bytes + 11, 20), CD_OK);
    return parts;
}

/* What `request` has to give: the ciphertext, then hmac over AAD and ciphertext. */
static void compose(const struct composed *parts, const struct cd_aead_request *request,
                    uint8_t *out, uint8_t *out_tag) {
    struct cd_cipher_request cipher = {
        .source = request->source, .destination = out, .length = request->length};
    struct cd_hash_state state;

    memcpy(cipher.iv, request->iv, sizeof cipher.iv);
    CHECK_EQ(cd_cipher_encrypt(parts->cipher, &cipher), CD_OK);
    CHECK_EQ(cd_hash_begin(parts->hmac, &state), CD_OK);
    CHECK_EQ(cd_hash_update(parts->hmac, &state, request->aad, request->aad_len), CD_OK);
    CHECK_EQ(cd_hash_update(parts->hmac, &state, out, request->length), CD_OK);
    CHECK_EQ(cd_hash_finish(parts->hmac, &state, out_tag), CD_OK);
}

/* Encrypt and decrypt a text apart and in place, at a place that is not aligned. */
static void check_message(struct cd_aead *aead, const struct composed *parts, size_t length,
                          size_t aad_len, size_t tag_size) {
    uint8_t out[TEXT + 16], expected[TEXT], tag[CD_TAG_MAX + 1], expected_tag[CD_TAG_MAX];
    uint8_t *at = out + (length + aad_len) % 15;
    struct cd_aead_request request = request_of(at, test_bytes + 600, length, aad_len, tag);

    memset(out, 0xee, sizeof out);
    memset(tag, 0xee, sizeof tag);
    compose(parts, &request, expected, expected_tag);
    CHECK_EQ(cd_aead_encrypt(aead, &request), CD_OK);
    CHECK_BYTES(at, expected, length);
    CHECK_BYTES(tag, expected_tag, tag_size);
    CHECK(at[length] == 0xee && tag[tag_size] == 0xee);
    CHECK_BYTES(request.iv, test_bytes + 500, 16);
    request.source = at;
    CHECK_EQ(cd_aead_decrypt(aead, &request), CD_OK);
    CHECK_BYTES(at, test_bytes + 600, length);
    CHECK_EQ(cd_aead_encrypt(aead, &request), CD_OK);
    CHECK_BYTES(at, expected, length);
    CHECK_BYTES(tag, expected_tag, tag_size);
    request.source = expected;
    memset(at, 0xee, length);
    CHECK_EQ(cd_aead_decrypt(aead, &request), CD_OK);
    CHECK_BYTES(at, test_bytes + 600, length);
    CHECK_BYTES(request.iv, test_bytes + 500, 16);
    CHECK_EQ(at[length], 0xee);
}

/* R091 for the lengths. R021: AAD and tag of a length of their own in each message. */
static void every_length_equals_separate_transforms(void) {
    FOR_EVERY_SUBJECT(subject) {
        struct cd_aead *aead = new_aead(subject);
        struct composed parts = compose_new(subject);
        size_t digest_size = digest_sizes[subject->hash];

        for (size_t length = 0; length <= 300; length += subject->half->block_size) {
            uint32_t tag_size = (uint32_t)(digest_size - length % digest_size);

            CHECK_EQ(cd_aead_set_tag_size(aead, tag_size), CD_OK);
            check_message(aead, &parts, length, length * 7 % 101, tag_size);
        }
        CHECK_EQ(cd_aead_set_tag_size(aead, 12), CD_OK);
        for (size_t aad_len = 0; aad_len <= 100; aad_len++) {
            check_message(aead, &parts, 48, aad_len, 12);
            check_message(aead, &parts, 0, aad_len, 12);
        }
        cd_hash_free(parts.hmac);
        cd_cipher_free(parts.cipher);
        cd_aead_free(aead);
    }
}

/* R045: what one implementation of an algorithm encrypts, every other one accepts. */
static void implementations_accept_each_other(void) {
    FOR_EVERY_SUBJECT(from) {
        FOR_EVERY_SUBJECT(to) {
            struct cd_aead *here, *there;
            uint8_t out[96], tag[CD_TAG_MAX];
            struct cd_aead_request request = request_of(out, test_bytes, 96, 21, tag);

            if (from->hash != to->hash || from->cipher != to->cipher) {
                continue;
            }
            here = new_aead(from);
            there = new_aead(to);
            CHECK_EQ(cd_aead_encrypt(here, &request), CD_OK);
            request.source = out;
            CHECK_EQ(cd_aead_decrypt(there, &request), CD_OK);
            CHECK_BYTES(out, test_bytes, 96);
            cd_aead_free(here);
            cd_aead_free(there);
        }
    }
}

/* Last: narrows the CPU mask. Without SHA-NI the AES-NI pairs are left, without both the portable
 * ones. */
static void without_the_instructions_other_pairs_are_bound(void) {
    (void)cd_cpu_narrow(~(uint32_t)CD_CPU_SHANI);
    the_best_pair_is_bound_by_algorithm_name();
    every_length_equals_two_other_libraries();
    (void)cd_cpu_narrow(~(uint32_t)CD_CPU_AESNI);
    FOR_EVERY_SUBJECT(subject) {
        CHECK_EQ(subject->implementation->priority, 100);
    }
    the_best_pair_is_bound_by_algorithm_name();
}

int main(void) {
    if (!subjects_set_up()) {
        return 1;
    }
    RUN(every_pair_is_listed_with_its_sizes);
    RUN(the_best_pair_is_bound_by_algorithm_name);
    RUN(failed_registration_leaves_nothing);
    RUN(hmac_sha1_over_sp_800_38a);
    RUN(every_length_equals_two_other_libraries);
    RUN(every_length_equals_separate_transforms);
    RUN(implementations_accept_each_other);
    RUN(without_the_instructions_other_pairs_are_bound);
    cd_registry_free(registry);
    return test_end();
}
