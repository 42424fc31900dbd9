/* Reading the handle, and its control files as text (fallback-semantics.md section 7). */
#include "base/error.h"
#include "fallback/fallback_internal.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define TEXT_MAX 64u
#define READ_MIN 16u

bool cd_fallback_enabled(const struct cd_fallback *fallback) {
    return atomic_load(&fallback->enabled);
}

size_t cd_fallback_group_count(const struct cd_fallback *fallback) {
    return fallback->group_count;
}

const char *cd_fallback_group_name(const struct cd_fallback *fallback, size_t group) {
    return group < fallback->group_count ? fallback->groups[group].config.name : NULL;
}

cd_status cd_fallback_group_find(size_t *out_group, const struct cd_fallback *fallback,
                                 const char *name) {
    for (size_t i = 0; name != NULL && i < fallback->group_count; i++) {
        if (strcmp(fallback->groups[i].config.name, name) == 0) {
            *out_group = i;
            return CD_OK;
        }
    }
    return CD_E_INVALID;
}

int32_t cd_fallback_threshold(const struct cd_fallback *fallback, size_t group) {
    return group < fallback->group_count
               ? atomic_load_explicit(&fallback->groups[group].stored, memory_order_relaxed)
               : CD_THRESHOLD_HARDWARE;
}

/* The lock is only ever held for a copy, so readers do not wait for a measuring under way. */
static void lock_snapshot(const struct cd_fallback *fallback) {
    pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)&fallback->snapshot);
}

static void unlock_snapshot(const struct cd_fallback *fallback) {
    pthread_mutex_unlock((pthread_mutex_t *)(uintptr_t)&fallback->snapshot);
}

size_t cd_fallback_measurements(const struct cd_fallback *fallback, size_t group,
                                struct cd_measurement *out_measurements, size_t capacity) {
    if (group >= fallback->group_count) {
        return 0;
    }
    lock_snapshot(fallback);
    const struct cd_fallback_result *result = &fallback->groups[group].result;
    size_t count = result->count;
    for (size_t i = 0; i < count && i < capacity; i++) {
        out_measurements[i] = result->measurements[i];
    }
    unlock_snapshot(fallback);
    return count;
}

/* Copy as much of a text as fits, with the terminator. */
static void copy_text(char *out, size_t out_len, const char *text) {
    if (out_len > 0) {
        snprintf(out, out_len, "%s", text);
    }
}

void cd_fallback_failure(const struct cd_fallback *fallback, size_t group, char *out,
                         size_t out_len) {
    copy_text(out, out_len, "");
    if (group < fallback->group_count) {
        lock_snapshot(fallback);
        copy_text(out, out_len, fallback->groups[group].result.failure.message);
        unlock_snapshot(fallback);
    }
}

void cd_fallback_sides(const struct cd_fallback *fallback, size_t group, char *out_hardware,
                       char *out_software, size_t out_len) {
    copy_text(out_hardware, out_len, "");
    copy_text(out_software, out_len, "");
    if (group < fallback->group_count) {
        lock_snapshot(fallback);
        copy_text(out_hardware, out_len, fallback->groups[group].result.hardware);
        copy_text(out_software, out_len, fallback->groups[group].result.software);
        unlock_snapshot(fallback);
    }
}

void cd_fallback_counters(const struct cd_fallback *fallback, size_t group,
                          uint64_t out_counters[CD_WHY_COUNT]) {
    for (size_t why = 0; why < CD_WHY_COUNT; why++) {
        out_counters[why] = 0;
        for (size_t i = 0; group < fallback->group_count && i < CD_FALLBACK_STRIPES; i++) {
            out_counters[why] += atomic_load_explicit(
                &fallback->groups[group].counters[i].by_why[why], memory_order_relaxed);
        }
    }
}

/* Copy a text of at most TEXT_MAX bytes, without one closing newline; false if it is longer or has
 * NUL bytes. */
static bool take_text(char out[TEXT_MAX + 1], const char *text, size_t text_len) {
    if (text == NULL || text_len > TEXT_MAX || memchr(text, '\0', text_len) != NULL) {
        return false;
    }
    if (text_len > 0 && text[text_len - 1] == '\n') {
        text_len--;
    }
    memcpy(out, text, text_len);
    out[text_len] = '\0';
    return true;
}

