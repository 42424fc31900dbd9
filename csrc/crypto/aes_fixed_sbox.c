/*
 * The S-box of AES on bit planes: inversion in GF(2^8) by way of a tower of fields, 64 bytes at
 * once.
 *
 * The tower, as polynomials: GF(4) = GF(2)[w] / (w^2 + w + 1), GF(16) = GF(4)[x] / (x^2 + x + w),
 * GF(256) = GF(16)[y] / (y^2 + y + wx). FIPS 197's field, modulo 11b, is mapped to it by sending
 * its polynomial variable to (x + w)y, with coefficients in that order: byte 60. Inverting in each
 * field costs an inversion in the one below, and in GF(4) it is squaring (the idea is Rijmen's;
 * Satoh and others, "A compact Rijndael hardware architecture with S-box optimization", 2001).
 * The four linear maps below were chosen as the cheapest over all roots of the polynomial, and
 * common terms in them are computed once. tests/c/test_aes.c compares all 256 values with FIPS 197.
 */
#include "crypto/aes_fixed_sbox.h"

/* 64 elements of GF(4): high * w + low. */
struct quad {
    uint64_t low, high;
};

/* 64 elements of GF(16): high * x + low. */
struct nibble {
    struct quad low, high;
};

static inline struct quad quad_add(struct quad a, struct quad b) {
    return (struct quad){a.low ^ b.low, a.high ^ b.high};
}

static inline struct quad quad_multiply(struct quad a, struct quad b) {
    uint64_t low = a.low & b.low, high = a.high & b.high;
    uint64_t mixed = (a.low ^ a.high) & (b.low ^ b.high);

    return (struct quad){low ^ high, mixed ^ low};
}

/* Also the inverse: a^3 = 1. */
static inline struct quad quad_square(struct quad a) {
    return (struct quad){a.low ^ a.high, a.high};
}

static inline struct quad quad_times_w(struct quad a) {
    return (struct quad){a.high, a.low ^ a.high};
}

static inline struct nibble nibble_add(struct nibble a, struct nibble b) {
    return (struct nibble){quad_add(a.low, b.low), quad_add(a.high, b.high)};
}

static inline struct nibble nibble_multiply(struct nibble a, struct nibble b) {
    struct quad low = quad_multiply(a.low, b.low), high = quad_multiply(a.high, b.high);
    struct quad mixed = quad_multiply(quad_add(a.low, a.high), quad_add(b.low, b.high));

    return (struct nibble){quad_add(low, quad_times_w(high)), quad_add(mixed, low)};
}

static inline struct nibble nibble_square(struct nibble a) {
    struct quad high = quad_square(a.high);

    return (struct nibble){quad_add(quad_square(a.low), quad_times_w(high)), high};
}

/* Times wx: (high * x + low) * wx = (w * high + w * low) * x + w^2 * high. */
static inline struct nibble nibble_times_wx(struct nibble a) {
    struct quad high = quad_times_w(a.high);

    return (struct nibble){quad_times_w(high), quad_add(high, quad_times_w(a.low))};
}

/* 1 / (high * x + low) = (high * x + high + low) / norm; 0 for 0. */
static inline struct nibble nibble_invert(struct nibble a) {
    struct quad norm =
        quad_add(quad_times_w(quad_square(a.high)), quad_multiply(a.low, quad_add(a.low, a.high)));
    struct quad inverse = quad_square(norm);

    return (struct nibble){quad_multiply(quad_add(a.low, a.high), inverse),
                           quad_multiply(a.high, inverse)};
}

/* Invert 64 elements of the tower, bit k of them in t[k]; 0 gives 0. */
static inline void tower_invert(uint64_t t[8]) {
    struct nibble low = {{t[0], t[1]}, {t[2], t[3]}}, high = {{t[4], t[5]}, {t[6], t[7]}};
    struct nibble sum = nibble_add(low, high);
    struct nibble norm =
        nibble_add(nibble_times_wx(nibble_square(high)), nibble_multiply(low, sum));
    struct nibble inverse = nibble_invert(norm);

    low = nibble_multiply(sum, inverse);
    high = nibble_multiply(high, inverse);
    t[0] = low.low.low;
    t[1] = low.low.high;
    t[2] = low.high.low;
    t[3] = low.high.high;
    t[4] = high.low.low;
    t[5] = high.low.high;
    t[6] = high.high.low;
    t[7] = high.high.high;
}

