/*
 * The driver on the emulated engine: the same bytes and IVs as the software, whatever the length,
 * place and counter; and what remains true when the engine or the bus fails.
 */
#include "driver_rig.h"

#define FAST_TIMEOUT_NS 50000000u /* for engines that hang in real time */

static const struct {
    const char *engine, *software;
    size_t step, nonce;
} modes[] = {
    {"ecb(aes-eip93)", "ecb(aes-lib)", 16, 0},
    {"cbc(aes-eip93)", "cbc(aes-lib)", 16, 0},
    {"ctr(aes-eip93)", "ctr(aes-lib)", 1, 0},
    {"rfc3686(ctr(aes-eip93))", "rfc3686(ctr(aes-lib))", 1, 4},
};

struct pair {
    struct cd_cipher *engine, *software;
};

static struct pair pair_new(const struct rig *rig, size_t mode, size_t key_len) {
    uint8_t key[36];
    fill(key, sizeof(key), mode * 64 + key_len);
    return (struct pair){
        rig_cipher(rig, modes[mode].engine, key, key_len + modes[mode].nonce),
        rig_cipher(rig, modes[mode].software, key, key_len + modes[mode].nonce),
    };
}

static void pair_free(struct pair pair) {
    cd_cipher_free(pair.engine);
    cd_cipher_free(pair.software);
}

static cd_status run(struct cd_cipher *cipher, struct cd_cipher_request *request, bool decrypt) {
    return decrypt ? cd_cipher_decrypt_wait(cipher, request)
                   : cd_cipher_encrypt_wait(cipher, request);
}

/* One text on both sides; `shift` moves the buffers off their alignment. */
static void compare(struct pair pair, size_t length, const uint8_t iv[16], bool decrypt,
                    bool in_place, size_t shift) {
    uint8_t *memory = malloc(3 * (length + 32));
    uint8_t *source = memory + shift;
    uint8_t *expected = source + length + 16;
    uint8_t *destination = in_place ? source : expected + length + 16 - shift / 2;
    struct cd_cipher_request left = {.source = source, .destination = expected, .length = length};
    fill(source, length, length + 1);
    memcpy(left.iv, iv, 16);
    struct cd_cipher_request right = left;
    right.destination = destination;
    left.block_offset = right.block_offset = length;
    CHECK_EQ(run(pair.software, &left, decrypt), CD_OK);
    destination[length] = 0x5A;
    CHECK_EQ(run(pair.engine, &right, decrypt), CD_OK);
    CHECK_BYTES(destination, expected, length);
    CHECK_EQ(destination[length], 0x5A);
    CHECK_BYTES(right.iv, left.iv, 16);
    CHECK_EQ(right.block_offset, left.block_offset);
    free(memory);
}

/* All lengths, both directions, in place and not, at all alignments (R077, R095). */
static void all_lengths(void) {
    struct rig rig = rig_new(CD_EIP93_FREE, 0, 0);
    for (size_t mode = 0; mode < 4; mode++) {
        struct pair pairs[3];
        for (size_t k = 0; k < 3; k++) {
            pairs[k] = pair_new(&rig, mode, 16 + 8 * k);
        }
        for (size_t length = 0; length <= 4096; length += modes[mode].step) {
            size_t n = length / modes[mode].step;
            uint8_t iv[16];
            fill(iv, 16, n);
            compare(pairs[n % 3], length, iv, n % 2 == 1, n % 4 >= 2, n % 16);
        }
        for (size_t k = 0; k < 3; k++) {
            pair_free(pairs[k]);
        }
    }
    CHECK_EQ(rig_counters(&rig).resets, 0);
    rig_end(&rig);
}

/* R009: above the length field the driver splits and chains. */
static void long_texts(void) {
    static const size_t lengths[] = {0xFFFE0,       0xFFFF0,  0x100000 - 16, 0x100000,
                                     0x100000 + 16, 0x1FFFE0, 0x1FFFF0,      4u << 20};
    struct rig rig = rig_new(CD_EIP93_FREE, 0, 0);
    for (size_t mode = 1; mode < 4; mode++) {
        struct pair pair = pair_new(&rig, mode, 32);
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
            uint8_t iv[16];
            if (mode != 1 && i % 3 != 1) { /* all sizes for CBC, some for the others */
                continue;
            }
            fill(iv, 16, i);
            compare(pair, lengths[i] + (mode == 1 ? 0 : 5), iv, i % 2 == 0, i % 3 == 0, i);
        }
        pair_free(pair);
    }
    rig_end(&rig);
}

