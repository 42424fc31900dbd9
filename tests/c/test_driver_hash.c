/*
 * Hashes and HMACs of the driver on the emulated engine: the same digests and states as software,
 * whole and in pieces, in segments of 64 bytes and of the largest size.
 */
#include "driver_rig.h"

#define HASHES 8

static const struct {
    const char *algorithm, *engine, *software;
    size_t digest_size;
    bool keyed;
} rows[HASHES] = {
    {"md5", "md5-eip93", "md5-lib", 16, false},
    {"sha1", "sha1-eip93", "sha1-lib", 20, false},
    {"sha224", "sha224-eip93", "sha224-lib", 28, false},
    {"sha256", "sha256-eip93", "sha256-lib", 32, false},
    {"hmac(md5)", "hmac(md5-eip93)", "hmac(md5-lib)", 16, true},
    {"hmac(sha1)", "hmac(sha1-eip93)", "hmac(sha1-lib)", 20, true},
    {"hmac(sha224)", "hmac(sha224-eip93)", "hmac(sha224-lib)", 28, true},
    {"hmac(sha256)", "hmac(sha256-eip93)", "hmac(sha256-lib)", 32, true},
};

struct pair {
    struct cd_hash *engine, *software;
};

static struct cd_hash *hash_new(const struct rig *rig, const char *name, bool keyed,
                                size_t key_len) {
    struct cd_hash *hash = NULL;
    uint8_t key[200];
    fill(key, sizeof(key), 77);
    CHECK_EQ(cd_hash_new(&hash, rig->registry, name, 0, 0), CD_OK);
    if (keyed) {
        CHECK_EQ(cd_hash_set_key(hash, key, key_len), CD_OK);
    }
    return hash;
}

static struct pair pair_new(const struct rig *rig, size_t row, size_t key_len) {
    return (struct pair){
        .engine = hash_new(rig, rows[row].engine, rows[row].keyed, key_len),
        .software = hash_new(rig, rows[row].software, rows[row].keyed, key_len),
    };
}

static void pair_free(struct pair pair) {
    cd_hash_free(pair.engine);
    cd_hash_free(pair.software);
}

static void digest_of(struct cd_hash *hash, uint8_t *digest, const uint8_t *text, size_t length) {
    struct cd_hash_request request = {.source = text, .length = length, .digest = digest};
    CHECK_EQ(cd_hash_digest_wait(hash, &request), CD_OK);
}

static void compare(struct pair pair, const uint8_t *text, size_t length) {
    uint8_t actual[33], expected[33];
    memset(actual, 0x5A, sizeof(actual));
    memset(expected, 0x5A, sizeof(expected));
    digest_of(pair.engine, actual, text, length);
    digest_of(pair.software, expected, text, length);
    CHECK_BYTES(actual, expected, 33);
}

/* All lengths; an empty message is the only one that software serves, and is counted (R081). */
static void all_lengths(void) {
    static const uint32_t segments[] = {64, 128, 0};
    uint8_t text[1024 + 16];
    fill(text, sizeof(text), 1);
    for (size_t s = 0; s < 3; s++) {
        struct rig rig = rig_with_segments(0, segments[s]);
        uint64_t descriptors = 0;
        for (size_t row = 0; row < HASHES; row++) {
            struct pair pair = pair_new(&rig, row, 20);
            for (size_t length = 0; length <= 1024; length++) {
                compare(pair, text + length % 16, length);
                size_t most = segments[s] == 0 ? 1024 : segments[s];
                descriptors += (length + most - 1) / most;
            }
            pair_free(pair);
        }
        CHECK_EQ(rig_counters(&rig).descriptors, descriptors);
        CHECK_EQ(rig_counters(&rig).software, HASHES);
        CHECK_EQ(rig_counters(&rig).failed, 0);
        rig_end(&rig);
    }
}

/* Messages larger than a ring of 64-byte segments, and than the length field. */
static void long_messages(void) {
    const size_t size = 2u << 20;
    uint8_t *text = malloc(size + 65);
    fill(text, size + 65, 2);
    for (uint32_t segment = 0; segment <= 64; segment += 64) {
        struct rig rig = rig_with_segments(16, segment);
        for (size_t row = 0; row < HASHES; row += 3) {
            struct pair pair = pair_new(&rig, row, 64);
            compare(pair, text, 0xFFFC0);
            compare(pair, text, 0xFFFC1);
            compare(pair, text, size + 65);
            pair_free(pair);
        }
        rig_end(&rig);
    }
    free(text);
}

