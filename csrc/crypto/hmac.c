/* HMAC: H(K ^ opad, H(K ^ ipad, text)) (RFC 2104 section 2), with both padded keys kept as chaining
 * words (section 4). */
#include "crypto/hmac.h"

#include <string.h>

#include "base/secure.h"

void cd_hmac_prepare(struct cd_hmac_key *out_key, const struct cd_md_algorithm *algorithm,
                     const uint8_t *key, size_t key_len) {
    uint8_t inner[CD_MD_BLOCK] = {0};
    uint8_t outer[CD_MD_BLOCK];
    if (key_len > CD_MD_BLOCK) {
        cd_md_digest(algorithm, inner, key, key_len);
    } else if (key_len > 0) {
        memcpy(inner, key, key_len);
    }
    for (size_t i = 0; i < CD_MD_BLOCK; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    memset(out_key, 0, sizeof *out_key);
    out_key->algorithm = algorithm;
    memcpy(out_key->inner, algorithm->initial, algorithm->state_words * sizeof(uint32_t));
    memcpy(out_key->outer, algorithm->initial, algorithm->state_words * sizeof(uint32_t));
    algorithm->blocks_x2(out_key->inner, inner, out_key->outer, outer, 1);
    cd_wipe(inner, sizeof inner);
    cd_wipe(outer, sizeof outer);
}

/* The outer hash over the digest of the inner one, which is wiped. */
static void outer_hash(const struct cd_hmac_key *key, uint8_t *out_tag,
                       uint8_t digest[CD_MD_DIGEST_MAX]) {
    uint32_t words[CD_MD_WORDS_MAX];
    memcpy(words, key->outer, sizeof words);
    cd_md_finish(key->algorithm, words, CD_MD_BLOCK, digest, key->algorithm->digest_size);
    cd_md_store(key->algorithm, out_tag, words);
    cd_wipe(digest, CD_MD_DIGEST_MAX);
}

void cd_hmac_digest(const struct cd_hmac_key *key, uint8_t *out_tag, const uint8_t *data,
                    size_t length) {
    uint32_t words[CD_MD_WORDS_MAX];
    memcpy(words, key->inner, sizeof words);
    cd_md_finish(key->algorithm, words, CD_MD_BLOCK, data, length);
    cd_hmac_finish(key, out_tag, words);
}

void cd_hmac_finish(const struct cd_hmac_key *key, uint8_t *out_tag, uint32_t *words) {
    uint8_t digest[CD_MD_DIGEST_MAX];
    cd_md_store(key->algorithm, digest, words);
    cd_wipe(words, key->algorithm->state_words * sizeof *words);
    outer_hash(key, out_tag, digest);
}

void cd_hmac_init(const struct cd_hmac_key *key, struct cd_hmac_state *out_state) {
    cd_md_init_from(key->algorithm, &out_state->hash, key->inner, CD_MD_BLOCK);
}

void cd_hmac_update(const struct cd_hmac_key *key, struct cd_hmac_state *state, const uint8_t *data,
                    size_t length) {
    cd_md_update(key->algorithm, &state->hash, data, length);
}

void cd_hmac_final(const struct cd_hmac_key *key, struct cd_hmac_state *state, uint8_t *out_tag) {
    uint8_t digest[CD_MD_DIGEST_MAX];
    cd_md_final(key->algorithm, &state->hash, digest);
    outer_hash(key, out_tag, digest);
}
