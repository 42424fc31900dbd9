/* Registry, transforms and streams, on toy implementations whose behaviour the test sets. */
#include "test_support.h"

#include "cryptodispatch/cipher.h"
#include "cryptodispatch/hash.h"
#include "cryptodispatch/stream.h"

#include <stdlib.h>

/* ---- a toy cipher: adds the key's first byte to every byte; "iv" counts blocks of 16 ---- */

static cd_status toy_answer = CD_OK;
static int toy_users;

static cd_status toy_set_key(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    (void)key_len;
    if (key[0] == 0xee) {
        return CD_E_DEVICE;
    }
    memcpy(cd_cipher_context(cipher), key, 1);
    return CD_OK;
}

static cd_status toy_run(struct cd_cipher *cipher, struct cd_cipher_request *request, int sign) {
    const uint8_t *key = cd_cipher_context(cipher);
    for (size_t i = 0; i < request->length; i++) {
        request->destination[i] = (uint8_t)(request->source[i] + sign * (key[0] + request->iv[0]));
    }
    request->iv[0] = (uint8_t)(request->iv[0] + (request->length + 15) / 16);
    return toy_answer;
}

static cd_status toy_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    return toy_run(cipher, request, 1);
}

static cd_status toy_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    return toy_run(cipher, request, -1);
}

static void toy_retain(void *provider) {
    (void)provider;
    toy_users++;
}

static void toy_release(void *provider) {
    (void)provider;
    toy_users--;
}

static const struct cd_cipher_ops toy_ops = {
    .set_key = toy_set_key, .encrypt = toy_encrypt, .decrypt = toy_decrypt};

static struct cd_implementation toy(const char *algorithm, const char *driver, int32_t priority) {
    struct cd_implementation implementation = {.algorithm = algorithm,
                                               .driver = driver,
                                               .type = CD_TYPE_CIPHER,
                                               .priority = priority,
                                               .block_size = 16,
                                               .iv_size = 16,
                                               .chunk_size = 16,
                                               .alignment = 1,
                                               .key_sizes = CD_KEY_SIZE(16),
                                               .context_size = 16,
                                               .cipher = &toy_ops,
                                               .retain = toy_retain,
                                               .release = toy_release};
    return implementation;
}

static struct cd_registry *registry;

static const char *found_driver(const char *name, uint32_t flags, uint32_t mask) {
    const struct cd_implementation *found = NULL;
    cd_status status = cd_registry_find(&found, registry, name, CD_TYPE_CIPHER, flags, mask);
    if (status != CD_OK) {
        return cd_status_name(status);
    }
    cd_implementation_release(found);
    return found->driver;
}

static void lookup_by_name_flags_and_priority(void) {
    struct cd_implementation a = toy("t", "t-a", 100), b = toy("t", "t-b", 300);
    struct cd_implementation c = toy("t", "t-c", 300), d = toy("t", "t-d", 900);
    d.flags = CD_FLAG_MODELLED;
    const struct cd_implementation *all[] = {&a, &b, &c, &d};
    for (size_t i = 0; i < 4; i++) {
        CHECK_EQ(cd_registry_add(registry, all[i], NULL), CD_OK);
    }
    CHECK(strcmp(found_driver("t", 0, CD_FLAG_MODELLED), "t-b") == 0);
    CHECK(strcmp(found_driver("t", CD_FLAG_MODELLED, CD_FLAG_MODELLED), "t-d") == 0);
    CHECK(strcmp(found_driver("t-d", 0, CD_FLAG_MODELLED), "t-d") == 0);
    CHECK(strcmp(found_driver("t-a", 0, 0), "t-a") == 0);
    CHECK(strcmp(found_driver("u", 0, 0), "CD_E_UNKNOWN_ALGORITHM") == 0);
    cd_registry_remove(registry, &b);
    cd_registry_remove(registry, &b);
    CHECK(strcmp(found_driver("t", 0, CD_FLAG_MODELLED), "t-c") == 0);
    cd_registry_remove(registry, &a);
    cd_registry_remove(registry, &c);
    cd_registry_remove(registry, &d);
    CHECK_EQ(toy_users, 0);
}

static void unavailable_ones_are_listed_and_not_bound(void) {
    struct cd_implementation here = toy("t", "t-here", 1), there = toy("t", "t-there", 2);
    there.cpu = 1u << 30; /* no CPU has it */
    CHECK_EQ(cd_registry_add(registry, &there, NULL), CD_OK);
    CHECK(strcmp(found_driver("t", 0, 0), "CD_E_UNAVAILABLE") == 0);
    CHECK_EQ(cd_registry_add(registry, &here, NULL), CD_OK);
    CHECK(strcmp(found_driver("t", 0, 0), "t-here") == 0);
    CHECK(strcmp(found_driver("t-there", 0, 0), "CD_E_UNAVAILABLE") == 0);
    cd_registry_remove(registry, &here);
    cd_registry_remove(registry, &there);
}

