/* benchmark_machine.c, benchmark_modelled.c, benchmark_cost.c: modelled CPUs on a virtual clock. */
#include "benchmark/benchmark_internal.h"
#include "cryptodispatch/benchmark.h"
#include "cryptodispatch/machine.h"
#include "fake_cipher.h"
#include "test_support.h"

#include <pthread.h>

static const uint8_t key[32] = {9, 8, 7, 6, 5};
static struct fake_clock fake_clock;
static struct fake device, slow, fast, other;
static struct cd_registry *registry;
static struct cd_virtual_clock virtual_clock;
static struct cd_clock interface;
static struct cd_error error;

static void set_up(void) {
    memset(&fake_clock, 0, sizeof(fake_clock));
    memset(&error, 0, sizeof(error));
    fake_describe(&device, &fake_clock, 'h', "cbc(aes)", "cbc(aes-dev)", CD_FLAG_ASYNC);
    fake_describe(&slow, &fake_clock, 's', "cbc(aes)", "cbc(aes-lib)", 0);
    fake_describe(&fast, &fake_clock, 's', "cbc(aes)", "cbc(aes-ni)", 0);
    fake_describe(&other, &fake_clock, 's', "rfc3686(ctr(aes))", "rfc3686(ctr(aes-lib))", 0);
    fast.implementation.priority = 300;
    other.implementation.block_size = 1;
    other.implementation.iv_size = 8;
    CHECK_EQ(cd_registry_new(&registry), CD_OK);
    CHECK_EQ(cd_registry_add(registry, &device.implementation, &error), CD_OK);
    CHECK_EQ(cd_registry_add(registry, &slow.implementation, &error), CD_OK);
    CHECK_EQ(cd_registry_add(registry, &fast.implementation, &error), CD_OK);
    CHECK_EQ(cd_registry_add(registry, &other.implementation, &error), CD_OK);
    cd_virtual_clock_init(&virtual_clock);
    cd_virtual_clock_interface(&interface, &virtual_clock);
}

static void tear_down(void) {
    cd_registry_free(registry);
    CHECK_EQ(device.users + slow.users + fast.users + other.users, 0);
    CHECK_EQ(device.transforms + slow.transforms + fast.transforms + other.transforms, 0);
}

static bool count_one(const struct cd_implementation *implementation, void *context) {
    (void)implementation;
    ++*(unsigned *)context;
    return true;
}

static unsigned registered(void) {
    unsigned count = 0;
    cd_registry_each(registry, count_one, &count);
    return count;
}

static const struct cd_cpu_cost costs[] = {
    {"cbc(aes)", 0, 1000000, 2500},
    {"cbc(aes)", 32, 1000000, 3999},
    {"rfc3686(ctr(aes))", 0, 500000, 1000},
};

/* "-machine" goes behind each word that no parenthesis follows. */
static void test_driver_name(void) {
    static const struct {
        const char *algorithm, *driver;
    } cases[] = {
        {"cbc(aes)", "cbc(aes-an7581)"},
        {"rfc3686(ctr(aes))", "rfc3686(ctr(aes-an7581))"},
        {"sha256", "sha256-an7581"},
        {"hmac(sha256)", "hmac(sha256-an7581)"},
        {"cbc(des3_ede)", "cbc(des3_ede-an7581)"},
        {"authenc(hmac(sha1),cbc(aes))", "authenc(hmac(sha1-an7581),cbc(aes-an7581))"},
    };
    char driver[CD_NAME_MAX];
    char machine[CD_NAME_MAX];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK(cd_machine_driver_name(driver, cases[i].algorithm, "an7581"));
        CHECK(strcmp(driver, cases[i].driver) == 0);
    }
    for (size_t length = 1; length < CD_NAME_MAX; length++) {
        memset(machine, 'm', length);
        machine[length] = '\0';
        CHECK_EQ(cd_machine_driver_name(driver, "cbc(aes)", machine),
                 strlen("cbc(aes-)") + length < CD_NAME_MAX);
    }
}

