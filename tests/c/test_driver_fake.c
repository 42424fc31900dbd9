/*
 * The driver against a scripted bus: what it writes where, in which order and how often.
 *
 * Offsets and values are literals from eip93-hardware.md, independent of the driver's header.
 */
#include "driver_fixture.h"

static void check_writes(const struct fake *fake, size_t from, const uint32_t (*expected)[2],
                         size_t count) {
    size_t found = 0;
    for (size_t i = from; i < fake->logged; i++) {
        if (!fake->log[i].write) {
            continue;
        }
        if (found < count) {
            CHECK_EQ(fake->log[i].offset, expected[found][0]);
            CHECK_EQ(fake->log[i].value, expected[found][1]);
        }
        found++;
    }
    CHECK_EQ(found, count);
}

/* Section 9.1, with both ring reset bits (R035) and ring size minus one (R001). */
static void init_sequence(void) {
    struct fixture f = fixture_new(0);
    const uint32_t expected[][2] = {
        {0x080, FAKE_BASE + 4096},
        {0x084, FAKE_BASE + 4096 + 16384 + 64},
        {0x088, 0x1FF},
        {0x100, 0x707},
        {0x100, 0x700},
        {0x1E8, 0x17},
        {0x10C, 0x00800080},
        {0x20C, 0},
        {0x204, 0x00078E03},
        {0x214, 0x00078E03},
        {0x08C, 0x940001E0},
        {0x210, 0x2},
    };
    check_writes(f.fake, 0, expected, sizeof(expected) / sizeof(expected[0]));
    CHECK_EQ(f.fake->log[0].offset, 0x1FC);
    CHECK(!f.fake->log[0].write);

    size_t from = f.fake->logged;
    cd_cipher_free(f.cipher);
    f.cipher = NULL;
    cd_eip93_driver_free(f.driver);
    f.driver = NULL;
    const uint32_t removal[][2] = {
        {0x100, 0x707}, {0x204, 0x00078E03}, {0x214, 0x00078E03}, {0x1E8, 0},
        {0x088, 0},     {0x080, 0},          {0x084, 0},          {0x100, 0},
    };
    check_writes(f.fake, from, removal, sizeof(removal) / sizeof(removal[0]));
    fixture_end(&f);
}

static cd_status try_new_segments(struct fake *fake, uint32_t ring_entries, uint32_t hash_segment) {
    struct cd_registry *registry;
    struct cd_eip93_bus bus;
    struct cd_eip93_driver *driver;
    struct cd_eip93_driver_config config = {.ring_entries = ring_entries,
                                            .hash_segment = hash_segment};
    struct cd_error error = {""};
    fake_bus(fake, &bus);
    CHECK_EQ(cd_registry_new(&registry), CD_OK);
    cd_status status = cd_eip93_driver_new(&driver, registry, &bus, &config, &error);
    if (status == CD_OK) {
        cd_eip93_driver_free(driver);
    } else {
        CHECK(error.message[0] != '\0');
    }
    const struct cd_implementation *none;
    CHECK_EQ(cd_registry_find(&none, registry, "cbc(aes)", CD_TYPE_CIPHER, 0, 0),
             CD_E_UNKNOWN_ALGORITHM);
    cd_registry_free(registry);
    return status;
}

static cd_status try_new(struct fake *fake, uint32_t ring_entries) {
    return try_new_segments(fake, ring_entries, 0);
}