/* From FIPS 197's field to the tower. */
static inline void to_tower(uint64_t t[8]) {
    uint64_t s8 = t[3] ^ t[4];
    uint64_t s9 = t[6] ^ s8;
    uint64_t s10 = t[2] ^ s9;
    uint64_t s11 = t[5] ^ t[7];
    uint64_t s12 = t[1] ^ t[4];
    uint64_t s13 = t[1] ^ t[5];
    uint64_t s14 = t[0] ^ s10;
    uint64_t s15 = t[6] ^ t[7];
    uint64_t s16 = t[7] ^ s10;
    uint64_t s17 = s9 ^ s11;
    uint64_t s18 = s10 ^ s13;
    uint64_t s19 = s12 ^ s15;
    uint64_t kept_2 = t[2];

    t[0] = s14;
    t[1] = kept_2;
    t[2] = s17;
    t[3] = s8;
    t[4] = s16;
    t[5] = s19;
    t[6] = s18;
    t[7] = s11;
}

/* Back, and through the linear part of the S-box (section 5.1.1). */
static inline void from_tower_affine(uint64_t t[8]) {
    uint64_t s8 = t[0] ^ t[6];
    uint64_t s9 = t[2] ^ t[3];
    uint64_t s10 = t[1] ^ s8;
    uint64_t s11 = t[0] ^ t[5];
    uint64_t s12 = t[3] ^ t[4];
    uint64_t s13 = t[4] ^ t[7];
    uint64_t s14 = t[4] ^ s8;
    uint64_t s15 = t[5] ^ s8;
    uint64_t s16 = t[6] ^ t[7];
    uint64_t s17 = s9 ^ s10;
    uint64_t s18 = s10 ^ s12;
    uint64_t s19 = s9 ^ s14;
    uint64_t s20 = s9 ^ s16;
    uint64_t kept_2 = t[2];

    t[0] = s15;
    t[1] = s18;
    t[2] = s17;
    t[3] = s11;
    t[4] = s19;
    t[5] = s20;
    t[6] = s13;
    t[7] = kept_2;
}

/* From behind the linear part of the S-box to the tower. */
static inline void to_tower_affine(uint64_t t[8]) {
    uint64_t s8 = t[1] ^ t[2];
    uint64_t s9 = t[5] ^ t[6];
    uint64_t s10 = t[0] ^ t[3];
    uint64_t s11 = t[4] ^ s9;
    uint64_t s12 = t[7] ^ s8;
    uint64_t s13 = t[1] ^ t[4];
    uint64_t s14 = t[3] ^ s11;
    uint64_t s15 = s8 ^ s9;
    uint64_t s16 = t[6] ^ s12;
    uint64_t s17 = t[7] ^ s13;
    uint64_t s18 = s10 ^ s15;
    uint64_t kept_7 = t[7];

    t[0] = s11;
    t[1] = s17;
    t[2] = kept_7;
    t[3] = s18;
    t[4] = s12;
    t[5] = s14;
    t[6] = s10;
    t[7] = s16;
}

/* From the tower to FIPS 197's field. */
static inline void from_tower(uint64_t t[8]) {
    uint64_t s8 = t[1] ^ t[7];
    uint64_t s9 = t[2] ^ t[4];
    uint64_t s10 = t[5] ^ t[6];
    uint64_t s11 = s8 ^ s10;
    uint64_t s12 = t[0] ^ t[2];
    uint64_t s13 = t[2] ^ t[3];
    uint64_t s14 = t[4] ^ t[6];
    uint64_t s15 = t[1] ^ s9;
    uint64_t s16 = t[3] ^ s11;
    uint64_t s17 = s8 ^ s9;
    uint64_t s18 = s8 ^ s12;
    uint64_t s19 = t[7] ^ s13;
    uint64_t s20 = t[7] ^ s14;
    uint64_t kept_1 = t[1];

    t[0] = s18;
    t[1] = s20;
    t[2] = kept_1;
    t[3] = s11;
    t[4] = s16;
    t[5] = s15;
    t[6] = s19;
    t[7] = s17;
}

/* The constant part of the S-box: byte 63. */
static inline void complement_63(uint64_t t[8]) {
    t[0] = ~t[0];
    t[1] = ~t[1];
    t[5] = ~t[5];
    t[6] = ~t[6];
}

void cd_aes_sbox_planes(uint64_t planes[8]) {
    to_tower(planes);
    tower_invert(planes);
    from_tower_affine(planes);
    complement_63(planes);
}

void cd_aes_inverse_sbox_planes(uint64_t planes[8]) {
    complement_63(planes);
    to_tower_affine(planes);
    tower_invert(planes);
    from_tower(planes);
}
