/* software/: what authenc(hmac(H),C) must refuse, and that nothing is given out then. */
#include "authenc_fixture.h"
#include "test_guard.h"

/* R043 (rfc3686 takes 20, 28 and 36 bytes), R027 and R029: no key, and after a refused one. */
static void only_the_key_sizes_are_taken(void) {
    FOR_EVERY_SUBJECT(subject) {
        struct cd_aead *aead = NULL;
        uint8_t text[16] = {0}, tag[CD_TAG_MAX];
        struct cd_aead_request request = request_of(text, text, 16, 3, tag);

        CHECK_EQ(cd_aead_new(&aead, registry, subject->implementation->driver, 0, 0), CD_OK);
        CHECK_EQ(cd_aead_encrypt(aead, &request), CD_E_NO_KEY);
        CHECK_EQ(cd_aead_decrypt(aead, &request), CD_E_NO_KEY);
        for (size_t length = 0; length < 70; length++) {
            bool good = length < 64 && (subject->half->key_sizes >> length & 1) != 0;

            CHECK_EQ(cd_aead_set_key(aead, test_bytes, length, test_bytes, length * 3),
                     good ? CD_OK : CD_E_KEY);
            CHECK_EQ(cd_aead_encrypt(aead, &request), good ? CD_OK : CD_E_NO_KEY);
            CHECK_EQ(cd_aead_decrypt(aead, &request), good ? CD_OK : CD_E_NO_KEY);
        }
        CHECK_EQ(cd_aead_set_key(aead, test_bytes, subject->half->key_len, NULL, 0), CD_OK);
        CHECK_EQ(cd_aead_encrypt(aead, &request), CD_OK);
        cd_aead_free(aead);
    }
}

/* One changed bit in `bytes`: refused, apart and in place, and no output byte is touched. */
static void check_flips(struct cd_aead *aead, struct cd_aead_request *request, uint8_t *bytes,
                        size_t length, uint8_t *text) {
    uint8_t untouched[48], apart[48], before[48];

    memset(untouched, 0xee, sizeof untouched);
    for (size_t bit = 0; bit < 8 * length; bit++) {
        memset(apart, 0xee, sizeof apart);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        memcpy(before, text, sizeof before);
        request->destination = apart;
        CHECK_EQ(cd_aead_decrypt(aead, request), CD_E_AUTHENTICATION);
        CHECK_EQ(request->status, CD_E_AUTHENTICATION);
        CHECK_BYTES(apart, untouched, sizeof apart);
        request->destination = text;
        CHECK_EQ(cd_aead_decrypt(aead, request), CD_E_AUTHENTICATION);
        CHECK_BYTES(text, before, sizeof before);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

/* R045: a flipped bit anywhere in text, AAD (here with the IV in it) and tag. */
static void every_flipped_bit_is_refused(void) {
    FOR_EVERY_SUBJECT(subject) {
        struct cd_aead *aead = new_aead(subject);
        uint8_t text[48], aad[13 + 16], tag[12];
        struct cd_aead_request request = request_of(text, test_bytes + 77, 48, sizeof aad, tag);

        CHECK_EQ(cd_aead_set_tag_size(aead, sizeof tag), CD_OK);
        memcpy(aad, test_bytes, 13);
        memcpy(aad + 13, request.iv, 16);
        request.aad = aad;
        CHECK_EQ(cd_aead_encrypt(aead, &request), CD_OK);
        request.source = text;
        check_flips(aead, &request, tag, sizeof tag, text);
        check_flips(aead, &request, aad, sizeof aad, text);
        check_flips(aead, &request, text, sizeof text, text);
        request.aad_len--; /* the boundary between AAD and text is not what was signed either */
        CHECK_EQ(cd_aead_decrypt(aead, &request), CD_E_AUTHENTICATION);
        request.aad_len++;
        CHECK_EQ(cd_aead_decrypt(aead, &request), CD_OK);
        CHECK_BYTES(text, test_bytes + 77, 48);
        cd_aead_free(aead);
    }
}

/* R093: every size from 1 to the digest's, and no other; no byte beyond the tag is touched. */
static void tag_sizes(void) {
    struct test_guard guard;

    test_guard_init(&guard);
    FOR_EVERY_SUBJECT(subject) {
        struct cd_aead *aead = new_aead(subject);
        uint32_t largest = (uint32_t)digest_sizes[subject->hash];
        uint8_t whole[CD_TAG_MAX], out[32];

        CHECK_EQ(cd_aead_tag_size(aead), largest);
        for (uint32_t size = largest; size >= 1; size--) {
            uint8_t *tag = test_guard_end(&guard, size);
            struct cd_aead_request request = request_of(out, test_bytes, 32, 5, tag);

            CHECK_EQ(cd_aead_set_tag_size(aead, size), CD_OK);
            CHECK_EQ(cd_aead_encrypt(aead, &request), CD_OK);
            if (size == largest) {
                memcpy(whole, tag, size);
            }
            CHECK_BYTES(tag, whole, size);
            request.source = out;
            tag[size - 1] ^= 0x80;
            CHECK_EQ(cd_aead_decrypt(aead, &request), CD_E_AUTHENTICATION);
            tag[size - 1] ^= 0x80;
            CHECK_EQ(cd_aead_decrypt(aead, &request), CD_OK);
        }
        CHECK_EQ(cd_aead_set_tag_size(aead, 0), CD_E_RANGE);
        CHECK_EQ(cd_aead_set_tag_size(aead, largest + 1), CD_E_RANGE);
        CHECK_EQ(cd_aead_tag_size(aead), 1);
        cd_aead_free(aead);
    }
    test_guard_cleanup(&guard);
}

/* R091: a text that is not whole blocks gives an error before any output; so does one of more than
 * 2^32 - 1 blocks under rfc3686, whose bytes are not looked at. */
static void lengths_are_refused_before_any_output(void) {
    FOR_EVERY_SUBJECT(subject) {
        struct cd_aead *aead = new_aead(subject);
        uint8_t out[48], tag[CD_TAG_MAX];

        for (size_t length = 0; length <= 48; length++) {
            struct cd_aead_request request = request_of(out, test_bytes, length, 1, tag);
            bool good = length % subject->half->block_size == 0;

            memset(out, 0xee, sizeof out);
            memset(tag, 0xee, sizeof tag);
            CHECK_EQ(cd_aead_encrypt(aead, &request), good ? CD_OK : CD_E_LENGTH);
            CHECK(good || (out[0] == 0xee && tag[0] == 0xee));
            request.source = out;
            CHECK_EQ(cd_aead_decrypt(aead, &request), good ? CD_OK : CD_E_LENGTH);
        }
#if SIZE_MAX > UINT32_MAX
        if (subject->cipher == RFC3686) {
            struct cd_aead_request request =
                request_of(out, out, (size_t)UINT32_MAX * 16 + 1, 1, tag);

            CHECK_EQ(cd_aead_encrypt(aead, &request), CD_E_LENGTH);
            CHECK_EQ(cd_aead_decrypt(aead, &request), CD_E_LENGTH);
        }
#endif
        cd_aead_free(aead);
    }
}

int main(void) {
    if (!subjects_set_up()) {
        return 1;
    }
    RUN(only_the_key_sizes_are_taken);
    RUN(every_flipped_bit_is_refused);
    RUN(tag_sizes);
    RUN(lengths_are_refused_before_any_output);
    cd_registry_free(registry);
    return test_end();
}
