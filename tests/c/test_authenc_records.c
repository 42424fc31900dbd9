/* software/: batches of every authenc against one request per record. */
#include "authenc_fixture.h"
#include "cryptodispatch/batch.h"
#include "software/software_authenc.h"
#include "test_kernel.h"

#define RECORDS 300u /* more than two chunks of the implementation */
#define ARENA 400000u
#define LONGEST 3000u

/* A batch runs in one memory, requests on a copy of it, where everything lies at the same places.
 * Whatever is not to be written is the same in both in the end. */
static uint8_t batch_memory[ARENA], request_memory[ARENA], random_bytes[ARENA];
static size_t used; /* bytes of both */

static struct cd_aead_record records[RECORDS];
static cd_status wanted[RECORDS];
static size_t count;

static uint8_t *take_memory(size_t length) {
    uint8_t *memory = batch_memory + used + test_random(20);

    used = (size_t)(memory - batch_memory) + length;
    if (used > ARENA) {
        printf("the memory of the test is too small\n");
        exit(1);
    }
    return memory;
}

/* The place in the requests' memory. */
static uint8_t *twin(const uint8_t *memory) {
    return memory == NULL ? NULL : request_memory + (memory - batch_memory);
}

static struct cd_aead_request twin_of(const struct cd_aead_record *record, uint32_t iv_size) {
    struct cd_aead_request request = {
        .source = twin(record->source),
        .destination = twin(record->destination),
        .length = record->length,
        .aad = twin(record->aad),
        .aad_len = record->aad_len,
        .tag = twin(record->tag),
    };

    memcpy(request.iv, record->iv, iv_size);
    return request;
}

/* A record of random bytes. */
static void add_record(const struct subject *subject, size_t length, size_t aad_len,
                       uint32_t tag_size) {
    struct cd_aead_record *record = &records[count++];

    record->aad = take_memory(aad_len);
    record->aad_len = aad_len;
    record->iv = take_memory(subject->half->iv_size);
    record->source = record->destination = take_memory(length);
    record->tag = take_memory(tag_size);
    record->length = length;
    record->status = 77; /* no outcome */
    if (test_random(2) == 0) {
        record->destination = take_memory(length);
    }
}

static void fresh_memory(void) {
    memcpy(batch_memory, random_bytes, sizeof batch_memory);
    used = 0;
    count = 0;
}

/* Encrypt what a decryption is to get, where it is. */
static void seal_sources(struct cd_aead *aead, const struct subject *subject) {
    for (size_t i = 0; i < count; i++) {
        struct cd_aead_request request = twin_of(&records[i], subject->half->iv_size);

        request.destination = twin(records[i].source);
        CHECK_EQ(cd_aead_encrypt(aead, &request), CD_OK);
    }
    memcpy(batch_memory, request_memory, used);
}

static void flip_bit(const uint8_t *memory, size_t length) {
    if (length > 0) {
        batch_memory[(size_t)(memory - batch_memory) + test_random((uint32_t)length)] ^=
            (uint8_t)(1u << test_random(8));
    }
}

/* A bit in one of the places where a decryption finds what it needs. */
static void flip_some_bit(const struct subject *subject, const struct cd_aead_record *record,
                          uint32_t tag_size) {
    switch (test_random(4)) {
    case 0:
        flip_bit(record->tag, tag_size);
        break;
    case 1:
        flip_bit(record->source, record->length);
        break;
    case 2:
        flip_bit(record->aad, record->aad_len);
        break;
    default:
        flip_bit(record->iv, subject->half->iv_size); /* another text comes out */
    }
}

/* Something that a request refuses. */
static void spoil(struct cd_aead_record *record) {
    switch (test_random(6)) {
    case 0:
        record->length++; /* no whole blocks */
        record->source = record->destination = NULL;
        break;
    case 1:
        record->tag = NULL;
        break;
    case 2:
        record->aad = NULL;
        record->aad_len++;
        break;
    case 3:
        record->source = NULL;
        break;
    case 4:
        record->destination += record->destination == record->source && record->length > 1;
        break;
    default: /* more than the counter of rfc3686 can do, and no whole blocks */
        record->source = record->destination;
        record->length = (size_t)(CD_RFC3686_BLOCKS_MAX * CD_AES_BLOCK) + 1;
    }
}

/* Run the records both ways and compare everything; returns how many were refused. */
static size_t run_and_compare(struct cd_aead *aead, const struct subject *subject, bool decrypt) {
    size_t bad = 0;

    memcpy(request_memory, batch_memory, sizeof batch_memory);
    for (size_t i = 0; i < count; i++) {
        struct cd_aead_request request = twin_of(&records[i], subject->half->iv_size);

        wanted[i] = decrypt ? cd_aead_decrypt(aead, &request) : cd_aead_encrypt(aead, &request);
        bad += wanted[i] != CD_OK;
    }
    CHECK_EQ(decrypt ? cd_aead_decrypt_records(aead, records, count)
                     : cd_aead_encrypt_records(aead, records, count),
             bad);
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(records[i].status, wanted[i]);
    }
    CHECK_BYTES(batch_memory, request_memory, sizeof batch_memory);
    return bad;
}

