/* crypto/x86/aes_vaes.c and aes_aesni.c against the portable AES, at every length around their
 * passes, and the choice among them. */
#include "base/endian.h"
#include "crypto/aes.h"
#include "test_guard.h"
#include "test_kernel.h"
#include "test_support.h"

enum mode { ECB_ENCRYPT, ECB_DECRYPT, CBC_ENCRYPT, CBC_DECRYPT, CTR, MODES };

#define LONGEST 70000u

static const struct cd_aes_functions *backends[2];
static size_t backend_count;
static const size_t key_sizes[3] = {16, 24, 32};
static uint8_t text[LONGEST], expected[LONGEST], out_buffer[LONGEST + 64], in_buffer[LONGEST + 64];

static void set_up(void) {
    if (test_can_run("aes ni", cd_aes_aesni.cpu)) {
        backends[backend_count++] = &cd_aes_aesni;
    }
    if (test_can_run("aes vaes", cd_aes_vaes.cpu)) {
        backends[backend_count++] = &cd_aes_vaes;
    }
    test_fill_random(text, sizeof text);
}

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

/* One operation on the first `length` bytes at `in`, from and to anywhere: output, next IV, and the
 * bytes after the output. */
static void check_at(const struct cd_aes_functions *aes, enum mode mode, size_t key_len,
                     const uint8_t start_iv[16], uint8_t *out, const uint8_t *in, size_t length,
                     bool has_after) {
    struct cd_aes_key key, reference_key;
    uint8_t key_bytes[32], iv[16], reference_iv[16];

    test_fill_random(key_bytes, sizeof key_bytes);
    memcpy(iv, start_iv, 16);
    memcpy(reference_iv, start_iv, 16);
    cd_aes_portable.prepare(&reference_key, key_bytes, key_len);
    run(&cd_aes_portable, &reference_key, mode, expected, in, length, reference_iv);
    if (has_after) {
        memset(out + length, 0xa5, 16);
    }
    aes->prepare(&key, key_bytes, key_len);
    run(aes, &key, mode, out, in, length, iv);
    CHECK_BYTES(out, expected, length);
    CHECK_BYTES(iv, reference_iv, 16);
    for (size_t i = 0; has_after && i < 16; i++) {
        CHECK_EQ(out[length + i], 0xa5);
    }
}

static void check(const struct cd_aes_functions *aes, enum mode mode, size_t key_len,
                  size_t length) {
    uint8_t iv[16];

    test_fill_random(iv, sizeof iv);
    check_at(aes, mode, key_len, iv, out_buffer, text, length, true);
    memcpy(out_buffer, text, length);
    check_at(aes, mode, key_len, iv, out_buffer, out_buffer, length, true); /* in place */
}

static void every_length_equals_portable(void) {
    for (size_t i = 0; i < backend_count; i++) {
        for (size_t key_index = 0; key_index < 3; key_index++) {
            for (size_t length = 0; length <= 1024; length++) {
                if (length % 16 == 0) {
                    check(backends[i], ECB_ENCRYPT, key_sizes[key_index], length);
                    check(backends[i], ECB_DECRYPT, key_sizes[key_index], length);
                    check(backends[i], CBC_ENCRYPT, key_sizes[key_index], length);
                    check(backends[i], CBC_DECRYPT, key_sizes[key_index], length);
                }
                check(backends[i], CTR, key_sizes[key_index], length);
            }
        }
    }
}

static void long_texts_equal_portable(void) {
    for (size_t i = 0; i < 15 * backend_count; i++) {
        enum mode mode = (enum mode)(i % MODES);
        size_t length = LONGEST - 64 - test_random(40000);

        length -= mode == CTR ? 0 : length % 16;
        check(backends[i / 15], mode, key_sizes[i % 3], length);
    }
}

static void every_alignment_equals_portable(void) {
    uint8_t iv[16];

    test_fill_random(iv, sizeof iv);
    for (size_t i = 0; i < 256 * MODES * backend_count; i++) {
        size_t out_offset = i % 16, in_offset = i / 16 % 16;
        enum mode mode = (enum mode)(i / 256 % MODES);
        size_t length = 16 * (15 + (size_t)test_random(20));

        memcpy(in_buffer + in_offset, text, length);
        check_at(backends[i / 256 / MODES], mode, 16, iv, out_buffer + out_offset,
                 in_buffer + in_offset, length, true);
    }
}

