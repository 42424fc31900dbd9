/* crypto/aes*: every backend against published vectors and an AES written down from FIPS 197. */
#include "base/endian.h"
#include "crypto/aes.h"
#include "crypto/aes_modes.h"
#include "cryptodispatch/cpu.h"
#include "test_guard.h"
#include "test_plain_aes.h"
#include "test_support.h"

/* ---- what all tests share ---- */

enum mode { ECB_ENCRYPT, ECB_DECRYPT, CBC_ENCRYPT, CBC_DECRYPT, CTR, MODES };

#define TEXT 1024u /* bytes; a multiple of the block */

static const size_t key_sizes[3] = {16, 24, 32};
static uint8_t test_key[32], test_iv[16], test_text[TEXT];
/* The plain AES's output for test_text, per key size and mode. A shorter text gives a prefix. */
static uint8_t expected[3][MODES][TEXT];

static const struct cd_aes_functions *backends[5];
static size_t backend_count;

static uint64_t random_state = 0x9e3779b97f4a7c15;

static void fill_random(uint8_t *out, size_t length) {
    for (size_t i = 0; i < length; i++) {
        random_state ^= random_state << 13;
        random_state ^= random_state >> 7;
        random_state ^= random_state << 17;
        out[i] = (uint8_t)(random_state >> 24);
    }
}

static void xor16(uint8_t *out, const uint8_t *a, const uint8_t *b) {
    for (size_t i = 0; i < 16; i++) {
        out[i] = (uint8_t)(a[i] ^ b[i]);
    }
}

static void compute_expected(size_t size_index) {
    uint8_t keys[240], counter[16], block[16];
    unsigned rounds = plain_expand(keys, test_key, key_sizes[size_index]);
    const uint8_t *chain = test_iv, *previous = test_iv;

    memcpy(counter, test_iv, 16);
    for (size_t i = 0; i < TEXT; i += 16) {
        uint8_t(*out)[TEXT] = expected[size_index];
        const uint8_t *in = test_text + i;

        plain_encrypt(keys, rounds, out[ECB_ENCRYPT] + i, in);
        plain_decrypt(keys, rounds, out[ECB_DECRYPT] + i, in);
        xor16(block, in, chain);
        plain_encrypt(keys, rounds, out[CBC_ENCRYPT] + i, block);
        chain = out[CBC_ENCRYPT] + i;
        xor16(out[CBC_DECRYPT] + i, out[ECB_DECRYPT] + i, previous);
        previous = in;
        plain_encrypt(keys, rounds, block, counter);
        xor16(out[CTR] + i, in, block);
        plain_increment(counter);
    }
}

static void set_up(void) {
    plain_set_up();
    fill_random(test_key, sizeof test_key);
    fill_random(test_iv, sizeof test_iv);
    memset(test_iv + 9, 0xff, 7); /* the counter carries within the text */
    test_iv[15] = 0xf0;
    fill_random(test_text, sizeof test_text);
    for (size_t i = 0; i < 3; i++) {
        compute_expected(i);
    }
    backends[backend_count++] = &cd_aes_portable;
    backends[backend_count++] = &cd_aes_generic;
    backends[backend_count++] = &cd_aes_fixed;
    if ((cd_cpu_detect() & cd_aes_aesni.cpu) == cd_aes_aesni.cpu) {
        backends[backend_count++] = &cd_aes_aesni;
    } else {
        printf("skipped: backend ni, this CPU cannot run it\n");
    }
    if ((cd_cpu_detect() & cd_aes_vaes.cpu) == cd_aes_vaes.cpu) {
        backends[backend_count++] = &cd_aes_vaes;
    } else {
        printf("skipped: backend vaes, this CPU cannot run it\n");
    }
}

/* length: bytes, a multiple of 16 but for CTR. */
static void run(const struct cd_aes_functions *aes, const struct cd_aes_key *key, enum mode mode,
                uint8_t *out, const uint8_t *in, size_t length, uint8_t iv[16]) {
    switch (mode) {
    case ECB_ENCRYPT:
        aes->ecb_encrypt(&key->encrypt, out, in, length / 16);
        break;
    case ECB_DECRYPT:
        aes->ecb_decrypt(key, out, in, length / 16);
        break;
    case CBC_ENCRYPT:
        aes->cbc_encrypt(&key->encrypt, out, in, length / 16, iv);
        break;
    case CBC_DECRYPT:
        aes->cbc_decrypt(key, out, in, length / 16, iv);
        break;
    default:
        aes->ctr(&key->encrypt, out, in, length, iv);
        break;
    }
}

