/* What measurements mean: who won, whether that is certain, and which sizes are tried. Pure. */
#include "cryptodispatch/benchmark.h"

#include <stddef.h>

const uint32_t cd_benchmark_sizes[CD_BENCHMARK_SIZES] = {16,   64,   128,  256,  512,  1024,
                                                         1420, 2048, 4096, 8192, 16384};

const char *cd_side_name(int side) {
    switch (side) {
    case CD_SIDE_HARDWARE:
        return "hardware";
    case CD_SIDE_SOFTWARE:
        return "software";
    default:
        return NULL;
    }
}

enum cd_side cd_benchmark_winner(uint64_t hardware, uint64_t software) {
    return hardware < software ? CD_SIDE_HARDWARE : CD_SIDE_SOFTWARE;
}

bool cd_benchmark_is_close(uint64_t hardware, uint64_t software) {
    uint64_t lower = hardware < software ? hardware : software;
    uint64_t higher = hardware < software ? software : hardware;
    return higher - lower <= lower / 10;
}

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static uint64_t next_word(uint64_t *state) {
    uint64_t word = *state += 0x9e3779b97f4a7c15u;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
}

void cd_benchmark_fill(uint8_t *out, size_t length, uint64_t seed) {
    uint64_t state = seed;
    uint64_t word = 0;
    for (size_t i = 0; i < length; i++) {
        word = i % 8 == 0 ? next_word(&state) : word >> 8;
        out[i] = (uint8_t)word;
    }
}
