/*
 * The random number generator: ANSI X9.31 with AES-128, driven through descriptors
 * (eip93-hardware.md section 6.9). Deterministic: DT counts up by one per block [model].
 */
#include "eip93/emulator/emulator_internal.h"

#include "base/endian.h"
#include "base/secure.h"

#include <string.h>

static void exclusive_or(uint8_t *out, const uint8_t *a, const uint8_t *b) {
    for (size_t i = 0; i < CD_AES_BLOCK; i++) {
        out[i] = a[i] ^ b[i];
    }
}

/* I = E(DT); R = E(I xor V); V = E(R xor I). */
static void step(const struct cd_aes_functions *aes, const struct cd_aes_encrypt_key *key,
                 struct cd_emulator_prng *prng, uint8_t out[CD_AES_BLOCK]) {
    uint8_t i[CD_AES_BLOCK];
    uint8_t block[CD_AES_BLOCK];
    aes->ecb_encrypt(key, i, prng->dt, 1);
    exclusive_or(block, i, prng->v);
    aes->ecb_encrypt(key, out, block, 1);
    exclusive_or(block, out, i);
    aes->ecb_encrypt(key, prng->v, block, 1);
    cd_aes_counter_add(prng->dt, 1);
    cd_wipe(i, sizeof i);
    cd_wipe(block, sizeof block);
}

void cd_emulator_prng_next(struct cd_eip93_emulator *emulator, uint8_t out[CD_AES_BLOCK]) {
    struct cd_aes_encrypt_key key;
    emulator->aes->prepare_encrypt(&key, emulator->prng.key, CD_AES_BLOCK);
    step(emulator->aes, &key, &emulator->prng, out);
    cd_wipe(&key, sizeof key);
}

static void run_init(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet) {
    struct cd_emulator_prng *prng = &emulator->prng;
    memcpy(prng->key, packet->sa.key, sizeof prng->key);
    for (size_t word = 0; word < 4; word++) {
        cd_store_le32(prng->v + 4 * word, packet->sa.i_digest[word]);
        cd_store_le32(prng->dt + 4 * word, packet->sa.o_digest[word]);
    }
}

static void generate(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet,
                     bool test) {
    struct cd_aes_encrypt_key key;
    emulator->aes->prepare_encrypt(&key, emulator->prng.key, CD_AES_BLOCK);
    for (uint32_t done = 0; done < packet->output_len; done += CD_AES_BLOCK) {
        if (test) {
            memcpy(emulator->prng.dt, packet->source + done, CD_AES_BLOCK);
        }
        step(emulator->aes, &key, &emulator->prng, packet->destination + done);
    }
    cd_wipe(&key, sizeof key);
}

static void run_generate(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet) {
    generate(emulator, packet, false);
}

static void run_test(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet) {
    generate(emulator, packet, true);
}

static const struct cd_emulator_operation modes[] = {
    [EIP93_CD_PRNG_MODE_INIT] = {.run = run_init},
    [EIP93_CD_PRNG_MODE_GENERATE] = {.run = run_generate},
    [EIP93_CD_PRNG_MODE_TEST] = {.run = run_test},
};

/* Both drivers give a length with the initialisation: any is taken, none is moved. */
static uint32_t plan_init(struct cd_emulator_packet *packet) {
    const struct eip93_sa *sa = &packet->sa;
    if (EIP93_GET(sa->cmd0, EIP93_SA0_OPGROUP) != EIP93_SA0_OPGROUP_BASIC ||
        EIP93_GET(sa->cmd0, EIP93_SA0_OPCODE) != EIP93_OPCODE_PRNG ||
        (sa->cmd0 & EIP93_SA0_DIRECTION_IN) != 0) {
        return EIP93_RD_ERR_OPERATION;
    }
    if (EIP93_GET(sa->cmd0, EIP93_SA0_CIPHER) != EIP93_SA0_CIPHER_AES ||
        EIP93_GET(sa->cmd1, EIP93_SA1_AES_KEY_LENGTH) != EIP93_SA1_AES_KEY_LENGTH_128) {
        return EIP93_RD_ERR_ALGORITHM;
    }
    packet->operation = &modes[EIP93_CD_PRNG_MODE_INIT];
    return EIP93_RD_OK;
}

uint32_t cd_emulator_prng_plan(struct cd_eip93_emulator *emulator,
                               struct cd_emulator_packet *packet) {
    uint32_t mode = EIP93_GET(packet->command.control, EIP93_CD_PRNG_MODE);
    uint32_t length = EIP93_GET(packet->command.length, EIP93_CD_LENGTH);
    if (mode == EIP93_CD_PRNG_MODE_INIT) {
        return plan_init(packet);
    }
    if (length == 0) {
        return EIP93_RD_ERR_ZERO_LENGTH;
    }
    if (length % CD_AES_BLOCK != 0 || length > EIP93_LENGTH_PRNG_MAX) {
        return EIP93_RD_ERR_LENGTH;
    }
    packet->operation = &modes[mode];
    packet->input_len = mode == EIP93_CD_PRNG_MODE_TEST ? length : 0;
    packet->output_len = length;
    packet->result_len = length;
    packet->process_ticks = (uint64_t)(length / CD_AES_BLOCK) * emulator->cost.prng_block_ticks;
    return EIP93_RD_OK;
}