static cd_status parse_boolean(bool *out_value, const char *text) {
    static const char *const words[] = {"1", "y", "yes", "on",  "t", "true",
                                        "0", "n", "no",  "off", "f", "false"};
    const size_t count = sizeof(words) / sizeof(words[0]);
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *out_value = i < count / 2;
            return CD_OK;
        }
    }
    return CD_E_INVALID;
}

/* Value of a digit, or 255. */
static unsigned digit_value(char digit) {
    if (digit >= '0' && digit <= '9') {
        return (unsigned)(digit - '0');
    }
    if (digit >= 'a' && digit <= 'f') {
        return (unsigned)(digit - 'a') + 10;
    }
    if (digit >= 'A' && digit <= 'F') {
        return (unsigned)(digit - 'A') + 10;
    }
    return 255;
}

/* A sign or none, a prefix (0x: base 16, 0: base 8) or none, digits, and nothing else. Beyond 63
 * bits the value saturates: it is out of any range. */
static cd_status parse_integer(int64_t *out_value, const char *text) {
    bool negative = *text == '-';
    uint64_t value = 0;
    unsigned base = 10;
    if (*text == '-' || *text == '+') {
        text++;
    }
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
    } else if (text[0] == '0') {
        base = 8;
    }
    if (*text == '\0') {
        return CD_E_INVALID;
    }
    for (; *text != '\0'; text++) {
        unsigned digit = digit_value(*text);
        if (digit >= base) {
            return CD_E_INVALID;
        }
        value = value > ((uint64_t)INT64_MAX - digit) / base ? (uint64_t)INT64_MAX
                                                             : value * base + digit;
    }
    *out_value = negative ? -(int64_t)value : (int64_t)value;
    return CD_OK;
}

static cd_status write_enabled(struct cd_fallback *fallback, const char *text,
                               struct cd_error *out_error) {
    bool value;
    if (parse_boolean(&value, text) != CD_OK) {
        return cd_error_set(CD_E_INVALID, out_error,
                            "enabled: not one of 1 0 y n yes no on off t f true false");
    }
    if (value) {
        return cd_fallback_enable(fallback, NULL, NULL, out_error);
    }
    cd_fallback_disable(fallback);
    return CD_OK;
}

static cd_status write_threshold(struct cd_fallback *fallback, size_t group, const char *text,
                                 struct cd_error *out_error) {
    const char *name = fallback->groups[group].config.name;
    int64_t value;
    cd_status status = parse_integer(&value, text);
    if (status != CD_OK) {
        return cd_error_set(status, out_error, "%s: not an integer", name);
    }
    status = cd_fallback_set_threshold(fallback, group, value);
    if (status == CD_E_RANGE) {
        return cd_error_set(status, out_error, "%s: out of range, -1 to %d is allowed", name,
                            INT32_MAX);
    }
    return status == CD_OK
               ? CD_OK
               : cd_error_set(status, out_error, "%s: %s", name, cd_status_text(status));
}

cd_status cd_fallback_write(struct cd_fallback *fallback, const char *attribute, const char *text,
                            size_t text_len, struct cd_error *out_error) {
    char copy[TEXT_MAX + 1];
    size_t group = 0;
    bool is_switch = attribute != NULL && strcmp(attribute, "enabled") == 0;
    if (!is_switch && cd_fallback_group_find(&group, fallback, attribute) != CD_OK) {
        return cd_error_set(CD_E_INVALID, out_error, "%.64s: no such attribute",
                            attribute != NULL ? attribute : "(no name)");
    }
    if (!take_text(copy, text, text_len)) {
        return cd_error_set(CD_E_INVALID, out_error, "%s: at most %u bytes and no NUL are allowed",
                            attribute, TEXT_MAX);
    }
    return is_switch ? write_enabled(fallback, copy, out_error)
                     : write_threshold(fallback, group, copy, out_error);
}

cd_status cd_fallback_read(const struct cd_fallback *fallback, const char *attribute, char *out,
                           size_t out_len) {
    size_t group;
    if (attribute == NULL || out == NULL || out_len < READ_MIN) {
        return CD_E_INVALID;
    }
    if (strcmp(attribute, "enabled") == 0) {
        snprintf(out, out_len, "%d\n", cd_fallback_enabled(fallback) ? 1 : 0);
        return CD_OK;
    }
    if (cd_fallback_group_find(&group, fallback, attribute) != CD_OK) {
        return CD_E_INVALID;
    }
    snprintf(out, out_len, "%d\n", cd_fallback_threshold(fallback, group));
    return CD_OK;
}