static void expect_next_iv(uint8_t out[16], enum mode mode, size_t size_index, size_t length) {
    memcpy(out, test_iv, 16);
    if (mode == CBC_ENCRYPT && length > 0) {
        memcpy(out, expected[size_index][mode] + length - 16, 16);
    } else if (mode == CBC_DECRYPT && length > 0) {
        memcpy(out, test_text + length - 16, 16);
    } else if (mode == CTR) {
        for (size_t i = 0; i < length; i += 16) {
            plain_increment(out);
        }
    }
}

/* One operation on test_text, checked: output, next IV. */
static void check_run(const struct cd_aes_functions *aes, size_t size_index, enum mode mode,
                      uint8_t *out, const uint8_t *in, size_t length) {
    struct cd_aes_key key;
    uint8_t iv[16], next_iv[16];

    memset(&key, 0x77, sizeof key); /* no remains of another backend's schedule */
    memcpy(iv, test_iv, 16);
    aes->prepare(&key, test_key, key_sizes[size_index]);
    run(aes, &key, mode, out, in, length, iv);
    expect_next_iv(next_iv, mode, size_index, length);
    CHECK_BYTES(out, expected[size_index][mode], length);
    CHECK_BYTES(iv, next_iv, 16);
}

/* ---- tests ---- */

/* FIPS 197 appendix A: the last round key of each example. */
static void key_expansion_fips_197_appendix_a(void) {
    static const char *const examples[3][2] = {
        {"2b7e151628aed2a6abf7158809cf4f3c", "d014f9a8c9ee2589e13f0cc8b6630ca6"},
        {"8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", "e98ba06f448c773c8ecc720401002202"},
        {"603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
         "fe4890d1e6188d0b046df344706c631e"},
    };

    for (size_t i = 0; i < 3 * backend_count; i++) {
        struct cd_aes_encrypt_key key;
        uint8_t bytes[32], last[16];
        size_t length = test_hex(bytes, examples[i % 3][0]);

        test_hex(last, examples[i % 3][1]);
        backends[i / 3]->prepare_encrypt(&key, bytes, length);
        CHECK_EQ(key.rounds, length / 4 + 6);
        for (size_t word = 0; word < 4; word++) {
            CHECK_EQ(key.words[4 * key.rounds + word], cd_load_le32(last + 4 * word));
        }
    }
}

/* FIPS 197 appendix C. */
static void blocks_fips_197_appendix_c(void) {
    static const char *const ciphertexts[3] = {"69c4e0d86a7b0430d8cdb78070b4c55a",
                                               "dda97ca4864cdfe06eaf70a0ec0d7191",
                                               "8ea2b7ca516745bfeafc49904b496089"};
    uint8_t key_bytes[32], plaintext[16], ciphertext[16], out[16];

    for (unsigned i = 0; i < 32; i++) {
        key_bytes[i] = (uint8_t)i;
        plaintext[i % 16] = (uint8_t)(i % 16 * 0x11);
    }
    for (size_t i = 0; i < 3 * backend_count; i++) {
        const struct cd_aes_functions *aes = backends[i / 3];
        struct cd_aes_key key;

        test_hex(ciphertext, ciphertexts[i % 3]);
        aes->prepare(&key, key_bytes, key_sizes[i % 3]);
        aes->ecb_encrypt(&key.encrypt, out, plaintext, 1);
        CHECK_BYTES(out, ciphertext, 16);
        aes->ecb_decrypt(&key, out, ciphertext, 1);
        CHECK_BYTES(out, plaintext, 16);
    }
}

struct sp800_38a {
    const char *section;
    enum mode encrypt, decrypt;
    size_t size_index;
    const char *iv, *ciphertext;
};

