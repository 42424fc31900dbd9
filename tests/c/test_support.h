/*
 * The whole test framework of the C tests: checks that count, and a closing line.
 *
 * A test program lists its tests in main, and returns test_end(). A failed check prints where
 * and what, and fails its test; the program goes on.
 */
#ifndef TEST_SUPPORT_H
#define TEST_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static struct {
    unsigned passed, failed;
    bool current_failed;
} test_state;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: %s: not true: %s\n", __FILE__, __LINE__, __func__, #condition);         \
            test_state.current_failed = true;                                                      \
        }                                                                                          \
    } while (0)

#define CHECK_EQ(actual, expected)                                                                 \
    do {                                                                                           \
        long long test_actual = (long long)(actual), test_expected = (long long)(expected);        \
        if (test_actual != test_expected) {                                                        \
            printf("%s:%d: %s: %s is %lld (0x%llx), expected %lld (0x%llx)\n", __FILE__, __LINE__, \
                   __func__, #actual, test_actual, (unsigned long long)test_actual, test_expected, \
                   (unsigned long long)test_expected);                                             \
            test_state.current_failed = true;                                                      \
        }                                                                                          \
    } while (0)

#define CHECK_BYTES(actual, expected, length)                                                      \
    do {                                                                                           \
        if (memcmp((actual), (expected), (length)) != 0) {                                         \
            printf("%s:%d: %s: bytes of %s differ from %s\n", __FILE__, __LINE__, __func__,        \
                   #actual, #expected);                                                            \
            test_state.current_failed = true;                                                      \
        }                                                                                          \
    } while (0)

#define RUN(test)                                                                                  \
    do {                                                                                           \
        test_state.current_failed = false;                                                         \
        test();                                                                                    \
        if (test_state.current_failed) {                                                           \
            test_state.failed++;                                                                   \
            printf("FAILED %s\n", #test);                                                          \
        } else {                                                                                   \
            test_state.passed++;                                                                   \
        }                                                                                          \
    } while (0)

/* Print the closing line; the value for main to return. */
static inline int test_end(void) {
    printf("%u passed, %u failed\n", test_state.passed, test_state.failed);
    return test_state.failed == 0 && test_state.passed > 0 ? 0 : 1;
}

/* Turn hexadecimal text (spaces allowed) into bytes; returns how many. */
static inline size_t test_hex(uint8_t *out, const char *hex) {
    size_t length = 0;
    unsigned value;
    int used;
    while (sscanf(hex, " %2x%n", &value, &used) == 1) {
        out[length++] = (uint8_t)value;
        hex += used;
    }
    return length;
}

#endif
