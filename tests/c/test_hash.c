/* crypto/hash, md5, sha1, sha2: every implementation against published vectors and each other. */
#include "base/endian.h"
#include "test_guard.h"
#include "test_hash_all.h"

/* ---- vectors from outside ---- */

static void check_text(size_t hash, const char *text, const char *expected_hex) {
    uint8_t digest[CD_MD_DIGEST_MAX];
    for (size_t i = 0; test_hashes[hash][i] != NULL; i++) {
        cd_md_digest(test_hashes[hash][i], digest, (const uint8_t *)text, strlen(text));
        check_digest(test_hashes[hash][i], digest, expected_hex);
    }
}

/* RFC 1321 appendix A.5. */
static void md5_of_rfc_1321(void) {
    check_text(MD5, "", "d41d8cd98f00b204e9800998ecf8427e");
    check_text(MD5, "a", "0cc175b9c0f1b6a831c399e269772661");
    check_text(MD5, "abc", "900150983cd24fb0d6963f7d28e17f72");
    check_text(MD5, "message digest", "f96b697d7cb7938d525a2f31aaf161d0");
    check_text(MD5, "abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b");
    check_text(MD5, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
               "d174ab98d277d9f5a5611c2c9f419d9f");
    check_text(MD5,
               "1234567890123456789012345678901234567890123456789012345678901234567890123456789"
               "0",
               "57edf4a22be3c955ac49da2e2107b67a");
}

