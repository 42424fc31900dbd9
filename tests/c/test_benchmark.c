/* benchmark_decide.c and benchmark_transform.c: fallback-semantics.md section 3, steps 1 to 4. */
#include "cryptodispatch/benchmark.h"
#include "cryptodispatch/registry.h"
#include "fake_types.h"
#include "test_support.h"

static const uint8_t key[16] = {1, 2, 3, 4};
static char trace[FAKE_TRACE_MAX];
static struct fake_clock fake_clock;
static struct cd_clock interface;
static struct fake hardware, software;
static struct cd_cipher *hardware_cipher, *software_cipher;
static _Alignas(64) uint8_t buffer[16384 + 64];

static void set_up(uint32_t hardware_flags) {
    memset(&fake_clock, 0, sizeof(fake_clock));
    interface = fake_clock_interface(&fake_clock);
    fake_describe(&hardware, &fake_clock, 'h', "cbc(aes)", "cbc(aes-dev)", hardware_flags);
    fake_describe(&software, &fake_clock, 's', "cbc(aes)", "cbc(aes-soft)", 0);
    CHECK_EQ(cd_cipher_new_bound(&hardware_cipher, &hardware.implementation), CD_OK);
    CHECK_EQ(cd_cipher_new_bound(&software_cipher, &software.implementation), CD_OK);
    CHECK_EQ(cd_cipher_set_key(hardware_cipher, key, sizeof(key)), CD_OK);
    CHECK_EQ(cd_cipher_set_key(software_cipher, key, sizeof(key)), CD_OK);
    cd_benchmark_fill(buffer, sizeof(buffer), 1);
    trace[0] = '\0';
    fake_clock.trace = trace;
}

static void tear_down(void) {
    cd_cipher_free(hardware_cipher);
    cd_cipher_free(software_cipher);
    CHECK_EQ(hardware.transforms + software.transforms, 0);
    CHECK_EQ(hardware.users + software.users, 0);
}

static uint64_t cost_10(size_t length) {
    (void)length;
    return 10;
}

static uint64_t cost_100(size_t length) {
    (void)length;
    return 100;
}

static uint64_t cost_110(size_t length) {
    (void)length;
    return 110;
}

static uint64_t cost_111(size_t length) {
    (void)length;
    return 111;
}

static uint64_t cost_0(size_t length) {
    (void)length;
    return 0;
}

static cd_status fail_device(size_t length) {
    (void)length;
    return CD_E_DEVICE;
}

static cd_status fail_at_16(size_t length) {
    return length == 16 ? CD_E_DEVICE : CD_OK;
}

/* The sizes and their order (section 3). */
static void test_sizes(void) {
    static const uint32_t sizes[] = {16, 64, 128, 256, 512, 1024, 1420, 2048, 4096, 8192, 16384};
    CHECK_EQ(CD_BENCHMARK_SIZES, sizeof(sizes) / sizeof(sizes[0]));
    CHECK_BYTES(cd_benchmark_sizes, sizes, sizeof(sizes));
}

/* Step 2: |hw - sw| <= min(hw, sw) / 10, an integer division. */
static void test_is_close(void) {
    CHECK(cd_benchmark_is_close(100, 110));
    CHECK(cd_benchmark_is_close(110, 100));
    CHECK(!cd_benchmark_is_close(100, 111));
    CHECK(!cd_benchmark_is_close(111, 100));
    CHECK(cd_benchmark_is_close(109, 119));
    CHECK(!cd_benchmark_is_close(109, 120)); /* 109 / 10 is 10 */
    CHECK(cd_benchmark_is_close(9, 9));
    CHECK(!cd_benchmark_is_close(9, 10)); /* 9 / 10 is 0 */
    CHECK(cd_benchmark_is_close(0, 0));
    CHECK(!cd_benchmark_is_close(0, 1));
    CHECK(cd_benchmark_is_close(UINT64_MAX, UINT64_MAX - UINT64_MAX / 12));
    CHECK(!cd_benchmark_is_close(UINT64_MAX, 1));
}

