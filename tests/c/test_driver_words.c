/*
 * Hashes, HMACs and aeads of the driver against a scripted bus: every word of their descriptors,
 * SA and state records, as eip93-hardware.md 5.7 and the examples of its 9.4 to 9.6 have them.
 */
#include "cryptodispatch/software.h"
#include "driver_fixture.h"

/* The records of one command as bytes, and what the engine leaves there. */
static uint8_t *sa_of(struct fixture *f, uint32_t index) {
    return fake_reach(f->fake, fake_command(f->fake, index)[3], 128, 0);
}

static uint8_t *state_of(struct fixture *f, uint32_t index) {
    return fake_reach(f->fake, fake_command(f->fake, index)[4], 56, 0);
}

static struct fixture digest_fixture(uint32_t hash_segment) {
    struct fixture f = fixture_new_segments(8, hash_segment);
    CHECK_EQ(cd_software_register(f.registry, NULL), CD_OK);
    return f;
}

/* A command against words 0, 6 and 7, its source, and SA words; the digest has a place of its own
 * in the record, so no engine is told to write to address 0. */
static void check_hash_command(struct fixture *f, uint32_t index, const uint32_t words[3],
                               const uint8_t *source, uint32_t cmd0, uint32_t cmd1) {
    const uint32_t *command = fake_command(f->fake, index);
    const uint32_t *sa = (const uint32_t *)(const void *)sa_of(f, index);
    CHECK_EQ(command[0], words[0]);
    CHECK_EQ(command[6], words[1]);
    CHECK_EQ(command[7], words[2]);
    CHECK(fake_reach(f->fake, command[1], words[2] & 0xFFFFF, CD_DMA_TO_DEVICE) == source);
    CHECK(fake_reach(f->fake, command[2], 32, 0) != NULL);
    CHECK(command[2] - (command[4] & ~0x3Fu) == 192);
    CHECK_EQ(command[5], 0);
    CHECK_EQ(sa[0], cmd0);
    CHECK_EQ(sa[1], cmd1);
    CHECK_EQ(sa[29], 0xFFFFFFFF);
}

/* Result of the next command with this status and length words. */
static void give_result(struct fixture *f, uint32_t index, uint32_t control, uint32_t length) {
    uint32_t *result = fake_result(f->fake, index);
    memcpy(result, fake_command(f->fake, index), 32);
    result[0] = control;
    result[7] = length;
    f->fake->answer_index = index + 1;
    f->fake->unanswered--;
    f->fake->results++;
}

/* Section 9.4 */
static void sha256_of_abc(void) {
    struct fixture f = digest_fixture(0);
    struct cd_hash *hash = NULL;
    uint8_t digest[32] = {0}, expected[40], text[3] = {'a', 'b', 'c'};
    struct cd_hash_request request = {.source = text, .length = 3, .digest = digest};
    CHECK_EQ(cd_hash_new(&hash, f.registry, "sha256", 0, 0), CD_OK);
    CHECK_EQ(cd_hash_digest(hash, &request), CD_IN_PROGRESS);
    const uint32_t words[] = {0x00000011, 0x00480000, 0x00400003};
    check_hash_command(&f, 0, words, text, 0x3A803FC3, 0x00000009);
    test_hex(expected, "00000000 00000000 67e6096a 85ae67bb 72f36e3c 3af54fa5 7f520e51 8c68059b"
                       "abd9831f 19cde05b");
    CHECK_BYTES(state_of(&f, 0) + 16, expected, 40);
    test_hex(state_of(&f, 0) + 16,
             "03000000 00000000 bf1678ba eacf018f de404141 2322ae5d a36103b0 9c7a1796 61ff10b4"
             "ad1500f2");
    give_result(&f, 0, 0x00000012, 0x00800020);
    CHECK_EQ(cd_eip93_driver_poll(f.driver), 1);
    CHECK_EQ(request.status, CD_OK);
    test_hex(expected, "ba7816bf 8f01cfea 414140de 5dae2223 b00361a3 96177a9c b410ff61 f20015ad");
    CHECK_BYTES(digest, expected, 32);
    for (uint32_t i = 0; i < 384; i++) { /* nothing stays in DMA memory */
        CHECK_EQ(*fake_reach(f.fake, fake_result(f.fake, 0)[3] + i, 1, 0), 0);
    }
    cd_hash_free(hash);
    fixture_end(&f);
}