/* R079: keys of every length, above a block hashed first. */
static void key_lengths(void) {
    struct rig rig = rig_with_segments(0, 0);
    uint8_t text[100];
    fill(text, sizeof(text), 3);
    for (size_t row = 4; row < HASHES; row++) {
        for (size_t key_len = 0; key_len <= 200; key_len += key_len < 60 || key_len > 70 ? 7 : 1) {
            struct pair pair = pair_new(&rig, row, key_len);
            compare(pair, text, 100);
            compare(pair, text, 0);
            pair_free(pair);
        }
    }
    rig_end(&rig);
}

/* R079, R081 and 9.8 with values from outside this project. */
static void vectors(void) {
    static const struct {
        const char *name, *key, *text, *digest;
        size_t key_len; /* repeats the key's only byte */
    } cases[] = {
        {"md5-eip93", "", "abc", "900150983cd24fb0d6963f7d28e17f72", 0},
        {"sha1-eip93", "", "abc", "a9993e364706816aba3e25717850c26c9cd0d89d", 0},
        {"sha224-eip93", "", "abc", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7", 0},
        {"hmac(md5-eip93)", "\x0b", "Hi There", "5ccec34ea9656392457fa1ac27f08fbc", 20},
        {"hmac(sha1-eip93)", "\x0b", "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00", 20},
        {"hmac(sha256-eip93)", "\x0b", "Hi There",
         "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7", 20},
        {"hmac(sha224-eip93)", "\xaa", "Test Using Larger Than Block-Size Key - Hash Key First",
         "95e9a0db962095adaebe9b2d6f0dbce2d499f112f2d2b7273fa6870e", 131},
        {"hmac(sha256-eip93)", "\xaa", "Test Using Larger Than Block-Size Key - Hash Key First",
         "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54", 131},
        {"hmac(md5-eip93)", "", "", "74e6f7298a9c2d168935f58c001bad88", 0},
        {"hmac(sha1-eip93)", "", "", "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d", 0},
        {"hmac(sha224-eip93)", "", "", "5ce14f72894662213e2748d2a6ba234b74263910cedde2f5a9271524",
         0},
        {"hmac(sha256-eip93)", "", "",
         "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad", 0},
    };
    struct rig rig = rig_with_segments(0, 64);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cd_hash *hash = NULL;
        uint8_t key[131], expected[32], digest[32];
        memset(key, cases[i].key[0], sizeof(key));
        CHECK_EQ(cd_hash_new(&hash, rig.registry, cases[i].name, 0, 0), CD_OK);
        if (strncmp(cases[i].name, "hmac", 4) == 0) {
            CHECK_EQ(cd_hash_set_key(hash, key, cases[i].key_len), CD_OK);
        }
        size_t size = test_hex(expected, cases[i].digest);
        digest_of(hash, digest, (const uint8_t *)cases[i].text, strlen(cases[i].text));
        CHECK_BYTES(digest, expected, size);
        cd_hash_free(hash);
    }
    rig_end(&rig);
}

static void check_state(struct pair pair, const struct cd_hash_state *left,
                        const struct cd_hash_state *right) {
    uint8_t actual[32], expected[32];
    size_t size = cd_hash_implementation(pair.engine)->digest_size;
    size_t words = size == 28 ? 8 : size / 4; /* SHA-224 keeps one back */
    CHECK_EQ(left->count, right->count);
    CHECK_BYTES(left->words, right->words, 4 * words);
    CHECK_BYTES(left->buffer, right->buffer, left->count % 64);
    CHECK_EQ(cd_hash_finish(pair.engine, left, actual), CD_OK);
    CHECK_EQ(cd_hash_finish(pair.software, right, expected), CD_OK);
    CHECK_BYTES(actual, expected, size);
}