/* Step 3: strictly lower wins, a tie is a software win (R119). */
static void test_winner_R119(void) {
    CHECK_EQ(cd_benchmark_winner(99, 100), CD_SIDE_HARDWARE);
    CHECK_EQ(cd_benchmark_winner(100, 100), CD_SIDE_SOFTWARE);
    CHECK_EQ(cd_benchmark_winner(101, 100), CD_SIDE_SOFTWARE);
    CHECK_EQ(cd_benchmark_winner(UINT64_MAX - 1, UINT64_MAX), CD_SIDE_HARDWARE);
}

static void test_side_name(void) {
    CHECK(strcmp(cd_side_name(CD_SIDE_HARDWARE), "hardware") == 0);
    CHECK(strcmp(cd_side_name(CD_SIDE_SOFTWARE), "software") == 0);
    CHECK(cd_side_name(CD_SIDE_NONE) == NULL);
    CHECK(cd_side_name(3) == NULL);
    CHECK(cd_side_name(-1) == NULL);
}

static void test_fill(void) {
    uint8_t a[100], b[100];
    unsigned set = 0;
    cd_benchmark_fill(a, sizeof(a), 7);
    cd_benchmark_fill(b, sizeof(b), 7);
    CHECK_BYTES(a, b, sizeof(a));
    cd_benchmark_fill(b, 13, 7); /* a shorter fill is the beginning of a longer one */
    CHECK_BYTES(a, b, sizeof(a));
    cd_benchmark_fill(b, sizeof(b), 8);
    CHECK(memcmp(a, b, sizeof(a)) != 0);
    for (size_t i = 0; i < sizeof(a); i++) {
        set += (unsigned)__builtin_popcount(a[i]);
    }
    CHECK(set > 300 && set < 500);
    /* SplitMix64 from state 0: first output e220a8397b1dcdaf (its authors' reference program). */
    cd_benchmark_fill(a, 8, 0);
    CHECK_BYTES(a, "\xaf\xcd\x1d\x7b\x39\xa8\x20\xe2", 8);
}

/* Step 1: exactly the warm-ups and the measured ones; the clock is read around each measured. */
static void test_one_side(void) {
    uint64_t ticks = 0;
    set_up(0);
    software.cost = cost_10;
    CHECK_EQ(cd_benchmark_cipher(&ticks, software_cipher, &interface, buffer, 64, 2, 3), CD_OK);
    CHECK_EQ(ticks, 30);
    CHECK(strcmp(trace, "ss"
                        "rsrrsrrsr") == 0);
    CHECK_EQ(software.odd, 0); /* zero IV before each, in place */
    CHECK_EQ(cd_benchmark_cipher(&ticks, software_cipher, &interface, buffer, 0, 2, 3),
             CD_E_LENGTH);
    CHECK_EQ(cd_benchmark_cipher(&ticks, software_cipher, &interface, buffer, 17, 2, 3),
             CD_E_LENGTH);
    CHECK_EQ(cd_benchmark_cipher(&ticks, software_cipher, &interface, buffer, 16, 2, 0),
             CD_E_BENCHMARK);
    CHECK_EQ(ticks, 30); /* errors leave the output alone */
    tear_down();
}

#define FOUR(text) text text text text
#define EIGHT(text) FOUR(text) FOUR(text)

/* Step 1: hardware 4 + 8, then software 4 + 8, not close: 8 samples. */
static void test_pair_order_and_count(void) {
    struct cd_measurement m;
    set_up(CD_FLAG_ASYNC);
    hardware.cost = cost_10;
    software.cost = cost_100;
    CHECK_EQ(cd_benchmark_cipher_pair(&m, hardware_cipher, software_cipher, &interface, buffer, 64),
             CD_OK);
    CHECK(strcmp(trace, FOUR("h") EIGHT("rhr") FOUR("s") EIGHT("rsr")) == 0);
    CHECK_EQ(m.size, 64);
    CHECK_EQ(m.samples, 8);
    CHECK_EQ(m.hardware, 80);
    CHECK_EQ(m.software, 800);
    CHECK_EQ(m.winner, CD_SIDE_HARDWARE);
    CHECK_EQ(hardware.odd + software.odd, 0);
    tear_down();
}