static struct cd_hash *jefe(struct fixture *f) {
    struct cd_hash *hash = NULL;
    CHECK_EQ(cd_hash_new(&hash, f->registry, "hmac(sha1-eip93)", 0, 0), CD_OK);
    CHECK_EQ(cd_hash_set_key(hash, (const uint8_t *)"Jefe", 4), CD_OK);
    return hash;
}

static const char *const jefe_inner = "a78e4d62 03182b3f e4b95495 f565c028 8eb9fca9";
static const char *const jefe_outer = "2a378820 a11006f5 058b2ff8 32fe4b8e 354e0b28";
static const char *const jefe_mac = "effcdf6a e5eb2fa2 d27416d5 f184df9c 259a7c79";
static const char *const jefe_after = "6adffcef a22febe5 d51674d2 9cdf84f1 797c9a25";

/* Section 9.5, the form with one descriptor, which starts from the SA. */
static void hmac_in_one_descriptor(void) {
    struct fixture f = digest_fixture(64);
    struct cd_hash *hash = jefe(&f);
    const uint8_t *text = (const uint8_t *)"what do ya want for nothing?";
    uint8_t digest[20], expected[20], inner[20], outer[20];
    struct cd_hash_request request = {.source = text, .length = 28, .digest = digest};
    test_hex(inner, jefe_inner);
    test_hex(outer, jefe_outer);
    test_hex(expected, jefe_mac);
    CHECK_EQ(cd_hash_digest(hash, &request), CD_IN_PROGRESS);
    const uint32_t words[] = {0x00000011, 0x00480000, 0x0040001c};
    check_hash_command(&f, 0, words, text, 0x20501FC3, 0x00001009);
    CHECK_BYTES(sa_of(&f, 0) + 0x28, inner, 20);
    CHECK_BYTES(sa_of(&f, 0) + 0x48, outer, 20);
    test_hex(state_of(&f, 0) + 24, jefe_after);
    give_result(&f, 0, 0x00000012, 0x00800014);
    CHECK_EQ(cd_eip93_driver_poll(f.driver), 1);
    CHECK_BYTES(digest, expected, 20);
    cd_hash_free(hash);
    fixture_end(&f);
}

/* Section 9.5, the form that is chained through the state: 64 + 64 + 1 bytes. */
static void hmac_in_three_descriptors(void) {
    struct fixture f = digest_fixture(64);
    struct cd_hash *hash = jefe(&f);
    uint8_t text[129] = {1}, digest[20], expected[20], inner[28], outer[20];
    struct cd_hash_request request = {.source = text, .length = 129, .digest = digest};
    test_hex(inner, "40000000 00000000");
    test_hex(inner + 8, jefe_inner);
    test_hex(outer, jefe_outer);
    test_hex(expected, jefe_mac);
    CHECK_EQ(cd_hash_digest(hash, &request), CD_IN_PROGRESS);
    CHECK_EQ(f.fake->unanswered, 3);
    const uint32_t middle[] = {0x00000001, 0x00400000, 0x00400040};
    const uint32_t last[] = {0x00000011, 0x00480000, 0x00400001};
    for (uint32_t i = 0; i < 2; i++) {
        check_hash_command(&f, i, middle, text + 64 * i, 0x3A501FC3, 0x0000000B);
    }
    check_hash_command(&f, 2, last, text + 128, 0x3A501FC3, 0x0000100B);
    CHECK_BYTES(sa_of(&f, 2) + 0x48, outer, 20);
    CHECK_EQ(fake_command(f.fake, 2)[4], fake_command(f.fake, 0)[4]);
    CHECK(fake_command(f.fake, 2)[3] != fake_command(f.fake, 0)[3]);
    CHECK_BYTES(state_of(&f, 0) + 16, inner, 28);
    test_hex(state_of(&f, 0) + 24, jefe_after);
    for (uint32_t i = 0; i < 3; i++) {
        give_result(&f, i, i < 2 ? 0x00000002 : 0x00000012, i < 2 ? 0x00800000 : 0x00800014);
    }
    CHECK_EQ(cd_eip93_driver_poll(f.driver), 1);
    CHECK_EQ(request.status, CD_OK);
    CHECK_BYTES(digest, expected, 20);
    cd_hash_free(hash);
    fixture_end(&f);
}

