/*
 * The hash path: MD5 and the SHA family with their padding, running state and HMAC
 * (eip93-hardware.md sections 5.3 and 6.4), on top of crypto/.
 *
 * The state record has no room for part of a block: data always start on a block, whatever the
 * running count claims, and the count matters only for the length in the padding.
 */
#include "eip93/emulator/emulator_internal.h"

#include "base/endian.h"
#include "base/secure.h"
#include "crypto/md5.h"
#include "crypto/sha1.h"
#include "crypto/sha2.h"

#include <string.h>

#define LENGTH_OFFSET 56u /* where the length stands in the last block */
#define COUNT_SA 64u      /* HASH_SOURCE 0: the block of the key went before */
#define RECORD_OFFSET (offsetof(struct eip93_state, byte_cnt))
#define RECORD_COUNT_LEN 8u

static const struct cd_md_algorithm *md5_best(void) {
    return &cd_md5_portable;
}

static uint32_t md5_ticks(const struct cd_eip93_cost *cost) {
    return cost->md5_block_ticks;
}

static uint32_t sha1_ticks(const struct cd_eip93_cost *cost) {
    return cost->sha1_block_ticks;
}

static uint32_t sha2_ticks(const struct cd_eip93_cost *cost) {
    return cost->sha2_block_ticks;
}

static const struct cd_emulator_hash hashes[CD_EMULATOR_HASHES] = {
    [EIP93_SA0_HASH_MD5] = {EIP93_OPTION_MD5, md5_best, md5_ticks},
    [EIP93_SA0_HASH_SHA1] = {EIP93_OPTION_SHA1, cd_sha1_best, sha1_ticks},
    [EIP93_SA0_HASH_SHA224] = {EIP93_OPTION_SHA224, cd_sha224_best, sha2_ticks},
    [EIP93_SA0_HASH_SHA256] = {EIP93_OPTION_SHA256, cd_sha256_best, sha2_ticks},
};

void cd_emulator_digest_init(struct cd_eip93_emulator *emulator) {
    for (size_t i = 0; i < CD_EMULATOR_HASHES; i++) {
        emulator->hashes[i] = hashes[i].best();
    }
}

/* ---- Planning ---- */

/* Section 5.4, Q12. */
uint32_t cd_emulator_digest_len(const struct eip93_sa *sa) {
    uint32_t code = EIP93_GET(sa->cmd0, EIP93_SA0_DIGEST_LENGTH);
    if (code == EIP93_SA0_DIGEST_LENGTH_3_WORDS) {
        return 12;
    }
    if (code <= 8) {
        return 4u * code;
    }
    return code == EIP93_SA0_DIGEST_LENGTH_10_BYTES ? 10 : 0;
}

/* What is wrong with how the hash is to be used: a status byte. */
static uint32_t check_use(struct cd_eip93_emulator *emulator,
                          const struct cd_emulator_packet *packet) {
    const struct eip93_sa *sa = &packet->sa;
    if ((sa->cmd1 & EIP93_SA1_SSL_MAC) != 0) {
        cd_emulator_unimplemented(emulator, sa->cmd1);
        return EIP93_RD_ERR_OPERATION;
    }
    bool is_reserved = EIP93_GET(sa->cmd0, EIP93_SA0_HASH_SOURCE) == 1 ||
                       cd_emulator_digest_len(sa) == 0; /* [model] */
    return is_reserved ? EIP93_RD_ERR_OPERATION : EIP93_RD_OK;
}

uint32_t cd_emulator_digest_plan(struct cd_eip93_emulator *emulator,
                                 struct cd_emulator_packet *packet) {
    const struct eip93_sa *sa = &packet->sa;
    struct cd_emulator_digest *digest = &packet->digest;
    uint32_t code = EIP93_GET(sa->cmd0, EIP93_SA0_HASH);
    if (code == EIP93_SA0_HASH_NULL) {
        return EIP93_RD_OK;
    }
    uint32_t status = check_use(emulator, packet);
    if (status != EIP93_RD_OK) {
        return status;
    }
    if (code >= CD_EMULATOR_HASHES || (hashes[code].option & ~emulator->option_1) != 0) {
        return EIP93_RD_ERR_ALGORITHM;
    }
    digest->hash = &hashes[code];
    digest->algorithm = emulator->hashes[code];
    digest->hmac = (sa->cmd1 & EIP93_SA1_HMAC) != 0;
    digest->final = digest->hmac || (packet->command.control & EIP93_CD_HASH_FINAL) != 0;
    if (digest->final && (sa->cmd1 & EIP93_SA1_COPY_DIGEST) != 0) {
        digest->output_len = cd_emulator_digest_len(sa);
    }
    packet->state_reads +=
        EIP93_GET(sa->cmd0, EIP93_SA0_HASH_SOURCE) == EIP93_SA0_HASH_SOURCE_STATE;
    packet->state_writes += (sa->cmd0 & EIP93_SA0_SAVE_HASH) != 0;
    return EIP93_RD_OK;
}

