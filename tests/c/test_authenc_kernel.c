/* crypto/authenc.h: encryption and hash in one pass against one after the other. */
#include "crypto/authenc.h"
#include "crypto/sha1.h"
#include "crypto/sha2.h"
#include "test_guard.h"
#include "test_kernel.h"
#include "test_support.h"

#define LONGEST 20000u
#define AAD_MAX 200u

/* A kernel and the hash to compare with. */
static const struct {
    const char *name;
    const struct cd_authenc_functions *functions;
    const struct cd_md_algorithm *reference;
} all_kernels[] = {
    {"cbc sha1 lib", &cd_authenc_cbc_sha1_portable, &cd_sha1_portable},
    {"cbc sha224 lib", &cd_authenc_cbc_sha224_portable, &cd_sha224_portable},
    {"cbc sha256 lib", &cd_authenc_cbc_sha256_portable, &cd_sha256_portable},
    {"cbc sha1 ni", &cd_authenc_cbc_sha1_shani, &cd_sha1_portable},
    {"cbc sha224 ni", &cd_authenc_cbc_sha224_shani, &cd_sha224_portable},
    {"cbc sha256 ni", &cd_authenc_cbc_sha256_shani, &cd_sha256_portable},
    {"cbc sha224 avx512", &cd_authenc_cbc_sha224_avx512, &cd_sha224_portable},
    {"cbc sha256 avx512", &cd_authenc_cbc_sha256_avx512, &cd_sha256_portable},
};

static size_t kernels[8], kernel_count; /* indices of those that this CPU can run */
static const size_t key_sizes[3] = {16, 24, 32};
static uint8_t text[LONGEST + AAD_MAX + 64], out_buffer[LONGEST + 64], expected[LONGEST];

static void set_up(void) {
    for (size_t i = 0; i < sizeof all_kernels / sizeof all_kernels[0]; i++) {
        if (test_can_run(all_kernels[i].name, all_kernels[i].functions->cpu)) {
            kernels[kernel_count++] = i;
        }
    }
    test_fill_random(text, sizeof text);
}

/* One message: `aad_len` bytes hashed before, then `blocks` blocks from `in` to `out`. Ciphertext,
 * next IV and digest are compared. */
static void check_at(size_t kernel, size_t key_len, size_t aad_len, uint8_t *out, const uint8_t *in,
                     size_t blocks) {
    const struct cd_authenc_functions *functions = all_kernels[kernel].functions;
    const struct cd_md_algorithm *reference = all_kernels[kernel].reference;
    struct cd_aes_encrypt_key key, reference_key;
    struct cd_md_state state, reference_state;
    uint8_t iv[16], reference_iv[16], bytes[32], digest[32] = {0}, reference_digest[32] = {0};

    test_fill_random(bytes, sizeof bytes);
    test_fill_random(iv, sizeof iv);
    memcpy(reference_iv, iv, sizeof iv);
    cd_aes_portable.prepare_encrypt(&reference_key, bytes, key_len);
    cd_aes_portable.cbc_encrypt(&reference_key, expected, in, blocks, reference_iv);
    cd_md_init(reference, &reference_state);
    cd_md_update(reference, &reference_state, text, aad_len);
    cd_md_update(reference, &reference_state, expected, 16 * blocks);
    cd_md_final(reference, &reference_state, reference_digest);

    functions->aes->prepare_encrypt(&key, bytes, key_len);
    cd_md_init(functions->hash, &state);
    cd_md_update(functions->hash, &state, text, aad_len);
    cd_authenc_cbc_encrypt(functions, &key, &state, out, in, blocks, iv);
    CHECK_EQ(state.count, aad_len + 16 * blocks);
    cd_md_final(functions->hash, &state, digest);
    CHECK_BYTES(out, expected, 16 * blocks);
    CHECK_BYTES(iv, reference_iv, 16);
    CHECK_BYTES(digest, reference_digest, 32);
}

/* Every length up to 1024 bytes at every place of the hash's block. */
static void every_length_after_every_aad_length(void) {
    for (size_t i = 0; i < kernel_count; i++) {
        for (size_t blocks = 0; blocks <= 64; blocks++) {
            for (size_t aad = 0; aad <= 64; aad++) {
                memset(out_buffer + 16 * blocks, 0xa5, 16);
                check_at(kernels[i], key_sizes[(blocks + aad) % 3], aad, out_buffer, text, blocks);
                for (size_t k = 0; k < 16; k++) {
                    CHECK_EQ(out_buffer[16 * blocks + k], 0xa5);
                }
            }
        }
    }
}

static void in_place(void) {
    for (size_t i = 0; i < kernel_count; i++) {
        for (size_t blocks = 0; blocks <= 64; blocks++) {
            size_t aad = test_random(AAD_MAX);

            memcpy(out_buffer, text, 16 * blocks);
            check_at(kernels[i], key_sizes[blocks % 3], aad, out_buffer, out_buffer, blocks);
        }
    }
}