/* 5.7 for the other hashes; in 64-byte segments the last keeps 1 to 64 bytes, as in 6.4. */
static void hash_words(void) {
    static const struct {
        const char *name;
        uint32_t cmd0, result;
    } rows[] = {
        {"md5-eip93", 0x3A400FC3, 16},
        {"sha1-eip93", 0x3A501FC3, 20},
        {"sha224-eip93", 0x3A702FC3, 28},
        {"sha256-eip93", 0x3A803FC3, 32},
    };
    static const size_t lengths[][2] = {{1, 1}, {63, 1}, {64, 1}, {65, 2}, {128, 2}, {129, 3}};
    uint8_t text[129] = {0}, digest[32];
    for (size_t i = 0; i < 4; i++) {
        struct fixture f = digest_fixture(64);
        struct cd_hash *hash = NULL;
        CHECK_EQ(cd_hash_new(&hash, f.registry, rows[i].name, 0, 0), CD_OK);
        for (size_t j = 0; j < 6; j++) {
            struct cd_hash_request request = {
                .source = text, .length = lengths[j][0], .digest = digest};
            CHECK_EQ(cd_hash_digest(hash, &request), CD_IN_PROGRESS);
            CHECK_EQ(f.fake->unanswered, lengths[j][1]);
            CHECK_EQ(fake_mapped(f.fake), lengths[j][1]);
            uint32_t last = (f.fake->answer_index + f.fake->unanswered - 1) % 8;
            CHECK_EQ(fake_command(f.fake, last)[0], 0x11);
            CHECK_EQ(fake_command(f.fake, last)[7] & 0xFF, (lengths[j][0] - 1) % 64 + 1);
            CHECK_EQ(((const uint32_t *)(const void *)sa_of(&f, last))[0], rows[i].cmd0);
            CHECK_EQ(((const uint32_t *)(const void *)sa_of(&f, last))[1], 0x9);
            fixture_drain(&f);
            CHECK_EQ(request.status, CD_OK);
            f.fake->irq_hook = NULL;
        }
        cd_hash_free(hash);
        fixture_end(&f);
    }
}

/* The largest segment; a message may be larger than the ring. */
static void long_messages(void) {
    const size_t length = 2 * 0xFFFC0 + 64;
    uint8_t *text = calloc(1, length), digest[32];
    for (uint32_t segment = 0; segment <= 4096; segment += 4096) {
        struct fixture f = digest_fixture(segment);
        struct cd_hash *hash = NULL;
        struct cd_hash_request request = {.source = text, .length = length, .digest = digest};
        CHECK_EQ(cd_hash_new(&hash, f.registry, "md5-eip93", 0, 0), CD_OK);
        CHECK_EQ(cd_hash_digest(hash, &request), CD_IN_PROGRESS);
        if (segment == 0) {
            CHECK_EQ(f.fake->unanswered, 3);
            CHECK_EQ(fake_command(f.fake, 0)[7], 0x004FFFC0);
            CHECK_EQ(fake_command(f.fake, 2)[7], 0x00400040);
        }
        f.fake->irq_hook = fake_answer_all;
        CHECK_EQ(cd_hash_wait(hash, &request, TIMEOUT_NS), CD_OK);
        CHECK_EQ(request.status, CD_OK);
        CHECK_EQ(fixture_counters(&f).descriptors, segment == 0 ? 3 : 512);
        CHECK_EQ(fixture_counters(&f).requests, 1);
        cd_hash_free(hash);
        fixture_end(&f);
    }
    free(text);
}

