/* benchmark_modelled.c: hashes and aeads of a simulated machine. */
#include "cryptodispatch/machine.h"
#include "fake_types.h"
#include "test_support.h"

static const uint8_t key[32] = {9, 8, 7, 6, 5};
static struct fake_clock fake_clock;
static struct cd_registry *registry;
static struct cd_virtual_clock virtual_clock;
static struct cd_clock interface;
static struct cd_error error;
static struct fake hash_fake, plain_fake, aead_fake;

#define AUTHENC "authenc(hmac(sum),cbc(aes))"

static const struct cd_cpu_cost type_costs[] = {
    {"sum", 0, 3000, 1500},
    {"hmac(sum)", 0, 7000, 2500},
    {AUTHENC, 0, 9000, 4000},
    {AUTHENC, 32, 20000, 4000},
};

static void set_up(void) {
    memset(&fake_clock, 0, sizeof(fake_clock));
    cd_virtual_clock_init(&virtual_clock);
    cd_virtual_clock_interface(&interface, &virtual_clock);
    CHECK_EQ(cd_registry_new(&registry), CD_OK);
    fake_describe_hash(&plain_fake, &fake_clock, 's', "sum", "sum-lib", 0, false);
    fake_describe_hash(&hash_fake, &fake_clock, 's', "hmac(sum)", "hmac(sum-lib)", 0, true);
    fake_describe_aead(&aead_fake, &fake_clock, 's', AUTHENC, "authenc-lib", 0);
    CHECK_EQ(cd_registry_add(registry, &plain_fake.implementation, &error), CD_OK);
    CHECK_EQ(cd_registry_add(registry, &hash_fake.implementation, &error), CD_OK);
    CHECK_EQ(cd_registry_add(registry, &aead_fake.implementation, &error), CD_OK);
}

static void tear_down(void) {
    cd_registry_free(registry);
    CHECK_EQ(plain_fake.users + hash_fake.users + aead_fake.users, 0);
    CHECK_EQ(plain_fake.transforms + hash_fake.transforms + aead_fake.transforms, 0);
}

static uint64_t picoseconds(void) {
    return cd_virtual_clock_picoseconds(&virtual_clock);
}

/* What a hash request of `length` bytes must give, by the software's own name. */
static void check_digest(const char *driver, const uint8_t *digest, const uint8_t *source,
                         size_t length) {
    uint8_t expected[FAKE_DIGEST_SIZE];
    struct cd_hash *hash;
    struct cd_hash_request request = {.source = source, .length = length, .digest = expected};
    CHECK_EQ(cd_hash_new(&hash, registry, driver, 0, 0), CD_OK);
    if (!cd_hash_has_key(hash)) {
        CHECK_EQ(cd_hash_set_key(hash, key, 20), CD_OK);
    }
    CHECK_EQ(cd_hash_digest_wait(hash, &request), CD_OK);
    CHECK_BYTES(digest, expected, FAKE_DIGEST_SIZE);
    cd_hash_free(hash);
}

/* Hashes: a digest costs request and bytes; in pieces each update its bytes, each finish a request;
 * any key has the one row. */