/* Step 2: close, so 16 more of each without warm-up, added to the totals. */
static void test_pair_close_call(void) {
    struct cd_measurement m;
    set_up(0);
    hardware.cost = cost_110;
    software.cost = cost_100;
    CHECK_EQ(cd_benchmark_cipher_pair(&m, hardware_cipher, software_cipher, &interface, buffer, 64),
             CD_OK);
    CHECK(strcmp(trace, FOUR("h") EIGHT("rhr") FOUR("s") EIGHT("rsr") EIGHT("rhr") EIGHT("rhr")
                            EIGHT("rsr") EIGHT("rsr")) == 0);
    CHECK_EQ(m.samples, 24);
    CHECK_EQ(m.hardware, 24 * 110);
    CHECK_EQ(m.software, 24 * 100);
    CHECK_EQ(m.winner, CD_SIDE_SOFTWARE);
    hardware.cost = cost_111;
    CHECK_EQ(cd_benchmark_cipher_pair(&m, hardware_cipher, software_cipher, &interface, buffer, 64),
             CD_OK);
    CHECK_EQ(m.samples, 8);
    tear_down();
}

/* A tie is close, stays a tie, and is the software's (R119). */
static void test_pair_tie_R119(void) {
    struct cd_measurement m;
    set_up(0);
    hardware.cost = cost_100;
    software.cost = cost_100;
    CHECK_EQ(cd_benchmark_cipher_pair(&m, hardware_cipher, software_cipher, &interface, buffer, 64),
             CD_OK);
    CHECK_EQ(m.samples, 24);
    CHECK_EQ(m.hardware, m.software);
    CHECK_EQ(m.winner, CD_SIDE_SOFTWARE);
    tear_down();
}

/* The first 8 say one thing, the total of 24 the other: the total decides. */
static unsigned calls;
static uint64_t cost_falling(size_t length) {
    (void)length;
    return calls++ < CD_BENCHMARK_WARMUPS + CD_BENCHMARK_RUNS ? 105 : 95;
}

static void test_pair_total_decides(void) {
    struct cd_measurement m;
    set_up(0);
    calls = 0;
    hardware.cost = cost_falling;
    software.cost = cost_100;
    CHECK_EQ(cd_benchmark_cipher_pair(&m, hardware_cipher, software_cipher, &interface, buffer, 64),
             CD_OK);
    CHECK_EQ(m.hardware, 8 * 105 + 16 * 95);
    CHECK_EQ(m.software, 24 * 100);
    CHECK_EQ(m.winner, CD_SIDE_HARDWARE);
    tear_down();
}

/* A size is rounded up to the block size; the measurement keeps the size asked for. */
static void test_pair_rounds_up(void) {
    struct cd_measurement m;
    set_up(0);
    hardware.cost = cost_10;
    software.cost = cost_100;
    CHECK_EQ(
        cd_benchmark_cipher_pair(&m, hardware_cipher, software_cipher, &interface, buffer, 1420),
        CD_OK);
    CHECK_EQ(m.size, 1420);
    CHECK_EQ(hardware.lengths[0], 1424);
    CHECK_EQ(hardware.lengths[11], 1424);
    CHECK_EQ(software.lengths[0], 1424);
    tear_down();
}

/* Step 4: a zero total is a failure, on either side. */
static void test_zero_total(void) {
    struct cd_measurement m;
    set_up(0);
    fake_clock.broken = true;
    CHECK_EQ(cd_benchmark_cipher_pair(&m, hardware_cipher, software_cipher, &interface, buffer, 64),
             CD_E_BENCHMARK);
    fake_clock.broken = false;
    hardware.cost = cost_0;
    CHECK_EQ(cd_benchmark_cipher_pair(&m, hardware_cipher, software_cipher, &interface, buffer, 64),
             CD_E_BENCHMARK);
    CHECK_EQ(m.hardware, 0);
    hardware.cost = cost_100;
    software.cost = cost_0;
    CHECK_EQ(cd_benchmark_cipher_pair(&m, hardware_cipher, software_cipher, &interface, buffer, 64),
             CD_E_BENCHMARK);
    CHECK(m.hardware != 0 && m.software == 0); /* tells that the software failed */
    tear_down();
}

static uint64_t backwards_now(void *context) {
    uint64_t *reading = context;
    return (*reading)--;
}

static void test_clock_running_backwards(void) {
    uint64_t reading = 1000, ticks;
    struct cd_clock backwards = {.now = backwards_now, .context = &reading, .hz = 1};
    set_up(0);
    CHECK_EQ(cd_benchmark_cipher(&ticks, software_cipher, &backwards, buffer, 16, 0, 1),
             CD_E_BENCHMARK);
    tear_down();
}