static struct cd_aead *example_aead(struct fixture *f, uint32_t tag_size) {
    struct cd_aead *aead = NULL;
    uint8_t auth_key[20];
    for (uint8_t i = 0; i < 20; i++) {
        auth_key[i] = i;
    }
    CHECK_EQ(cd_aead_new(&aead, f->registry, "authenc(hmac(sha1),cbc(aes))", 0, 0), CD_OK);
    CHECK_EQ(cd_aead_set_key(aead, fixture_key, 16, auth_key, 20), CD_OK);
    CHECK_EQ(cd_aead_set_tag_size(aead, tag_size), CD_OK);
    return aead;
}

static const char *const aead_aad = "00001234 00000001";
static const char *const aead_iv = "00010203 04050607 08090a0b 0c0d0e0f";
static const char *const aead_plain =
    "6bc1bee2 2e409f96 e93d7e11 7393172a ae2d8a57 1e03ac9c 9eb76fac 45af8e51";
static const char *const aead_cipher =
    "7649abac 8119b246 cee98e9b 12e9197d 5086cb9b 507219ee 95db113a 917678b2";
static const char *const aead_tag = "dbc7eb5e b875ed1d 0d606169 3cb4dfb8 9476583f";

static void check_aead_command(struct fixture *f, uint32_t cmd0, uint32_t cmd1, const char *text) {
    const uint32_t *command = fake_command(f->fake, 0);
    const uint32_t *sa = (const uint32_t *)(const void *)sa_of(f, 0);
    uint8_t bytes[40];
    CHECK_EQ(command[0], 0x00000001);
    CHECK_EQ(command[1], command[2]);
    CHECK_EQ(command[6], 0x00880000);
    CHECK_EQ(command[7], 0x00400028);
    CHECK_EQ(sa[0], cmd0);
    CHECK_EQ(sa[1], cmd1);
    CHECK_BYTES(sa + 2, fixture_key, 16);
    test_hex(bytes, "d66e890f ca60dfa5 5b48e12a 9a0b4f52 a068b01d");
    CHECK_BYTES(sa_of(f, 0) + 0x28, bytes, 20);
    test_hex(bytes, "726dc6be d3aab56b 45c6247b 8d504ea7 765d00f2");
    CHECK_BYTES(sa_of(f, 0) + 0x48, bytes, 20);
    test_hex(bytes, aead_iv);
    CHECK_BYTES(state_of(f, 0), bytes, 16);
    test_hex(bytes, aead_aad);
    test_hex(bytes + 8, text);
    CHECK_BYTES(fake_reach(f->fake, command[1], 40, 0), bytes, 40);
    CHECK_EQ(fake_mapped(f->fake), 0);
}

/* The bounce area keeps nothing. */
static void check_wiped(struct fixture *f) {
    for (uint32_t i = 0; i < 128; i++) {
        CHECK_EQ(*fake_reach(f->fake, fake_result(f->fake, 0)[1] + i, 1, 0), 0);
        CHECK_EQ(*fake_reach(f->fake, fake_result(f->fake, 0)[3] + i, 1, 0), 0);
    }
}

/* Section 9.6, with the whole tag where the example takes 12 bytes: the driver cuts. */
static void authenc_encryption(void) {
    struct fixture f = digest_fixture(0);
    struct cd_aead *aead = example_aead(&f, 11);
    uint8_t aad[8], plain[32], out[32] = {0}, expected[32], tag[12] = {0};
    struct cd_aead_request request = {
        .source = plain, .destination = out, .length = 32, .aad = aad, .aad_len = 8, .tag = tag};
    test_hex(aad, aead_aad);
    test_hex(plain, aead_plain);
    test_hex(request.iv, aead_iv);
    CHECK_EQ(cd_aead_encrypt(aead, &request), CD_IN_PROGRESS);
    check_aead_command(&f, 0x125013C1, 0x0202110B, aead_plain);
    uint8_t *area = fake_reach(f.fake, fake_command(f.fake, 0)[1], 60, 0);
    test_hex(area + 8, aead_cipher);
    test_hex(area + 40, "5eebc7db 1ded75b8 6961600d b8dfb43c 3f587694");
    give_result(&f, 0, 0x00000002, 0x0080003C);
    CHECK_EQ(cd_eip93_driver_poll(f.driver), 1);
    CHECK_EQ(request.status, CD_OK);
    test_hex(expected, aead_cipher);
    CHECK_BYTES(out, expected, 32);
    test_hex(expected, aead_tag);
    expected[11] = 0;
    CHECK_BYTES(tag, expected, 12);
    check_wiped(&f);
    cd_aead_free(aead);
    fixture_end(&f);
}