static void check_hash(const char *driver, const char *software, uint64_t request_ps,
                       uint64_t per_100_ps) {
    uint8_t message[300] = {1, 2, 3}, digest[FAKE_DIGEST_SIZE];
    struct cd_hash *hash;
    struct cd_hash_state state;
    struct cd_hash_request request = {.source = message, .length = 200, .digest = digest};
    CHECK_EQ(cd_hash_new(&hash, registry, driver, 0, 0), CD_OK);
    if (!cd_hash_has_key(hash)) {
        CHECK_EQ(cd_hash_digest_wait(hash, &request), CD_E_NO_KEY);
        CHECK_EQ(cd_hash_set_key(hash, key, 20), CD_OK);
    }
    uint64_t before = picoseconds();
    CHECK_EQ(cd_hash_digest_wait(hash, &request), CD_OK);
    CHECK_EQ(picoseconds() - before, request_ps + 2 * per_100_ps);
    check_digest(software, digest, message, 200);
    before = picoseconds();
    CHECK_EQ(cd_hash_begin(hash, &state), CD_OK);
    CHECK_EQ(picoseconds() - before, 0);
    CHECK_EQ(cd_hash_update(hash, &state, message, 100), CD_OK);
    CHECK_EQ(picoseconds() - before, per_100_ps);
    CHECK_EQ(cd_hash_update(hash, &state, message + 100, 200), CD_OK);
    CHECK_EQ(picoseconds() - before, 3 * per_100_ps);
    CHECK_EQ(cd_hash_finish(hash, &state, digest), CD_OK);
    CHECK_EQ(picoseconds() - before, 3 * per_100_ps + request_ps);
    check_digest(software, digest, message, 300);
    CHECK_EQ(state.side, 0);
    cd_hash_free(hash);
}

static void test_hash(void) {
    struct cd_machine *machine;
    const struct cd_implementation *found;
    set_up();
    CHECK_EQ(cd_machine_new(&machine, registry, "m", &interface, type_costs, 4, &error), CD_OK);
    CHECK_EQ(cd_registry_find(&found, registry, "sum-m", CD_TYPE_HASH, 0, 0), CD_OK);
    CHECK_EQ(found->flags, CD_FLAG_MODELLED);
    CHECK_EQ(found->key_sizes, 0);
    CHECK_EQ(found->digest_size, FAKE_DIGEST_SIZE);
    cd_implementation_release(found);
    CHECK_EQ(cd_registry_find(&found, registry, "hmac(sum-m)", CD_TYPE_HASH, 0, 0), CD_OK);
    CHECK(found->key_sizes == CD_KEY_ANY);
    cd_implementation_release(found);
    check_hash("sum-m", "sum-lib", 3000, 150);
    check_hash("hmac(sum-m)", "hmac(sum-lib)", 7000, 250);
    cd_machine_free(machine);
    tear_down();
}

/* Aeads: the bytes are text and associated data; the key is the cipher's; a wrong tag took its time
 * too. */
static void test_aead(void) {
    uint8_t text[64] = {1, 2, 3}, out[64], back[64], tag[16];
    struct cd_machine *machine;
    struct cd_aead *aead;
    struct cd_aead_request request = {
        .source = text, .destination = out, .length = 64, .aad = text, .aad_len = 36, .tag = tag};
    set_up();
    CHECK_EQ(cd_machine_new(&machine, registry, "m", &interface, type_costs, 4, &error), CD_OK);
    CHECK_EQ(cd_aead_new(&aead, registry, "authenc(hmac(sum-m),cbc(aes-m))", 0, 0), CD_OK);
    CHECK_EQ(cd_aead_encrypt_wait(aead, &request), CD_E_NO_KEY);
    CHECK_EQ(cd_aead_set_key(aead, key, 16, key, 20), CD_OK);
    CHECK_EQ(cd_aead_encrypt_wait(aead, &request), CD_OK);
    CHECK_EQ(picoseconds(), 9000 + 100 * 4);
    request.source = out;
    request.destination = back;
    CHECK_EQ(cd_aead_decrypt_wait(aead, &request), CD_OK);
    CHECK_BYTES(back, text, 64);
    CHECK_EQ(picoseconds(), 2 * 9400);
    tag[0] ^= 1;
    CHECK_EQ(cd_aead_decrypt_wait(aead, &request), CD_E_AUTHENTICATION);
    CHECK_EQ(picoseconds(), 3 * 9400);
    CHECK_EQ(cd_aead_set_key(aead, key, 32, key, 20), CD_OK);
    memset(tag, 0xee, sizeof(tag));
    CHECK_EQ(cd_aead_set_tag_size(aead, 12), CD_OK);
    CHECK_EQ(cd_aead_encrypt_wait(aead, &request), CD_OK);
    CHECK_EQ(picoseconds(), 3 * 9400 + 20400);
    CHECK(tag[12] == 0xee && tag[11] == (uint8_t)(tag[0] + 11));
    CHECK_EQ(aead_fake.operations, 4);
    cd_aead_free(aead);
    cd_machine_free(machine);
    tear_down();
}