static void what_is_refused(void) {
    const uint32_t sizes[] = {1, 3, 1025, UINT32_MAX};
    struct fake *fake = fake_new();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        CHECK_EQ(try_new(fake, sizes[i]), CD_E_INVALID);
    }
    const uint32_t segments[] = {1, 63, 65, 0xFFFC1, 0x100000, UINT32_MAX};
    for (size_t i = 0; i < sizeof(segments) / sizeof(segments[0]); i++) {
        CHECK_EQ(try_new_segments(fake, 8, segments[i]), CD_E_INVALID);
    }
    CHECK_EQ(fake->logged, 0);
    CHECK_EQ(try_new_segments(fake, 8, 64), CD_OK);
    CHECK_EQ(try_new_segments(fake, 8, 0xFFFC0), CD_OK);
    CHECK_EQ(try_new(fake, 4), CD_OK);
    CHECK_EQ(try_new(fake, 1024), CD_OK);
    fake->dead_starts = 1;
    CHECK_EQ(try_new(fake, 8), CD_E_DEVICE);
    for (unsigned i = 1; i <= 4; i++) { /* R023 */
        fake->allocation_calls = 0;
        fake->fail_allocation = i;
        CHECK_EQ(try_new(fake, 8), CD_E_NO_MEMORY);
    }
    fake->fail_allocation = 0;
    fake->registers[0x1FC / 4] = 0x0210A25C;
    CHECK_EQ(try_new(fake, 8), CD_E_DEVICE);
    fake->registers[0x1FC / 4] = 0xFFFFFFFF;
    CHECK_EQ(try_new(fake, 8), CD_E_DEVICE);
    CHECK(fake_free(fake));
}

static void bus_is_checked(void) {
    struct fake *fake = fake_new();
    struct cd_eip93_bus bus;
    struct cd_registry *registry;
    struct cd_eip93_driver *driver;
    CHECK_EQ(cd_registry_new(&registry), CD_OK);
    fake_bus(fake, &bus);
    bus.abi++;
    CHECK_EQ(cd_eip93_driver_new(&driver, registry, &bus, NULL, NULL), CD_E_INVALID);
    fake_bus(fake, &bus);
    bus.clock.hz = 0;
    CHECK_EQ(cd_eip93_driver_new(&driver, registry, &bus, NULL, NULL), CD_E_INVALID);
    fake_bus(fake, &bus);
    CHECK_EQ(cd_eip93_driver_new(&driver, registry, &bus, NULL, NULL), CD_OK);
    struct cd_eip93_driver *second;
    struct fake *other = fake_new();
    fake_bus(other, &bus);
    CHECK_EQ(cd_eip93_driver_new(&second, registry, &bus, NULL, NULL), CD_E_EXISTS);
    CHECK(fake_free(other));
    cd_eip93_driver_free(driver);
    cd_registry_free(registry);
    CHECK(fake_free(fake));
}

static void key_sizes_by_option(uint32_t option_1, uint64_t cbc, uint64_t rfc3686) {
    struct fake *fake = fake_new();
    struct cd_eip93_bus bus;
    struct cd_registry *registry;
    struct cd_eip93_driver *driver;
    const struct cd_implementation *found;
    fake->registers[0x1F4 / 4] = option_1;
    fake_bus(fake, &bus);
    CHECK_EQ(cd_registry_new(&registry), CD_OK);
    CHECK_EQ(cd_eip93_driver_new(&driver, registry, &bus, NULL, NULL), CD_OK);
    const struct {
        const char *name;
        uint32_t block, iv;
        uint64_t keys;
    } rows[] = {
        {"ecb(aes-eip93)", 16, 0, cbc},
        {"cbc(aes-eip93)", 16, 16, cbc},
        {"ctr(aes-eip93)", 1, 16, cbc},
        {"rfc3686(ctr(aes-eip93))", 1, 8, rfc3686},
    };
    for (size_t i = 0; i < 4; i++) {
        cd_status status =
            cd_registry_find(&found, registry, rows[i].name, CD_TYPE_CIPHER, 0, UINT32_MAX);
        CHECK_EQ(status, cbc != 0 ? CD_OK : CD_E_UNKNOWN_ALGORITHM);
        if (status == CD_OK) {
            CHECK_EQ(found->priority, 1500);
            CHECK_EQ(found->flags, CD_FLAG_ASYNC);
            CHECK_EQ(found->block_size, rows[i].block);
            CHECK_EQ(found->chunk_size, 16);
            CHECK_EQ(found->iv_size, rows[i].iv);
            CHECK_EQ(found->key_sizes, rows[i].keys);
            cd_implementation_release(found);
        }
    }
    cd_eip93_driver_free(driver);
    cd_registry_free(registry);
    CHECK(fake_free(fake));
}

