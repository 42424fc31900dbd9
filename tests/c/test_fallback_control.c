/* The control files as text, and the getters (fallback-semantics.md section 7). */
#include "fallback_fixture.h"

static cd_status put(const char *attribute, const char *text) {
    memset(&error, 0, sizeof(error));
    return cd_fallback_write(fallback, attribute, text, strlen(text), &error);
}

static bool reads(const char *attribute, const char *expected) {
    char text[16];
    return cd_fallback_read(fallback, attribute, text, sizeof(text)) == CD_OK &&
           strcmp(text, expected) == 0;
}

/* Accepted integers, base by prefix (R051). */
static void test_integers_accepted_R051(void) {
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"512", "512\n"},
        {"512\n", "512\n"},
        {"0", "0\n"},
        {"0x200", "512\n"},
        {"-1", "-1\n"},
        {"-1\n", "-1\n"},
        {"0X1f", "31\n"},
        {"0x1F\n", "31\n"},
        {"010", "8\n"},
        {"+16", "16\n"},
        {"-0", "0\n"},
        {"-0x1", "-1\n"},
        {"-01", "-1\n"},
        {"2147483647", "2147483647\n"},
        {"00", "0\n"},
        {"0x7fffffff", "2147483647\n"},
        {"000000000001", "1\n"},
    };
    set_up();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_EQ(put("aes", cases[i].text), CD_OK);
        if (!reads("aes", cases[i].shown)) {
            printf("'%s' does not read as %s", cases[i].text, cases[i].shown);
            CHECK(false);
        }
        CHECK(reads("des", "0\n"));
    }
    tear_down();
}

/* Refused, the old value stays, the error names the field (R051). */
static void test_integers_refused_R051(void) {
    static const struct {
        const char *text;
        cd_status status;
    } cases[] = {
        {"", CD_E_INVALID},
        {"\n", CD_E_INVALID},
        {"abc", CD_E_INVALID},
        {"512 bytes", CD_E_INVALID},
        {"1.5", CD_E_INVALID},
        {"512\n\n", CD_E_INVALID},
        {" 512", CD_E_INVALID},
        {"512 ", CD_E_INVALID},
        {"\t1", CD_E_INVALID},
        {"-", CD_E_INVALID},
        {"+", CD_E_INVALID},
        {"--1", CD_E_INVALID},
        {"+-1", CD_E_INVALID},
        {"- 1", CD_E_INVALID},
        {"0x", CD_E_INVALID},
        {"0xg", CD_E_INVALID},
        {"08", CD_E_INVALID},
        {"1a", CD_E_INVALID},
        {"1_000", CD_E_INVALID},
        {"0b1", CD_E_INVALID},
        {"512\r\n", CD_E_INVALID},
        {"\xd9\xa1", CD_E_INVALID},
        {"-2", CD_E_RANGE},
        {"2147483648", CD_E_RANGE},
        {"4294967295", CD_E_RANGE},
        {"4294967808", CD_E_RANGE},
        {"0xffffffff", CD_E_RANGE},
        {"-2147483648", CD_E_RANGE},
        {"9223372036854775807", CD_E_RANGE},
        {"18446744073709551615", CD_E_RANGE},
        {"18446744073709551616", CD_E_RANGE},
        {"18446744073709552128", CD_E_RANGE},
        {"99999999999999999999", CD_E_RANGE},
        {"-99999999999999999999", CD_E_RANGE},
        {"0xffffffffffffffffffffffffffffffff", CD_E_RANGE},
        {"99999999999999999999x", CD_E_INVALID},
    };
    set_up();
    CHECK_EQ(put("aes", "123"), CD_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cd_status status = put("aes", cases[i].text);
        if (status != cases[i].status || strncmp(error.message, "aes: ", 5) != 0) {
            printf("'%s': %s '%s'\n", cases[i].text, cd_status_name(status), error.message);
            CHECK(false);
        }
        CHECK(reads("aes", "123\n"));
    }
    tear_down();
}

