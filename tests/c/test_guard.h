/* Memory that ends, or begins, at a page that may not be touched. */
#ifndef TEST_GUARD_H
#define TEST_GUARD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* One usable page between two forbidden ones. */
struct test_guard {
    uint8_t *mapping;
    size_t page; /* bytes */
};

static inline void test_guard_init(struct test_guard *guard) {
    guard->page = (size_t)sysconf(_SC_PAGESIZE);
    guard->mapping =
        mmap(NULL, 3 * guard->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guard->mapping == MAP_FAILED || mprotect(guard->mapping, guard->page, PROT_NONE) != 0 ||
        mprotect(guard->mapping + 2 * guard->page, guard->page, PROT_NONE) != 0) {
        perror("guard pages");
        exit(1);
    }
}

/* The first byte of the page: one before it faults. */
static inline uint8_t *test_guard_begin(const struct test_guard *guard) {
    return guard->mapping + guard->page;
}

/* The last `length` bytes of the page: one after them faults. */
static inline uint8_t *test_guard_end(const struct test_guard *guard, size_t length) {
    return guard->mapping + 2 * guard->page - length;
}

static inline void test_guard_cleanup(struct test_guard *guard) {
    munmap(guard->mapping, 3 * guard->page);
}

#endif