/* request_ps + length * byte_fs / 1000, exactly, and saturated instead of wrapped. */
static void test_request_time(void) {
    struct cd_cpu_cost cost = {"x", 0, 7, 2500};
    CHECK_EQ(cd_cpu_cost_request_ps(&cost, 0), 7);
    CHECK_EQ(cd_cpu_cost_request_ps(&cost, 1), 9);
    CHECK_EQ(cd_cpu_cost_request_ps(&cost, 3), 14);
    cost.byte_fs = 999;
    CHECK_EQ(cd_cpu_cost_request_ps(&cost, 1000), 7 + 999);
    CHECK_EQ(cd_cpu_cost_request_ps(&cost, 1001), 7 + 999);
    cost.byte_fs = UINT64_MAX / 16; /* length * byte_fs would wrap, the time does not */
    CHECK(cd_cpu_cost_request_ps(&cost, 32) ==
          7 + (UINT64_MAX / 16 / 1000) * 32 + (UINT64_MAX / 16 % 1000) * 32 / 1000);
    cost.byte_fs = UINT64_MAX;
    CHECK(cd_cpu_cost_request_ps(&cost, 1000000) == UINT64_MAX);
    cost = (struct cd_cpu_cost){"x", 0, UINT64_MAX, 1000};
    CHECK(cd_cpu_cost_request_ps(&cost, 1) == UINT64_MAX);
    CHECK(cd_cpu_cost_request_ps(&cost, SIZE_MAX) == UINT64_MAX);
}

/* Name, flag, priority and limits; plain users of the algorithm name never get it. */
static void test_registered_as_described(void) {
    struct cd_machine *machine;
    const struct cd_implementation *found;
    set_up();
    CHECK_EQ(cd_machine_new(&machine, registry, "an7581", &interface, costs, 3, &error), CD_OK);
    CHECK_EQ(registered(), 6);
    CHECK_EQ(cd_registry_find(&found, registry, "rfc3686(ctr(aes-an7581))", CD_TYPE_CIPHER, 0, 0),
             CD_OK);
    CHECK(strcmp(found->algorithm, "rfc3686(ctr(aes))") == 0);
    CHECK_EQ(found->flags, CD_FLAG_MODELLED);
    CHECK_EQ(found->priority, 0);
    CHECK_EQ(found->block_size, 1);
    CHECK_EQ(found->iv_size, 8);
    CHECK_EQ(found->key_sizes, other.implementation.key_sizes);
    cd_implementation_release(found);
    CHECK_EQ(cd_registry_find(&found, registry, "cbc(aes)", CD_TYPE_CIPHER, CD_FLAG_MODELLED,
                              CD_FLAG_MODELLED),
             CD_OK);
    CHECK(strcmp(found->driver, "cbc(aes-an7581)") == 0);
    cd_implementation_release(found);
    CHECK_EQ(cd_registry_find(&found, registry, "cbc(aes)", CD_TYPE_CIPHER, 0,
                              CD_FLAG_MODELLED | CD_FLAG_ASYNC),
             CD_OK);
    CHECK(strcmp(found->driver, "cbc(aes-ni)") == 0);
    cd_implementation_release(found);
    cd_machine_free(machine);
    CHECK_EQ(registered(), 4);
    tear_down();
}

static cd_status fail_at_48(size_t length) {
    return length == 48 ? CD_E_DEVICE : CD_OK;
}

static cd_status run(struct cd_cipher *cipher, uint8_t *out, size_t length, bool decrypt) {
    struct cd_cipher_request request;
    memset(&request, 0, sizeof(request));
    request.source = out;
    request.destination = out;
    request.length = length;
    return decrypt ? cd_cipher_decrypt_wait(cipher, &request)
                   : cd_cipher_encrypt_wait(cipher, &request);
}

