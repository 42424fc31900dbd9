/* cryptodispatch/batch.h: packed batches of every cipher against one request per record. */
#include <stdlib.h>

#include "cryptodispatch/batch.h"
#include "cryptodispatch/software.h"
#include "test_kernel.h"
#include "test_support.h"

#define RECORDS 700u
#define BYTES 400000u
#define MARGIN 64u /* that nobody may write to behind the last record */

static struct cd_registry *registry;
static const struct cd_implementation *ciphers[64];
static size_t cipher_count;

static uint8_t text[BYTES], out[BYTES + MARGIN], expected[BYTES + MARGIN], ivs[RECORDS * CD_IV_MAX];
static int64_t offsets[RECORDS + 1];
static cd_status wanted[RECORDS]; /* of each record */

/* What the callback heard. */
static size_t heard, heard_last;

static void on_failed(void *context, size_t index, size_t length, cd_status status) {
    CHECK(context == &heard);
    CHECK(heard == 0 || index > heard_last);
    CHECK_EQ(length, offsets[index + 1] - offsets[index]);
    CHECK_EQ(status, wanted[index]);
    CHECK(status != CD_OK);
    heard++;
    heard_last = index;
}

static bool take_cipher(const struct cd_implementation *implementation, void *context) {
    (void)context;
    if (implementation->type == CD_TYPE_CIPHER && (implementation->cpu & ~cd_cpu_detect()) == 0) {
        ciphers[cipher_count++] = implementation;
    }
    return cipher_count < sizeof ciphers / sizeof ciphers[0];
}

static void set_up(void) {
    CHECK_EQ(cd_registry_new(&registry), CD_OK);
    CHECK_EQ(cd_software_register(registry, NULL), CD_OK);
    cd_registry_each(registry, take_cipher, NULL);
    CHECK(cipher_count >= 16);
    test_fill_random(text, sizeof text);
    test_fill_random(ivs, sizeof ivs);
}

static struct cd_cipher *new_cipher(const struct cd_implementation *implementation) {
    struct cd_cipher *cipher;
    size_t key_len = 1;

    while ((implementation->key_sizes & CD_KEY_SIZE(key_len)) == 0) {
        key_len++;
    }
    CHECK_EQ(cd_cipher_new_bound(&cipher, implementation), CD_OK);
    CHECK_EQ(cd_cipher_set_key(cipher, text, key_len), CD_OK);
    return cipher;
}

/* What each record must become, one request each; returns how many are refused. */
static size_t expect(struct cd_cipher *cipher, size_t count, bool decrypt) {
    uint32_t iv_size = cd_cipher_implementation(cipher)->iv_size;
    size_t bad = 0;

    memset(expected, 0xa5, (size_t)offsets[count] + MARGIN);
    for (size_t i = 0; i < count; i++) {
        struct cd_cipher_request request = {
            .source = text + offsets[i],
            .destination = expected + offsets[i],
            .length = (size_t)(offsets[i + 1] - offsets[i]),
        };

        memcpy(request.iv, ivs + i * iv_size, iv_size);
        wanted[i] = decrypt ? cd_cipher_decrypt_wait(cipher, &request)
                            : cd_cipher_encrypt_wait(cipher, &request);
        bad += wanted[i] != CD_OK;
    }
    return bad;
}

static void run_and_check(struct cd_cipher *cipher, size_t count, bool decrypt, bool in_place) {
    struct cd_cipher_packed packed = {text, out, offsets, count, ivs};
    size_t bad = expect(cipher, count, decrypt);

    memset(out, 0xa5, (size_t)offsets[count] + MARGIN);
    if (in_place) {
        size_t start = (size_t)offsets[0];

        memcpy(out + start, text + start, (size_t)offsets[count] - start);
        packed.values = out;
    }
    heard = 0;
    CHECK_EQ(decrypt ? cd_cipher_decrypt_packed(cipher, &packed, on_failed, &heard)
                     : cd_cipher_encrypt_packed(cipher, &packed, on_failed, &heard),
             bad);
    CHECK_EQ(heard, bad);
    for (size_t i = 0; i < count; i++) { /* a refused record is left as it was */
        size_t start = (size_t)offsets[i], length = (size_t)(offsets[i + 1] - offsets[i]);

        if (wanted[i] != CD_OK && in_place) {
            memcpy(expected + start, text + start, length);
        }
    }
    CHECK_BYTES(out, expected, (size_t)offsets[count] + MARGIN);
}

