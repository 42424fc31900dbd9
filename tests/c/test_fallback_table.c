/* fallback_table.c: which group tables are refused, and with which words (fallback-semantics.md
 * section 2). */
#include "fallback_fixture.h"

static const uint8_t some_key[16] = {1};
static const char *const members[] = {"cbc(aes-dev)"};

static struct cd_group_config good_cipher(void) {
    return fixture_groups[AES];
}

static struct cd_group_config good_aead(void) {
    struct cd_group_config config = fixture_groups[AES];
    config.type = CD_TYPE_AEAD;
    config.algorithm = "authenc(hmac(md5),cbc(aes))";
    config.auth_key = some_key;
    config.auth_key_len = sizeof(some_key);
    config.tag_size = 16;
    return config;
}

static cd_status make(const struct cd_group_config *groups, size_t count) {
    struct cd_fallback_config config = fixture_config();
    struct cd_fallback *made = NULL;
    memset(&error, 0, sizeof(error));
    cd_status status = cd_fallback_new(&made, registry, "dev", groups, count, &config, &error);
    cd_fallback_free(made);
    return status;
}

/* Refused with one error that names the group and the field, and nothing is registered. */
static void check_refused(const struct cd_group_config *config, const char *text) {
    unsigned before = registered();
    CHECK_EQ(make(config, 1), CD_E_INVALID);
    if (strstr(error.message, text) == NULL) {
        printf("'%s' does not say '%s'\n", error.message, text);
        CHECK(false);
    }
    CHECK_EQ(registered(), before);
}

static void test_name(void) {
    struct cd_group_config pair[2];
    struct cd_group_config config = good_cipher();
    char long_name[CD_NAME_MAX + 1];
    set_up();
    CHECK_EQ(make(&config, 1), CD_OK);
    config.name = "";
    check_refused(&config, "group number 0: name: missing");
    config.name = NULL;
    check_refused(&config, "group number 0: name: missing");
    config.name = "enabled";
    check_refused(&config, "group 'enabled': name:");
    memset(long_name, 'g', CD_NAME_MAX);
    long_name[CD_NAME_MAX] = '\0';
    config.name = long_name;
    check_refused(&config, "name: too long");
    long_name[CD_NAME_MAX - 1] = '\0';
    CHECK_EQ(make(&config, 1), CD_OK);
    pair[0] = good_cipher();
    pair[1] = fixture_groups[DES];
    CHECK_EQ(make(pair, 2), CD_OK);
    pair[1].name = "aes";
    CHECK_EQ(make(pair, 2), CD_E_INVALID);
    CHECK(strstr(error.message, "group 'aes': name: another") != NULL);
    tear_down();
}

static void test_representative(void) {
    struct cd_group_config config = good_cipher();
    char long_name[CD_NAME_MAX + 1];
    memset(long_name, 'x', CD_NAME_MAX);
    long_name[CD_NAME_MAX] = '\0';
    set_up();
    config.type = (enum cd_type)0;
    check_refused(&config, "group 'aes': type:");
    config.type = (enum cd_type)4;
    check_refused(&config, "group 'aes': type:");
    config = good_cipher();
    config.algorithm = NULL;
    check_refused(&config, "group 'aes': algorithm: missing");
    config.algorithm = "";
    check_refused(&config, "group 'aes': algorithm: missing");
    config.algorithm = long_name;
    check_refused(&config, "group 'aes': algorithm: too long");
    config = good_cipher();
    config.driver = NULL;
    check_refused(&config, "group 'aes': driver: missing");
    config.driver = "";
    check_refused(&config, "group 'aes': driver: missing");
    config.driver = long_name;
    check_refused(&config, "group 'aes': driver: too long");
    tear_down();
}

static void test_key(void) {
    struct cd_group_config config = good_cipher();
    set_up();
    config.key = NULL;
    check_refused(&config, "group 'aes': key: missing");
    config.key_len = 0;
    check_refused(&config, "group 'aes': key: missing");
    config = good_cipher();
    config.key_len = 0;
    check_refused(&config, "group 'aes': key: missing");
    config = good_cipher();
    config.auth_key = some_key;
    config.auth_key_len = 1;
    check_refused(&config, "group 'aes': auth_key: only");
    config = good_cipher();
    config.tag_size = 16;
    check_refused(&config, "group 'aes': tag_size: only");
    tear_down();
}

/* For authenc an authentication key, for every aead a tag size that is not 0. */
static void test_aead(void) {
    struct cd_group_config config = good_aead();
    set_up();
    config.tag_size = 0;
    check_refused(&config, "group 'aes': tag_size: required");
    config.algorithm = "gcm(aes)";
    config.auth_key = NULL;
    config.auth_key_len = 0;
    check_refused(&config, "group 'aes': tag_size: required");
    config = good_aead();
    config.auth_key = NULL;
    check_refused(&config, "group 'aes': auth_key: missing");
    config.auth_key_len = 0;
    check_refused(&config, "group 'aes': auth_key: missing");
    config = good_aead();
    config.auth_key_len = 0;
    check_refused(&config, "group 'aes': auth_key: missing");
    config = good_aead();
    config.key = NULL;
    check_refused(&config, "group 'aes': key: missing");
    tear_down();
}