/* Neither text reaches over its ends: both at the end, then at the beginning of a page. */
static void guard_pages_are_not_touched(void) {
    struct test_guard in, out;
    uint8_t iv[16];

    test_guard_init(&in);
    test_guard_init(&out);
    test_fill_random(iv, sizeof iv);
    for (size_t i = 0; i < MODES * backend_count; i++) {
        enum mode mode = (enum mode)(i % MODES);

        for (size_t length = 0; length <= 640; length += mode == CTR ? 1 : 16) {
            const struct cd_aes_functions *aes = backends[i / MODES];

            memcpy(test_guard_end(&in, length), text, length);
            check_at(aes, mode, 32, iv, test_guard_end(&out, length), test_guard_end(&in, length),
                     length, false);
            memcpy(test_guard_begin(&in), text, length);
            check_at(aes, mode, 32, iv, test_guard_begin(&out), test_guard_begin(&in), length,
                     false);
        }
    }
    test_guard_cleanup(&in);
    test_guard_cleanup(&out);
}

/* The counter is 128 bits wide: a carry out of each of its bytes, at every block of a text. */
static void counter_carries_at_every_byte_and_block(void) {
    for (size_t i = 0; i < 16 * backend_count; i++) {
        for (uint8_t before = 0; before < 40; before++) {
            uint8_t iv[16] = {0};

            memset(iv + 15 - i % 16, 0xff, i % 16 + 1);
            iv[15] = (uint8_t)(0xff - before);
            check_at(backends[i / 16], CTR, 16, iv, out_buffer, text, 16 * 40 + 5, true);
            check_at(backends[i / 16], CTR, 16, iv, out_buffer, text, 16 * 25, true);
        }
    }
}

/* A text in pieces of any size, the IV handed on, is the text at once. */
static void pieces_equal_the_whole(void) {
    for (size_t i = 0; i < 20 * MODES * backend_count; i++) {
        const struct cd_aes_functions *aes = backends[i / 20 / MODES];
        enum mode mode = (enum mode)(i / 20 % MODES);
        uint8_t iv[16] = {7}, piece_iv[16] = {7}, key_bytes[32];
        struct cd_aes_key key;
        size_t length = 16 * 300, done = 0;

        test_fill_random(key_bytes, sizeof key_bytes);
        memset(iv + 8, 0xff, 8);
        memset(piece_iv + 8, 0xff, 8);
        piece_iv[15] = iv[15] = (uint8_t)(0xff - test_random(256));
        aes->prepare(&key, key_bytes, 32);
        run(aes, &key, mode, expected, text, length, iv);
        while (done < length) {
            size_t piece = 16 * (size_t)test_random(50);

            piece = piece < length - done ? piece : length - done;
            run(aes, &key, mode, out_buffer + done, text + done, piece, piece_iv);
            done += piece;
        }
        CHECK_BYTES(out_buffer, expected, length);
        CHECK_BYTES(piece_iv, iv, 16);
    }
}

/* Dirty upper halves cost the caller's SSE code more than a small request takes. */
static void upper_register_halves_are_left_clean(void) {
    struct cd_aes_key key;
    uint8_t iv[16];

    if (!test_can_run("upper register halves", cd_aes_vaes.cpu) || !test_upper_works()) {
        printf("skipped: this CPU does not tell whether upper register halves are in use\n");
        return;
    }
    cd_aes_vaes.prepare(&key, text, 16);
    for (size_t length = 0; length <= 1024; length++) {
        for (unsigned mode = 0; mode < MODES; mode++) {
            memset(iv, 0xff, sizeof iv);
            iv[15] = (uint8_t)(0xff - length % 32);
            test_upper_clean();
            run(&cd_aes_vaes, &key, (enum mode)mode, out_buffer, text, length, iv);
            CHECK(!test_upper_in_use());
        }
    }
}

static bool best_fits(uint32_t mask) {
    const struct cd_aes_functions *best = cd_aes_best();
    bool can_vaes = (mask & CD_AES_VAES_CPU) == CD_AES_VAES_CPU;
    bool can_ni = (mask & CD_AES_AESNI_CPU) == CD_AES_AESNI_CPU;

    CHECK(best == (can_vaes ? &cd_aes_vaes : can_ni ? &cd_aes_aesni : &cd_aes_portable));
    for (unsigned mode = 0; mode < MODES; mode++) {
        check(best, (enum mode)mode, 16, 16 * 37);
    }
    return !test_state.current_failed;
}

static void best_follows_every_subset_of_cpu_features(void) {
    CHECK_EQ(test_feature_subsets(CD_AES_VAES_CPU | CD_CPU_SHANI | CD_CPU_AVX512, best_fits), 0);
    CHECK(cd_aes_vaes.cpu == CD_AES_VAES_CPU && strcmp(cd_aes_vaes.name, "vaes") == 0);
}

int main(void) {
    set_up();
    RUN(every_length_equals_portable);
    RUN(long_texts_equal_portable);
    RUN(every_alignment_equals_portable);
    RUN(guard_pages_are_not_touched);
    RUN(counter_carries_at_every_byte_and_block);
    RUN(pieces_equal_the_whole);
    RUN(upper_register_halves_are_left_clean);
    RUN(best_follows_every_subset_of_cpu_features);
    return test_end();
}