static void malformed_descriptions_are_refused(void) {
    struct cd_error error;
    struct cd_implementation bad = toy("t", "t-bad", 1);
    char name[200];
    memset(name, 'x', sizeof(name));
    name[199] = '\0';
#define REFUSED(change, field)                                                                     \
    do {                                                                                           \
        struct cd_implementation row = bad;                                                        \
        change;                                                                                    \
        CHECK_EQ(cd_registry_add(registry, &row, &error), CD_E_INVALID);                           \
        CHECK(strstr(error.message, field) != NULL);                                               \
    } while (0)
    REFUSED(row.algorithm = "", "algorithm");
    REFUSED(row.driver = NULL, "driver");
    REFUSED(row.driver = name, "driver");
    REFUSED(row.type = (enum cd_type)9, "type");
    REFUSED(row.block_size = 0, "block_size");
    REFUSED(row.block_size = 12, "block_size");
    REFUSED(row.iv_size = 17, "iv_size");
    REFUSED(row.digest_size = 33, "digest_size");
    REFUSED(row.max_tag_size = 33, "max_tag_size");
    REFUSED(row.retain = NULL, "retain");
    REFUSED(row.cipher = NULL, "cipher");
    REFUSED(row.flags = CD_FLAG_ASYNC, "wait");
    REFUSED(row.type = CD_TYPE_HASH, "hash");
    CHECK_EQ(cd_registry_add(registry, &bad, &error), CD_OK);
    struct cd_implementation twin = bad;
    CHECK_EQ(cd_registry_add(registry, &twin, &error), CD_E_EXISTS);
    CHECK(strstr(error.message, "t-bad") != NULL);
    cd_registry_remove(registry, &bad);
}

static void request_checks(void) {
    struct cd_implementation implementation = toy("t", "t-x", 1);
    struct cd_cipher *cipher;
    uint8_t key[17] = {1}, memory[64] = {0};
    CHECK_EQ(cd_cipher_new_bound(&cipher, &implementation), CD_OK);
    CHECK_EQ(toy_users, 1);
    struct cd_cipher_request request = {.source = memory, .destination = memory, .length = 16};
    CHECK_EQ(cd_cipher_encrypt(cipher, &request), CD_E_NO_KEY);
    CHECK_EQ(cd_cipher_set_key(cipher, key, 17), CD_E_KEY);
    CHECK_EQ(cd_cipher_set_key(cipher, key, 80), CD_E_KEY);
    CHECK_EQ(cd_cipher_set_key(cipher, NULL, 16), CD_E_INVALID);
    CHECK_EQ(cd_cipher_set_key(cipher, key, 16), CD_OK);
    CHECK(cd_cipher_has_key(cipher));
    CHECK_EQ((uintptr_t)cd_cipher_context(cipher) % 64, 0);
    CHECK_EQ(cd_cipher_encrypt_wait(cipher, &request), CD_OK);
    CHECK_EQ(memory[0], 1);
    CHECK_EQ(request.status, CD_OK);
    request.length = 15;
    CHECK_EQ(cd_cipher_encrypt(cipher, &request), CD_E_LENGTH);
    request.length = 32;
    request.destination = memory + 16;
    CHECK_EQ(cd_cipher_encrypt(cipher, &request), CD_E_OVERLAP);
    request.source = memory + 16;
    request.destination = memory;
    CHECK_EQ(cd_cipher_decrypt(cipher, &request), CD_E_OVERLAP);
    request.destination = NULL;
    CHECK_EQ(cd_cipher_decrypt(cipher, &request), CD_E_INVALID);
    request.length = 0;
    CHECK_EQ(cd_cipher_decrypt(cipher, &request), CD_OK);
    key[0] = 0xee; /* the implementation refuses it */
    CHECK_EQ(cd_cipher_set_key(cipher, key, 16), CD_E_DEVICE);
    CHECK_EQ(cd_cipher_encrypt(cipher, &request), CD_E_NO_KEY);
    cd_cipher_free(cipher);
    cd_cipher_free(NULL);
    CHECK_EQ(toy_users, 0);
}

static void transform_of_another_type_is_refused(void) {
    struct cd_implementation implementation = toy("t", "t-x", 1);
    struct cd_hash *hash;
    CHECK_EQ(cd_hash_new_bound(&hash, &implementation), CD_E_INVALID);
}

