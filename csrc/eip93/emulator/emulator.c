/* Making, resetting and freeing an emulator; its lock. */
#include "eip93/emulator/emulator_internal.h"

#include "base/secure.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const uint32_t options[] = {
    [CD_EIP93_93I] = EIP93_OPTION_1_93I,   [CD_EIP93_93IE] = EIP93_OPTION_1_93IE,
    [CD_EIP93_93IS] = EIP93_OPTION_1_93IS, [CD_EIP93_93IES] = EIP93_OPTION_1_93IES,
    [CD_EIP93_93IW] = EIP93_OPTION_1_93IW,
};

void cd_emulator_lock(struct cd_eip93_emulator *emulator) {
    pthread_mutex_lock(&emulator->lock);
    emulator->at_ps = cd_emulator_time_now(emulator);
}

void cd_emulator_unlock(struct cd_eip93_emulator *emulator) {
    pthread_mutex_unlock(&emulator->lock);
}

/* RST_PE, section 2.4: the packet in work is dropped without a result. */
void cd_emulator_reset_engine(struct cd_eip93_emulator *emulator) {
    uint32_t keep = EIP93_CD_PRNG_MODE;
    uint32_t config = cd_emulator_register(emulator, EIP93_REG_PE_CONFIG);
    if (EIP93_GET(config, EIP93_CONFIG_PE_MODE) != EIP93_CONFIG_PE_MODE_ARM) {
        keep |= EIP93_CD_PAD_VALUE | EIP93_CD_PAD_CTRL;
    }
    uint32_t control = cd_emulator_register(emulator, EIP93_REG_PE_CTRL_STAT);
    cd_emulator_register_set(emulator, EIP93_REG_PE_CTRL_STAT,
                             (control & keep) | EIP93_CD_PE_READY);
    cd_emulator_register_set(emulator, EIP93_REG_PE_LENGTH, EIP93_CD_LENGTH_PE_READY);
    emulator->stage = CD_EMULATOR_IDLE;
    emulator->stopped = false;
    emulator->hung = false;
    emulator->line_muted = false;
    emulator->free_ps = emulator->at_ps;
    cd_wipe(&emulator->packet, sizeof emulator->packet);
}

/* Ring reset: counters and pointers to 0. A packet in work has no ring any more: dropped. */
void cd_emulator_reset_ring(struct cd_eip93_emulator *emulator) {
    emulator->cd_count = 0;
    emulator->rd_count = 0;
    emulator->lost_count = 0;
    emulator->cdr_index = 0;
    emulator->rdr_index = 0;
    emulator->arrival_count = 0;
    emulator->rd_timeout = false;
    emulator->stage = CD_EMULATOR_IDLE;
    emulator->free_ps = emulator->at_ps;
}

static void reset_hardware(struct cd_eip93_emulator *emulator) {
    cd_emulator_registers_reset(emulator);
    cd_emulator_timeout_configure(emulator);
    cd_emulator_reset_engine(emulator);
    cd_emulator_reset_ring(emulator);
    cd_emulator_register_set(emulator, EIP93_REG_PE_CTRL_STAT, EIP93_CD_PE_READY);
    cd_emulator_cipher_wipe(emulator);
    cd_wipe(emulator->last_iv, sizeof emulator->last_iv);
    cd_wipe(&emulator->prng, sizeof emulator->prng);
    emulator->interrupt_raw = 0;
    emulator->line_pulse = false;
    emulator->masked_before = false;
    cd_emulator_interrupt_update(emulator, 0);
}

void cd_eip93_emulator_reset(struct cd_eip93_emulator *emulator) {
    cd_emulator_lock(emulator);
    cd_emulator_trace_event(emulator, CD_EIP93_EVENT_RESET, 0);
    reset_hardware(emulator);
    pthread_cond_broadcast(&emulator->changed);
    cd_emulator_unlock(emulator);
}

/* A mutex, and a condition whose timed waits are on the monotonic clock. */
static cd_status sync_init(struct cd_eip93_emulator *emulator) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) {
        return CD_E_NO_MEMORY;
    }
    int failed = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    failed |= pthread_cond_init(&emulator->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (failed != 0) {
        return CD_E_NO_MEMORY;
    }
    if (pthread_mutex_init(&emulator->lock, NULL) != 0) {
        pthread_cond_destroy(&emulator->changed);
        return CD_E_NO_MEMORY;
    }
    return CD_OK;
}

static cd_status init_parts(struct cd_eip93_emulator *emulator,
                            const struct cd_eip93_emulator_config *config) {
    emulator->pace = config->pace;
    emulator->option_1 = options[config->variant];
    emulator->strap_basic_icv_check = config->strap_basic_icv_check;
    emulator->strap_stop_on_length_error = config->strap_stop_on_length_error;
    emulator->strap_zero_length_count = config->strap_zero_length_count;
    emulator->aes = cd_aes_best();
    cd_emulator_digest_init(emulator);
    cd_status status = cd_emulator_time_init(emulator, &config->cost);
    if (status == CD_OK) {
        status = cd_emulator_memory_init(emulator, config->memory_len);
    }
    if (status == CD_OK) {
        status = cd_emulator_windows_init(emulator);
    }
    if (status == CD_OK) {
        emulator->scratch = malloc(CD_EMULATOR_OUTPUT_MAX);
        status = emulator->scratch != NULL ? CD_OK : CD_E_NO_MEMORY;
    }
    return status;
}

static void cleanup_parts(struct cd_eip93_emulator *emulator) {
    cd_emulator_windows_cleanup(emulator);
    cd_emulator_memory_cleanup(emulator);
    if (emulator->scratch != NULL) {
        cd_wipe(emulator->scratch, CD_EMULATOR_OUTPUT_MAX);
        free(emulator->scratch);
    }
    free(emulator->trace);
    cd_wipe(emulator, sizeof *emulator);
    free(emulator);
}

cd_status cd_eip93_emulator_new(struct cd_eip93_emulator **out_emulator,
                                const struct cd_eip93_emulator_config *config) {
    *out_emulator = NULL;
    if (config->variant < CD_EIP93_93I || config->variant > CD_EIP93_93IW ||
        config->pace < CD_EIP93_FREE || config->pace > CD_EIP93_VIRTUAL) {
        return CD_E_INVALID;
    }
    struct cd_eip93_emulator *emulator = aligned_alloc(64, (sizeof *emulator + 63u) / 64u * 64u);
    if (emulator == NULL) {
        return CD_E_NO_MEMORY;
    }
    memset(emulator, 0, sizeof *emulator);
    cd_status status = init_parts(emulator, config);
    if (status == CD_OK) {
        status = sync_init(emulator);
    }
    if (status != CD_OK) {
        cleanup_parts(emulator);
        return status;
    }
    cd_emulator_registers_init(emulator);
    reset_hardware(emulator);
    *out_emulator = emulator;
    return CD_OK;
}

void cd_eip93_emulator_free(struct cd_eip93_emulator *emulator) {
    if (emulator == NULL) {
        return;
    }
    cd_eip93_emulator_stop_thread(emulator);
    pthread_mutex_destroy(&emulator->lock);
    pthread_cond_destroy(&emulator->changed);
    cleanup_parts(emulator);
}
