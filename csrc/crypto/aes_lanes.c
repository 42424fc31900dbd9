/* AES-CBC encryption of many records: the choice of a backend, and the one without lanes. */
#include "crypto/aes_lanes.h"

#include <string.h>

#include "cryptodispatch/cpu.h"

static void cbc_encrypt_portable(const struct cd_aes_lane_job *jobs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct cd_aes_lane_job *job = &jobs[i];
        uint8_t iv[CD_AES_BLOCK];

        memcpy(iv, job->iv, sizeof iv);
        cd_aes_portable.cbc_encrypt(job->key, job->out, job->in, job->blocks, iv);
    }
}

static void cbc_encrypt_packed_portable(const struct cd_aes_lane_packed *packed) {
    for (size_t i = 0; i < packed->count; i++) {
        int64_t start = packed->offsets[i];
        size_t blocks = (size_t)(packed->offsets[i + 1] - start) / CD_AES_BLOCK;
        uint8_t iv[CD_AES_BLOCK];

        memcpy(iv, packed->ivs + i * CD_AES_BLOCK, sizeof iv);
        cd_aes_portable.cbc_encrypt(packed->key, packed->out + start, packed->in + start, blocks,
                                    iv);
    }
}

const struct cd_aes_lane_functions cd_aes_lanes_portable = {
    .name = "lib",
    .cpu = 0,
    .lanes = 1,
    .aes = &cd_aes_portable,
    .cbc_encrypt = cbc_encrypt_portable,
    .cbc_encrypt_packed = cbc_encrypt_packed_portable,
};

const struct cd_aes_lane_functions *cd_aes_lanes_best(void) {
    uint32_t mask = cd_cpu_detect();

    if ((mask & cd_aes_lanes_vaes.cpu) == cd_aes_lanes_vaes.cpu) {
        return &cd_aes_lanes_vaes;
    }
    if ((mask & cd_aes_lanes_aesni.cpu) == cd_aes_lanes_aesni.cpu) {
        return &cd_aes_lanes_aesni;
    }
    return &cd_aes_lanes_portable;
}
