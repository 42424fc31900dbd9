/* The four hash functions as the emulator's tests ask for them. */
#ifndef EMULATOR_HASHES_H
#define EMULATOR_HASHES_H

#include "emulator_support.h"

#include "crypto/md5.h"
#include "crypto/sha1.h"
#include "crypto/sha2.h"

/* SA words as the Linux driver makes them (section 5.7) and what the state starts with. */
static const struct hash_row {
    const struct cd_md_algorithm *algorithm;
    uint32_t cmd0;
    const char *initial; /* state record from +10 on: count 0, then chaining words */
    const char *abc;     /* digest words of "abc" in memory (section 9.8) */
    const char *hi;      /* HMAC of "Hi There" with 0b x 20, canonical (section 9.8) */
} hash_rows[] = {
    {&cd_md5_portable, 0x3A400FC3, "0000000000000000 0123456789abcdeffedcba9876543210",
     "900150983cd24fb0d6963f7d28e17f72", "5ccec34ea9656392457fa1ac27f08fbc"},
    {&cd_sha1_portable, 0x3A501FC3, "0000000000000000 0123456789abcdeffedcba9876543210f0e1d2c3",
     "363e99a96a810647 71253eba6cc25078 9dd8d09c", "b617318655057264e28bc0b6fb378c8ef146be00"},
    {&cd_sha224_portable, 0x3A702FC3,
     "0000000000000000 d89e05c107d57c36 17dd703039590ef7 310bc0ff11155868 a78ff964a44ffabe",
     "227d092322d80534 77a44286b355a2bd e4bcad2af7b3a0bd a79d6ce3",
     "896fb1128abbdf196832107cd49df33f47b4b1169912ba4f53684b22"},
    {&cd_sha256_portable, 0x3A803FC3,
     "0000000000000000 67e6096a85ae67bb 72f36e3c3af54fa5 7f520e518c68059b abd9831f19cde05b",
     "bf1678baeacf018f de4041412322ae5d a36103b09c7a1796 61ff10b4ad1500f2",
     "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
};
#define HASHES 4u

#endif