/* Pieces: the state is software's after every update; finishing leaves it as it was (R105). */
static void pieces(void) {
    uint8_t text[512];
    fill(text, sizeof(text), 4);
    for (uint32_t segment = 0; segment <= 64; segment += 64) {
        struct rig rig = rig_with_segments(8, segment);
        for (size_t row = 0; row < HASHES; row++) {
            struct pair pair = pair_new(&rig, row, 20);
            for (size_t step = 1; step <= 200; step += step < 8 ? 1 : 13) {
                struct cd_hash_state left, right;
                CHECK_EQ(cd_hash_begin(pair.engine, &left), CD_OK);
                CHECK_EQ(cd_hash_begin(pair.software, &right), CD_OK);
                check_state(pair, &left, &right);
                for (size_t at = 0; at < 512; at += step) {
                    size_t length = 512 - at < step ? 512 - at : step;
                    CHECK_EQ(cd_hash_update(pair.engine, &left, text + at, length), CD_OK);
                    CHECK_EQ(cd_hash_update(pair.software, &right, text + at, length), CD_OK);
                    if (at % 7 == 0 || at + step >= 512) {
                        check_state(pair, &left, &right);
                    }
                }
            }
            pair_free(pair);
        }
        rig_end(&rig);
    }
}

/* R083: many-block messages at once and in two parts. All splits of 200 bytes. */
static void splits(void) {
    struct rig rig = rig_with_segments(8, 128);
    uint8_t text[200], whole[32], parts[32];
    fill(text, sizeof(text), 5);
    for (size_t row = 0; row < HASHES; row++) {
        struct pair pair = pair_new(&rig, row, 100);
        digest_of(pair.software, whole, text, 200);
        for (size_t at = 0; at <= 200; at++) {
            struct cd_hash_state state;
            CHECK_EQ(cd_hash_begin(pair.engine, &state), CD_OK);
            CHECK_EQ(cd_hash_update(pair.engine, &state, text, at), CD_OK);
            CHECK_EQ(cd_hash_update(pair.engine, &state, text + at, 200 - at), CD_OK);
            CHECK_EQ(cd_hash_finish(pair.engine, &state, parts), CD_OK);
            CHECK_BYTES(parts, whole, rows[row].digest_size);
        }
        pair_free(pair);
    }
    rig_end(&rig);
}

/* R055, R089: a message begun here goes on there, and back. */
static void states_move(void) {
    static const size_t lengths[] = {0, 1, 63, 64, 65, 1000};
    struct rig rig = rig_with_segments(8, 64);
    uint8_t text[2000], whole[32], moved[32], blob[CD_HASH_BLOB_SIZE];
    fill(text, sizeof(text), 6);
    for (size_t row = 0; row < HASHES; row++) {
        struct pair pair = pair_new(&rig, row, 20);
        for (size_t i = 0; i < 6 * 4; i++) {
            size_t length = lengths[i / 4];
            struct cd_hash *from = (i & 1) != 0 ? pair.engine : pair.software;
            struct cd_hash *to = (i & 2) != 0 ? pair.engine : pair.software;
            struct cd_hash_state state;
            CHECK_EQ(cd_hash_begin(from, &state), CD_OK);
            CHECK_EQ(cd_hash_update(from, &state, text, length), CD_OK);
            cd_hash_export(from, &state, blob);
            memset(&state, 0xEE, sizeof(state));
            CHECK_EQ(cd_hash_import(to, &state, blob, sizeof(blob)), CD_OK);
            CHECK_EQ(cd_hash_finish(to, &state, moved), CD_OK);
            digest_of(pair.software, whole, text, length);
            CHECK_BYTES(moved, whole, rows[row].digest_size);
            CHECK_EQ(cd_hash_update(to, &state, text + length, 2000 - length), CD_OK);
            CHECK_EQ(cd_hash_finish(from, &state, moved), CD_OK);
            digest_of(pair.software, whole, text, 2000);
            CHECK_BYTES(moved, whole, rows[row].digest_size);
        }
        pair_free(pair);
    }
    rig_end(&rig);
}

/* The digest may lie in the message. */
static void digest_in_source(void) {
    struct rig rig = rig_with_segments(8, 64);
    struct pair pair = pair_new(&rig, 7, 20);
    uint8_t text[300], expected[32];
    fill(text, sizeof(text), 7);
    digest_of(pair.software, expected, text, 300);
    digest_of(pair.engine, text + 17, text, 300);
    CHECK_BYTES(text + 17, expected, 32);
    pair_free(pair);
    rig_end(&rig);
}

int main(void) {
    RUN(all_lengths);
    RUN(long_messages);
    RUN(key_lengths);
    RUN(vectors);
    RUN(pieces);
    RUN(splits);
    RUN(states_move);
    RUN(digest_in_source);
    return test_end();
}