/* NIST SP 800-38A appendix F: sections of encryption; the ones of decryption are their inverses. */
static const struct sp800_38a sp800_38a[] = {
    {"F.1.1", ECB_ENCRYPT, ECB_DECRYPT, 0, "00000000000000000000000000000000",
     "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf"
     "43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4"},
    {"F.1.3", ECB_ENCRYPT, ECB_DECRYPT, 1, "00000000000000000000000000000000",
     "bd334f1d6e45f25ff712a214571fa5cc974104846d0ad3ad7734ecb3ecee4eef"
     "ef7afd2270e2e60adce0ba2face6444e9a4b41ba738d6c72fb16691603c18e0e"},
    {"F.1.5", ECB_ENCRYPT, ECB_DECRYPT, 2, "00000000000000000000000000000000",
     "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870"
     "b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7"},
    {"F.2.1", CBC_ENCRYPT, CBC_DECRYPT, 0, "000102030405060708090a0b0c0d0e0f",
     "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
     "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7"},
    {"F.2.3", CBC_ENCRYPT, CBC_DECRYPT, 1, "000102030405060708090a0b0c0d0e0f",
     "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
     "571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd"},
    {"F.2.5", CBC_ENCRYPT, CBC_DECRYPT, 2, "000102030405060708090a0b0c0d0e0f",
     "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
     "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b"},
    {"F.5.1", CTR, CTR, 0, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
     "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
     "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee"},
    {"F.5.3", CTR, CTR, 1, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
     "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94"
     "1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050"},
    {"F.5.5", CTR, CTR, 2, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
     "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
     "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"},
};