static void all_ways(size_t count) {
    for (size_t i = 0; i < cipher_count; i++) {
        struct cd_cipher *cipher = new_cipher(ciphers[i]);

        for (unsigned way = 0; way < 4; way++) {
            run_and_check(cipher, count, way % 2 == 1, way / 2 == 1);
        }
        cd_cipher_free(cipher);
    }
}

/* 0, 16, ... 4096 bytes: the last fill whole pages, which takes the lanes' way round caches. */
static void records_of_one_length(void) {
    static const size_t lengths[] = {0, 16, 64, 272, 4096};

    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
        for (size_t count = 0; count <= 90; count += count < 18 ? 3 : 27) {
            offsets[0] = 48;
            for (size_t i = 0; i < count; i++) {
                offsets[i + 1] = offsets[i] + (int64_t)lengths[l];
            }
            all_ways(count);
        }
    }
}

static void records_of_mixed_lengths(void) {
    for (size_t round = 0; round < 6; round++) {
        uint32_t longest = round % 2 == 0 ? 9 : 60;
        size_t count = round < 2 ? RECORDS : test_random(300);

        offsets[0] = 16 * (int64_t)round;
        for (size_t i = 0; i < count; i++) {
            offsets[i + 1] = offsets[i] + 16 * (int64_t)test_random(longest);
            if (offsets[i + 1] > (int64_t)BYTES) {
                offsets[i + 1] = offsets[i];
            }
        }
        all_ways(count);
    }
}

/* Runs of equal records, one of another length, runs again. */
static void runs_of_equal_records(void) {
    offsets[0] = 0;
    for (size_t i = 0; i < 500; i++) {
        offsets[i + 1] = offsets[i] + (i % 70 == 69 ? 4000 : i < 200 ? 64 : 96);
    }
    all_ways(500);
}

/* Block ciphers refuse the odd ones and do the others. */
static void odd_records_fail_alone(void) {
    offsets[0] = 3;
    for (size_t i = 0; i < 300; i++) {
        offsets[i + 1] = offsets[i] + (i % 10 == 4 ? 33 : 16 * (int64_t)(i % 8));
    }
    all_ways(300);
}

static void without_a_key_every_record_fails(void) {
    struct cd_cipher_packed packed = {text, out, offsets, 20, ivs};

    for (size_t i = 0; i <= 20; i++) {
        offsets[i] = 16 * (int64_t)i;
        wanted[i] = CD_E_NO_KEY;
    }
    memset(out, 0xa5, sizeof out);
    memset(expected, 0xa5, sizeof expected);
    for (size_t i = 0; i < cipher_count; i++) {
        struct cd_cipher *cipher;

        CHECK_EQ(cd_cipher_new_bound(&cipher, ciphers[i]), CD_OK);
        heard = 0;
        CHECK_EQ(cd_cipher_encrypt_packed(cipher, &packed, on_failed, &heard), 20);
        CHECK_EQ(heard, 20);
        CHECK_BYTES(out, expected, sizeof out);
        cd_cipher_free(cipher);
    }
}

/* An output that overlaps its own record is refused, record by record. */
static void overlap_is_refused(void) {
    static uint8_t memory[4096];
    struct cd_cipher_packed packed = {memory, memory + 16, offsets, 20, ivs};

    for (size_t i = 0; i <= 20; i++) {
        offsets[i] = 64 * (int64_t)i;
        wanted[i] = CD_E_OVERLAP;
    }
    for (size_t i = 0; i < cipher_count; i++) {
        struct cd_cipher *cipher = new_cipher(ciphers[i]);

        heard = 0;
        CHECK_EQ(cd_cipher_encrypt_packed(cipher, &packed, on_failed, &heard), 20);
        CHECK_EQ(heard, 20);
        cd_cipher_free(cipher);
    }
}

int main(void) {
    set_up();
    RUN(records_of_one_length);
    RUN(records_of_mixed_lengths);
    RUN(runs_of_equal_records);
    RUN(odd_records_fail_alone);
    RUN(without_a_key_every_record_fails);
    RUN(overlap_is_refused);
    cd_registry_free(registry);
    return test_end();
}