/* Every split of 50 bytes (the toy's IV makes a wrong chunk visible). */
static void stream_splits(uint32_t block_size, size_t length) {
    struct cd_implementation implementation = toy("t", "t-x", 1);
    struct cd_cipher *cipher;
    uint8_t key[16] = {3}, iv[16] = {7}, text[64], whole[64], out[80];
    implementation.block_size = block_size;
    CHECK_EQ(cd_cipher_new_bound(&cipher, &implementation), CD_OK);
    CHECK_EQ(cd_cipher_set_key(cipher, key, 16), CD_OK);
    for (size_t i = 0; i < 64; i++) {
        text[i] = (uint8_t)i;
        whole[i] = (uint8_t)(i + 3 + 7 + i / 16);
    }
    for (size_t first = 0; first <= length; first++) {
        struct cd_cipher_stream stream;
        cd_cipher_stream_init(&stream, cipher, false, iv);
        /* The toy adds the IV once per request, so feed block by block to make it a stream cipher.
         */
        size_t done = 0, taken = 0;
        while (taken < length) {
            size_t piece = taken < first ? first - taken : length - taken;
            piece = piece > 16 - taken % 16 ? 16 - taken % 16 : piece;
            size_t expected = cd_cipher_stream_output_size(&stream, piece);
            CHECK_EQ(cd_cipher_stream_update(&stream, out + done, text + taken, piece), CD_OK);
            done += expected;
            taken += piece;
        }
        CHECK_EQ(done, length);
        if (block_size == 16) {
            CHECK_BYTES(out, whole, length);
        }
        CHECK_EQ(cd_cipher_stream_finalize(&stream), CD_OK);
        CHECK_EQ(cd_cipher_stream_finalize(&stream), CD_E_INVALID);
        CHECK_EQ(cd_cipher_stream_update(&stream, out, text, 1), CD_E_INVALID);
    }
    cd_cipher_free(cipher);
}

static void stream_of_a_block_mode(void) {
    stream_splits(16, 48);
}

static void stream_of_a_counter_mode(void) {
    stream_splits(1, 50);
}

static void stream_errors(void) {
    struct cd_implementation implementation = toy("t", "t-x", 1);
    struct cd_cipher *cipher;
    struct cd_cipher_stream stream;
    uint8_t key[16] = {3}, iv[16] = {0}, memory[64] = {0};
    CHECK_EQ(cd_cipher_new_bound(&cipher, &implementation), CD_OK);
    CHECK_EQ(cd_cipher_set_key(cipher, key, 16), CD_OK);
    cd_cipher_stream_init(&stream, cipher, false, iv);
    CHECK_EQ(cd_cipher_stream_update(&stream, memory, memory + 32, 5), CD_OK);
    CHECK_EQ(cd_cipher_stream_update(&stream, memory, memory, 16), CD_E_OVERLAP);
    CHECK_EQ(cd_cipher_stream_finalize(&stream), CD_E_LENGTH);
    cd_cipher_stream_init(&stream, cipher, false, iv);
    toy_answer = CD_E_DEVICE;
    CHECK_EQ(cd_cipher_stream_update(&stream, memory, memory, 16), CD_E_DEVICE);
    toy_answer = CD_OK;
    CHECK_EQ(cd_cipher_stream_update(&stream, memory, memory, 16), CD_E_INVALID);
    cd_cipher_free(cipher);
}

/* ---- exported hash states need no working hash ---- */

static cd_status hash_nothing(struct cd_hash *hash, struct cd_hash_request *request) {
    (void)hash;
    (void)request;
    return CD_OK;
}
static cd_status begin_nothing(struct cd_hash *hash, struct cd_hash_state *state) {
    (void)hash;
    (void)state;
    return CD_OK;
}
static cd_status update_count(struct cd_hash *hash, struct cd_hash_state *state,
                              const uint8_t *data, size_t length) {
    (void)hash;
    for (size_t i = 0; i < length; i++) {
        state->buffer[state->count++ % CD_HASH_BLOCK] = data[i];
    }
    return CD_OK;
}
static cd_status finish_nothing(struct cd_hash *hash, const struct cd_hash_state *state,
                                uint8_t *out_digest) {
    (void)hash;
    (void)state;
    (void)out_digest;
    return CD_OK;
}
static const struct cd_hash_ops toy_hash_ops = {.digest = hash_nothing,
                                                .begin = begin_nothing,
                                                .update = update_count,
                                                .finish = finish_nothing};