/* Section 9.6, with SAVE_HASH: the driver compares. `flip`: a bit of the tag; `control`: what the
 * engine answers. The destination is written only if all is well. */
static void authenc_decryption(unsigned flip, uint32_t control, cd_status outcome) {
    struct fixture f = digest_fixture(0);
    struct cd_aead *aead = example_aead(&f, 12);
    uint8_t aad[8], text[32], out[32], expected[32], tag[20];
    struct cd_aead_request request = {
        .source = text, .destination = out, .length = 32, .aad = aad, .aad_len = 8, .tag = tag};
    test_hex(aad, aead_aad);
    test_hex(text, aead_cipher);
    test_hex(tag, aead_tag);
    test_hex(request.iv, aead_iv);
    memset(out, 0x77, 32);
    tag[flip / 8] = (uint8_t)(tag[flip / 8] ^ 1u << flip % 8);
    CHECK_EQ(cd_aead_decrypt(aead, &request), CD_IN_PROGRESS);
    check_aead_command(&f, 0x323013C9, 0x02021102, aead_cipher);
    uint8_t *area = fake_reach(f.fake, fake_command(f.fake, 0)[1], 60, 0);
    CHECK_BYTES(area + 40, tag, 12);
    test_hex(area + 8, aead_plain);
    test_hex(state_of(&f, 0) + 24, "5eebc7db 1ded75b8 6961600d b8dfb43c 3f587694");
    give_result(&f, 0, control, 0x00800028);
    CHECK_EQ(cd_eip93_driver_poll(f.driver), 1);
    CHECK_EQ(request.status, outcome);
    test_hex(expected, aead_plain);
    for (size_t i = 0; i < 32; i++) {
        CHECK_EQ(out[i], outcome == CD_OK ? expected[i] : 0x77);
    }
    check_wiped(&f);
    CHECK_EQ(fixture_counters(&f).failed, outcome == CD_OK ? 0 : 1);
    cd_aead_free(aead);
    fixture_end(&f);
}

static void authenc_decryptions(void) {
    authenc_decryption(96, 0x00000002, CD_OK); /* beyond the tag */
    for (unsigned flip = 0; flip < 96; flip++) {
        authenc_decryption(flip, 0x00000002, CD_E_AUTHENTICATION);
    }
    authenc_decryption(96, 0x00010002, CD_E_AUTHENTICATION); /* the engine compares, too */
    authenc_decryption(0, 0x00010002, CD_E_AUTHENTICATION);
    authenc_decryption(96, 0x00030002, CD_E_DEVICE);
    authenc_decryption(96, 0x00380002, CD_E_DEVICE);
}

/* The offset of the text in words, or in bytes if it must be and can (5.5); rfc3686's counter. */
static void authenc_offsets(void) {
    static const struct {
        size_t aad_len;
        uint32_t field; /* 0: in software */
    } rows[] = {{4, 0x00010000},    {0, 0x00000000},   {5, 0x00052000}, {255, 0x00FF2000},
                {1020, 0x00FF0000}, {256, 0x00400000}, {3, 1},          {257, 1},
                {1024, 1}};
    uint8_t text[16] = {0}, aad[1024] = {0}, tag[32], counter[16];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f = digest_fixture(0);
        struct cd_aead *aead = NULL;
        struct cd_aead_request request = {.source = text,
                                          .destination = text,
                                          .length = 13,
                                          .aad = aad,
                                          .aad_len = rows[i].aad_len,
                                          .tag = tag,
                                          .iv = {1, 2, 3, 4, 5, 6, 7, 8}};
        CHECK_EQ(cd_aead_new(&aead, f.registry, "authenc(hmac(sha256),rfc3686(ctr(aes)))", 0, 0),
                 CD_OK);
        CHECK_EQ(cd_aead_set_key(aead, fixture_key, 36, NULL, 0), CD_OK);
        cd_status status = cd_aead_encrypt(aead, &request);
        if (rows[i].field == 1) {
            CHECK_EQ(status, CD_OK);
            CHECK_EQ(f.fake->unanswered, 0);
        } else {
            CHECK_EQ(status, CD_IN_PROGRESS);
            CHECK_EQ(((const uint32_t *)(const void *)sa_of(&f, 0))[0], 0x128033C1);
            CHECK_EQ(((const uint32_t *)(const void *)sa_of(&f, 0))[1],
                     0x0400120Bu | rows[i].field);
            test_hex(counter, "00000000 01020304 05060708 00000001");
            CHECK_BYTES(state_of(&f, 0), counter, 16);
        }
        CHECK_EQ(fixture_counters(&f).software, rows[i].field == 1);
        fixture_drain(&f);
        CHECK_EQ(request.status, CD_OK);
        cd_aead_free(aead);
        fixture_end(&f);
    }
}