/* It computes for real, on the best synchronous software, and takes the modelled time. */
static void test_computes_and_takes_time(void) {
    struct cd_machine *machine;
    struct cd_cipher *cipher, *reference;
    uint8_t a[64] = {0}, b[64] = {0}, zeros[64] = {0};
    set_up();
    CHECK_EQ(cd_machine_new(&machine, registry, "an7581", &interface, costs, 3, &error), CD_OK);
    CHECK_EQ(cd_cipher_new(&cipher, registry, "cbc(aes-an7581)", 0, 0), CD_OK);
    CHECK_EQ(cd_cipher_new_bound(&reference, &slow.implementation), CD_OK);
    CHECK_EQ(run(cipher, a, 64, false), CD_E_NO_KEY);
    CHECK_EQ(cd_cipher_set_key(cipher, key, 16), CD_OK);
    CHECK_EQ(cd_cipher_set_key(reference, key, 16), CD_OK);
    CHECK_EQ(run(cipher, a, 64, false), CD_OK);
    CHECK_EQ(run(reference, b, 64, false), CD_OK);
    CHECK_BYTES(a, b, 64);
    CHECK_EQ(fast.operations, 1);
    CHECK_EQ(device.operations, 0);
    CHECK_EQ(cd_virtual_clock_picoseconds(&virtual_clock), 1000000 + 64 * 2500 / 1000);
    CHECK_EQ(run(cipher, a, 64, true), CD_OK);
    CHECK_BYTES(a, zeros, 64);
    CHECK_EQ(cd_virtual_clock_picoseconds(&virtual_clock), 2 * (1000000 + 160));
    /* A key of 32 bytes has its own row; a refused request takes no time, a failed one its own. */
    CHECK_EQ(cd_cipher_set_key(cipher, key, 32), CD_OK);
    CHECK_EQ(run(cipher, a, 32, false), CD_OK);
    CHECK_EQ(cd_virtual_clock_picoseconds(&virtual_clock), 2 * 1000160 + 1000000 + 127);
    CHECK_EQ(run(cipher, a, 33, false), CD_E_LENGTH);
    CHECK_EQ(cd_virtual_clock_picoseconds(&virtual_clock), 2 * 1000160 + 1000127);
    fast.outcome = fail_at_48;
    CHECK_EQ(run(cipher, a, 48, false), CD_E_DEVICE);
    CHECK_EQ(cd_virtual_clock_picoseconds(&virtual_clock), 2 * 1000160 + 1000127 + 1000191);
    cd_cipher_free(reference);
    cd_cipher_free(cipher);
    cd_machine_free(machine);
    tear_down();
}

/* Measured on its clock the model gives its own costs back. */
static void test_measured(void) {
    struct cd_machine *machine;
    struct cd_cipher *cipher;
    uint8_t buffer[64] = {1};
    uint64_t ticks;
    set_up();
    CHECK_EQ(cd_machine_new(&machine, registry, "an7581", &interface, costs, 3, &error), CD_OK);
    CHECK_EQ(cd_cipher_new(&cipher, registry, "cbc(aes-an7581)", 0, 0), CD_OK);
    CHECK_EQ(cd_cipher_set_key(cipher, key, 16), CD_OK);
    CHECK_EQ(cd_benchmark_cipher(&ticks, cipher, &interface, buffer, 64, 4, 8), CD_OK);
    CHECK(ticks >= 8 * 1000 && ticks <= 8 * 1000 + 2); /* 8 x 1000.16 ns, in whole ns */
    cd_cipher_free(cipher);
    cd_machine_free(machine);
    tear_down();
}

/* The time of a machine, on the heap: it may go as soon as the machine is freed. */
static struct cd_virtual_clock *own_time;

static struct cd_machine *new_machine_in_own_time(void) {
    struct cd_machine *machine;
    struct cd_clock clock;
    own_time = malloc(sizeof(*own_time));
    if (own_time == NULL) {
        abort();
    }
    cd_virtual_clock_init(own_time);
    cd_virtual_clock_interface(&clock, own_time);
    CHECK_EQ(cd_machine_new(&machine, registry, "an7581", &clock, costs, 3, &error), CD_OK);
    return machine;
}

static void end(struct cd_machine *machine) {
    cd_machine_free(machine);
    free(own_time);
}

/* Transforms outlive the machine, but time does not: their requests fail with "no device" and do
 * not touch the clock, which may be gone; memory goes with the last (address sanitizer). */