static void test_members(void) {
    static const char *const with_empty[] = {"cbc(aes-dev)", ""};
    static const char *const with_null[] = {NULL};
    static const char *const twice[] = {"a", "b", "a"};
    char name[CD_NAME_MAX];
    const char *named[] = {name};
    struct cd_group_config pair[2] = {fixture_groups[AES], fixture_groups[DES]};
    struct cd_group_config config = good_cipher();
    set_up();
    config.member_count = 0;
    check_refused(&config, "group 'aes': members: at least one");
    config.member_count = 1;
    config.members = NULL;
    check_refused(&config, "group 'aes': members: at least one");
    config.members = with_null;
    check_refused(&config, "group 'aes': members: number 0: missing");
    config.members = with_empty;
    config.member_count = 2;
    check_refused(&config, "group 'aes': members: number 1: missing");
    config.members = twice;
    config.member_count = 3;
    check_refused(&config, "group 'aes': members: 'a' is already in group 'aes'");
    pair[1].members = members;
    CHECK_EQ(make(pair, 2), CD_E_INVALID);
    CHECK(strstr(error.message, "group 'des': members: 'cbc(aes-dev)' is already in group 'aes'") !=
          NULL);
    /* The name of the proxy must fit too. */
    config.members = named;
    config.member_count = 1;
    memset(name, 'm', sizeof(name));
    name[CD_NAME_MAX - 10] = '\0';
    check_refused(&config, "group 'aes': members: number 0: too long");
    name[CD_NAME_MAX - 11] = '\0';
    CHECK_EQ(make(&config, 1), CD_OK);
    tear_down();
}

static void test_handle_settings(void) {
    struct cd_fallback *made = NULL;
    struct cd_fallback_config config;
    set_up();
    CHECK_EQ(make(NULL, 1), CD_E_INVALID);
    CHECK_EQ(make(fixture_groups, 0), CD_E_INVALID);
    CHECK(strstr(error.message, "groups") != NULL);
    config = fixture_config();
    CHECK_EQ(cd_fallback_new(&made, registry, "", fixture_groups, 2, &config, &error),
             CD_E_INVALID);
    CHECK(strstr(error.message, "name") != NULL);
    CHECK_EQ(cd_fallback_new(&made, registry, NULL, fixture_groups, 2, &config, NULL),
             CD_E_INVALID);
    CHECK_EQ(cd_fallback_new(&made, NULL, "dev", fixture_groups, 2, &config, &error), CD_E_INVALID);
    CHECK_EQ(cd_fallback_new(&made, registry, "dev", fixture_groups, 2, NULL, &error),
             CD_E_INVALID);
    config.clock.now = NULL;
    CHECK_EQ(cd_fallback_new(&made, registry, "dev", fixture_groups, 2, &config, &error),
             CD_E_INVALID);
    CHECK(strstr(error.message, "clock") != NULL);
    config = fixture_config();
    config.software_flags = CD_FLAG_MODELLED;
    config.software_mask = 0;
    CHECK_EQ(cd_fallback_new(&made, registry, "dev", fixture_groups, 2, &config, &error),
             CD_E_INVALID);
    CHECK(strstr(error.message, "software_flags") != NULL);
    config.software_flags = CD_FLAG_ASYNC;
    config.software_mask = CD_FLAG_ASYNC;
    CHECK_EQ(cd_fallback_new(&made, registry, "dev", fixture_groups, 2, &config, &error),
             CD_E_INVALID);
    CHECK(made == NULL);
    tear_down();
}

/* "Everything is copied": the table may be scribbled over as soon as new returns. */
static void test_everything_is_copied(void) {
    char name[] = "grp", algorithm[] = "cbc(aes)", driver[] = "cbc(aes-dev)";
    char member[] = "cbc(aes-dev)";
    const char *list[] = {member};
    uint8_t key[16];
    struct cd_group_config config = good_cipher();
    struct cd_fallback_config settings;
    struct cd_fallback *made = NULL;
    struct cd_cipher *cipher;
    set_up();
    settings = fixture_config();
    memcpy(key, some_key, sizeof(key));
    config.name = name;
    config.algorithm = algorithm;
    config.driver = driver;
    config.key = key;
    config.members = list;
    config.member_count = 1;
    CHECK_EQ(cd_fallback_new(&made, registry, "dev", &config, 1, &settings, &error), CD_OK);
    memset(name, 'x', sizeof(name) - 1);
    memset(algorithm, 'x', sizeof(algorithm) - 1);
    memset(driver, 'x', sizeof(driver) - 1);
    memset(member, 'x', sizeof(member) - 1);
    memset(key, 0, sizeof(key));
    list[0] = NULL;
    memset(&config, 0, sizeof(config));
    memset(&settings, 0, sizeof(settings));
    CHECK_EQ(cd_fallback_group_count(made), 1);
    CHECK(strcmp(cd_fallback_group_name(made, 0), "grp") == 0);
    CHECK_EQ(cd_fallback_enable(made, NULL, NULL, &error), CD_OK);
    CHECK_EQ(cd_fallback_threshold(made, 0), 512);
    cipher = new_cipher("cbc(aes)");
    CHECK(is_bound_to(cipher, "fallback(cbc(aes-dev))"));
    cd_cipher_free(cipher);
    cd_fallback_free(made);
    tear_down();
}

/* Made, it is off, and nothing is registered. */
static void test_new_registers_nothing(void) {
    set_up();
    CHECK_EQ(registered(), FAKES);
    CHECK(!cd_fallback_enabled(fallback));
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 0);
    tear_down();
}

int main(void) {
    RUN(test_name);
    RUN(test_representative);
    RUN(test_key);
    RUN(test_aead);
    RUN(test_members);
    RUN(test_handle_settings);
    RUN(test_everything_is_copied);
    RUN(test_new_registers_nothing);
    return test_end();
}