static void algorithms_by_option(void) {
    const uint64_t all = CD_KEY_SIZE(16) | CD_KEY_SIZE(24) | CD_KEY_SIZE(32);
    key_sizes_by_option(0x000FE007, all, all << 4);
    key_sizes_by_option(0x00022005, CD_KEY_SIZE(16), CD_KEY_SIZE(20)); /* 93i */
    key_sizes_by_option(0x00008004, CD_KEY_SIZE(32), CD_KEY_SIZE(36));
    key_sizes_by_option(0x000FE003, 0, 0); /* key sizes, but no AES */
    key_sizes_by_option(0x000F0007, 0, 0);
}

/* Section 9.3: the command's eight words, the SA and the state, byte by byte. */
static void cbc_descriptor(void) {
    struct fixture f = fixture_new(8);
    uint8_t plain[16], iv[16], out[16] = {0}, expected[16], sa[128] = {0};
    test_hex(plain, "6bc1bee2 2e409f96 e93d7e11 7393172a");
    test_hex(iv, "00010203 04050607 08090a0b 0c0d0e0f");
    test_hex(expected, "7649abac 8119b246 cee98e9b 12e9197d");
    test_hex(sa, "c0f30012 00010002 2b7e1516 28aed2a6 abf71588 09cf4f3c");
    memset(sa + 0x74, 0xFF, 4);
    struct cd_cipher_request request = {.source = plain, .destination = out, .length = 16};
    memcpy(request.iv, iv, 16);
    CHECK_EQ(cd_cipher_encrypt(f.cipher, &request), CD_IN_PROGRESS);

    const uint32_t *command = fake_command(f.fake, 0);
    CHECK_EQ(command[0], 0x00000001);
    CHECK(fake_reach(f.fake, command[1], 16, CD_DMA_TO_DEVICE) == plain);
    CHECK(fake_reach(f.fake, command[2], 16, CD_DMA_FROM_DEVICE) == out);
    CHECK_BYTES(fake_reach(f.fake, command[3], 128, 0), sa, 128);
    uint8_t *state = fake_reach(f.fake, command[4], 56, 0);
    CHECK_BYTES(state, iv, 16);
    CHECK_EQ(command[4], command[3] + 128);
    CHECK_EQ(command[5], 0);
    CHECK_EQ(command[6], 0x01080000);
    CHECK_EQ(command[7], 0x00400010);

    memcpy(out, expected, 16);
    memcpy(state, expected, 16);
    uint32_t *result = fake_result(f.fake, 0);
    CHECK(result != NULL);
    if (result == NULL) {
        return;
    }
    memcpy(result, command, 32);
    result[0] = 0x00000002;
    result[7] = 0x00800010;
    f.fake->results = 1;
    f.fake->unanswered = 0;
    CHECK_EQ(cd_eip93_driver_poll(f.driver), 1);
    CHECK_EQ(request.status, CD_OK);
    CHECK_BYTES(request.iv, expected, 16);
    CHECK_BYTES(out, expected, 16);
    for (uint32_t i = 0; i < 384; i++) { /* the key does not stay in DMA memory */
        CHECK_EQ(*fake_reach(f.fake, result[3] + i, 1, 0), 0);
    }
    fixture_end(&f);
}