/* R075: carries out of 32, 64, 96 and 128 bits, at every block of a text and at its end. */
static void counter_wraps(void) {
    static const char *const counters[] = {
        "00000000 00000000 00000000 ffffffff", "f0f1f2f3 f4f5f6f7 f8f9fafb fffffffe",
        "00000000 00000000 ffffffff fffffffd", "00000000 ffffffff ffffffff fffffffd",
        "ffffffff ffffffff ffffffff fffffffd", "ffffffff ffffffff ffffffff ffffffff",
        "ffffffff ffffffff 00000000 00000000",
    };
    struct rig rig = rig_new(CD_EIP93_FREE, 8, 0);
    struct pair pair = pair_new(&rig, 2, 16);
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        uint8_t iv[16];
        test_hex(iv, counters[i]);
        for (size_t length = 1; length <= 130; length++) {
            compare(pair, length, iv, length % 2 == 0, length % 3 == 0, 0);
        }
    }
    uint8_t iv[16];
    test_hex(iv, "00000000 00000000 00000000 fffeffff"); /* wraps in the second segment */
    compare(pair, (2u << 20) + 3, iv, false, true, 1);
    pair_free(pair);
    rig_end(&rig);
}

/* R075 and R041 with values from outside this project. */
static void counter_vectors(void) {
    struct rig rig = rig_new(CD_EIP93_FREE, 8, 0);
    uint8_t key[16], text[64], expected[64], next[16];
    test_hex(key, "2b7e1516 28aed2a6 abf71588 09cf4f3c");
    test_hex(text, "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51"
                   "30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710");
    /* SP 800-38A, F.5.1 */
    test_hex(expected, "874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff"
                       "5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee");
    test_hex(next, "f0f1f2f3 f4f5f6f7 f8f9fafb fcfdff03");
    struct cd_cipher *cipher = rig_cipher(&rig, "ctr(aes)", key, 16);
    struct cd_cipher_request request = {.source = text, .destination = text, .length = 64};
    test_hex(request.iv, "f0f1f2f3 f4f5f6f7 f8f9fafb fcfdfeff");
    CHECK_EQ(cd_cipher_encrypt_wait(cipher, &request), CD_OK);
    CHECK_BYTES(text, expected, 64);
    CHECK_BYTES(request.iv, next, 16);
    cd_cipher_free(cipher);
    rig_end(&rig);
}

/* R019: one object encrypts, decrypts, encrypts. */
static void directions_alternate(void) {
    struct rig rig = rig_new(CD_EIP93_FREE, 4, 0);
    uint8_t key[16], text[64], first[64], out[64];
    fill(key, 16, 1);
    fill(text, 64, 2);
    struct cd_cipher *cipher = rig_cipher(&rig, "cbc(aes)", key, 16);
    for (int round = 0; round < 3; round++) {
        struct cd_cipher_request request = {
            .source = round == 1 ? first : text, .destination = out, .length = 64};
        CHECK_EQ(run(cipher, &request, round == 1), CD_OK);
        CHECK_BYTES(out, round == 1 ? text : round == 0 ? out : first, 64);
        memcpy(first, round == 0 ? out : first, 64);
    }
    cd_cipher_free(cipher);
    rig_end(&rig);
}

/* R035: ten requests, detach, attach to the same chip, fifty times; some still under way. */
static void attach_again(void) {
    struct rig rig = rig_new(CD_EIP93_FREE, 16, 0);
    uint8_t key[16] = {1}, text[10][32] = {{0}}, expected[32];
    struct cd_cipher *software = rig_cipher(&rig, "cbc(aes-lib)", key, 16);
    struct cd_cipher_request request = {.source = text[0], .destination = expected, .length = 32};
    CHECK_EQ(cd_cipher_encrypt_wait(software, &request), CD_OK);
    for (int round = 0; round < 50; round++) {
        struct cd_cipher *cipher = rig_cipher(&rig, "cbc(aes)", key, 16);
        struct cd_cipher_request requests[10];
        memset(text, 0, sizeof(text));
        memset(requests, 0, sizeof(requests));
        for (int i = 0; i < 10; i++) {
            requests[i].source = requests[i].destination = text[i];
            requests[i].length = 32;
            CHECK_EQ(cd_cipher_encrypt(cipher, &requests[i]), CD_IN_PROGRESS);
        }
        for (int i = 0; i < 5; i++) {
            CHECK_EQ(cd_cipher_wait(cipher, &requests[i], 1000000000u), CD_OK);
            CHECK_EQ(requests[i].status, CD_OK);
            CHECK_BYTES(text[i], expected, 32);
        }
        cd_eip93_driver_free(rig.driver);
        for (int i = 5; i < 10; i++) {
            CHECK(requests[i].status == CD_OK || requests[i].status == CD_E_NO_DEVICE);
        }
        CHECK_EQ(cd_cipher_encrypt(cipher, &requests[0]), CD_E_NO_DEVICE);
        rig_attach(&rig, 16, 0);
        cd_cipher_free(cipher);
    }
    cd_cipher_free(software);
    rig_end(&rig);
}