static void test_outlived_by_transform(void) {
    struct cd_cipher *cipher, *unkeyed;
    uint8_t buffer[16] = {0}, zeros[16] = {0};
    set_up();
    struct cd_machine *machine = new_machine_in_own_time();
    CHECK_EQ(cd_cipher_new(&cipher, registry, "cbc(aes-an7581)", 0, 0), CD_OK);
    CHECK_EQ(cd_cipher_new(&unkeyed, registry, "cbc(aes-an7581)", 0, 0), CD_OK);
    CHECK_EQ(cd_cipher_set_key(cipher, key, 24), CD_OK);
    CHECK_EQ(run(cipher, buffer, 16, false), CD_OK);
    CHECK_EQ(run(cipher, buffer, 16, true), CD_OK);
    CHECK_EQ(cd_virtual_clock_picoseconds(own_time), 2 * 1000040);
    end(machine);
    CHECK_EQ(registered(), 4);
    CHECK_EQ(run(cipher, buffer, 16, false), CD_E_NO_DEVICE);
    CHECK_EQ(run(cipher, buffer, 16, true), CD_E_NO_DEVICE);
    CHECK_BYTES(buffer, zeros, 16);
    CHECK_EQ(run(unkeyed, buffer, 16, false), CD_E_NO_KEY);
    CHECK_EQ(cd_cipher_set_key(unkeyed, key, 32), CD_OK);
    CHECK_EQ(run(unkeyed, buffer, 16, false), CD_E_NO_DEVICE);
    CHECK_EQ(fast.operations, 2);
    cd_cipher_free(cipher);
    cd_cipher_free(unkeyed);
    cd_machine_free(NULL);
    tear_down();
}

/* The same with requests under way in another thread: paid or refused, never late. */
static void *run_until_gone(void *argument) {
    struct cd_cipher *cipher = argument;
    uint8_t buffer[16] = {0};
    cd_status status;
    do {
        status = run(cipher, buffer, 16, false);
    } while (status == CD_OK);
    CHECK_EQ(status, CD_E_NO_DEVICE);
    return NULL;
}

static void test_freed_under_requests(void) {
    set_up();
    for (int i = 0; i < 100; i++) {
        struct cd_machine *machine = new_machine_in_own_time();
        struct cd_cipher *cipher;
        pthread_t thread;
        CHECK_EQ(cd_cipher_new(&cipher, registry, "cbc(aes-an7581)", 0, 0), CD_OK);
        CHECK_EQ(cd_cipher_set_key(cipher, key, 16), CD_OK);
        CHECK_EQ(pthread_create(&thread, NULL, run_until_gone, cipher), 0);
        while (cd_virtual_clock_picoseconds(own_time) == 0) {
        }
        end(machine);
        pthread_join(thread, NULL);
        cd_cipher_free(cipher);
    }
    tear_down();
}

/* Only the key sizes that have a row. */
static void test_key_sizes_of_rows(void) {
    static const struct cd_cpu_cost rows[] = {{"cbc(aes)", 16, 1, 1}, {"cbc(aes)", 32, 2, 1}};
    struct cd_machine *machine;
    struct cd_cipher *cipher;
    set_up();
    CHECK_EQ(cd_machine_new(&machine, registry, "m", &interface, rows, 2, &error), CD_OK);
    CHECK_EQ(cd_cipher_new(&cipher, registry, "cbc(aes-m)", 0, 0), CD_OK);
    CHECK_EQ(cd_cipher_set_key(cipher, key, 16), CD_OK);
    CHECK_EQ(cd_cipher_set_key(cipher, key, 24), CD_E_KEY);
    CHECK_EQ(cd_cipher_set_key(cipher, key, 32), CD_OK);
    cd_cipher_free(cipher);
    cd_machine_free(machine);
    tear_down();
}

/* Two machines side by side, and one of an empty table. */
static void test_several_machines(void) {
    struct cd_machine *a, *b, *empty;
    set_up();
    CHECK_EQ(cd_machine_new(&a, registry, "a", &interface, costs, 3, &error), CD_OK);
    CHECK_EQ(cd_machine_new(&b, registry, "b", &interface, costs, 3, &error), CD_OK);
    CHECK_EQ(cd_machine_new(&empty, registry, "c", &interface, NULL, 0, &error), CD_OK);
    CHECK_EQ(registered(), 8);
    cd_machine_free(a);
    CHECK_EQ(registered(), 6);
    cd_machine_free(b);
    cd_machine_free(empty);
    tear_down();
}