/* Long texts, NUL bytes, no text (R051). */
static void test_text_limits_R051(void) {
    char text[1025];
    set_up();
    CHECK_EQ(put("aes", "123"), CD_OK);
    memset(text, '0', sizeof(text));
    CHECK_EQ(cd_fallback_write(fallback, "aes", text, 1025, &error), CD_E_INVALID);
    CHECK_EQ(cd_fallback_write(fallback, "aes", text, 65, &error), CD_E_INVALID);
    CHECK(strstr(error.message, "aes: ") != NULL);
    CHECK(reads("aes", "123\n"));
    CHECK_EQ(cd_fallback_write(fallback, "aes", text, 64, &error), CD_OK);
    CHECK(reads("aes", "0\n"));
    CHECK_EQ(cd_fallback_write(fallback, "aes", "1\0", 2, &error), CD_E_INVALID);
    CHECK_EQ(cd_fallback_write(fallback, "aes", "1\0002", 3, &error), CD_E_INVALID);
    CHECK_EQ(cd_fallback_write(fallback, "aes", "\0", 1, &error), CD_E_INVALID);
    CHECK_EQ(cd_fallback_write(fallback, "enabled", "1\0", 2, &error), CD_E_INVALID);
    CHECK(strstr(error.message, "enabled: ") != NULL);
    CHECK_EQ(cd_fallback_write(fallback, "aes", NULL, 0, &error), CD_E_INVALID);
    CHECK_EQ(cd_fallback_write(fallback, "aes", "1", 1, NULL), CD_OK);
    CHECK_EQ(cd_fallback_write(fallback, "aes", "abc", 3, NULL), CD_E_INVALID);
    CHECK_EQ(cd_fallback_write(fallback, "aes", "12 bytes", 2, NULL), CD_OK); /* the length rules */
    CHECK(reads("aes", "12\n"));
    tear_down();
}

static void test_booleans(void) {
    static const char *const yes[] = {"1",  "y", "Y", "yes",  "YES",  "yEs", "on",    "ON",
                                      "On", "t", "T", "true", "TRUE", "1\n", "true\n"};
    static const char *const no[] = {"0",   "n", "N", "no",    "NO",    "off", "OFF",
                                     "Off", "f", "F", "false", "FALSE", "0\n", "off\n"};
    static const char *const neither[] = {"",   "2",  "-1", "o",    "ye", "yess",  " 1",  "1 ",
                                          "00", "01", "of", "nope", "\n", "1\n\n", "tru", "0x1"};
    set_up();
    CHECK(reads("enabled", "0\n"));
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        CHECK_EQ(put("enabled", yes[i]), CD_OK);
        CHECK(cd_fallback_enabled(fallback));
        CHECK(reads("enabled", "1\n"));
        CHECK_EQ(put("enabled", no[i % (sizeof(no) / sizeof(no[0]))]), CD_OK);
        CHECK(!cd_fallback_enabled(fallback));
        CHECK(reads("enabled", "0\n"));
    }
    for (int on = 0; on < 2; on++) {
        CHECK_EQ(put("enabled", on != 0 ? "1" : "0"), CD_OK);
        for (size_t i = 0; i < sizeof(neither) / sizeof(neither[0]); i++) {
            CHECK_EQ(put("enabled", neither[i]), CD_E_INVALID);
            CHECK(strncmp(error.message, "enabled: ", 9) == 0);
            CHECK_EQ(cd_fallback_enabled(fallback), on != 0);
        }
    }
    tear_down();
}

/* Enabling by text measures, and returns when that is done; its errors come through. */
static void test_enable_by_text(void) {
    set_up();
    CHECK_EQ(put("aes", "77"), CD_OK);
    CHECK(reads("aes", "77\n"));
    CHECK_EQ(put("enabled", "yes\n"), CD_OK);
    CHECK(reads("aes", "512\n"));
    CHECK(reads("des", "-1\n"));
    CHECK_EQ(put("enabled", "off"), CD_OK);
    CHECK(reads("aes", "512\n"));
    fakes[HW_CTR].implementation.iv_size = 8;
    CHECK_EQ(put("enabled", "1"), CD_E_MISMATCH);
    CHECK(strstr(error.message, "ctr(aes-dev)") != NULL);
    CHECK(reads("enabled", "0\n"));
    tear_down();
}