#define BATCH 24

struct batch {
    struct cd_cipher_request requests[BATCH];
    uint8_t text[BATCH][48];
    uint8_t expected[BATCH][48];
};

static void batch_start(struct batch *batch, struct pair pair, size_t count, uint64_t seed) {
    memset(batch->requests, 0, sizeof(batch->requests));
    for (size_t i = 0; i < count; i++) {
        struct cd_cipher_request *request = &batch->requests[i];
        fill(batch->text[i], 48, seed * 1000 + i);
        *request = (struct cd_cipher_request){
            .source = batch->text[i], .destination = batch->expected[i], .length = 48};
        CHECK_EQ(cd_cipher_encrypt_wait(pair.software, request), CD_OK);
        memset(request, 0, sizeof(*request));
        request->source = request->destination = batch->text[i];
        request->length = 48;
        CHECK_EQ(cd_cipher_encrypt(pair.engine, request), CD_IN_PROGRESS);
    }
}

/* Wait for all; returns how many failed, each with `status` (CD_OK: with any). */
static unsigned batch_end(struct batch *batch, struct pair pair, size_t count, cd_status status) {
    unsigned failed = 0;
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(cd_cipher_wait(pair.engine, &batch->requests[i], 10000000000u), CD_OK);
        if (batch->requests[i].status == CD_OK) {
            CHECK_BYTES(batch->text[i], batch->expected[i], 48);
        } else {
            CHECK(status == CD_OK || batch->requests[i].status == (int32_t)status);
            failed++;
        }
    }
    return failed;
}

/* R011: 10,000 requests, every seventh fails: exactly that one, and the rings stay in step. */
static void every_seventh_fails(void) {
    struct rig rig = rig_new(CD_EIP93_FREE, 16, 0);
    struct pair pair = pair_new(&rig, 1, 16);
    struct batch batch;
    for (uint64_t round = 0; round < 10000 / 7; round++) {
        CHECK_EQ(cd_eip93_emulator_inject(rig.emulator, CD_EIP93_FAULT_STATUS, 6, 1, 0x38), CD_OK);
        batch_start(&batch, pair, 7, round);
        CHECK_EQ(batch_end(&batch, pair, 7, CD_E_DEVICE), 1);
        CHECK_EQ(batch.requests[6].status, CD_E_DEVICE);
    }
    uint32_t pointers = cd_eip93_emulator_read32(rig.emulator, 0x098);
    CHECK_EQ(pointers & 0x3FF, pointers >> 16 & 0x3FF);
    CHECK_EQ(rig_counters(&rig).resets, 0);
    pair_free(pair);
    rig_end(&rig);
}

/* Each fault the emulator can inject (R007, R059, R067): how many requests it may cost, and how
 * they end. */
static void injected(int pace) {
    static const struct {
        int32_t fault;
        uint32_t value;
        unsigned least, most; /* failures; most BATCH: what was in the ring with it */
        cd_status status;
    } rows[] = {
        {CD_EIP93_FAULT_DMA_READ, 0, 1, 1, CD_E_DEVICE},
        {CD_EIP93_FAULT_DMA_WRITE, 0, 1, 1, CD_E_DEVICE},
        {CD_EIP93_FAULT_LATE, 0, 0, 0, CD_OK},
        {CD_EIP93_FAULT_LOST, 0, 1, BATCH, CD_E_TIMEOUT},
        {CD_EIP93_FAULT_HANG, 0, 1, BATCH, CD_E_TIMEOUT},
        {CD_EIP93_FAULT_NO_INTERRUPT, 0, 0, 0, CD_OK},
        {CD_EIP93_FAULT_WRONG_ID, 0x1234, 1, BATCH, CD_E_TIMEOUT},
        {CD_EIP93_FAULT_STATUS, 0x28, 1, 1, CD_E_DEVICE},
        {CD_EIP93_FAULT_HALF_OWNED, 0, 1, BATCH, CD_E_TIMEOUT},
    };
    static const uint32_t skips[] = {0, 1, 17};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) * 3; i++) {
        struct rig rig = rig_new(pace, 8, pace == CD_EIP93_VIRTUAL ? 0 : FAST_TIMEOUT_NS);
        struct pair pair = pair_new(&rig, 1, 16);
        struct batch batch;
        CHECK_EQ(cd_eip93_emulator_inject(rig.emulator, rows[i / 3].fault, skips[i % 3], 1,
                                          rows[i / 3].value),
                 CD_OK);
        batch_start(&batch, pair, BATCH, i);
        unsigned failed = batch_end(&batch, pair, BATCH, rows[i / 3].status);
        if (failed < rows[i / 3].least || failed > rows[i / 3].most) {
            printf("fault %d after %u: %u failed\n", (int)rows[i / 3].fault, skips[i % 3], failed);
            CHECK(false);
        }
        batch_start(&batch, pair, BATCH, i);
        CHECK_EQ(batch_end(&batch, pair, BATCH, CD_OK), 0);
        pair_free(pair);
        rig_end(&rig);
    }
}

