/*
 * Hashes, HMACs and aeads of the driver when the engine, the bus or the registry fail: every
 * request ends once, nothing stays mapped or held, states and destinations are as they were, and
 * the next request works.
 */
#include "cryptodispatch/software.h"
#include "driver_fixture.h"

#define HASH_NAME "sha256-eip93"
#define HMAC_NAME "hmac(sha1-eip93)"
#define AEAD_NAME "authenc(hmac(sha1-eip93),cbc(aes-eip93))"

/* One of each kind of transform, and its own text. */
struct trio {
    struct cd_hash *hash, *hmac;
    struct cd_aead *aead;
};

static struct fixture digest_fixture(uint32_t entries) {
    struct fixture f = fixture_new_segments(entries, 64);
    CHECK_EQ(cd_software_register(f.registry, NULL), CD_OK);
    return f;
}

static struct trio trio_new(struct fixture *f) {
    struct trio trio = {NULL, NULL, NULL};
    CHECK_EQ(cd_hash_new(&trio.hash, f->registry, HASH_NAME, 0, 0), CD_OK);
    CHECK_EQ(cd_hash_new(&trio.hmac, f->registry, HMAC_NAME, 0, 0), CD_OK);
    CHECK_EQ(cd_aead_new(&trio.aead, f->registry, AEAD_NAME, 0, 0), CD_OK);
    CHECK_EQ(cd_hash_set_key(trio.hmac, fixture_key, 20), CD_OK);
    CHECK_EQ(cd_aead_set_key(trio.aead, fixture_key, 16, fixture_key, 20), CD_OK);
    return trio;
}

static void trio_free(struct trio *trio) {
    cd_hash_free(trio->hash);
    cd_hash_free(trio->hmac);
    cd_aead_free(trio->aead);
}

/* One request of a kind: 0 hash, 1 hmac, 2 encryption, 3 decryption, 4 update, 5 finish. What it
 * must not touch on an error is checked here. */
#define KINDS 6
static cd_status run_kind(struct trio *trio, unsigned kind) {
    static const uint8_t text[160] = {1, 2, 3};
    uint8_t out[160], tag[20] = {0};
    struct cd_hash_request hash = {.source = text, .length = 160, .digest = out};
    struct cd_aead_request aead = {.source = text,
                                   .destination = out,
                                   .length = 160,
                                   .aad = fixture_key,
                                   .aad_len = 8,
                                   .tag = tag};
    struct cd_hash_state state = {0}, before;
    cd_status status;
    memset(out, 0x77, sizeof(out));
    if (kind < 2) {
        status = cd_hash_digest_wait(kind == 0 ? trio->hash : trio->hmac, &hash);
    } else if (kind < 4) {
        status = kind == 2 ? cd_aead_encrypt_wait(trio->aead, &aead)
                           : cd_aead_decrypt_wait(trio->aead, &aead);
    } else {
        status = cd_hash_begin(trio->hmac, &state);
        if (status == CD_OK) { /* stays in the buffer */
            status = cd_hash_update(trio->hmac, &state, text, 17);
        }
        before = state;
        if (status == CD_OK) {
            status = kind == 4 ? cd_hash_update(trio->hmac, &state, text, 160)
                               : cd_hash_finish(trio->hmac, &state, out);
        }
        if (status != CD_OK) {
            CHECK(memcmp(&state, &before, sizeof(state)) == 0);
        }
    }
    for (size_t i = 0; status != CD_OK && i < sizeof(out); i++) {
        CHECK_EQ(out[i], 0x77);
    }
    return status;
}

static struct fake_answer scripted;
static unsigned scripted_after, scripted_count;

static void answer_as_scripted(struct fake *fake) {
    while (fake->unanswered > 0 && !fake->stopped) {
        bool now = scripted_after == 0 && scripted_count > 0;
        fake_answer(fake, now ? scripted : (struct fake_answer){0});
        scripted_count -= now ? 1 : 0;
        scripted_after -= scripted_after > 0 ? 1 : 0;
    }
}

static void check_at_rest(struct fixture *f) {
    struct cd_eip93_driver_counters counters = fixture_counters(f);
    CHECK_EQ(counters.requests, counters.completed);
    CHECK_EQ(counters.maps, counters.unmaps);
    CHECK_EQ(fake_mapped(f->fake), 0);
}

