/*
 * Time: what a packet costs, and what "now" means in each of the three paces.
 *
 * FREE: the device's time jumps to whatever happens next. PACED: it is the host's clock. VIRTUAL:
 * it is a virtual clock that the waits advance. Model: eip93-hardware.md section 10.2.
 */
#include "eip93/emulator/emulator_internal.h"

#include <string.h>
#include <time.h>

#define PICOSECONDS 1000000000000u
#define CLOCK_HZ_MIN 1000u
#define CLOCK_HZ_MAX 4000000000u /* keeps the products below in 64 bits */
#define HOST_COST_MAX (UINT64_C(1) << 40)

void cd_eip93_cost_default(struct cd_eip93_cost *out_cost) {
    *out_cost = (struct cd_eip93_cost){
        .clock_hz = 250000000,
        .descriptor_read_ticks = 30,
        .descriptor_update_ticks = 30,
        .result_write_ticks = 30,
        .sa_read_ticks = 60,
        .state_ticks = 20,
        .aes_block_ticks = {61, 72, 84},
        .des_block_ticks = 15,
        .des3_block_ticks = 45,
        .md5_block_ticks = 80,
        .sha1_block_ticks = 96,
        .sha2_block_ticks = 80,
        .prng_block_ticks = 3 * 61,
        .dma_bytes_per_tick = 4,
    };
}

cd_status cd_emulator_time_init(struct cd_eip93_emulator *emulator,
                                const struct cd_eip93_cost *cost) {
    if (cost->clock_hz == 0) {
        cd_eip93_cost_default(&emulator->cost);
    } else {
        emulator->cost = *cost;
    }
    const struct cd_eip93_cost *c = &emulator->cost;
    if (c->clock_hz < CLOCK_HZ_MIN || c->clock_hz > CLOCK_HZ_MAX || c->dma_bytes_per_tick == 0 ||
        c->doorbell_ps > HOST_COST_MAX || c->descriptor_ps > HOST_COST_MAX ||
        c->interrupt_ps > HOST_COST_MAX) {
        return CD_E_RANGE;
    }
    emulator->tick_ps = PICOSECONDS / c->clock_hz;
    emulator->tick_remainder = PICOSECONDS % c->clock_hz;
    emulator->ticks_max = UINT64_MAX / emulator->tick_ps;
    emulator->host_start_ns = cd_emulator_time_host_ns();
    cd_virtual_clock_init(&emulator->virtual_clock);
    return CD_OK;
}

uint64_t cd_emulator_time_host_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t cd_emulator_time_now(const struct cd_eip93_emulator *emulator) {
    switch (emulator->pace) {
    case CD_EIP93_PACED:
        return (cd_emulator_time_host_ns() - emulator->host_start_ns) * 1000u;
    case CD_EIP93_VIRTUAL:
        return cd_virtual_clock_picoseconds(&emulator->virtual_clock);
    default:
        return emulator->device_ps;
    }
}

void cd_emulator_time_set(struct cd_eip93_emulator *emulator, uint64_t now_ps) {
    if (emulator->pace == CD_EIP93_VIRTUAL) {
        uint64_t before = cd_virtual_clock_picoseconds(&emulator->virtual_clock);
        if (now_ps > before) {
            cd_virtual_clock_advance(&emulator->virtual_clock, now_ps - before);
        }
    } else if (now_ps > emulator->device_ps) {
        emulator->device_ps = now_ps;
    }
}

/* Rounded up, so that converting back gives the same number of ticks. */
uint64_t cd_emulator_time_from_ticks(const struct cd_eip93_emulator *emulator, uint64_t ticks) {
    if (ticks > emulator->ticks_max) {
        return UINT64_MAX;
    }
    if (emulator->tick_remainder == 0) {
        return ticks * emulator->tick_ps;
    }
    uint64_t hz = emulator->cost.clock_hz;
    uint64_t part = ticks % hz * emulator->tick_remainder; /* both factors below 4 * 10^9 */
    uint64_t fraction = ticks / hz * emulator->tick_remainder + (part + hz - 1) / hz;
    return cd_emulator_time_add(ticks * emulator->tick_ps, fraction);
}

uint64_t cd_emulator_time_to_ticks(const struct cd_eip93_emulator *emulator, uint64_t time_ps) {
    uint64_t hz = emulator->cost.clock_hz;
    uint64_t seconds = time_ps / PICOSECONDS;
    uint64_t rest_ns = time_ps % PICOSECONDS / 1000u;
    uint64_t rest_ps = time_ps % 1000u;
    return seconds * hz + (rest_ns * hz + rest_ps * hz / 1000u) / 1000000000u;
}

uint64_t cd_emulator_time_packet_ticks(const struct cd_eip93_emulator *emulator,
                                       const struct cd_emulator_packet *packet) {
    const struct cd_eip93_cost *cost = &emulator->cost;
    uint64_t ticks = (uint64_t)cost->descriptor_read_ticks + cost->result_write_ticks;
    if (cd_emulator_ring_updates(emulator)) {
        ticks += cost->descriptor_update_ticks;
    }
    if (packet->sa_read) {
        ticks += cost->sa_read_ticks;
    }
    ticks += (uint64_t)(packet->state_reads + packet->state_writes) * cost->state_ticks;
    uint32_t longest =
        packet->input_len > packet->output_len ? packet->input_len : packet->output_len;
    uint32_t dma_ticks = longest / cost->dma_bytes_per_tick;
    dma_ticks += longest % cost->dma_bytes_per_tick != 0;
    return ticks + (packet->process_ticks > dma_ticks ? packet->process_ticks : dma_ticks);
}

uint64_t cd_eip93_emulator_ticks(struct cd_eip93_emulator *emulator) {
    pthread_mutex_lock(&emulator->lock);
    uint64_t ticks = cd_emulator_time_to_ticks(emulator, cd_emulator_time_now(emulator));
    pthread_mutex_unlock(&emulator->lock);
    return ticks;
}
