/*
 * Opcodes: the table of section 5.6, and the checks that all operations share (section 8.1).
 *
 * A row without functions is an operation of the real chip that this model does not do; an opcode
 * without a row is reserved. Both answer 0x28, the first is counted as unimplemented.
 */
#include "eip93/emulator/emulator_internal.h"

#define BOTH (CD_EMULATOR_OUT | CD_EMULATOR_IN)
#define BASIC EIP93_SA0_OPGROUP_BASIC
#define PROTOCOL EIP93_SA0_OPGROUP_PROTOCOL
#define EXTENDED EIP93_SA0_OPGROUP_EXTENDED

static const struct cd_emulator_operation operations[] = {
    {BASIC, EIP93_OPCODE_CRYPT, BOTH, cd_emulator_crypt_plan, cd_emulator_crypt_run},
    {BASIC, EIP93_OPCODE_CRYPT_HASH, BOTH, cd_emulator_crypt_plan, cd_emulator_crypt_run},
    {BASIC, EIP93_OPCODE_HASH, BOTH, cd_emulator_hash_plan, cd_emulator_hash_run},
    {PROTOCOL, EIP93_OPCODE_ESP, BOTH, cd_emulator_esp_plan, cd_emulator_esp_run},
    {PROTOCOL, EIP93_OPCODE_SSL_IN, CD_EMULATOR_IN, NULL, NULL},
    {PROTOCOL, EIP93_OPCODE_TLS_IN, CD_EMULATOR_IN, NULL, NULL},
    {PROTOCOL, EIP93_OPCODE_SSL_OUT, CD_EMULATOR_OUT, NULL, NULL},
    {PROTOCOL, EIP93_OPCODE_TLS_OUT, CD_EMULATOR_OUT, NULL, NULL},
    {PROTOCOL, EIP93_OPCODE_SRTP, BOTH, NULL, NULL},
    {EXTENDED, EIP93_OPCODE_EXT_DTLS, BOTH, NULL, NULL},
    {EXTENDED, EIP93_OPCODE_EXT_SSL, BOTH, NULL, NULL},
    {EXTENDED, EIP93_OPCODE_EXT_TLS10, BOTH, NULL, NULL},
    {EXTENDED, EIP93_OPCODE_EXT_TLS11, BOTH, NULL, NULL},
};

static const struct cd_emulator_operation *find(const struct cd_emulator_packet *packet) {
    uint32_t group = EIP93_GET(packet->sa.cmd0, EIP93_SA0_OPGROUP);
    uint32_t opcode = EIP93_GET(packet->sa.cmd0, EIP93_SA0_OPCODE);
    uint32_t direction = packet->inbound ? CD_EMULATOR_IN : CD_EMULATOR_OUT;
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (operations[i].group == group && operations[i].opcode == opcode &&
            (operations[i].directions & direction) != 0) {
            return &operations[i];
        }
    }
    return NULL;
}

/* True if the status lets the data through (section 8.1, column "Data / length"). */
static bool is_processed(uint32_t status) {
    return (status & EIP93_RD_EXT_ERR) == 0 || status == EIP93_RD_ERR_SPI ||
           status == EIP93_RD_ERR_BLOCK_SIZE;
}

static uint32_t plan(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet) {
    if (EIP93_GET(packet->command.control, EIP93_CD_PRNG_MODE) != EIP93_CD_PRNG_MODE_NONE) {
        return cd_emulator_prng_plan(emulator, packet);
    }
    packet->inbound = (packet->sa.cmd0 & EIP93_SA0_DIRECTION_IN) != 0;
    const struct cd_emulator_operation *operation = find(packet);
    if (operation == NULL) {
        return EIP93_RD_ERR_OPERATION;
    }
    if (operation->plan == NULL) {
        cd_emulator_unimplemented(emulator, packet->sa.cmd0);
        return EIP93_RD_ERR_OPERATION;
    }
    if (EIP93_GET(packet->command.length, EIP93_CD_LENGTH) == 0) {
        return EIP93_RD_ERR_ZERO_LENGTH;
    }
    packet->operation = operation;
    return operation->plan(emulator, packet);
}

uint32_t cd_emulator_operation_plan(struct cd_eip93_emulator *emulator,
                                    struct cd_emulator_packet *packet) {
    uint32_t status = plan(emulator, packet);
    if (!is_processed(status)) {
        packet->operation = NULL;
        packet->result_len = 0;
        packet->pad_status = 0;
        packet->pad_value = 0;
        if (status == EIP93_RD_ERR_ZERO_LENGTH) {
            packet->operation = cd_emulator_hash_plan_empty(emulator, packet);
        }
    }
    return status;
}
