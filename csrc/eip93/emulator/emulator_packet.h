/*
 * Private to the emulator: one packet, what it can be asked to do, and the stages it goes through.
 * As in emulator_internal.h, functions are called with the lock held.
 */
#ifndef CD_EMULATOR_PACKET_H
#define CD_EMULATOR_PACKET_H

#include "cryptodispatch/eip93_emulator.h"

#include "crypto/aes.h"
#include "crypto/md.h"
#include "eip93/eip93_regs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CD_EMULATOR_PAD_MAX 257u   /* section 6.2 */
#define CD_EMULATOR_DIGEST_MAX 32u /* section 5.4 */
#define CD_EMULATOR_OUTPUT_MAX (EIP93_CD_LENGTH_MAX + CD_EMULATOR_PAD_MAX + CD_EMULATOR_DIGEST_MAX)

struct cd_emulator_packet;

/* ---- Ciphers and operations: rows of tables, so that more slot in ---- */

/* One cipher in one mode, as SA_CMD0 and SA_CMD1 select it. */
struct cd_emulator_cipher {
    uint32_t cipher;    /* EIP93_SA0_CIPHER_* */
    uint32_t mode;      /* EIP93_SA1_CIPHER_MODE_*, or CD_EMULATOR_ANY_MODE */
    uint32_t option;    /* EIP93_OPTION_* bit that offers it; 0: always there */
    uint32_t block_len; /* length must be (inbound) or becomes (outbound) a multiple; 1: stream */
    uint32_t iv_len;    /* bytes in the state record; 0: uses no IV */
    uint32_t input_iv_len; /* bytes if the IV comes with the input */
    uint32_t tick_len;     /* bytes that `block_ticks` is the cost of */
    uint32_t (*block_ticks)(const struct cd_eip93_cost *cost, uint32_t key_len);
    /* Transform `length` bytes, continuing packet->iv. A multiple of block_len, and of 16 in all
     * calls but the last. `out` is `in` or does not overlap it. */
    void (*run)(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet, uint8_t *out,
                const uint8_t *in, size_t length);
};
#define CD_EMULATOR_ANY_MODE 0xFFu

/* What one opcode does. The functions are NULL where the model does not do it (answer 0x28). */
struct cd_emulator_operation {
    uint32_t group;      /* EIP93_SA0_OPGROUP_* */
    uint32_t opcode;     /* EIP93_OPCODE_* */
    uint32_t directions; /* CD_EMULATOR_OUT, CD_EMULATOR_IN */
    /* Check the SA and lay out the packet; a status byte of section 8.1. */
    uint32_t (*plan)(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet);
    /* From packet->source to packet->destination. */
    void (*run)(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet);
};

/* One hash function, as SA_CMD0 selects it. */
struct cd_emulator_hash {
    uint32_t option; /* EIP93_OPTION_* bit that offers it */
    const struct cd_md_algorithm *(*best)(void);
    uint32_t (*block_ticks)(const struct cd_eip93_cost *cost); /* per 64 bytes */
};
#define CD_EMULATOR_HASHES 4u /* EIP93_SA0_HASH_MD5 .. EIP93_SA0_HASH_SHA256 */

#define CD_EMULATOR_OUT 1u
#define CD_EMULATOR_IN 2u

/* ---- The packet in the engine ---- */

enum cd_emulator_stage {
    CD_EMULATOR_IDLE = 0,
    CD_EMULATOR_RUNNING = 1, /* fetched and checked; effects appear at due_ps */
    CD_EMULATOR_STALLED = 2, /* all done but the result: the result ring is full */
};

/* The hash path of one packet (section 6.4). */
struct cd_emulator_digest {
    const struct cd_emulator_hash *hash;     /* NULL: the operation does not hash */
    const struct cd_md_algorithm *algorithm; /* of the hash */
    bool final;                              /* pad and end the message */
    bool hmac;                               /* then hash the digest again from O_DIGEST */
    bool network_order;                      /* the output is bytes as hashing defines them */
    bool count_only;                         /* Q5: nothing but BYTE_CNT is written */
    uint32_t output_len;                     /* bytes appended to the output */
    uint32_t icv_len; /* Q1: bytes behind the input to compare the tag with; 0: none */
    uint32_t length;  /* bytes of this packet that count */
    uint64_t count;   /* bytes before this packet; after the end with this packet */
    uint32_t words[CD_MD_WORDS_MAX];
    uint32_t used; /* bytes in `buffer` */
    uint8_t buffer[CD_MD_BLOCK];
};