/* R007: every error status, in every descriptor of every kind. */
static void error_statuses(void) {
    static const uint32_t statuses[] = {0x01, 0x02, 0x04, 0x08, 0x28, 0x38, 0x58, 0x68, 0x78, 0x88};
    static const unsigned descriptors[KINDS] = {3, 3, 1, 1, 2, 1};
    for (unsigned s = 0; s < sizeof(statuses) / sizeof(statuses[0]); s++) {
        struct fixture f = digest_fixture(8);
        struct trio trio = trio_new(&f);
        f.fake->irq_hook = answer_as_scripted;
        for (unsigned kind = 0; kind < KINDS; kind++) {
            for (unsigned after = 0; after < descriptors[kind]; after++) {
                scripted = (struct fake_answer){.status = statuses[s]};
                scripted_after = after;
                scripted_count = 1;
                bool forged = kind == 3 && statuses[s] == 0x01;
                CHECK_EQ(run_kind(&trio, kind), forged ? CD_E_AUTHENTICATION : CD_E_DEVICE);
                CHECK_EQ(scripted_count, 0);
                CHECK_EQ(run_kind(&trio, kind), CD_OK);
                check_at_rest(&f);
            }
        }
        trio_free(&trio);
        fixture_end(&f);
    }
}

/* The length that the engine reports is part of its answer. */
static void short_results(void) {
    struct fixture f = digest_fixture(8);
    struct trio trio = trio_new(&f);
    f.fake->irq_hook = answer_as_scripted;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        if (kind == 4) { /* nothing that could be shorter */
            continue;
        }
        scripted = (struct fake_answer){.length_less = 4};
        scripted_after = kind < 2 ? 2 : 0;
        scripted_count = 1;
        CHECK_EQ(run_kind(&trio, kind), CD_E_DEVICE);
        CHECK_EQ(run_kind(&trio, kind), CD_OK);
    }
    check_at_rest(&f);
    trio_free(&trio);
    fixture_end(&f);
}

/* An engine that does not answer: the bound holds for the calls that wait inside, too. */
static void engine_hangs(void) {
    struct fixture f = digest_fixture(8);
    struct trio trio = trio_new(&f);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        uint64_t start = f.fake->time_ns;
        f.fake->irq_hook = NULL;
        CHECK_EQ(run_kind(&trio, kind), CD_E_TIMEOUT);
        CHECK(f.fake->time_ns - start < 2 * (uint64_t)TIMEOUT_NS);
        f.fake->irq_hook = fake_answer_all;
        CHECK_EQ(run_kind(&trio, kind), CD_OK);
    }
    CHECK_EQ(fixture_counters(&f).resets, KINDS);
    check_at_rest(&f);
    trio_free(&trio);
    fixture_end(&f);
}

/* R023: the n-th mapping fails. The first one of a request has nothing to wait for. */
static void mapping_fails(void) {
    for (unsigned kind = 0; kind < KINDS; kind++) {
        for (unsigned n = 1; n <= 5; n++) {
            struct fixture f = digest_fixture(8);
            struct trio trio = trio_new(&f);
            f.fake->irq_hook = fake_answer_all;
            f.fake->fail_map = n;
            bool maps = kind != 2 && kind != 3; /* aeads are in memory that is reachable already */
            CHECK_EQ(run_kind(&trio, kind), n == 1 && maps ? CD_E_NO_MEMORY : CD_OK);
            check_at_rest(&f);
            f.fake->fail_map = 0;
            CHECK_EQ(run_kind(&trio, kind), CD_OK);
            trio_free(&trio);
            fixture_end(&f);
        }
    }
}

struct aead_job {
    struct cd_aead_request request;
    uint8_t text[32], tag[20];
    unsigned completions;
};

static void aead_completed(struct cd_aead_request *request, void *context) {
    struct aead_job *job = context;
    (void)request;
    job->completions++;
}

static void aead_start(struct trio *trio, struct aead_job *job) {
    *job = (struct aead_job){.completions = 0};
    job->request = (struct cd_aead_request){.source = job->text,
                                            .destination = job->text,
                                            .length = 32,
                                            .aad = fixture_key,
                                            .aad_len = 8,
                                            .tag = job->tag,
                                            .complete = aead_completed,
                                            .context = job};
    CHECK_EQ(cd_aead_encrypt(trio->aead, &job->request), CD_IN_PROGRESS);
}

/* R061: more aeads than bounce areas. They wait in the queue, with what comes behind them. */
static void few_bounce_areas(void) {
    struct fixture f = digest_fixture(64);
    struct trio trio = trio_new(&f);
    static struct aead_job jobs[200];
    struct job behind;
    for (unsigned i = 0; i < 200; i++) {
        aead_start(&trio, &jobs[i]);
    }
    CHECK_EQ(f.fake->unanswered, 4);
    CHECK_EQ(fixture_counters(&f).backlogged, 196);
    job_start(&f, &behind, 32, 1);
    CHECK_EQ(f.fake->unanswered, 4);
    fixture_drain(&f);
    for (unsigned i = 0; i < 200; i++) {
        CHECK_EQ(jobs[i].completions, 1);
        CHECK_EQ(jobs[i].request.status, CD_OK);
        CHECK_EQ(jobs[i].text[31], 0xA5);
    }
    CHECK(job_is_right(&behind));
    check_at_rest(&f);
    trio_free(&trio);
    fixture_end(&f);
}