/* After the machine: no digest, no piece of a message, no encryption, and no clock. */
static void test_outlived_by_transforms(void) {
    uint8_t text[16] = {0}, out[16], tag[16], digest[FAKE_DIGEST_SIZE];
    struct cd_machine *machine;
    struct cd_aead *aead;
    struct cd_hash *hash;
    struct cd_hash_state state;
    struct cd_hash_request digest_request = {.source = text, .length = 16, .digest = digest};
    struct cd_aead_request request = {.source = text, .destination = out, .length = 16, .tag = tag};
    set_up();
    struct cd_virtual_clock *own_time = malloc(sizeof(*own_time));
    CHECK(own_time != NULL);
    *own_time = virtual_clock;
    cd_virtual_clock_interface(&interface, own_time);
    CHECK_EQ(cd_machine_new(&machine, registry, "m", &interface, type_costs, 4, &error), CD_OK);
    CHECK_EQ(cd_aead_new(&aead, registry, "authenc(hmac(sum-m),cbc(aes-m))", 0, 0), CD_OK);
    CHECK_EQ(cd_aead_set_key(aead, key, 16, key, 20), CD_OK);
    CHECK_EQ(cd_hash_new(&hash, registry, "sum-m", 0, 0), CD_OK);
    CHECK_EQ(cd_hash_begin(hash, &state), CD_OK);
    cd_machine_free(machine);
    free(own_time);
    CHECK_EQ(cd_hash_update(hash, &state, text, 16), CD_E_NO_DEVICE);
    CHECK_EQ(cd_hash_finish(hash, &state, digest), CD_E_NO_DEVICE);
    CHECK_EQ(cd_hash_begin(hash, &state), CD_E_NO_DEVICE);
    CHECK_EQ(cd_hash_digest_wait(hash, &digest_request), CD_E_NO_DEVICE);
    CHECK_EQ(cd_aead_encrypt_wait(aead, &request), CD_E_NO_DEVICE);
    CHECK_EQ(cd_aead_decrypt_wait(aead, &request), CD_E_NO_DEVICE);
    cd_aead_free(aead);
    cd_hash_free(hash);
    tear_down();
}

/* A hash has no rows by key size, an aead those of its cipher's keys. */
static void test_key_sizes(void) {
    static const struct cd_cpu_cost bad[][1] = {
        {{"sum", 16, 1, 1}}, {{"hmac(sum)", 16, 1, 1}}, {{AUTHENC, 20, 1, 1}}};
    static const struct cd_cpu_cost only[] = {{AUTHENC, 16, 1, 1}};
    struct cd_machine *machine = NULL;
    struct cd_aead *aead;
    set_up();
    for (size_t i = 0; i < 3; i++) {
        CHECK_EQ(cd_machine_new(&machine, registry, "m", &interface, bad[i], 1, &error),
                 CD_E_INVALID);
        CHECK(strstr(error.message, "key_size") != NULL);
    }
    CHECK(machine == NULL);
    CHECK_EQ(cd_machine_new(&machine, registry, "m", &interface, only, 1, &error), CD_OK);
    CHECK_EQ(cd_aead_new(&aead, registry, "authenc(hmac(sum-m),cbc(aes-m))", 0, 0), CD_OK);
    CHECK_EQ(cd_aead_implementation(aead)->key_sizes, CD_KEY_SIZE(16));
    CHECK_EQ(cd_aead_set_key(aead, key, 24, key, 20), CD_E_KEY);
    cd_aead_free(aead);
    cd_machine_free(machine);
    tear_down();
}

int main(void) {
    RUN(test_hash);
    RUN(test_aead);
    RUN(test_outlived_by_transforms);
    RUN(test_key_sizes);
    return test_end();
}