/* ---- equal to requests ---- */

static size_t random_length(const struct subject *subject, uint32_t longest) {
    uint32_t length = test_random(40) == 0 ? test_random(LONGEST) : test_random(longest);

    return length - length % subject->half->block_size;
}

static void random_batch(const struct subject *subject, bool decrypt, bool with_bad) {
    struct cd_aead *aead = new_aead(subject);
    uint32_t tag_size = 1 + test_random((uint32_t)digest_sizes[subject->hash]);
    uint32_t longest = 1 + test_random(600), wanted_count = test_random(4) == 0 ? RECORDS : 40;

    if (test_random(3) == 0) {
        tag_size = (uint32_t)digest_sizes[subject->hash];
    }
    CHECK_EQ(cd_aead_set_tag_size(aead, tag_size), CD_OK);
    fresh_memory();
    for (size_t end = test_random(wanted_count); count < end;) {
        add_record(subject, random_length(subject, longest), test_random(150), tag_size);
    }
    memcpy(request_memory, batch_memory, sizeof batch_memory);
    if (decrypt) {
        seal_sources(aead, subject);
    }
    for (size_t i = 0; with_bad && i < count; i++) {
        if (decrypt && test_random(5) == 0) {
            flip_some_bit(subject, &records[i], tag_size);
        }
        if (test_random(9) == 0) {
            spoil(&records[i]);
        }
    }
    run_and_compare(aead, subject, decrypt);
    cd_aead_free(aead);
}

static void random_batches(void) {
    FOR_EVERY_SUBJECT(subject) {
        for (unsigned way = 0; way < 8; way++) {
            random_batch(subject, way % 2 == 1, way % 4 > 1);
        }
    }
}

/* All numbers of lanes, and around the ends of chunks; without AAD and text too. */
static void every_count_of_equal_records(void) {
    static const size_t counts[] = {0,  1,  2,  3,  4,  5,  6,  7,   8,   9,   10,  15,
                                    16, 17, 18, 31, 32, 33, 48, 127, 128, 129, 256, 257};

    FOR_EVERY_SUBJECT(subject) {
        struct cd_aead *aead = new_aead(subject);

        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            size_t length = i % 4 * 48, aad_len = i % 3 * 12;
            uint32_t tag_size = (uint32_t)digest_sizes[subject->hash];

            for (unsigned decrypt = 0; decrypt < 2; decrypt++) {
                fresh_memory();
                while (count < counts[i]) {
                    add_record(subject, length, aad_len, tag_size);
                }
                memcpy(request_memory, batch_memory, sizeof batch_memory);
                if (decrypt == 1) {
                    seal_sources(aead, subject);
                }
                CHECK_EQ(run_and_compare(aead, subject, decrypt == 1), 0);
            }
        }
        cd_aead_free(aead);
    }
}

static void without_a_key_every_record_fails(void) {
    FOR_EVERY_SUBJECT(subject) {
        struct cd_aead *aead;

        CHECK_EQ(cd_aead_new_bound(&aead, subject->implementation), CD_OK);
        fresh_memory();
        while (count < 20) {
            add_record(subject, 48, 12, 16);
        }
        for (unsigned decrypt = 0; decrypt < 2; decrypt++) {
            CHECK_EQ(run_and_compare(aead, subject, decrypt == 1), 20);
            CHECK_EQ(wanted[7], CD_E_NO_KEY);
        }
        cd_aead_free(aead);
    }
}

/* Where the lanes are fewer, or none, the outcome is the same. */
static bool random_batches_pass(uint32_t mask) {
    (void)mask;
    random_batches();
    return !test_state.current_failed;
}

static void every_subset_of_cpu_features(void) {
    CHECK_EQ(test_feature_subsets(CD_CPU_AVX512 | CD_CPU_SHA_LANES, random_batches_pass), 0);
}

/* ---- nothing of a forged record ---- */