/* Closing ends aeads and hashes wherever they are; their transforms live on without a device. */
static void closed_under_way(void) {
    struct fixture f = digest_fixture(8);
    struct trio trio = trio_new(&f);
    struct aead_job jobs[6];
    uint8_t text[1024] = {0}, digest[32];
    struct cd_hash_request hash = {.source = text, .length = 1024, .digest = digest};
    struct cd_hash_request empty = {.digest = digest};
    struct cd_hash_state state;
    for (unsigned i = 0; i < 3; i++) {
        aead_start(&trio, &jobs[i]);
    }
    CHECK_EQ(cd_hash_digest(trio.hash, &hash), CD_IN_PROGRESS); /* partly in the ring */
    for (unsigned i = 3; i < 6; i++) {
        aead_start(&trio, &jobs[i]);
    }
    cd_eip93_driver_free(f.driver);
    f.driver = NULL;
    f.fake->closed = true;
    for (unsigned i = 0; i < 6; i++) {
        CHECK_EQ(jobs[i].completions, 1);
        CHECK_EQ(jobs[i].request.status, CD_E_NO_DEVICE);
    }
    CHECK_EQ(hash.status, CD_E_NO_DEVICE);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        CHECK_EQ(run_kind(&trio, kind), CD_E_NO_DEVICE);
    }
    CHECK_EQ(cd_hash_digest(trio.hash, &empty), CD_E_NO_DEVICE); /* also what software would do */
    CHECK_EQ(cd_hash_begin(trio.hash, &state), CD_E_NO_DEVICE);
    CHECK_EQ(cd_hash_set_key(trio.hmac, fixture_key, 1), CD_E_NO_DEVICE);
    CHECK_EQ(cd_aead_set_key(trio.aead, fixture_key, 16, fixture_key, 1), CD_E_NO_DEVICE);
    CHECK_EQ(run_kind(&trio, 1), CD_E_NO_KEY);
    CHECK_EQ(run_kind(&trio, 2), CD_E_NO_KEY);
    CHECK_EQ(f.fake->bad, 0);
    trio_free(&trio);
    fixture_end(&f);
}

/* R027, R029, R043: no key, and keys that are refused. */
static void keys_are_refused(void) {
    struct fixture f = digest_fixture(8);
    struct trio trio = trio_new(&f);
    struct cd_aead *counter = NULL;
    f.fake->irq_hook = fake_answer_all;
    cd_hash_free(trio.hmac);
    cd_aead_free(trio.aead);
    CHECK_EQ(cd_hash_new(&trio.hmac, f.registry, HMAC_NAME, 0, 0), CD_OK);
    CHECK_EQ(cd_aead_new(&trio.aead, f.registry, AEAD_NAME, 0, 0), CD_OK);
    for (unsigned kind = 1; kind < KINDS; kind++) {
        CHECK_EQ(run_kind(&trio, kind), CD_E_NO_KEY);
    }
    CHECK_EQ(cd_aead_set_key(trio.aead, fixture_key, 16, fixture_key, 20), CD_OK);
    for (size_t length = 0; length < 40; length++) {
        bool good = length == 16 || length == 24 || length == 32;
        CHECK_EQ(cd_aead_set_key(trio.aead, fixture_key, length, fixture_key, 20),
                 good ? CD_OK : CD_E_KEY);
        CHECK_EQ(run_kind(&trio, 2), good ? CD_OK : CD_E_NO_KEY);
    }
    CHECK_EQ(cd_aead_new(&counter, f.registry, "authenc(hmac(sha256),rfc3686(ctr(aes)))", 0, 0),
             CD_OK);
    for (size_t length = 0; length < 40; length++) {
        bool good = length == 20 || length == 28 || length == 36;
        CHECK_EQ(cd_aead_set_key(counter, fixture_key, length, fixture_key, 20),
                 good ? CD_OK : CD_E_KEY);
    }
    CHECK_EQ(cd_hash_set_key(trio.hash, fixture_key, 16), CD_E_KEY);
    cd_aead_free(counter);
    trio_free(&trio);
    fixture_end(&f);
}

/* Without software there is nothing to lean on: a clear error, and never an engine's or a slower
 * proxy's implementation in its place. R037: the software may come later. */