/* The SA words of 5.7 for every mode, key size and direction. */
static void sa_words(void) {
    struct fixture f = fixture_new(4);
    const struct {
        const char *name;
        size_t key_len;
        uint32_t cmd0, cmd1;
    } rows[] = {
        {"ecb(aes)", 16, 0x0200F3C0, 0x02000000},          {"ecb(aes)", 24, 0x0200F3C0, 0x03000000},
        {"ecb(aes)", 32, 0x0200F3C0, 0x04000000},          {"cbc(aes)", 24, 0x1200F3C0, 0x03000100},
        {"cbc(aes)", 32, 0x1200F3C0, 0x04000100},          {"ctr(aes)", 16, 0x1200F3C0, 0x02000200},
        {"rfc3686(ctr(aes))", 36, 0x1200F3C0, 0x04000200},
    };
    uint8_t text[16] = {0};
    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
        bool decrypt = i % 2 == 1;
        struct cd_cipher_request request = {.source = text, .destination = text, .length = 16};
        cd_cipher_free(f.cipher);
        fixture_cipher(&f, rows[i / 2].name, rows[i / 2].key_len);
        CHECK_EQ(decrypt ? cd_cipher_decrypt(f.cipher, &request)
                         : cd_cipher_encrypt(f.cipher, &request),
                 CD_IN_PROGRESS);
        const uint32_t *command = fake_command(f.fake, f.fake->answer_index);
        const uint32_t *sa = (const uint32_t *)(const void *)fake_reach(f.fake, command[3], 128, 0);
        CHECK_EQ(sa[0], rows[i / 2].cmd0 | (decrypt ? 8u : 0u));
        CHECK_EQ(sa[1], rows[i / 2].cmd1);
        CHECK_EQ(command[1], command[2]); /* in place: one mapping */
        CHECK_EQ(fake_mapped(f.fake), 1);
        fixture_drain(&f);
        CHECK_EQ(request.status, CD_OK);
    }
    fixture_end(&f);
}

/* Section 9.7: two descriptors around the counter's 32-bit wrap, the second only after the first,
 * with the carry in the state record. */
static void ctr_wrap(void) {
    struct fixture f = fixture_new(8);
    uint8_t text[64] = {0}, expected[16];
    struct cd_cipher_request request = {.source = text, .destination = text, .length = 50};
    cd_cipher_free(f.cipher);
    fixture_cipher(&f, "ctr(aes)", 16);
    test_hex(request.iv, "f0f1f2f3 f4f5f6f7 ffffffff fffffffe");
    CHECK_EQ(cd_cipher_encrypt(f.cipher, &request), CD_IN_PROGRESS);
    const uint32_t *command = fake_command(f.fake, 0);
    CHECK_EQ(command[7], 0x00400020);
    CHECK_EQ(command[6], 0x01000000);
    CHECK_EQ(f.fake->unanswered, 1);
    CHECK_EQ(cd_eip93_driver_poll(f.driver), 0);
    CHECK_EQ(f.fake->unanswered, 1);
    fake_answer(f.fake, (struct fake_answer){0});
    CHECK_EQ(cd_eip93_driver_poll(f.driver), 0);
    command = fake_command(f.fake, 1);
    CHECK_EQ(command[7], 0x00400012);
    CHECK_EQ(command[6], 0x01080000);
    test_hex(expected, "f0f1f2f3 f4f5f6f8 00000000 00000000");
    CHECK_BYTES(fake_reach(f.fake, command[4], 16, 0), expected, 16);
    fake_answer(f.fake, (struct fake_answer){0});
    CHECK_EQ(cd_eip93_driver_poll(f.driver), 1);
    expected[15] = 2; /* a part of a block counts as one */
    CHECK_BYTES(request.iv, expected, 16);
    fixture_end(&f);
}