/* Every third one is forged. */
static void check_forged(struct cd_aead *aead, const struct subject *subject, size_t end) {
    static const uint8_t untouched[64] = {0xee, 0xee, 0xee};
    uint32_t tag_size = (uint32_t)digest_sizes[subject->hash];

    fresh_memory();
    while (count < end) {
        add_record(subject, 64, 12, tag_size);
        records[count - 1].destination = take_memory(64);
        memcpy(records[count - 1].destination, untouched, 64);
    }
    memcpy(request_memory, batch_memory, sizeof batch_memory);
    seal_sources(aead, subject);
    for (size_t i = 0; i < count; i += 3) {
        flip_bit(i % 2 == 0 ? records[i].tag : records[i].source, i % 2 == 0 ? tag_size : 64);
    }
    CHECK_EQ(cd_aead_decrypt_records(aead, records, count), (end + 2) / 3);
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(records[i].status, i % 3 == 0 ? CD_E_AUTHENTICATION : CD_OK);
        CHECK_EQ(memcmp(records[i].destination, untouched, 64) == 0, i % 3 == 0);
    }
}

static void forged_records_release_nothing(void) {
    FOR_EVERY_SUBJECT(subject) {
        struct cd_aead *aead = new_aead(subject);

        check_forged(aead, subject, 1);
        check_forged(aead, subject, 2);
        check_forged(aead, subject, 30);
        cd_aead_free(aead);
    }
}

/* ---- lanes or requests ---- */

/* An implementation as software_authenc.c has it, whose requests are counted. */
static struct {
    struct cd_implementation implementation;
    struct cd_authenc_pair pair;
} counted;
static const struct cd_aead_ops *original;
static unsigned requests;

static cd_status count_encrypt(struct cd_aead *aead, struct cd_aead_request *request) {
    requests++;
    return original->encrypt(aead, request);
}

static cd_status count_decrypt(struct cd_aead *aead, struct cd_aead_request *request) {
    requests++;
    return original->decrypt(aead, request);
}

/* How many of the records of these lengths run as requests. */
static unsigned requests_of(struct cd_aead *aead, const struct subject *subject, bool decrypt,
                            const size_t *lengths, size_t lengths_count) {
    fresh_memory();
    for (size_t i = 0; i < lengths_count; i++) {
        add_record(subject, lengths[i], 12, (uint32_t)digest_sizes[subject->hash]);
    }
    memcpy(request_memory, batch_memory, sizeof batch_memory);
    if (decrypt) {
        seal_sources(aead, subject);
    }
    requests = 0;
    CHECK_EQ(decrypt ? cd_aead_decrypt_records(aead, records, count)
                     : cd_aead_encrypt_records(aead, records, count),
             0);
    return requests;
}

static void check_lanes(const struct subject *subject, const struct cd_aead_ops *counting) {
    static const size_t equal[20] = {48, 48, 48, 48, 48, 48, 48, 48, 48, 48,
                                     48, 48, 48, 48, 48, 48, 48, 48, 48, 48};
    static const size_t one_long[20] = {2048, 48, 48, 48, 48, 48, 48, 48, 48, 48,
                                        48,   48, 48, 48, 48, 48, 48, 48, 48, 48};
    bool one_pass;
    struct cd_aead *aead;

    memcpy(&counted, subject->implementation, sizeof counted); /* it is first in such a struct */
    counted.implementation.aead = counting;
    one_pass = counted.pair.seal != NULL;
    CHECK_EQ(cd_aead_new_bound(&aead, &counted.implementation), CD_OK);
    CHECK_EQ(cd_aead_set_key(aead, test_bytes, subject->half->key_len, test_bytes, 20), CD_OK);
    for (unsigned decrypt = 0; decrypt < 2; decrypt++) {
        bool alone = one_pass && decrypt == 0;

        CHECK_EQ(requests_of(aead, subject, decrypt == 1, equal, 1), 1);
        CHECK_EQ(requests_of(aead, subject, decrypt == 1, equal, 2), alone ? 2 : 0);
        CHECK_EQ(requests_of(aead, subject, decrypt == 1, equal, 5), alone ? 5 : 0);
        CHECK_EQ(requests_of(aead, subject, decrypt == 1, equal, 6), 0);
        CHECK_EQ(requests_of(aead, subject, decrypt == 1, equal, 20), 0);
        CHECK_EQ(requests_of(aead, subject, decrypt == 1, one_long, 20), alone ? 1 : 0);
    }
    cd_aead_free(aead);
}

static void lanes_take_records_that_have_company(void) {
    FOR_EVERY_SUBJECT(subject) {
        struct cd_aead_ops counting;

        original = subject->implementation->aead;
        CHECK(original->records != NULL);
        counting = *original;
        counting.encrypt = count_encrypt;
        counting.decrypt = count_decrypt;
        check_lanes(subject, &counting);
    }
}

int main(void) {
    if (!subjects_set_up()) {
        return 1;
    }
    test_fill_random(random_bytes, sizeof random_bytes);
    RUN(random_batches);
    RUN(every_count_of_equal_records);
    RUN(without_a_key_every_record_fails);
    RUN(forged_records_release_nothing);
    RUN(lanes_take_records_that_have_company);
    RUN(every_subset_of_cpu_features);
    cd_registry_free(registry);
    return test_end();
}