static void faults(void) {
    injected(CD_EIP93_FREE);
}

static void faults_in_virtual_time(void) {
    injected(CD_EIP93_VIRTUAL);
}

/* R023: dma_alloc and dma_map fail at the n-th call, from attaching to the second request. */
static void mapping_fails(void) {
    for (uint32_t n = 0; n < 30; n++) {
        struct rig rig = rig_new(CD_EIP93_FREE, 8, 0);
        struct pair pair = pair_new(&rig, 2, 16);
        struct batch batch;
        unsigned failed = 0;
        CHECK_EQ(cd_eip93_emulator_inject(rig.emulator, CD_EIP93_FAULT_MAP, n, 1, 0), CD_OK);
        for (unsigned i = 0; i < BATCH; i++) { /* one at a time: nothing to wait for */
            batch_start(&batch, pair, 1, i);
            failed += batch_end(&batch, pair, 1, CD_E_NO_MEMORY);
        }
        CHECK_EQ(failed, n < BATCH ? 1 : 0);
        pair_free(pair);
        rig_end(&rig);
    }
}

/* The variants' key sizes, and a key the variant does not have. */
static void variants(void) {
    static const int32_t small[] = {CD_EIP93_93I, CD_EIP93_93IS};
    for (size_t i = 0; i < 2; i++) {
        struct cd_eip93_emulator_config config = {.variant = small[i]};
        struct rig rig = {.emulator = NULL};
        uint8_t key[32] = {0};
        CHECK_EQ(cd_eip93_emulator_new(&rig.emulator, &config), CD_OK);
        cd_eip93_emulator_bus(rig.emulator, &rig.bus);
        CHECK_EQ(cd_registry_new(&rig.registry), CD_OK);
        rig_attach(&rig, 0, 0);
        struct cd_cipher *cipher = rig_cipher(&rig, "cbc(aes)", key, 16);
        CHECK_EQ(cd_cipher_set_key(cipher, key, 24), CD_E_KEY);
        CHECK_EQ(cd_cipher_set_key(cipher, key, 32), CD_E_KEY);
        cd_cipher_free(cipher);
        rig_end(&rig);
    }
}

/* A wait that ends too early says so, the request goes on. Virtual time makes "early" certain. */
static void wait_too_short(int pace) {
    struct rig rig = rig_new(pace, 8, 0);
    struct pair pair = pair_new(&rig, 1, 16);
    uint8_t iv[16] = {0};
    static uint8_t text[512 * 1024];
    struct cd_cipher_request request = {
        .source = text, .destination = text, .length = sizeof(text)};
    CHECK_EQ(cd_cipher_encrypt(pair.engine, &request), CD_IN_PROGRESS);
    if (pace == CD_EIP93_VIRTUAL) {
        CHECK_EQ(cd_cipher_wait(pair.engine, &request, 100000), CD_E_TIMEOUT);
        CHECK_EQ(request.status, CD_IN_PROGRESS);
    }
    CHECK_EQ(cd_cipher_wait(pair.engine, &request, 1000000000u), CD_OK);
    CHECK_EQ(request.status, CD_OK);
    compare(pair, 4096, iv, false, true, 3);
    pair_free(pair);
    rig_end(&rig);
}

static void waits_in_virtual_time(void) {
    wait_too_short(CD_EIP93_VIRTUAL);
}

static void waits_in_paced_time(void) {
    wait_too_short(CD_EIP93_PACED);
}

int main(void) {
    RUN(all_lengths);
    RUN(long_texts);
    RUN(counter_wraps);
    RUN(counter_vectors);
    RUN(directions_alternate);
    RUN(attach_again);
    RUN(every_seventh_fails);
    RUN(faults);
    RUN(faults_in_virtual_time);
    RUN(mapping_fails);
    RUN(variants);
    RUN(waits_in_virtual_time);
    RUN(waits_in_paced_time);
    return test_end();
}