static void rfc3686_counter(void) {
    struct fixture f = fixture_new(8);
    uint8_t text[32] = {0}, expected[16];
    struct cd_cipher_request request = {.source = text, .destination = text, .length = 17};
    cd_cipher_free(f.cipher);
    fixture_cipher(&f, "rfc3686(ctr(aes))", 20);
    memset(request.iv, 0x11, 8);
    request.block_offset = 0xFFFFFFFD;
    CHECK_EQ(cd_cipher_encrypt(f.cipher, &request), CD_IN_PROGRESS);
    const uint32_t *command = fake_command(f.fake, 0);
    test_hex(expected, "00000000 11111111 11111111 fffffffe"); /* key bytes 16..19 are 0 */
    CHECK_BYTES(fake_reach(f.fake, command[4], 16, 0), expected, 16);
    CHECK_EQ(command[7], 0x00400011);
    CHECK_EQ(command[6], 0x01080000);
    fixture_drain(&f);
    CHECK_EQ(request.status, CD_OK);
    CHECK_EQ(request.block_offset, 0xFFFFFFFF);
    request.length = 1;
    CHECK_EQ(cd_cipher_encrypt(f.cipher, &request), CD_E_LENGTH);
    request.block_offset = UINT64_MAX;
    CHECK_EQ(cd_cipher_encrypt(f.cipher, &request), CD_E_LENGTH);
    CHECK_EQ(fixture_counters(&f).requests, 1);
    fixture_end(&f);
}

/* R009: a length field of 20 bits; segments of one request share its state record and id. */
static void long_request(void) {
    struct fixture f = fixture_new(8);
    const size_t length = 2 * 0xFFFF0 + 48;
    uint8_t *text = calloc(1, length);
    struct cd_cipher_request request = {.source = text, .destination = text, .length = length};
    CHECK_EQ(cd_cipher_encrypt(f.cipher, &request), CD_IN_PROGRESS);
    CHECK_EQ(f.fake->unanswered, 3);
    const uint32_t lengths[] = {0xFFFF0, 0xFFFF0, 48};
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t *command = fake_command(f.fake, i);
        CHECK_EQ(command[7], 0x00400000 | lengths[i]);
        CHECK_EQ(command[6], i == 2 ? 0x01080000 : 0x01000000);
        CHECK_EQ(command[4], fake_command(f.fake, 0)[4]);
    }
    CHECK_EQ(fake_count(f.fake, 0, true, 0x090), 1);
    fixture_drain(&f);
    CHECK_EQ(request.status, CD_OK);
    for (size_t i = 0; i < length; i++) {
        if (text[i] != 0xA5) {
            CHECK_EQ(text[i], 0xA5);
            break;
        }
    }
    free(text);
    fixture_end(&f);
}

/* R001, R011: 3n + 1 jobs around rings of several sizes; guards behind the rings. */
static void ring_wraps(void) {
    const uint32_t sizes[] = {4, 5, 8, 512};
    static struct job jobs[3 * 512 + 1];
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct fixture f = fixture_new(sizes[i]);
        size_t count = 3 * sizes[i] + 1;
        for (size_t j = 0; j < count; j++) {
            job_start(&f, &jobs[j], 16 + 16 * (j % 4), (unsigned)j);
        }
        CHECK_EQ(f.fake->unanswered, sizes[i] - 1);
        CHECK_EQ(fixture_counters(&f).backlogged, count - (sizes[i] - 1));
        fixture_drain(&f);
        for (size_t j = 0; j < count; j++) {
            CHECK(job_is_right(&jobs[j]));
        }
        CHECK_EQ(fixture_counters(&f).completed, count);
        CHECK_EQ(fixture_counters(&f).failed, 0);
        CHECK_EQ(f.fake->answer_index, count % sizes[i]);
        fixture_end(&f);
    }
}