struct cd_emulator_packet {
    struct eip93_descriptor command; /* host byte order */
    struct eip93_sa sa;              /* words in host byte order */
    uint32_t index;                  /* entry of the command ring */
    uint32_t status;                 /* status byte so far */
    bool bus_failed;
    bool processed;                                /* all effects but the result are there */
    const struct cd_emulator_operation *operation; /* NULL: nothing to process */
    const struct cd_emulator_cipher *cipher;       /* NULL: none in this operation */
    uint32_t key_len;
    bool inbound;
    bool header_copied;
    bool sa_read;
    /* input = bypass | header | payload | tag if compared;
     * output = bypass | header if copied | payload | pad | digest if copied */
    uint32_t bypass_len, header_len, payload_len;
    bool is_esp;
    bool header_made;      /* the engine makes the header: it is not in the input */
    uint32_t sa_write_len; /* bytes of the SA to write back, from SEQNUM0 on */
    bool iv_in_input;      /* IV_SOURCE 1, and the cipher uses an IV */
    uint32_t iv_offset;    /* where in the input */
    uint32_t input_len;    /* bytes read */
    uint32_t output_len;   /* bytes written */
    uint32_t result_len;   /* bytes reported */
    uint32_t pad_len;      /* outbound: bytes to insert */
    uint32_t pad_status, pad_value;
    uint64_t process_ticks;             /* cipher, hash, PRNG: without DMA and fixed items */
    uint32_t state_reads, state_writes; /* groups of the state record */
    uint8_t iv[CD_AES_BLOCK];
    struct cd_emulator_digest digest;
    const uint8_t *source;
    uint8_t *destination;
    uint32_t faults; /* bit (1 << enum cd_eip93_fault): strikes this packet */
    uint64_t due_ps;
    uint64_t host_due_ns; /* FREE pace, late fault: not before this host time; 0: none */
};

/* emulator_packet.c: stages of one packet */
void cd_emulator_packet_read_sa(struct cd_eip93_emulator *emulator);
void cd_emulator_packet_read_state(struct cd_eip93_emulator *emulator);
void cd_emulator_packet_gather(struct cd_eip93_emulator *emulator);
void cd_emulator_packet_transform(struct cd_eip93_emulator *emulator);
void cd_emulator_packet_scatter(struct cd_eip93_emulator *emulator);
void cd_emulator_packet_write_state(struct cd_eip93_emulator *emulator);
static inline void cd_emulator_packet_move(uint8_t *out, const uint8_t *in, uint32_t length) {
    if (length != 0 && out != in) {
        memcpy(out, in, length);
    }
}
/* Make the packet's IV from the bytes that the input or the PRNG gave. */
void cd_emulator_packet_set_iv(struct cd_emulator_packet *packet, const uint8_t *bytes);

/* emulator_operation.c */
/* Choose the operation of the packet and lay it out: status byte of section 8.1. */
uint32_t cd_emulator_operation_plan(struct cd_eip93_emulator *emulator,
                                    struct cd_emulator_packet *packet);

/* emulator_crypt.c: basic encrypt and decrypt, encrypt-hash and hash-decrypt */
uint32_t cd_emulator_crypt_plan(struct cd_eip93_emulator *emulator,
                                struct cd_emulator_packet *packet);
void cd_emulator_crypt_run(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet);
/* Parts that ESP shares. Choose cipher and hash: the status byte of the highest priority. */
uint32_t cd_emulator_crypt_plan_algorithms(struct cd_eip93_emulator *emulator,
                                           struct cd_emulator_packet *packet, bool hashes);
/* With the input split: blocks, pad, output, state and time; a status byte. */
uint32_t cd_emulator_crypt_lay_out(struct cd_eip93_emulator *emulator,
                                   struct cd_emulator_packet *packet);