/* NIST, examples with intermediate values for FIPS 180-4; the longest from FIPS 180-2 C.2. */
static void sha_of_fips_180(void) {
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    const char *two_full = "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
                           "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
    check_text(SHA1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d");
    check_text(SHA1, two, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    check_text(SHA1, two_full, "a49b2446a02c645bf419f995b67091253a04a259");
    check_text(SHA224, "abc", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7");
    check_text(SHA224, two, "75388b16512776cc5dba5da1fd890150b0c6455cb4f58b1952522525");
    check_text(SHA256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_text(SHA256, two, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check_text(SHA256, two_full,
               "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

/* FIPS 180-2 appendices A.3 and B.3, RFC 3874 section 3.3; MD5: the same text. */
static void a_million_times_a(void) {
    static const char *const expected[HASHES] = {
        "7707d6ae4e027c70eea2a935c2296f21", "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
        "20794655980c91d8bbb4c1ea97618a4bf03f42581948b2ee4ee7ad67",
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"};
    uint8_t *text = malloc(1000000), digest[CD_MD_DIGEST_MAX];
    memset(text, 'a', 1000000);
    FOR_EVERY_HASH(hash, algorithm) {
        struct cd_md_state state;
        cd_md_digest(algorithm, digest, text, 1000000);
        check_digest(algorithm, digest, expected[hash]);
        cd_md_init(algorithm, &state);
        for (size_t i = 0; i < 1000000; i += 1000) {
            cd_md_update(algorithm, &state, text + i, 1000);
        }
        cd_md_final(algorithm, &state, digest);
        check_digest(algorithm, digest, expected[hash]);
    }
    free(text);
}

static void r083_two_blocks_in_one_update_and_in_pieces(void) {
    static const char *const expected[HASHES] = {
        "37eff01866ba3f538421b30b7cbefcac", "e6434bc401f98603d7eda504790c98c67385d535",
        "67d88da33fd632d8742424791dface672ff59d597fe38b3f2a998386",
        "471fb943aa23c511f6f72f8d1652d9c880cfa392ad80503120547703e56a2be5"};
    static const size_t firsts[] = {128, 64, 1, 63};
    uint8_t text[128], digest[CD_MD_DIGEST_MAX];
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (uint8_t)i;
    }
    FOR_EVERY_HASH(hash, algorithm) {
        for (size_t i = 0; i < 4; i++) {
            struct cd_md_state state;
            cd_md_init(algorithm, &state);
            cd_md_update(algorithm, &state, text, firsts[i]);
            cd_md_update(algorithm, &state, text + firsts[i], 128 - firsts[i]);
            cd_md_final(algorithm, &state, digest);
            check_digest(algorithm, digest, expected[hash]);
        }
    }
}

/*
 * All lengths, folded into one digest. The expected values are Python's, for test_bytes as `data`:
 *   h = hashlib.new(name)
 *   for n in range(1025): h.update(hashlib.new(name, data[:n]).digest())
 */
static void all_lengths_to_1024(void) {
    static const char *const expected[HASHES] = {
        "56ecc95bd57d3d4bc6c94c4a46407f48", "7f61e9010e1178adca1b3e54dbfc659bb3b8bb52",
        "3aa4b3ab779a435933dcdad7d0851ecbd2b637f9b74dd2a1f9287a8e",
        "8b98ade75242a25312048b345ac05fc01b520ec60aaff2eaed9f8298d4e0e71b"};
    FOR_EVERY_HASH(hash, algorithm) {
        uint8_t digest[CD_MD_DIGEST_MAX + 1], portable[CD_MD_DIGEST_MAX];
        struct cd_md_state fold;
        cd_md_init(algorithm, &fold);
        for (size_t length = 0; length <= 1024; length++) {
            digest[algorithm->digest_size] = 0xee;
            cd_md_digest(algorithm, digest, test_bytes, length);
            cd_md_digest(test_hashes[hash][0], portable, test_bytes, length);
            CHECK_BYTES(digest, portable, algorithm->digest_size);
            CHECK_EQ(digest[algorithm->digest_size], 0xee);
            cd_md_update(algorithm, &fold, digest, algorithm->digest_size);
        }
        cd_md_final(algorithm, &fold, digest);
        check_digest(algorithm, digest, expected[hash]);
    }
}

/* ---- in pieces ---- */

/* Hash test_bytes up to `third` with cuts at `first` and `second`; the second implementation, if
 * there is one, takes over at the first cut and hands back at the second (R089). */
static void check_pieces(size_t hash, size_t first, size_t second, size_t third,
                         const uint8_t *expected) {
    const struct cd_md_algorithm *a = test_hashes[hash][0], *b = test_hashes[hash][1];
    static const struct cd_md_state wiped;
    uint8_t digest[CD_MD_DIGEST_MAX];
    struct cd_md_state state;
    b = b == NULL ? a : b;
    for (unsigned turn = 0; turn < 2; turn++) {
        cd_md_init(a, &state);
        cd_md_update(a, &state, test_bytes, first);
        cd_md_update(b, &state, test_bytes + first, second - first);
        cd_md_update(a, &state, test_bytes + second, third - second);
        CHECK_EQ(state.count, third);
        cd_md_final(b, &state, digest);
        CHECK_BYTES(digest, expected, a->digest_size);
        CHECK_BYTES(&state, &wiped, sizeof state);
        const struct cd_md_algorithm *other = a;
        a = b;
        b = other;
    }
}

static void updates_split_everywhere(void) {
    for (size_t hash = 0; hash < HASHES; hash++) {
        uint8_t expected[CD_MD_DIGEST_MAX];
        for (size_t length = 0; length <= 200; length++) {
            cd_md_digest(test_hashes[hash][0], expected, test_bytes, length);
            for (size_t cut = 0; cut <= length; cut++) {
                check_pieces(hash, cut, cut, length, expected);
            }
        }
        cd_md_digest(test_hashes[hash][0], expected, test_bytes, 150);
        for (size_t first = 0; first <= 150; first++) {
            for (size_t second = first; second <= 150; second++) {
                check_pieces(hash, first, second, 150, expected);
            }
        }
    }
}

static void byte_by_byte_and_copies(void) {
    FOR_EVERY_HASH(hash, algorithm) {
        struct cd_md_state state, copy;
        uint8_t expected[CD_MD_DIGEST_MAX], digest[CD_MD_DIGEST_MAX];
        cd_md_init(algorithm, &state);
        for (size_t length = 0; length < 300; length++) {
            copy = state; /* a digest in between leaves the message as it is */
            cd_md_update(algorithm, &copy, NULL, 0);
            cd_md_final(algorithm, &copy, digest);
            cd_md_digest(test_hashes[hash][0], expected, test_bytes, length);
            CHECK_BYTES(digest, expected, algorithm->digest_size);
            cd_md_update(algorithm, &state, test_bytes + length, 1);
        }
    }
}

/* ---- chaining words ---- */

static void finish_from_chaining_words(void) {
    FOR_EVERY_HASH(hash, algorithm) {
        uint8_t expected[CD_MD_DIGEST_MAX], digest[CD_MD_DIGEST_MAX];
        for (size_t blocks = 0; blocks < 5; blocks++) {
            for (size_t rest = 0; rest < 140; rest++) {
                uint32_t words[CD_MD_WORDS_MAX] = {0};
                struct cd_md_state state;
                memcpy(words, algorithm->initial, 4 * (size_t)algorithm->state_words);
                algorithm->blocks(words, test_bytes, blocks);
                cd_md_init_from(algorithm, &state, words, 64 * blocks);
                cd_md_finish(algorithm, words, 64 * blocks, test_bytes + 64 * blocks, rest);
                cd_md_store(algorithm, digest, words);
                cd_md_digest(test_hashes[hash][0], expected, test_bytes, 64 * blocks + rest);
                CHECK_BYTES(digest, expected, algorithm->digest_size);
                cd_md_update(algorithm, &state, test_bytes + 64 * blocks, rest);
                cd_md_final(algorithm, &state, digest);
                CHECK_BYTES(digest, expected, algorithm->digest_size);
            }
        }
    }
}

/* The length field has 64 bits: after 2^61 - 64 bytes and 3 more. */
static void length_of_64_bits(void) {
    const uint64_t count = (UINT64_C(1) << 61) - 64;
    FOR_EVERY_HASH(hash, algorithm) {
        uint8_t block[64] = {'a', 'b', 'c', 0x80}, expected[CD_MD_DIGEST_MAX],
                digest[CD_MD_DIGEST_MAX];
        uint32_t words[CD_MD_WORDS_MAX] = {0}, finished[CD_MD_WORDS_MAX] = {0};
        struct cd_md_state state;
        memcpy(words, algorithm->initial, 4 * (size_t)algorithm->state_words);
        memcpy(finished, words, sizeof words);
        cd_md_init_from(algorithm, &state, words, count);
        if (hash == MD5) {
            cd_store_le32(block + 56, 0xfffffe18);
            cd_store_le32(block + 60, 0xffffffff);
        } else {
            cd_store_be64(block + 56, 0xfffffffffffffe18);
        }
        algorithm->blocks(words, block, 1);
        cd_md_store(algorithm, expected, words);
        cd_md_finish(algorithm, finished, count, block, 3);
        CHECK_BYTES(finished, words, sizeof words);
        cd_md_update(algorithm, &state, block, 3);
        cd_md_final(algorithm, &state, digest);
        CHECK_BYTES(digest, expected, algorithm->digest_size);
    }
}

/* Two and three messages at once give what each gives alone; also of the same bytes. */
static void several_messages_at_once(void) {
    FOR_EVERY_HASH(hash, algorithm) {
        for (size_t blocks = 0; blocks <= 8; blocks++) {
            uint32_t words[3][CD_MD_WORDS_MAX], alone[3][CD_MD_WORDS_MAX];
            const uint8_t *data[3] = {test_bytes + 1, test_bytes + 600,
                                      test_bytes + (blocks % 2 == 0 ? 600 : 1300)};
            memcpy(words, test_bytes + blocks, sizeof words);
            memcpy(alone, words, sizeof words);
            for (size_t i = 0; i < 3; i++) {
                test_hashes[hash][0]->blocks(alone[i], data[i], blocks);
            }
            algorithm->blocks_x2(words[0], data[0], words[1], data[1], blocks);
            CHECK_BYTES(words, alone, 2 * sizeof words[0]);
            CHECK_BYTES(words[2], test_bytes + blocks + sizeof words[0] * 2, sizeof words[2]);
            memcpy(words, test_bytes + blocks, sizeof words);
            algorithm->blocks_x3(words[0], data[0], words[1], data[1], words[2], data[2], blocks);
            CHECK_BYTES(words, alone, sizeof words);
        }
    }
}

/* ---- memory ---- */

static void every_alignment_between_guard_pages(void) {
    struct test_guard guard;
    uint8_t expected[CD_MD_DIGEST_MAX], digest[CD_MD_DIGEST_MAX];
    test_guard_init(&guard);
    FOR_EVERY_HASH(hash, algorithm) {
        for (size_t length = 0; length <= 260; length++) {
            for (size_t side = 0; side < 2; side++) {
                struct cd_md_state state;
                uint8_t *data =
                    side == 0 ? test_guard_end(&guard, length) : test_guard_begin(&guard);
                memcpy(data, test_bytes, length);
                cd_md_digest(test_hashes[hash][0], expected, test_bytes, length);
                cd_md_digest(algorithm, digest, data, length);
                CHECK_BYTES(digest, expected, algorithm->digest_size);
                cd_md_init(algorithm, &state);
                cd_md_update(algorithm, &state, data, length / 3);
                cd_md_update(algorithm, &state, data + length / 3, length - length / 3);
                cd_md_final(algorithm, &state, digest);
                CHECK_BYTES(digest, expected, algorithm->digest_size);
            }
        }
        for (size_t shift = 0; shift < 64; shift++) {
            uint8_t *data = test_guard_begin(&guard) + shift;
            memcpy(data, test_bytes, 200);
            cd_md_digest(test_hashes[hash][0], expected, test_bytes, 200);
            cd_md_digest(algorithm, digest, data, 200);
            CHECK_BYTES(digest, expected, algorithm->digest_size);
        }
    }
    test_guard_cleanup(&guard);
}

static void tables_are_whole(void) {
    const struct cd_md_algorithm *const all[] = {
        &cd_md5_portable,    &cd_sha1_portable, &cd_sha224_portable,
        &cd_sha256_portable, &cd_sha1_shani,    &cd_sha224_shani,
        &cd_sha256_shani,    &cd_sha224_avx512, &cd_sha256_avx512,
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        CHECK(all[i]->digest_size <= CD_MD_DIGEST_MAX && all[i]->digest_size % 4 == 0);
        CHECK(all[i]->digest_size <= 4 * all[i]->state_words);
        CHECK_EQ(all[i]->cpu == 0, i < 4);
        CHECK_EQ(all[i]->blocks == NULL, all[i]->blocks_x2 == NULL);
        CHECK_EQ(all[i]->blocks == NULL, all[i]->blocks_x3 == NULL);
        CHECK(all[i]->cpu != 0 || all[i]->blocks != NULL);
    }
}

/* Run last: features do not come back. */
static void best_follows_the_cpu_mask(void) {
    bool ni = test_hash_can_run(&cd_sha256_shani), avx512 = test_hash_can_run(&cd_sha256_avx512);

    CHECK(cd_sha1_best() == (ni ? &cd_sha1_shani : &cd_sha1_portable));
    CHECK(cd_sha224_best() == (avx512 ? &cd_sha224_avx512
                               : ni   ? &cd_sha224_shani
                                      : &cd_sha224_portable));
    CHECK(cd_sha256_best() == (avx512 ? &cd_sha256_avx512
                               : ni   ? &cd_sha256_shani
                                      : &cd_sha256_portable));
    (void)cd_cpu_narrow(~(uint32_t)CD_CPU_AVX512);
    CHECK(cd_sha224_best() == (ni ? &cd_sha224_shani : &cd_sha224_portable));
    CHECK(cd_sha256_best() == (ni ? &cd_sha256_shani : &cd_sha256_portable));
    (void)cd_cpu_narrow(~(uint32_t)CD_CPU_SSE41);
    CHECK(cd_sha1_best() == &cd_sha1_portable);
    CHECK(cd_sha224_best() == &cd_sha224_portable);
    CHECK(cd_sha256_best() == &cd_sha256_portable);
}

int main(void) {
    test_hashes_set_up();
    RUN(md5_of_rfc_1321);
    RUN(sha_of_fips_180);
    RUN(a_million_times_a);
    RUN(r083_two_blocks_in_one_update_and_in_pieces);
    RUN(all_lengths_to_1024);
    RUN(updates_split_everywhere);
    RUN(byte_by_byte_and_copies);
    RUN(finish_from_chaining_words);
    RUN(length_of_64_bits);
    RUN(several_messages_at_once);
    RUN(every_alignment_between_guard_pages);
    RUN(tables_are_whole);
    RUN(best_follows_the_cpu_mask);
    return test_end();
}