/* One request: four register accesses, in this order. A batch: one of each per 255. */
static void register_accesses(void) {
    static struct job jobs[811];
    struct fixture f = fixture_new(512);
    f.fake->irq_hook = fake_answer_all;
    size_t from = f.fake->logged;
    job_start(&f, &jobs[0], 16, 0);
    CHECK_EQ(cd_cipher_wait(f.cipher, &jobs[0].request, TIMEOUT_NS), CD_OK);
    CHECK_EQ(f.fake->logged - from, 4);
    const uint32_t offsets[] = {0x090, 0x094, 0x094, 0x204};
    const uint32_t values[] = {1, 1, 1, 2};
    for (size_t i = 0; i < 4; i++) {
        CHECK_EQ(f.fake->log[from + i].offset, offsets[i]);
        CHECK_EQ(f.fake->log[from + i].value, values[i]);
        CHECK_EQ(f.fake->log[from + i].write, i != 1);
    }
    for (size_t i = 0; i < 811; i++) {
        job_start(&f, &jobs[i], 16, (unsigned)i);
    }
    from = f.fake->logged;
    CHECK_EQ(cd_eip93_driver_poll(f.driver), 511);
    CHECK_EQ(fake_count(f.fake, from, false, 0x094), 1);
    CHECK_EQ(fake_count(f.fake, from, true, 0x094), 3);
    CHECK_EQ(fake_count(f.fake, from, true, 0x204), 1);
    CHECK_EQ(fake_count(f.fake, from, true, 0x090), 2);
    CHECK_EQ(f.fake->logged - from, 7);
    CHECK_EQ(cd_eip93_driver_poll(f.driver), 300);
    for (size_t i = 0; i < 811; i++) {
        CHECK(job_is_right(&jobs[i]));
    }
    fixture_end(&f);
}

static struct {
    struct fixture *fixture;
    unsigned left;
} chain;

static void submit_again(struct cd_cipher_request *request, void *context) {
    (void)context;
    if (chain.left > 0) {
        chain.left--;
        CHECK_EQ(cd_cipher_encrypt(chain.fixture->cipher, request), CD_IN_PROGRESS);
    }
}

/* A completion may submit the same request again, for ever. */
static void completion_submits(void) {
    struct fixture f = fixture_new(4);
    uint8_t text[16] = {0};
    struct cd_cipher_request request = {
        .source = text, .destination = text, .length = 16, .complete = submit_again};
    chain.fixture = &f;
    chain.left = 20;
    CHECK_EQ(cd_cipher_encrypt(f.cipher, &request), CD_IN_PROGRESS);
    fixture_drain(&f);
    CHECK_EQ(chain.left, 0);
    CHECK_EQ(request.status, CD_OK);
    CHECK_EQ(fixture_counters(&f).completed, 21);
    fixture_end(&f);
}

/* R035: again and again on one bus, with work under way at each end. */
static void attach_again(void) {
    struct fake *fake = fake_new();
    struct fixture f = {.fake = fake};
    struct job jobs[20];
    fake_bus(fake, &f.bus);
    CHECK_EQ(cd_registry_new(&f.registry), CD_OK);
    for (int round = 0; round < 50; round++) {
        CHECK_EQ(cd_eip93_driver_new(&f.driver, f.registry, &f.bus, NULL, NULL), CD_OK);
        fixture_cipher(&f, "cbc(aes)", 16);
        for (unsigned i = 0; i < 20; i++) {
            job_start(&f, &jobs[i], 16, i);
            if (i == 9) {
                fixture_drain(&f);
            }
        }
        cd_eip93_driver_free(f.driver);
        for (unsigned i = 0; i < 20; i++) {
            CHECK(i < 10 ? job_is_right(&jobs[i]) : job_failed(&jobs[i], CD_E_NO_DEVICE));
        }
        cd_cipher_free(f.cipher);
    }
    cd_registry_free(f.registry);
    CHECK(fake_free(fake));
}

int main(void) {
    RUN(init_sequence);
    RUN(what_is_refused);
    RUN(bus_is_checked);
    RUN(algorithms_by_option);
    RUN(cbc_descriptor);
    RUN(sa_words);
    RUN(ctr_wrap);
    RUN(rfc3686_counter);
    RUN(long_request);
    RUN(ring_wraps);
    RUN(register_accesses);
    RUN(completion_submits);
    RUN(attach_again);
    return test_end();
}