/* Cipher fields of 5.7 for DES, alone and in authenc. */
static void des_words(void) {
    static const struct {
        const char *name;
        size_t key_len;
        uint32_t cmd0, cmd1;
    } rows[] = {{"ecb(des)", 8, 0x0200F0C0, 0},
                {"cbc(des)", 8, 0x1200F0C0, 0x100},
                {"ecb(des3_ede)", 24, 0x0200F1C0, 0},
                {"cbc(des3_ede)", 24, 0x1200F1C0, 0x100}};
    uint8_t text[8] = {0}, tag[32];
    struct fixture f = digest_fixture(0);
    for (size_t i = 0; i < 8; i++) {
        struct cd_cipher_request request = {.source = text, .destination = text, .length = 8};
        uint32_t index = f.fake->answer_index;
        cd_cipher_free(f.cipher);
        fixture_cipher(&f, rows[i / 2].name, rows[i / 2].key_len);
        CHECK_EQ(i % 2 == 0 ? cd_cipher_encrypt(f.cipher, &request)
                            : cd_cipher_decrypt(f.cipher, &request),
                 CD_IN_PROGRESS);
        const uint32_t *sa = (const uint32_t *)(const void *)sa_of(&f, index);
        CHECK_EQ(sa[0], rows[i / 2].cmd0 | (i % 2 == 0 ? 0 : 8u));
        CHECK_EQ(sa[1], rows[i / 2].cmd1);
        CHECK_BYTES(sa + 2, fixture_key, rows[i / 2].key_len);
        fixture_drain(&f);
        CHECK_EQ(request.status, CD_OK);
    }
    for (size_t i = 0; i < 2; i++) {
        struct cd_aead *aead = NULL;
        struct cd_aead_request request = {
            .source = text, .destination = text, .length = 8, .tag = tag};
        uint32_t index = f.fake->answer_index;
        const char *name = i == 0 ? "authenc(hmac(md5-eip93),cbc(des-eip93))"
                                  : "authenc(hmac(sha224-eip93),cbc(des3_ede-eip93))";
        CHECK_EQ(cd_aead_new(&aead, f.registry, name, 0, 0), CD_OK);
        CHECK_EQ(cd_aead_set_key(aead, fixture_key, i == 0 ? 8 : 24, NULL, 0), CD_OK);
        CHECK_EQ(cd_aead_encrypt(aead, &request), CD_IN_PROGRESS);
        const uint32_t *sa = (const uint32_t *)(const void *)sa_of(&f, index);
        CHECK_EQ(sa[0], i == 0 ? 0x124000C1 : 0x127021C1);
        CHECK_EQ(sa[1], 0x110B);
        fixture_drain(&f);
        cd_aead_free(aead);
    }
    fixture_end(&f);
}

int main(void) {
    RUN(sha256_of_abc);
    RUN(hmac_in_one_descriptor);
    RUN(hmac_in_three_descriptors);
    RUN(hash_words);
    RUN(long_messages);
    RUN(authenc_encryption);
    RUN(authenc_decryptions);
    RUN(authenc_offsets);
    RUN(des_words);
    return test_end();
}