static void test_attributes(void) {
    char text[16] = "x";
    char long_name[300];
    set_up();
    CHECK_EQ(put("aesx", "1"), CD_E_INVALID);
    CHECK(strstr(error.message, "aesx: no such attribute") != NULL);
    CHECK_EQ(put("", "1"), CD_E_INVALID);
    CHECK_EQ(put("Enabled", "1"), CD_E_INVALID);
    memset(long_name, 'a', sizeof(long_name));
    long_name[sizeof(long_name) - 1] = '\0';
    CHECK_EQ(put(long_name, "1"), CD_E_INVALID);
    CHECK_EQ(cd_fallback_write(fallback, NULL, "1", 1, &error), CD_E_INVALID);
    CHECK_EQ(cd_fallback_read(fallback, "aesx", text, sizeof(text)), CD_E_INVALID);
    CHECK_EQ(cd_fallback_read(fallback, NULL, text, sizeof(text)), CD_E_INVALID);
    CHECK_EQ(cd_fallback_read(fallback, "aes", text, 15), CD_E_INVALID);
    CHECK(strcmp(text, "x") == 0);
    CHECK_EQ(cd_fallback_read(fallback, "aes", text, 16), CD_OK);
    CHECK(strcmp(text, "0\n") == 0);
    tear_down();
}

static void test_set_threshold(void) {
    set_up();
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, -2), CD_E_RANGE);
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, (int64_t)INT32_MAX + 1), CD_E_RANGE);
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, INT64_MIN), CD_E_RANGE);
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, INT64_MAX), CD_E_RANGE);
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, (int64_t)1 << 32), CD_E_RANGE);
    CHECK_EQ(cd_fallback_set_threshold(fallback, 2, 1), CD_E_INVALID);
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 0);
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, INT32_MAX), CD_OK);
    CHECK_EQ(cd_fallback_threshold(fallback, AES), INT32_MAX);
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, -1), CD_OK);
    CHECK_EQ(cd_fallback_threshold(fallback, AES), -1);
    tear_down();
}

static void test_getters(void) {
    struct cd_measurement m[3];
    char hardware[CD_NAME_MAX] = "?", software[CD_NAME_MAX] = "?", small[4];
    uint64_t counters[CD_WHY_COUNT] = {7, 7, 7, 7, 7};
    size_t group = 9;
    set_up();
    CHECK_EQ(cd_fallback_group_count(fallback), 2);
    CHECK(strcmp(cd_fallback_group_name(fallback, DES), "des") == 0);
    CHECK(cd_fallback_group_name(fallback, 2) == NULL);
    CHECK_EQ(cd_fallback_group_find(&group, fallback, "des"), CD_OK);
    CHECK_EQ(group, DES);
    CHECK_EQ(cd_fallback_group_find(&group, fallback, "enabled"), CD_E_INVALID);
    CHECK_EQ(cd_fallback_group_find(&group, fallback, NULL), CD_E_INVALID);
    CHECK_EQ(group, DES);
    CHECK_EQ(cd_fallback_measurements(fallback, AES, m, 3), 0);
    CHECK(enable());
    CHECK_EQ(cd_fallback_measurements(fallback, AES, m, 3), 6); /* only 3 are written */
    CHECK_EQ(m[2].size, 128);
    CHECK_EQ(cd_fallback_measurements(fallback, 2, m, 3), 0);
    cd_fallback_sides(fallback, AES, hardware, software, CD_NAME_MAX);
    CHECK(strcmp(hardware, "cbc(aes-dev)") == 0 && strcmp(software, "cbc(aes-soft)") == 0);
    cd_fallback_sides(fallback, AES, small, small, sizeof(small));
    CHECK(strcmp(small, "cbc") == 0);
    cd_fallback_sides(fallback, 2, hardware, software, CD_NAME_MAX);
    CHECK(hardware[0] == '\0' && software[0] == '\0');
    cd_fallback_failure(fallback, 2, small, sizeof(small));
    CHECK(small[0] == '\0');
    cd_fallback_failure(fallback, AES, small, 0);
    cd_fallback_counters(fallback, 2, counters);
    CHECK_EQ(counters[0] + counters[4], 0);
    CHECK_EQ(cd_fallback_threshold(fallback, 2), 0);
    tear_down();
}

int main(void) {
    RUN(test_integers_accepted_R051);
    RUN(test_integers_refused_R051);
    RUN(test_text_limits_R051);
    RUN(test_booleans);
    RUN(test_enable_by_text);
    RUN(test_attributes);
    RUN(test_set_threshold);
    RUN(test_getters);
    return test_end();
}
