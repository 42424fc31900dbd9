/* Faults to inject: which packet they strike is counted here, what they do where it happens. */
#include "eip93/emulator/emulator_internal.h"

static_assert(CD_EMULATOR_FAULTS == CD_EIP93_FAULT_MAP + 1, "a slot per kind");

bool cd_emulator_fault_strikes(struct cd_eip93_emulator *emulator, int32_t kind) {
    struct cd_emulator_fault *fault = &emulator->faults[kind];
    if (fault->count == 0) {
        return false;
    }
    if (fault->skip != 0) {
        fault->skip--;
        return false;
    }
    fault->count--;
    return true;
}

uint32_t cd_emulator_fault_packet(struct cd_eip93_emulator *emulator) {
    uint32_t struck = 0;
    if (!emulator->faults_armed) {
        return 0;
    }
    emulator->faults_armed = false;
    for (int32_t kind = CD_EIP93_FAULT_DMA_READ; kind < CD_EIP93_FAULT_MAP; kind++) {
        if (cd_emulator_fault_strikes(emulator, kind)) {
            struck |= 1u << kind;
        }
        if (emulator->faults[kind].count != 0) {
            emulator->faults_armed = true;
        }
    }
    return struck;
}

cd_status cd_eip93_emulator_inject(struct cd_eip93_emulator *emulator, int32_t fault, uint32_t skip,
                                   uint32_t count, uint32_t value) {
    if (fault < CD_EIP93_FAULT_DMA_READ || fault > CD_EIP93_FAULT_MAP) {
        return CD_E_INVALID;
    }
    pthread_mutex_lock(&emulator->lock);
    emulator->faults[fault] =
        (struct cd_emulator_fault){.skip = skip, .count = count, .value = value};
    emulator->faults_armed = true;
    pthread_mutex_unlock(&emulator->lock);
    return CD_OK;
}