/* On an error nothing stays registered, and the message names what was wrong. */
static void test_errors(void) {
    static const struct cd_cpu_cost unknown[] = {{"cbc(aes)", 0, 1, 1}, {"cbc(xtea)", 0, 1, 1}};
    static const struct cd_cpu_cost twice[] = {{"cbc(aes)", 16, 1, 1}, {"cbc(aes)", 16, 1, 1}};
    static const struct cd_cpu_cost no_such_key[] = {{"cbc(aes)", 20, 1, 1}};
    static const struct cd_cpu_cost huge_key[] = {{"cbc(aes)", 64, 1, 1}};
    static const struct cd_cpu_cost driver[] = {{"cbc(aes-dev)", 0, 1, 1}};
    static const struct cd_cpu_cost nameless[] = {{"", 0, 1, 1}};
    static const struct {
        const struct cd_cpu_cost *costs;
        size_t count;
        cd_status status;
        const char *text;
    } cases[] = {
        {unknown, 2, CD_E_UNKNOWN_ALGORITHM, "cbc(xtea)"},
        {twice, 2, CD_E_INVALID, "key_size: 16"},
        {no_such_key, 1, CD_E_INVALID, "key_size"},
        {huge_key, 1, CD_E_INVALID, "key_size"},
        {driver, 1, CD_E_UNKNOWN_ALGORITHM, "cbc(aes-dev)"},
        {nameless, 1, CD_E_INVALID, "algorithm"},
        {NULL, 1, CD_E_INVALID, "costs"},
    };
    static const char *const names[] = {"", "a(b", "a)b", "a,b", "a b"};
    struct cd_machine *machine = NULL;
    struct cd_clock no_advance;
    char long_name[90];
    set_up();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_EQ(cd_machine_new(&machine, registry, "m", &interface, cases[i].costs, cases[i].count,
                                &error),
                 cases[i].status);
        CHECK(strstr(error.message, cases[i].text) != NULL);
        CHECK_EQ(registered(), 4);
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        CHECK_EQ(cd_machine_new(&machine, registry, names[i], &interface, costs, 3, &error),
                 CD_E_INVALID);
        CHECK(strstr(error.message, "name") != NULL);
    }
    CHECK_EQ(cd_machine_new(&machine, registry, NULL, &interface, costs, 3, NULL), CD_E_INVALID);
    memset(long_name, 'm', sizeof(long_name));
    long_name[sizeof(long_name) - 1] = '\0';
    CHECK_EQ(cd_machine_new(&machine, registry, long_name, &interface, costs, 3, &error),
             CD_E_INVALID);
    no_advance = interface;
    no_advance.advance = NULL;
    CHECK_EQ(cd_machine_new(&machine, registry, "m", &no_advance, costs, 3, &error), CD_E_INVALID);
    CHECK(strstr(error.message, "clock") != NULL);
    CHECK_EQ(registered(), 4);
    CHECK(machine == NULL);
    tear_down();
}

/* The name of the last one is taken: those before it go again. */
static void test_name_taken(void) {
    struct cd_machine *machine = NULL;
    struct fake squatter;
    set_up();
    fake_describe(&squatter, &fake_clock, 's', "x", "rfc3686(ctr(aes-an7581))", 0);
    CHECK_EQ(cd_registry_add(registry, &squatter.implementation, &error), CD_OK);
    CHECK_EQ(cd_machine_new(&machine, registry, "an7581", &interface, costs, 3, &error),
             CD_E_EXISTS);
    CHECK(strstr(error.message, "rfc3686(ctr(aes-an7581))") != NULL);
    CHECK_EQ(registered(), 5);
    tear_down();
}

int main(void) {
    RUN(test_driver_name);
    RUN(test_request_time);
    RUN(test_registered_as_described);
    RUN(test_computes_and_takes_time);
    RUN(test_measured);
    RUN(test_outlived_by_transform);
    RUN(test_freed_under_requests);
    RUN(test_key_sizes_of_rows);
    RUN(test_several_machines);
    RUN(test_errors);
    RUN(test_name_taken);
    return test_end();
}