static void every_alignment(void) {
    for (size_t i = 0; i < 256 * kernel_count; i++) {
        check_at(kernels[i / 256], 16, test_random(20), out_buffer + i % 16,
                 text + AAD_MAX + i / 16 % 16, 30);
    }
}

static void long_texts(void) {
    for (size_t i = 0; i < 12 * kernel_count; i++) {
        check_at(kernels[i / 12], key_sizes[i % 3], test_random(AAD_MAX), out_buffer, text,
                 (LONGEST - test_random(3000)) / 16);
    }
}

static void guard_pages_are_not_touched(void) {
    struct test_guard in, out;

    test_guard_init(&in);
    test_guard_init(&out);
    for (size_t i = 0; i < kernel_count; i++) {
        for (size_t blocks = 0; blocks <= 40; blocks++) {
            size_t aad = test_random(AAD_MAX);

            memcpy(test_guard_end(&in, 16 * blocks), text, 16 * blocks);
            check_at(kernels[i], 16, aad, test_guard_end(&out, 16 * blocks),
                     test_guard_end(&in, 16 * blocks), blocks);
            memcpy(test_guard_begin(&in), text, 16 * blocks);
            check_at(kernels[i], 32, aad, test_guard_begin(&out), test_guard_begin(&in), blocks);
        }
    }
    test_guard_cleanup(&in);
    test_guard_cleanup(&out);
}

/* The kernel by itself: any steps, what is hashed elsewhere or trailing by any distance. */
static void steps_by_themselves(void) {
    for (size_t i = 0; i < 40 * kernel_count; i++) {
        const struct cd_authenc_functions *functions = all_kernels[kernels[i / 40]].functions;
        size_t steps = i % 8, distance = 64 + test_random(200), bytes = 64 * steps;
        struct cd_aes_encrypt_key key;
        uint8_t iv[16] = {1}, reference_iv[16] = {1};
        uint32_t words[8] = {0}, reference_words[8] = {0};

        functions->aes->prepare_encrypt(&key, text, key_sizes[i % 3]);
        memcpy(out_buffer, text, distance);
        memcpy(expected, text, distance);
        memcpy(words, functions->hash->initial, 4 * functions->hash->state_words);
        memcpy(reference_words, words, sizeof words);
        functions->aes->cbc_encrypt(&key, expected + distance, text, 4 * steps, reference_iv);
        functions->hash->blocks(reference_words, expected, steps);
        functions->cbc_encrypt(&key, out_buffer + distance, text, steps, iv, words, out_buffer);
        CHECK_BYTES(out_buffer, expected, distance + bytes);
        CHECK_BYTES(iv, reference_iv, 16);
        CHECK_BYTES(words, reference_words, sizeof words);
    }
}

/* A message in several calls, with and without more bytes hashed in between. */
static void several_calls_continue_a_message(void) {
    for (size_t i = 0; i < 100 * kernel_count; i++) {
        const struct cd_authenc_functions *functions = all_kernels[kernels[i / 100]].functions;
        struct cd_md_state state, reference;
        struct cd_aes_encrypt_key key;
        uint8_t iv[16] = {2}, reference_iv[16] = {2}, digest[32] = {0}, reference_digest[32] = {0};

        functions->aes->prepare_encrypt(&key, text, key_sizes[i % 3]);
        cd_md_init(functions->hash, &state);
        cd_md_init(functions->hash, &reference);
        for (unsigned call = 0; call < 5; call++) {
            size_t blocks = test_random(40), more = i % 2 == 0 ? 0 : test_random(70);

            cd_authenc_cbc_encrypt(functions, &key, &state, out_buffer, text, blocks, iv);
            cd_md_update(functions->hash, &state, text, more);
            functions->aes->cbc_encrypt(&key, expected, text, blocks, reference_iv);
            cd_md_update(functions->hash, &reference, expected, 16 * blocks);
            cd_md_update(functions->hash, &reference, text, more);
            CHECK_BYTES(out_buffer, expected, 16 * blocks);
        }
        cd_md_final(functions->hash, &state, digest);
        cd_md_final(functions->hash, &reference, reference_digest);
        CHECK_BYTES(iv, reference_iv, 16);
        CHECK_BYTES(digest, reference_digest, 32);
    }
}

static void tables_say_what_they_need(void) {
    for (size_t i = 0; i < sizeof all_kernels / sizeof all_kernels[0]; i++) {
        const struct cd_authenc_functions *functions = all_kernels[i].functions;

        CHECK_EQ(functions->cpu, functions->aes->cpu | functions->hash->cpu);
        CHECK(strcmp(functions->hash->algorithm, all_kernels[i].reference->algorithm) == 0);
    }
}

int main(void) {
    set_up();
    RUN(every_length_after_every_aad_length);
    RUN(in_place);
    RUN(every_alignment);
    RUN(long_texts);
    RUN(guard_pages_are_not_touched);
    RUN(steps_by_themselves);
    RUN(several_calls_continue_a_message);
    RUN(tables_say_what_they_need);
    return test_end();
}