/* A provider that fails at once is not fast (R115): the first error ends it. */
static void test_errors_are_not_fast_R115(void) {
    struct cd_measurement m;
    for (uint32_t flags = 0; flags <= CD_FLAG_ASYNC; flags += CD_FLAG_ASYNC) {
        set_up(flags);
        hardware.outcome = fail_device;
        CHECK_EQ(
            cd_benchmark_cipher_pair(&m, hardware_cipher, software_cipher, &interface, buffer, 64),
            CD_E_DEVICE);
        CHECK_EQ(hardware.operations, 1);
        CHECK_EQ(software.operations, 0);
        hardware.outcome = fail_at_16;
        CHECK_EQ(
            cd_benchmark_cipher_pair(&m, hardware_cipher, software_cipher, &interface, buffer, 16),
            CD_E_DEVICE);
        CHECK_EQ(
            cd_benchmark_cipher_pair(&m, hardware_cipher, software_cipher, &interface, buffer, 32),
            CD_OK);
        hardware.outcome = NULL;
        software.outcome = fail_at_16;
        CHECK_EQ(
            cd_benchmark_cipher_pair(&m, hardware_cipher, software_cipher, &interface, buffer, 16),
            CD_E_DEVICE);
        CHECK(m.hardware != 0);
        tear_down();
    }
}

static unsigned countdown;
static cd_status fail_when_counted_down(size_t length) {
    (void)length;
    return countdown-- == 0 ? CD_E_DEVICE : CD_OK;
}

/* An error in any of the 28 operations of a side fails the pair (R115, "at random"). */
static void test_error_anywhere_R115(void) {
    struct cd_measurement m;
    for (unsigned i = 0; i < 28; i++) {
        set_up(0);
        hardware.cost = cost_100;
        software.cost = cost_100;
        countdown = i;
        hardware.outcome = fail_when_counted_down;
        CHECK_EQ(
            cd_benchmark_cipher_pair(&m, hardware_cipher, software_cipher, &interface, buffer, 64),
            CD_E_DEVICE);
        CHECK_EQ(m.hardware, 0);
        hardware.outcome = NULL;
        countdown = i;
        software.outcome = fail_when_counted_down;
        CHECK_EQ(
            cd_benchmark_cipher_pair(&m, hardware_cipher, software_cipher, &interface, buffer, 64),
            CD_E_DEVICE);
        CHECK(m.hardware != 0 && m.software == 0);
        tear_down();
    }
}

static void test_no_key(void) {
    uint64_t ticks;
    struct cd_cipher *unkeyed;
    set_up(0);
    CHECK_EQ(cd_cipher_new_bound(&unkeyed, &software.implementation), CD_OK);
    CHECK_EQ(cd_benchmark_cipher(&ticks, unkeyed, &interface, buffer, 64, 4, 8), CD_E_NO_KEY);
    cd_cipher_free(unkeyed);
    tear_down();
}

/* Hashes: one digest an operation, of the very length; an empty message is one too. */
static void test_hash(void) {
    struct cd_measurement m;
    struct cd_hash *hashes[2];
    uint64_t ticks = 0;
    set_up(0);
    tear_down();
    fake_describe_hash(&hardware, &fake_clock, 'h', "sum", "sum-dev", CD_FLAG_ASYNC, false);
    fake_describe_hash(&software, &fake_clock, 's', "hmac(sum)", "hmac(sum-lib)", 0, true);
    hardware.implementation.block_size = 64;
    hardware.cost = cost_10;
    software.cost = cost_100;
    CHECK_EQ(cd_hash_new_bound(&hashes[0], &hardware.implementation), CD_OK);
    CHECK_EQ(cd_hash_new_bound(&hashes[1], &software.implementation), CD_OK);
    CHECK_EQ(cd_benchmark_hash(&ticks, hashes[1], &interface, buffer, 1, 4, 8), CD_E_NO_KEY);
    CHECK_EQ(cd_hash_set_key(hashes[1], key, sizeof(key)), CD_OK);
    fake_clock.trace_len = 0;
    CHECK_EQ(cd_benchmark_hash_pair(&m, hashes[0], hashes[1], &interface, buffer, 1420), CD_OK);
    CHECK(strcmp(trace, FOUR("h") EIGHT("rhr") FOUR("s") EIGHT("rsr")) == 0);
    CHECK(m.size == 1420 && m.hardware == 80 && m.software == 800 && m.samples == 8);
    CHECK_EQ(m.winner, CD_SIDE_HARDWARE);
    CHECK_EQ(hardware.lengths[0], 1420);
    CHECK_EQ(software.lengths[11], 1420);
    CHECK_EQ(hardware.odd + software.odd, 0);
    CHECK_EQ(cd_benchmark_hash(&ticks, hashes[1], &interface, NULL, 0, 1, 2), CD_OK);
    CHECK_EQ(ticks, 200);
    hardware.outcome = fail_device;
    CHECK_EQ(cd_benchmark_hash_pair(&m, hashes[0], hashes[1], &interface, buffer, 64), CD_E_DEVICE);
    CHECK_EQ(m.hardware, 0);
    cd_hash_free(hashes[0]);
    cd_hash_free(hashes[1]);
    CHECK_EQ(hardware.users + software.users, 0);
}