static void software_comes_later(void) {
    struct fixture f = fixture_new(8);
    struct cd_hash *hash = NULL;
    struct cd_aead *aead = NULL;
    CHECK_EQ(cd_hash_new(&hash, f.registry, HASH_NAME, 0, 0), CD_E_UNKNOWN_ALGORITHM);
    CHECK_EQ(cd_aead_new(&aead, f.registry, AEAD_NAME, 0, 0), CD_E_UNKNOWN_ALGORITHM);
    CHECK_EQ(cd_software_register(f.registry, NULL), CD_OK);
    CHECK_EQ(cd_hash_new(&hash, f.registry, HASH_NAME, 0, 0), CD_OK);
    CHECK_EQ(cd_aead_new(&aead, f.registry, AEAD_NAME, 0, 0), CD_OK);
    cd_hash_free(hash);
    cd_aead_free(aead);
    fixture_end(&f);
}

/* ---- Registration ---- */

static unsigned eip93_count;

static bool count_eip93(const struct cd_implementation *implementation, void *context) {
    (void)context;
    if (strstr(implementation->driver, "-eip93") != NULL) {
        bool cipher = implementation->type == CD_TYPE_CIPHER;
        eip93_count++;
        CHECK_EQ(implementation->priority, 1500);
        CHECK_EQ(implementation->flags, CD_FLAG_ASYNC | (cipher ? 0 : CD_FLAG_NEED_FALLBACK));
    }
    return true;
}

static unsigned registered(struct cd_registry *registry) {
    eip93_count = 0;
    cd_registry_each(registry, count_eip93, NULL);
    return eip93_count;
}

/* A combination only if both parts are there; all gone after closing. */
static void algorithms_by_option(void) {
    static const struct {
        uint32_t option_1;
        unsigned count;
    } rows[] = {
        {0x000FE007, 32}, /* 93ies */
        {0x00022005, 14}, /* 93i: 8 ciphers, sha1, 4 aeads */
        {0x000EE005, 26}, /* 93ie: 8, 3 hashes and hmacs, 12 */
        {0x00032007, 20}, /* 93is: 8, 2, 8 */
        {0x000F0001, 20}, /* DES and hashes: 4, 8, 8 */
        {0x000F0000, 8},  /* hashes */
        {0x000FC000, 8},  /* key sizes without AES */
        {0x00010004, 2},  /* AES without key sizes, md5 */
        {0x00000000, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fake *fake = fake_new();
        struct cd_eip93_bus bus;
        struct cd_registry *registry;
        struct cd_eip93_driver *driver;
        fake->registers[0x1F4 / 4] = rows[i].option_1;
        fake_bus(fake, &bus);
        CHECK_EQ(cd_registry_new(&registry), CD_OK);
        for (int again = 0; again < 3; again++) { /* R033 */
            CHECK_EQ(cd_eip93_driver_new(&driver, registry, &bus, NULL, NULL), CD_OK);
            CHECK_EQ(registered(registry), rows[i].count);
            cd_eip93_driver_free(driver);
            CHECK_EQ(registered(registry), 0);
        }
        cd_registry_free(registry);
        CHECK(fake_free(fake));
    }
}

/* One name that is taken undoes all registrations, wherever in the table it is. */
static void one_name_is_taken(void) {
    static const char *const names[] = {"ecb(aes-eip93)", "hmac(md5-eip93)",
                                        "authenc(hmac(sha256-eip93),cbc(des3_ede-eip93))"};
    for (size_t i = 0; i < 3; i++) {
        struct fake *fake = fake_new();
        struct cd_eip93_bus bus;
        struct cd_registry *registry;
        struct cd_eip93_driver *driver;
        const struct cd_implementation *found;
        fake_bus(fake, &bus);
        CHECK_EQ(cd_registry_new(&registry), CD_OK);
        CHECK_EQ(cd_software_register(registry, NULL), CD_OK);
        CHECK_EQ(cd_registry_find(&found, registry, "md5-lib", CD_TYPE_HASH, 0, 0), CD_OK);
        struct cd_implementation squatter = *found;
        squatter.driver = names[i];
        CHECK_EQ(cd_registry_add(registry, &squatter, NULL), CD_OK);
        struct cd_error error = {""};
        CHECK_EQ(cd_eip93_driver_new(&driver, registry, &bus, NULL, &error), CD_E_EXISTS);
        CHECK(error.message[0] != '\0');
        cd_registry_remove(registry, &squatter);
        CHECK_EQ(registered(registry), 0);
        cd_implementation_release(found);
        cd_registry_free(registry);
        CHECK(fake_free(fake));
    }
}

int main(void) {
    RUN(error_statuses);
    RUN(short_results);
    RUN(engine_hangs);
    RUN(mapping_fails);
    RUN(few_bounce_areas);
    RUN(closed_under_way);
    RUN(keys_are_refused);
    RUN(software_comes_later);
    RUN(algorithms_by_option);
    RUN(one_name_is_taken);
    return test_end();
}
