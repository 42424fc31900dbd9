/* crypto/aes_tables.c and crypto/aes_fixed_sbox.c against the definitions in FIPS 197. */
#include "crypto/aes_fixed_sbox.h"
#include "crypto/aes_tables.h"
#include "test_plain_aes.h"
#include "test_support.h"

static void tables_are_what_fips_197_defines(void) {
    for (unsigned i = 0; i < 256; i++) {
        uint8_t s = plain_sbox[i], r = plain_inverse[i];

        CHECK_EQ(cd_aes_sbox[i], s);
        CHECK_EQ(cd_aes_inverse_sbox[i], r);
        CHECK_EQ(cd_aes_mix_table[i], plain_multiply(s, 2) | (uint32_t)s << 8 | (uint32_t)s << 16 |
                                          (uint32_t)plain_multiply(s, 3) << 24);
        CHECK_EQ(cd_aes_unmix_table[i], plain_multiply(r, 0x0e) |
                                            (uint32_t)plain_multiply(r, 0x09) << 8 |
                                            (uint32_t)plain_multiply(r, 0x0d) << 16 |
                                            (uint32_t)plain_multiply(r, 0x0b) << 24);
        for (unsigned row = 0; row < 4; row++) {
            uint64_t mix = (uint64_t)cd_aes_mix_table[i] << 8 * row;
            uint64_t unmix = (uint64_t)cd_aes_unmix_table[i] << 8 * row;

            CHECK_EQ(cd_aes_mix_tables[row][i], (uint32_t)(mix | mix >> 32));
            CHECK_EQ(cd_aes_unmix_tables[row][i], (uint32_t)(unmix | unmix >> 32));
        }
    }
}

/* All 256 bytes, each in every place of the planes once. */
static void sbox_circuits_are_what_fips_197_defines(void) {
    for (unsigned first = 0; first < 256; first++) {
        uint64_t forward[8] = {0}, backward[8] = {0};

        for (unsigned i = 0; i < 64; i++) {
            for (unsigned bit = 0; bit < 8; bit++) {
                forward[bit] |= (uint64_t)((first + i) >> bit & 1) << i;
            }
        }
        memcpy(backward, forward, sizeof backward);
        cd_aes_sbox_planes(forward);
        cd_aes_inverse_sbox_planes(backward);
        for (unsigned i = 0; i < 64; i++) {
            unsigned s = 0, r = 0;

            for (unsigned bit = 0; bit < 8; bit++) {
                s |= (unsigned)(forward[bit] >> i & 1) << bit;
                r |= (unsigned)(backward[bit] >> i & 1) << bit;
            }
            CHECK_EQ(s, plain_sbox[(first + i) & 0xff]);
            CHECK_EQ(r, plain_inverse[(first + i) & 0xff]);
        }
    }
}

int main(void) {
    plain_set_up();
    RUN(tables_are_what_fips_197_defines);
    RUN(sbox_circuits_are_what_fips_197_defines);
    return test_end();
}