/* Aeads: encryption, no associated data, separate source and destination, rounded up. */
static void test_aead(void) {
    struct cd_measurement m;
    struct cd_aead *aeads[2];
    static uint8_t destination[1424 + 1];
    uint64_t ticks;
    set_up(0);
    tear_down();
    fake_describe_aead(&hardware, &fake_clock, 'h', "authenc", "authenc-dev", CD_FLAG_ASYNC);
    fake_describe_aead(&software, &fake_clock, 's', "authenc", "authenc-lib", 0);
    hardware.cost = cost_110;
    software.cost = cost_100;
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(cd_aead_new_bound(&aeads[i],
                                   i == 0 ? &hardware.implementation : &software.implementation),
                 CD_OK);
        CHECK_EQ(cd_benchmark_aead(&ticks, aeads[i], &interface, buffer, destination, 16, 4, 8),
                 CD_E_NO_KEY);
        CHECK_EQ(cd_aead_set_key(aeads[i], key, sizeof(key), key, sizeof(key)), CD_OK);
    }
    fake_clock.trace_len = 0;
    CHECK_EQ(cd_benchmark_aead_pair(&m, aeads[0], aeads[1], &interface, buffer, destination, 1420),
             CD_OK);
    CHECK(strncmp(trace, FOUR("h") EIGHT("rhr") FOUR("s") EIGHT("rsr") "rhr", 4 * 14 + 3) == 0);
    CHECK(m.size == 1420 && m.samples == 24 && m.hardware == 24 * 110 && m.software == 24 * 100);
    CHECK_EQ(m.winner, CD_SIDE_SOFTWARE);
    CHECK_EQ(hardware.lengths[0], 1424);
    CHECK_EQ(software.lengths[0], 1424);
    CHECK_EQ(hardware.odd + software.odd, 0);
    CHECK(destination[1423] != 0 && destination[1424] == 0);
    CHECK_EQ(cd_benchmark_aead(&ticks, aeads[1], &interface, buffer, destination, 17, 4, 8),
             CD_E_LENGTH);
    software.outcome = fail_device;
    CHECK_EQ(cd_benchmark_aead_pair(&m, aeads[0], aeads[1], &interface, buffer, destination, 64),
             CD_E_DEVICE);
    CHECK(m.hardware != 0 && m.software == 0);
    cd_aead_free(aeads[0]);
    cd_aead_free(aeads[1]);
    CHECK_EQ(hardware.users + software.users, 0);
}

int main(void) {
    RUN(test_sizes);
    RUN(test_is_close);
    RUN(test_winner_R119);
    RUN(test_side_name);
    RUN(test_fill);
    RUN(test_one_side);
    RUN(test_pair_order_and_count);
    RUN(test_pair_close_call);
    RUN(test_pair_tie_R119);
    RUN(test_pair_total_decides);
    RUN(test_pair_rounds_up);
    RUN(test_zero_total);
    RUN(test_clock_running_backwards);
    RUN(test_errors_are_not_fast_R115);
    RUN(test_error_anywhere_R115);
    RUN(test_no_key);
    RUN(test_hash);
    RUN(test_aead);
    return test_end();
}