uint32_t cd_emulator_digest_plan_length(struct cd_emulator_packet *packet, uint32_t length) {
    struct cd_emulator_digest *digest = &packet->digest;
    digest->length = length;
    if (digest->hash == NULL || digest->final || length % CD_MD_BLOCK == 0) {
        return EIP93_RD_OK;
    }
    digest->length -= length % CD_MD_BLOCK;
    return EIP93_RD_ERR_BLOCK_SIZE;
}

uint64_t cd_emulator_digest_ticks(const struct cd_eip93_emulator *emulator,
                                  const struct cd_emulator_packet *packet) {
    const struct cd_emulator_digest *digest = &packet->digest;
    if (digest->hash == NULL) {
        return 0;
    }
    uint64_t blocks = digest->length / CD_MD_BLOCK;
    if (digest->final) { /* 0x80 and the length need 9 bytes */
        blocks = ((uint64_t)digest->length + 9 + CD_MD_BLOCK - 1) / CD_MD_BLOCK;
    }
    return (blocks + digest->hmac) * digest->hash->block_ticks(&emulator->cost);
}

/* ---- State record ---- */

/* Byte count and as many words as the hash has, no more (section 5.3). */
static uint8_t *record(const struct cd_eip93_emulator *emulator,
                       const struct cd_emulator_packet *packet, uint32_t access) {
    uint32_t words = packet->digest.count_only ? 0 : packet->digest.algorithm->state_words;
    return cd_emulator_memory_at(emulator, packet->command.state_addr + (uint32_t)RECORD_OFFSET,
                                 RECORD_COUNT_LEN + 4 * (size_t)words, access);
}

static bool load_record(const struct cd_eip93_emulator *emulator,
                        struct cd_emulator_packet *packet) {
    struct cd_emulator_digest *digest = &packet->digest;
    const uint8_t *bytes = record(emulator, packet, CD_DMA_TO_DEVICE);
    if (bytes == NULL) {
        return false;
    }
    digest->count = (uint64_t)cd_load_le32(bytes + 4) << 32 | cd_load_le32(bytes);
    for (size_t i = 0; !digest->count_only && i < digest->algorithm->state_words; i++) {
        digest->words[i] = cd_load_le32(bytes + RECORD_COUNT_LEN + 4 * i);
    }
    return true;
}

bool cd_emulator_digest_load(struct cd_eip93_emulator *emulator,
                             struct cd_emulator_packet *packet) {
    struct cd_emulator_digest *digest = &packet->digest;
    if (digest->hash == NULL) {
        return true;
    }
    size_t words_len = digest->algorithm->state_words * sizeof digest->words[0];
    switch (EIP93_GET(packet->sa.cmd0, EIP93_SA0_HASH_SOURCE)) {
    case EIP93_SA0_HASH_SOURCE_STATE:
        return load_record(emulator, packet);
    case EIP93_SA0_HASH_SOURCE_SA:
        memcpy(digest->words, packet->sa.i_digest, words_len);
        digest->count = COUNT_SA;
        return true;
    default:
        memcpy(digest->words, digest->algorithm->initial, words_len);
        return true;
    }
}

bool cd_emulator_digest_save(struct cd_eip93_emulator *emulator,
                             struct cd_emulator_packet *packet) {
    const struct cd_emulator_digest *digest = &packet->digest;
    if (digest->hash == NULL || (packet->sa.cmd0 & EIP93_SA0_SAVE_HASH) == 0) {
        return true;
    }
    uint8_t *bytes = record(emulator, packet, CD_DMA_FROM_DEVICE);
    if (bytes == NULL) {
        return false;
    }
    cd_store_le32(bytes, (uint32_t)digest->count);
    cd_store_le32(bytes + 4, (uint32_t)(digest->count >> 32));
    for (size_t i = 0; !digest->count_only && i < digest->algorithm->state_words; i++) {
        cd_store_le32(bytes + RECORD_COUNT_LEN + 4 * i, digest->words[i]);
    }
    return true;
}