/* Transform payload and pad. */
void cd_emulator_crypt_payload(struct cd_eip93_emulator *emulator,
                               struct cd_emulator_packet *packet, uint8_t *out, const uint8_t *in);
/* Outbound: hash payload and pad at `out`, and end. Both: append the digest. */
void cd_emulator_crypt_hash_output(struct cd_emulator_packet *packet, uint8_t *out);

/* emulator_esp.c: protocol operation ESP */
uint32_t cd_emulator_esp_plan(struct cd_eip93_emulator *emulator,
                              struct cd_emulator_packet *packet);
void cd_emulator_esp_run(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet);

/* emulator_hash.c: basic hash */
uint32_t cd_emulator_hash_plan(struct cd_eip93_emulator *emulator,
                               struct cd_emulator_packet *packet);
void cd_emulator_hash_run(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet);
/* Q5: the operation that counts a hash of no bytes; NULL: the strap is off, or it is none. */
const struct cd_emulator_operation *cd_emulator_hash_plan_empty(struct cd_eip93_emulator *emulator,
                                                                struct cd_emulator_packet *packet);

/* emulator_digest.c: the hash path. All but the first two do nothing in a packet without hash. */
void cd_emulator_digest_init(struct cd_eip93_emulator *emulator);
/* Choose the hash that the SA selects: a status byte. */
uint32_t cd_emulator_digest_plan(struct cd_eip93_emulator *emulator,
                                 struct cd_emulator_packet *packet);
/* Bytes that DIGEST_LENGTH of an SA asks for; 0: reserved. */
uint32_t cd_emulator_digest_len(const struct eip93_sa *sa);
/* Tell that `length` bytes will be hashed; a status byte (0x78: only whole blocks will count). */
uint32_t cd_emulator_digest_plan_length(struct cd_emulator_packet *packet, uint32_t length);
uint64_t cd_emulator_digest_ticks(const struct cd_eip93_emulator *emulator,
                                  const struct cd_emulator_packet *packet);
/* Chaining words and count from where HASH_SOURCE says; false: bus error. */
bool cd_emulator_digest_load(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet);
/* SAVE_HASH; false: bus error. */
bool cd_emulator_digest_save(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet);
void cd_emulator_digest_add(struct cd_emulator_packet *packet, const uint8_t *data,
                            uint32_t length);
void cd_emulator_digest_end(struct cd_emulator_packet *packet);
/* Write what COPY_DIGEST appends: digest.output_len bytes. */
void cd_emulator_digest_store(const struct cd_emulator_packet *packet, uint8_t *out);
/* True if the first `length` (at most 32) bytes of the tag in canonical order are those of `tag`.
 */
bool cd_emulator_digest_equals(const struct cd_emulator_packet *packet, const uint8_t *tag,
                               uint32_t length);

/* emulator_cipher.c */
/* The cipher that the SA selects, with its key length; NULL: reserved, absent or not modelled. */
const struct cd_emulator_cipher *cd_emulator_cipher_find(struct cd_eip93_emulator *emulator,
                                                         struct cd_emulator_packet *packet);
/* Forget the key schedule. */
void cd_emulator_cipher_wipe(struct cd_eip93_emulator *emulator);

/* emulator_padding.c */
/* False if the packet would be padded in a reserved way. */
bool cd_emulator_padding_is_valid(const struct cd_emulator_packet *packet);
/* Set packet->pad_len of an outbound packet. */
void cd_emulator_padding_plan(struct cd_emulator_packet *packet);
void cd_emulator_padding_fill(const struct cd_emulator_packet *packet, uint8_t *out);
/* Verify and consume the pad at the end of `payload`: status, pad_status, pad_value, result_len. */
void cd_emulator_padding_check(struct cd_emulator_packet *packet, const uint8_t *payload,
                               uint32_t payload_len);

/* emulator_prng.c */
uint32_t cd_emulator_prng_plan(struct cd_eip93_emulator *emulator,
                               struct cd_emulator_packet *packet);
void cd_emulator_prng_next(struct cd_eip93_emulator *emulator, uint8_t out[CD_AES_BLOCK]);

#endif