static void modes_sp_800_38a_appendix_f(void) {
    static const char *const keys[3] = {
        "2b7e151628aed2a6abf7158809cf4f3c", "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
        "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"};
    uint8_t plaintext[64], ciphertext[64], out[64], bytes[32], iv[16];

    test_hex(plaintext, "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                        "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710");
    for (size_t i = 0; i < sizeof sp800_38a / sizeof sp800_38a[0]; i++) {
        const struct sp800_38a *vector = &sp800_38a[i];

        CHECK_EQ(test_hex(ciphertext, vector->ciphertext), 64);
        for (size_t b = 0; b < backend_count; b++) {
            struct cd_aes_key key;

            backends[b]->prepare(&key, bytes, test_hex(bytes, keys[vector->size_index]));
            test_hex(iv, vector->iv);
            run(backends[b], &key, vector->encrypt, out, plaintext, 64, iv);
            CHECK_BYTES(out, ciphertext, 64);
            test_hex(iv, vector->iv);
            run(backends[b], &key, vector->decrypt, out, ciphertext, 64, iv);
            CHECK_BYTES(out, plaintext, 64);
        }
    }
}

/* All lengths, modes, key sizes, out of place and in place; nothing is written behind the end. */
static void every_length_equals_plain_aes(void) {
    static uint8_t out[TEXT + 16], in_place[TEXT + 16];

    for (size_t i = 0; i < backend_count * 3 * MODES; i++) {
        const struct cd_aes_functions *aes = backends[i / (3 * MODES)];
        enum mode mode = (enum mode)(i % MODES);
        size_t size_index = i / MODES % 3;

        for (size_t length = 0; length <= TEXT; length += mode == CTR ? 1 : 16) {
            memset(out + length, 0x5a, 16);
            check_run(aes, size_index, mode, out, test_text, length);
            memcpy(in_place, test_text, length);
            memset(in_place + length, 0x5a, 16);
            check_run(aes, size_index, mode, in_place, in_place, length);
            for (size_t j = length; j < length + 16; j++) {
                CHECK(out[j] == 0x5a && in_place[j] == 0x5a);
            }
        }
    }
}

/* A message in two pieces, every whole-block split, equals one piece. */
static void continued_messages_equal_one_piece(void) {
    static uint8_t out[TEXT];
    const size_t length = 20 * 16;

    for (size_t i = 0; i < backend_count * MODES; i++) {
        const struct cd_aes_functions *aes = backends[i / MODES];
        enum mode mode = (enum mode)(i % MODES);
        size_t rest = length + (mode == CTR ? 7 : 0);
        struct cd_aes_key key;

        aes->prepare(&key, test_key, 16);
        for (size_t split = 0; split <= length; split += 16) {
            uint8_t iv[16];

            memcpy(iv, test_iv, 16);
            run(aes, &key, mode, out, test_text, split, iv);
            run(aes, &key, mode, out + split, test_text + split, rest - split, iv);
            CHECK_BYTES(out, expected[0][mode], rest);
        }
    }
}

static void every_alignment_works(void) {
    _Alignas(64) static uint8_t in[TEXT + 16], out[TEXT + 16];

    for (size_t i = 0; i < backend_count * MODES * 256; i++) {
        const struct cd_aes_functions *aes = backends[i / (MODES * 256)];
        enum mode mode = (enum mode)(i / 256 % MODES);
        size_t in_offset = i % 16, out_offset = i / 16 % 16, length = mode == CTR ? 221 : 208;

        memcpy(in + in_offset, test_text, length);
        check_run(aes, 0, mode, out + out_offset, in + in_offset, length);
        check_run(aes, 2, mode, in + in_offset, in + in_offset, length);
    }
}

static void nothing_outside_the_buffers_is_touched(void) {
    struct test_guard in, out;

    test_guard_init(&in);
    test_guard_init(&out);
    for (size_t i = 0; i < backend_count * MODES; i++) {
        const struct cd_aes_functions *aes = backends[i / MODES];
        enum mode mode = (enum mode)(i % MODES);

        for (size_t length = 0; length <= 288; length += mode == CTR ? 1 : 16) {
            uint8_t *in_begin = test_guard_begin(&in), *in_end = test_guard_end(&in, length);

            memcpy(in_begin, test_text, length);
            check_run(aes, 1, mode, test_guard_end(&out, length), in_begin, length);
            check_run(aes, 1, mode, in_begin, in_begin, length);
            memcpy(in_end, test_text, length);
            check_run(aes, 1, mode, test_guard_begin(&out), in_end, length);
            check_run(aes, 1, mode, in_end, in_end, length);
        }
    }
    test_guard_cleanup(&in);
    test_guard_cleanup(&out);
}

/* CTR of zeros for `length` bytes from `start`, one counter block at a time. */
static void check_counter(const struct cd_aes_functions *aes, const uint8_t start[16],
                          size_t length) {
    static const uint8_t zeros[TEXT];
    uint8_t keys[240], counter[16], stream[16], out[TEXT], next[16];
    unsigned rounds = plain_expand(keys, test_key, 16);
    struct cd_aes_encrypt_key key;

    aes->prepare_encrypt(&key, test_key, 16);
    memcpy(next, start, 16);
    aes->ctr(&key, out, zeros, length, next);
    memcpy(counter, start, 16);
    for (size_t i = 0; i < length; i += 16) {
        plain_encrypt(keys, rounds, stream, counter);
        CHECK_BYTES(out + i, stream, length - i < 16 ? length - i : 16);
        plain_increment(counter);
    }
    CHECK_BYTES(next, counter, 16);
}

/* A carry into every byte, from every lane of a pass. */
static void counters_carry_through_all_bytes(void) {
    for (size_t i = 0; i < backend_count * 16 * 10; i++) {
        const struct cd_aes_functions *aes = backends[i / 160];
        size_t carry_to = i / 10 % 16; /* this byte goes up; 0 wraps around 2^128 */
        uint8_t start[16];

        fill_random(start, sizeof start);
        memset(start + carry_to, 0xff, 16 - carry_to);
        start[carry_to] = (uint8_t)(carry_to == 0 ? 0xff : 0x7f);
        start[15] = (uint8_t)(0xff - i % 10);
        for (size_t length = 16; length <= 17 * 16; length += 24) {
            check_counter(aes, start, length);
        }
    }
}

/* R075: the eight-block path and the one-block path count alike. The same lengths as there. */
static void counter_of_case_r075(void) {
    static const uint8_t zeros[144];
    uint8_t start[16], many[144], one[144], bytes[16];

    test_hex(bytes, "000102030405060708090a0b0c0d0e0f");
    test_hex(start, "fffffffffffffffffffffffffffffffd");
    for (size_t b = 0; b < backend_count; b++) {
        struct cd_aes_encrypt_key key;

        backends[b]->prepare_encrypt(&key, bytes, 16);
        for (size_t length = 64; length <= 144; length += length == 64 ? 64 : 16) {
            uint8_t counter[16], single[16];

            memcpy(counter, start, 16);
            memcpy(single, start, 16);
            backends[b]->ctr(&key, many, zeros, length, counter);
            for (size_t i = 0; i < length; i += 16) {
                backends[b]->ctr(&key, one + i, zeros, 16, single);
            }
            CHECK_BYTES(many, one, length);
            CHECK_BYTES(counter, single, 16);
            check_counter(backends[b], start, length);
        }
        /* The fourth block has counter 0: AES of zeros under this key, as OpenSSL 3 gives it. */
        test_hex(one, "c6a13b37878f5b826f4f8162a1c8d879");
        CHECK_BYTES(many + 48, one, 16);
    }
}

static void counter_add_is_modulo_2_to_the_128(void) {
    for (unsigned i = 0; i < 2000; i++) {
        uint8_t counter[16], one_by_one[16], twice[16];
        unsigned blocks = i % 300;

        fill_random(counter, sizeof counter);
        memset(counter + i % 16, 0xff, 16 - i % 16);
        memcpy(one_by_one, counter, 16);
        memcpy(twice, counter, 16);
        cd_aes_counter_add(counter, blocks);
        for (unsigned j = 0; j < blocks; j++) {
            plain_increment(one_by_one);
        }
        CHECK_BYTES(counter, one_by_one, 16);
        /* 2^64 = (2^64 - 1) + 1: adds one to the upper half. */
        cd_aes_counter_add(twice, UINT64_MAX);
        cd_aes_counter_add(twice, blocks + 1);
        for (size_t j = 8; j-- > 0 && ++counter[j] == 0;) {
        }
        CHECK_BYTES(twice, counter, 16);
    }
}

/* The backends' schedules may be mixed: VAES and AES-NI code reads them in this order. */
static void schedules_are_fips_197_bytes(void) {
    for (size_t i = 0; i < 300 * backend_count; i++) {
        const struct cd_aes_functions *aes = backends[i / 300];
        uint8_t bytes[32], keys[240];
        size_t length = key_sizes[i % 3];
        struct cd_aes_key key;
        struct cd_aes_encrypt_key half;
        unsigned rounds;

        fill_random(bytes, sizeof bytes);
        rounds = plain_expand(keys, bytes, length);
        aes->prepare(&key, bytes, length);
        aes->prepare_encrypt(&half, bytes, length);
        CHECK_EQ(half.rounds, rounds);
        CHECK_EQ(key.encrypt.rounds, rounds);
        CHECK_BYTES(half.words, key.encrypt.words, 16 * (rounds + 1));
        for (size_t word = 0; word < 4 * (rounds + 1); word++) {
            CHECK_EQ(half.words[word], cd_load_le32(keys + 4 * word));
        }
    }
}

static void best_backend_follows_the_cpu(void) {
    bool has_ni = (cd_cpu_detect() & cd_aes_aesni.cpu) == cd_aes_aesni.cpu;
    bool has_vaes = (cd_cpu_detect() & cd_aes_vaes.cpu) == cd_aes_vaes.cpu;
    const struct cd_aes_functions *without_vaes = has_ni ? &cd_aes_aesni : &cd_aes_portable;

    CHECK(cd_aes_best() == (has_vaes ? &cd_aes_vaes : without_vaes));
    CHECK(strcmp(cd_aes_portable.name, "lib") == 0 && cd_aes_portable.cpu == 0);
    CHECK(strcmp(cd_aes_generic.name, "generic") == 0 && cd_aes_generic.cpu == 0);
    CHECK(strcmp(cd_aes_fixed.name, "fixed-time") == 0 && cd_aes_fixed.cpu == 0);
    CHECK(strcmp(cd_aes_aesni.name, "ni") == 0 && cd_aes_aesni.cpu == CD_AES_AESNI_CPU);
    CHECK(strcmp(cd_aes_vaes.name, "vaes") == 0 && cd_aes_vaes.cpu == CD_AES_VAES_CPU);
    (void)cd_cpu_narrow(~(uint32_t)CD_CPU_VAES);
    CHECK(cd_aes_best() == without_vaes);
    (void)cd_cpu_narrow(~(uint32_t)CD_CPU_AESNI);
    CHECK(cd_aes_best() == &cd_aes_portable);
}

int main(void) {
    set_up();
    RUN(key_expansion_fips_197_appendix_a);
    RUN(blocks_fips_197_appendix_c);
    RUN(modes_sp_800_38a_appendix_f);
    RUN(every_length_equals_plain_aes);
    RUN(continued_messages_equal_one_piece);
    RUN(every_alignment_works);
    RUN(nothing_outside_the_buffers_is_touched);
    RUN(counters_carry_through_all_bytes);
    RUN(counter_of_case_r075);
    RUN(counter_add_is_modulo_2_to_the_128);
    RUN(schedules_are_fips_197_bytes);
    RUN(best_backend_follows_the_cpu); /* last: narrows the CPU mask */
    return test_end();
}