/* ---- Hashing ---- */

void cd_emulator_digest_add(struct cd_emulator_packet *packet, const uint8_t *data,
                            uint32_t length) {
    struct cd_emulator_digest *digest = &packet->digest;
    if (digest->hash == NULL || length == 0) {
        return;
    }
    cd_md_absorb(digest->algorithm, digest->words, digest->buffer, digest->used, data, length);
    digest->used = (uint32_t)(((size_t)digest->used + length) % CD_MD_BLOCK);
}

/* End a message of `count` bytes whose last `used` are in `buffer`. cd_md_finish would do, but
 * asks for a count that fits the data: a driver may claim another. */
static void end_message(const struct cd_md_algorithm *algorithm, uint32_t *words,
                        uint8_t buffer[CD_MD_BLOCK], uint32_t used, uint64_t count) {
    uint64_t bits = count << 3;
    buffer[used++] = 0x80;
    if (used > LENGTH_OFFSET) {
        memset(buffer + used, 0, CD_MD_BLOCK - used);
        algorithm->blocks(words, buffer, 1);
        used = 0;
    }
    memset(buffer + used, 0, LENGTH_OFFSET - used);
    if (algorithm->big_endian) {
        cd_store_be32(buffer + LENGTH_OFFSET, (uint32_t)(bits >> 32));
        cd_store_be32(buffer + LENGTH_OFFSET + 4, (uint32_t)bits);
    } else {
        cd_store_le32(buffer + LENGTH_OFFSET, (uint32_t)bits);
        cd_store_le32(buffer + LENGTH_OFFSET + 4, (uint32_t)(bits >> 32));
    }
    algorithm->blocks(words, buffer, 1);
}

void cd_emulator_digest_end(struct cd_emulator_packet *packet) {
    struct cd_emulator_digest *digest = &packet->digest;
    if (digest->hash == NULL) {
        return;
    }
    const struct cd_md_algorithm *algorithm = digest->algorithm;
    digest->count += digest->length;
    if (digest->final) {
        end_message(algorithm, digest->words, digest->buffer, digest->used, digest->count);
    }
    if (digest->hmac) {
        cd_md_store(algorithm, digest->buffer, digest->words);
        memcpy(digest->words, packet->sa.o_digest,
               algorithm->state_words * sizeof digest->words[0]);
        end_message(algorithm, digest->words, digest->buffer, algorithm->digest_size,
                    CD_MD_BLOCK + algorithm->digest_size);
    }
    cd_wipe(digest->buffer, sizeof digest->buffer);
}

/* The digest in canonical order; what the hash does not have is 0 [model]. */
static void canonical(const struct cd_emulator_digest *digest,
                      uint8_t out[CD_EMULATOR_DIGEST_MAX]) {
    memset(out, 0, CD_EMULATOR_DIGEST_MAX);
    cd_md_store(digest->algorithm, out, digest->words);
}

void cd_emulator_digest_store(const struct cd_emulator_packet *packet, uint8_t *out) {
    const struct cd_emulator_digest *digest = &packet->digest;
    uint8_t bytes[CD_EMULATOR_DIGEST_MAX];
    if (digest->output_len == 0) {
        return;
    }
    if (digest->network_order) {
        canonical(digest, bytes);
    } else {
        for (size_t i = 0; i < CD_MD_WORDS_MAX; i++) {
            cd_store_le32(bytes + 4 * i, digest->words[i]);
        }
    }
    memcpy(out, bytes, digest->output_len);
    cd_wipe(bytes, sizeof bytes);
}

bool cd_emulator_digest_equals(const struct cd_emulator_packet *packet, const uint8_t *tag,
                               uint32_t length) {
    uint8_t bytes[CD_EMULATOR_DIGEST_MAX];
    canonical(&packet->digest, bytes);
    bool equal = cd_equal_ct(bytes, tag, length);
    cd_wipe(bytes, sizeof bytes);
    return equal;
}