static void exported_states(void) {
    struct cd_implementation a = {.algorithm = "th",
                                  .driver = "th-a",
                                  .type = CD_TYPE_HASH,
                                  .block_size = 64,
                                  .digest_size = 4,
                                  .hash = &toy_hash_ops};
    struct cd_implementation b = a;
    b.algorithm = "other";
    struct cd_hash *first, *second;
    struct cd_hash_state state, copy;
    uint8_t blob[CD_HASH_BLOB_SIZE], again[CD_HASH_BLOB_SIZE];
    CHECK_EQ(cd_hash_new_bound(&first, &a), CD_OK);
    CHECK_EQ(cd_hash_new_bound(&second, &b), CD_OK);
    CHECK_EQ(cd_hash_begin(first, &state), CD_OK);
    CHECK_EQ(cd_hash_update(first, &state, (const uint8_t *)"hello", 5), CD_OK);
    state.words[3] = 0x01020304;
    state.side = 2;
    cd_hash_export(first, &state, blob);
    CHECK_EQ(cd_hash_import(first, &copy, blob, sizeof(blob)), CD_OK);
    CHECK_BYTES(&copy, &state, sizeof(state));
    cd_hash_export(first, &copy, again);
    CHECK_BYTES(blob, again, sizeof(blob));
    CHECK_EQ(cd_hash_import(second, &copy, blob, sizeof(blob)), CD_E_MISMATCH);
    CHECK_EQ(cd_hash_import(first, &copy, blob, sizeof(blob) - 1), CD_E_INVALID);
    CHECK_EQ(cd_hash_import(first, &copy, NULL, 0), CD_E_INVALID);
    static const size_t vital[] = {0, 4, 8, 12, 23, 120, 215};
    for (size_t i = 0; i < sizeof(vital) / sizeof(vital[0]); i++) {
        memcpy(again, blob, sizeof(blob));
        again[vital[i]] ^= 0x80;
        CHECK(cd_hash_import(first, &copy, again, sizeof(again)) < 0);
    }
    CHECK_BYTES(&copy, &state, sizeof(state)); /* refused imports left it alone */
    state.count = ((uint64_t)1 << 61) - 3;
    CHECK_EQ(cd_hash_update(first, &state, (const uint8_t *)"123", 3), CD_E_LENGTH);
    cd_hash_free(first);
    cd_hash_free(second);
}

static bool visit_priority(const struct cd_implementation *implementation, int32_t priority,
                           void *context) {
    int64_t *digits = context;
    (void)implementation;
    *digits = *digits * 10 + priority;
    return true;
}

static void a_priority_in_force_goes_before_the_own_one(void) {
    struct cd_implementation first = toy("prio(toy)", "prio(toy-1)", 2);
    struct cd_implementation second = toy("prio(toy)", "prio(toy-2)", 1);
    struct cd_registry *own = NULL;
    struct cd_registry *kept = registry;
    CHECK_EQ(cd_registry_new(&own), CD_OK);
    registry = own;
    CHECK_EQ(cd_registry_add(own, &first, NULL), CD_OK);
    CHECK_EQ(cd_registry_add(own, &second, NULL), CD_OK);
    CHECK(strcmp(found_driver("prio(toy)", 0, 0), "prio(toy-1)") == 0);
    CHECK_EQ(cd_registry_set_priority(own, "prio(toy-2)", 3), CD_OK);
    CHECK(strcmp(found_driver("prio(toy)", 0, 0), "prio(toy-2)") == 0);
    CHECK(strcmp(found_driver("prio(toy-1)", 0, 0), "prio(toy-1)") == 0);
    CHECK_EQ(second.priority, 1); /* the description is not touched */
    int64_t digits = 0;
    cd_registry_each_priority(own, visit_priority, &digits);
    CHECK_EQ(digits, 23);
    CHECK_EQ(cd_registry_set_priority(own, "prio(toy-2)", INT32_MIN), CD_OK);
    CHECK(strcmp(found_driver("prio(toy)", 0, 0), "prio(toy-1)") == 0);
    cd_registry_remove(own, &second);
    CHECK_EQ(cd_registry_set_priority(own, "prio(toy-2)", 9), CD_E_UNKNOWN_ALGORITHM);
    CHECK_EQ(cd_registry_add(own, &second, NULL), CD_OK); /* back with its own */
    CHECK_EQ(cd_registry_set_priority(own, "prio(toy-1)", 0), CD_OK);
    CHECK(strcmp(found_driver("prio(toy)", 0, 0), "prio(toy-2)") == 0);
    CHECK_EQ(cd_registry_set_priority(own, "prio(toy)", 9), CD_E_UNKNOWN_ALGORITHM);
    cd_registry_free(own);
    registry = kept;
}

int main(void) {
    if (cd_registry_new(&registry) != CD_OK) {
        return 1;
    }
    RUN(lookup_by_name_flags_and_priority);
    RUN(a_priority_in_force_goes_before_the_own_one);
    RUN(unavailable_ones_are_listed_and_not_bound);
    RUN(malformed_descriptions_are_refused);
    RUN(request_checks);
    RUN(transform_of_another_type_is_refused);
    RUN(stream_of_a_block_mode);
    RUN(stream_of_a_counter_mode);
    RUN(stream_errors);
    RUN(exported_states);
    cd_registry_free(registry);
    return test_end();
}
