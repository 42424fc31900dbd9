/*
 * The driver against an engine and a bus that misbehave: every wait ends, every request ends once,
 * every mapping is released, and requests that had nothing to do with it are served.
 */
#include "driver_fixture.h"

#define SPARE_NS (20u * 1000000u) /* looks and delays on top of the bound */

static struct fake_answer scripted;
static unsigned scripted_after; /* good answers before */
static unsigned scripted_count;

static void answer_as_scripted(struct fake *fake) {
    while (fake->unanswered > 0 && !fake->stopped) {
        bool now = scripted_after == 0 && scripted_count > 0;
        fake_answer(fake, now ? scripted : (struct fake_answer){0});
        scripted_count -= now ? 1 : 0;
        scripted_after -= scripted_after > 0 ? 1 : 0;
    }
}

static void script(struct fixture *f, struct fake_answer how, unsigned after, unsigned count) {
    scripted = how;
    scripted_after = after;
    scripted_count = count;
    f->fake->irq_hook = answer_as_scripted;
}

/* Wait for a job on the bus's clock, and check that it took no longer than the bound. */
static void wait_bounded(struct fixture *f, struct job *job, uint64_t bound_ns) {
    uint64_t start = f->fake->time_ns;
    CHECK_EQ(cd_cipher_wait(f->cipher, &job->request, 20 * (uint64_t)TIMEOUT_NS), CD_OK);
    CHECK(f->fake->time_ns - start <= bound_ns + SPARE_NS);
    CHECK_EQ(job->completions, 1);
}

/* Answers that need a reset: what was in the ring ends, what waited goes on. */
static void nonsense(struct fake_answer how, uint64_t bound_ns) {
    struct fixture f = fixture_new(8);
    struct job jobs[12];
    for (unsigned i = 0; i < 12; i++) {
        job_start(&f, &jobs[i], 64, i);
    }
    script(&f, how, 2, 1);
    wait_bounded(&f, &jobs[2], bound_ns);
    wait_bounded(&f, &jobs[11], bound_ns);
    /* While an answer is awaited, the ring is filled up behind it. */
    unsigned last = bound_ns > 0 ? 8 : 6;
    for (unsigned i = 0; i < 12; i++) {
        CHECK(i < 2 || i > last ? job_is_right(&jobs[i]) : job_failed(&jobs[i], CD_E_TIMEOUT));
    }
    CHECK_EQ(fixture_counters(&f).resets, 1);
    CHECK_EQ(fixture_counters(&f).failed, last - 1);
    CHECK_EQ(fake_mapped(f.fake), 0);
    fixture_end(&f);
}

static void wrong_id(void) {
    nonsense((struct fake_answer){.id_xor = 1}, 0);
    nonsense((struct fake_answer){.id_xor = 0x00080000}, 0);
}

static void never_owned(void) {
    nonsense((struct fake_answer){.no_write = true}, TIMEOUT_NS);
    nonsense((struct fake_answer){.control_owner = 4, .length_owner = 4}, TIMEOUT_NS);
    nonsense((struct fake_answer){.control_owner = 3, .length_owner = 3}, TIMEOUT_NS);
}

static void half_owned(void) {
    nonsense((struct fake_answer){.control_owner = 4}, TIMEOUT_NS);
    nonsense((struct fake_answer){.length_owner = 4}, TIMEOUT_NS);
    nonsense((struct fake_answer){.length_owner = 1}, TIMEOUT_NS);
}

static void count_too_high(struct fake *fake) {
    fake->irq_hook = fake_answer_all;
    fake->results = 9;
}

static void count_is_nonsense(void) {
    struct fixture f = fixture_new(8);
    struct job jobs[12];
    for (unsigned i = 0; i < 12; i++) {
        job_start(&f, &jobs[i], 16, i);
    }
    f.fake->irq_hook = count_too_high;
    wait_bounded(&f, &jobs[11], 0);
    for (unsigned i = 0; i < 12; i++) {
        CHECK(i >= 7 ? job_is_right(&jobs[i]) : job_failed(&jobs[i], CD_E_TIMEOUT));
    }
    fixture_end(&f);
}

static void answer_one(struct fake *fake) {
    if (fake->unanswered > 0) {
        fake_answer(fake, (struct fake_answer){0});
    }
}

/* The count moves before the result is there, on a second lap of the ring: the old result of that
 * entry must not be taken for it (4.3). */
static void result_is_late(void) {
    struct fixture f = fixture_new(4);
    struct job jobs[5];
    for (unsigned i = 0; i < 4; i++) {
        job_start(&f, &jobs[i], 16, i);
        fixture_drain(&f);
    }
    f.fake->irq_hook = NULL;
    job_start(&f, &jobs[4], 16, 4);
    f.fake->results = 1;
    CHECK_EQ(cd_eip93_driver_poll(f.driver), 0);
    CHECK_EQ(cd_cipher_wait(f.cipher, &jobs[4].request, TIMEOUT_NS / 2), CD_E_TIMEOUT);
    CHECK_EQ(jobs[4].completions, 0);
    f.fake->results = 0;
    f.fake->irq_hook = answer_one;
    wait_bounded(&f, &jobs[4], 0);
    CHECK(job_is_right(&jobs[4]));
    CHECK_EQ(fixture_counters(&f).resets, 0);
    fixture_end(&f);
}

static void engine_hangs(void) {
    struct fixture f = fixture_new(8);
    struct job jobs[10];
    for (unsigned i = 0; i < 10; i++) {
        job_start(&f, &jobs[i], 16, i);
    }
    CHECK_EQ(cd_cipher_wait(f.cipher, &jobs[0].request, TIMEOUT_NS / 4), CD_E_TIMEOUT);
    CHECK_EQ(jobs[0].request.status, CD_IN_PROGRESS);
    wait_bounded(&f, &jobs[6], TIMEOUT_NS);
    CHECK_EQ(jobs[9].request.status, CD_IN_PROGRESS);
    fixture_drain(&f);
    for (unsigned i = 0; i < 10; i++) {
        CHECK(i < 7 ? job_failed(&jobs[i], CD_E_TIMEOUT) : job_is_right(&jobs[i]));
    }
    fixture_end(&f);
}

/* A caller who never waits, only polls, is told too; one who pauses is not punished for it. */
static void polling_meets_a_hang(void) {
    struct fixture f = fixture_new(8);
    struct job job;
    job_start(&f, &job, 16, 0);
    f.fake->time_ns += 3 * (uint64_t)TIMEOUT_NS;
    CHECK_EQ(cd_eip93_driver_poll(f.driver), 0);
    f.fake->time_ns += TIMEOUT_NS - 1;
    CHECK_EQ(cd_eip93_driver_poll(f.driver), 0);
    f.fake->time_ns += 1;
    CHECK_EQ(cd_eip93_driver_poll(f.driver), 1);
    CHECK(job_failed(&job, CD_E_TIMEOUT));
    CHECK_EQ(fake_mapped(f.fake), 0);
    fixture_end(&f);
}

/* The bound is that of the oldest descriptor: it starts again with each result. */
static void bound_starts_again(void) {
    struct fixture f = fixture_new(8);
    struct job jobs[4];
    for (unsigned i = 0; i < 4; i++) {
        job_start(&f, &jobs[i], 16, i);
    }
    for (unsigned i = 0; i < 4; i++) {
        f.fake->irq_hook = NULL;
        CHECK_EQ(cd_eip93_driver_poll(f.driver), 0);
        f.fake->time_ns += TIMEOUT_NS / 10 * 9;
        CHECK_EQ(cd_eip93_driver_poll(f.driver), 0);
        f.fake->irq_hook = answer_one;
        CHECK_EQ(cd_eip93_driver_poll(f.driver), 1);
        CHECK(job_is_right(&jobs[i]));
    }
    CHECK_EQ(fixture_counters(&f).resets, 0);
    fixture_end(&f);
}

/* One bring-up that fails is tried again; two in a row are the end of the device. */
static void engine_is_dead(void) {
    for (unsigned dead = 1; dead <= 2; dead++) {
        struct fixture f = fixture_new(4);
        struct job jobs[6];
        for (unsigned i = 0; i < 6; i++) {
            job_start(&f, &jobs[i], 16, i);
        }
        f.fake->dead_starts = dead == 1 ? 2 : UINT32_MAX; /* the stop is a reset, too */
        wait_bounded(&f, &jobs[2], TIMEOUT_NS);
        f.fake->irq_hook = fake_answer_all;
        wait_bounded(&f, &jobs[5], 0);
        for (unsigned i = 0; i < 6; i++) {
            cd_status late = dead == 1 ? CD_OK : CD_E_NO_DEVICE;
            CHECK(i < 3 ? job_failed(&jobs[i], CD_E_TIMEOUT)
                        : jobs[i].completions == 1 && jobs[i].request.status == (int32_t)late);
        }
        if (dead == 2) {
            CHECK_EQ(cd_cipher_encrypt(f.cipher, &jobs[0].request), CD_E_NO_DEVICE);
            CHECK_EQ(cd_cipher_set_key(f.cipher, fixture_key, 16), CD_E_NO_DEVICE);
            CHECK_EQ(cd_eip93_driver_poll(f.driver), 0);
        }
        f.fake->dead_starts = 0;
        fixture_end(&f);
    }
}

static void interrupt_never_comes(void) {
    struct fixture f = fixture_new(8);
    struct job job;
    f.fake->line_dead = true;
    f.fake->irq_hook = fake_answer_all;
    job_start(&f, &job, 16, 0);
    wait_bounded(&f, &job, 0);
    CHECK(job_is_right(&job));
    fixture_end(&f);
}

static void interrupt_is_stuck(void) {
    struct fixture f = fixture_new(8);
    struct job job;
    f.fake->line_stuck = true;
    job_start(&f, &job, 16, 0);
    wait_bounded(&f, &job, TIMEOUT_NS);
    CHECK(job_failed(&job, CD_E_TIMEOUT));
    fixture_end(&f);
}

/* R007, R011: every error status ends its own request, and only that. */
static void error_statuses(void) {
    static const uint32_t statuses[] = {0x01, 0x02, 0x04, 0x08, 0x18, 0x28, 0x38,
                                        0x48, 0x58, 0x68, 0x78, 0x88, 0xF8};
    for (size_t s = 0; s < sizeof(statuses) / sizeof(statuses[0]); s++) {
        struct fixture f = fixture_new(8);
        struct job jobs[12];
        for (unsigned i = 0; i < 12; i++) {
            job_start(&f, &jobs[i], 32, i);
        }
        size_t from = f.fake->logged;
        script(&f, (struct fake_answer){.status = statuses[s]}, 3, 1);
        for (unsigned i = 0; i < 12; i++) {
            wait_bounded(&f, &jobs[i], 0);
            CHECK(i == 3 ? job_failed(&jobs[i], CD_E_DEVICE) : job_is_right(&jobs[i]));
        }
        /* Only a bus error stops the engine: RST_PE, without the rings. */
        unsigned stopped = statuses[s] == 0x08 ? 1 : 0;
        CHECK_EQ(fake_count(f.fake, from, true, 0x100), 2 * stopped);
        CHECK_EQ(fixture_counters(&f).resets, stopped);
        fixture_end(&f);
    }
}

static void short_result(void) {
    struct fixture f = fixture_new(8);
    struct job jobs[2];
    script(&f, (struct fake_answer){.length_less = 16}, 0, 1);
    for (unsigned i = 0; i < 2; i++) {
        job_start(&f, &jobs[i], 32, i);
        wait_bounded(&f, &jobs[i], 0);
    }
    CHECK(job_failed(&jobs[0], CD_E_DEVICE));
    CHECK(job_is_right(&jobs[1]));
    fixture_end(&f);
}

/* An error in one segment ends the request when its other segments have left the ring; those that
 * are not in it are not submitted. */
static void error_in_a_segment(void) {
    for (unsigned bad = 0; bad < 6; bad++) {
        struct fixture f = fixture_new(4);
        const size_t length = 5 * 0xFFFF0 + 32;
        uint8_t *text = calloc(1, length);
        struct job job;
        struct cd_cipher_request request = {.source = text, .destination = text, .length = length};
        memset(request.iv, 0x77, 16);
        CHECK_EQ(cd_cipher_encrypt(f.cipher, &request), CD_IN_PROGRESS);
        job_start(&f, &job, 32, bad);
        script(&f, (struct fake_answer){.status = 0x38}, bad, 1);
        wait_bounded(&f, &job, 0);
        CHECK(job_is_right(&job));
        CHECK_EQ(request.status, CD_E_DEVICE);
        CHECK_EQ(request.iv[0], 0x77);
        CHECK_EQ(fixture_counters(&f).descriptors, (bad < 3 ? 3 : 6) + 1);
        CHECK_EQ(fixture_counters(&f).completed, 2);
        CHECK_EQ(fixture_counters(&f).backlogged, 1); /* not the one partly in the ring */
        free(text);
        fixture_end(&f);
    }
}

/* R023: the n-th mapping fails, for all n. Nothing stays mapped, and the next request works. */
static void mapping_fails(void) {
    const size_t length = 2 * 0xFFFF0 + 32;
    uint8_t *source = calloc(1, length);
    uint8_t *destination = calloc(1, length);
    for (unsigned n = 1; n <= 6; n++) {
        struct fixture f = fixture_new(8);
        struct cd_cipher_request request = {
            .source = source, .destination = destination, .length = length};
        f.fake->fail_map = n;
        f.fake->irq_hook = fake_answer_all;
        cd_status status = cd_cipher_encrypt_wait(f.cipher, &request);
        /* The first segment has nothing to wait for; the others wait for its windows. */
        CHECK_EQ(status, n <= 2 ? CD_E_NO_MEMORY : CD_OK);
        CHECK_EQ(fake_mapped(f.fake), 0);
        CHECK_EQ(fixture_counters(&f).maps, fixture_counters(&f).unmaps);
        CHECK_EQ(cd_cipher_encrypt_wait(f.cipher, &request), CD_OK);
        fixture_end(&f);
    }
    free(source);
    free(destination);
}

/* Fewer windows than descriptors: requests wait for them, none is lost; one window is too few for a
 * request that is not in place. */
static void few_windows(void) {
    struct fixture f = fixture_new(64);
    struct job jobs[100];
    f.fake->windows = 7;
    for (unsigned i = 0; i < 100; i++) {
        job_start(&f, &jobs[i], 48, i);
    }
    fixture_drain(&f);
    for (unsigned i = 0; i < 100; i++) {
        CHECK(job_is_right(&jobs[i]));
    }
    f.fake->windows = 1;
    job_start(&f, &jobs[0], 48, 0);
    CHECK(job_failed(&jobs[0], CD_E_NO_MEMORY));
    fixture_end(&f);
}

/* Closing ends what is under way, wherever it is; transforms live on without a device. */
static void closed_under_way(void) {
    struct fixture f = fixture_new(8);
    struct job jobs[12];
    uint8_t *text = calloc(1, 8 * 0xFFFF0);
    struct cd_cipher_request request = {.source = text, .destination = text, .length = 8 * 0xFFFF0};
    for (unsigned i = 0; i < 4; i++) {
        job_start(&f, &jobs[i], 16, i);
    }
    CHECK_EQ(cd_cipher_encrypt(f.cipher, &request), CD_IN_PROGRESS); /* partly in the ring */
    for (unsigned i = 4; i < 12; i++) {
        job_start(&f, &jobs[i], 16, i);
    }
    cd_eip93_driver_free(f.driver);
    f.driver = NULL;
    f.fake->closed = true;
    for (unsigned i = 0; i < 12; i++) {
        CHECK(job_failed(&jobs[i], CD_E_NO_DEVICE));
    }
    CHECK_EQ(request.status, CD_E_NO_DEVICE);
    CHECK_EQ(fake_mapped(f.fake), 0);
    CHECK_EQ(cd_cipher_encrypt(f.cipher, &request), CD_E_NO_DEVICE);
    CHECK_EQ(cd_cipher_decrypt(f.cipher, &request), CD_E_NO_DEVICE);
    CHECK_EQ(cd_cipher_wait(f.cipher, &request, TIMEOUT_NS), CD_OK);
    CHECK_EQ(cd_cipher_set_key(f.cipher, fixture_key, 16), CD_E_NO_DEVICE);
    CHECK_EQ(cd_cipher_encrypt(f.cipher, &request), CD_E_NO_KEY);
    CHECK_EQ(f.fake->bad, 0);
    free(text);
    fixture_end(&f);
}

static void closes_the_driver(struct cd_cipher_request *request, void *context) {
    struct fixture *f = context;
    (void)request;
    cd_eip93_driver_free(f->driver);
    f->driver = NULL;
    f->fake->closed = true;
}

static void closes_everything(struct cd_cipher_request *request, void *context) {
    struct fixture *f = context;
    cd_cipher_free(f->cipher);
    f->cipher = NULL;
    closes_the_driver(request, context);
}

/* A completion closes the driver from inside a wait, and from inside a poll. */
static void closed_by_a_completion(void) {
    struct fixture f = fixture_new(4);
    struct job jobs[6];
    for (unsigned i = 0; i < 6; i++) {
        job_start(&f, &jobs[i], 16, i);
    }
    jobs[0].request.complete = closes_the_driver;
    jobs[0].request.context = &f;
    f.fake->irq_hook = answer_one;
    CHECK_EQ(cd_cipher_wait(f.cipher, &jobs[0].request, TIMEOUT_NS), CD_OK);
    CHECK_EQ(jobs[0].request.status, CD_OK);
    for (unsigned i = 1; i < 6; i++) {
        CHECK(job_failed(&jobs[i], CD_E_NO_DEVICE));
    }
    fixture_end(&f);

    f = fixture_new(4);
    job_start(&f, &jobs[0], 16, 0);
    jobs[0].request.complete = closes_everything;
    jobs[0].request.context = &f;
    f.fake->irq_hook = answer_one;
    CHECK_EQ(cd_eip93_driver_poll(f.driver), 1);
    CHECK(f.driver == NULL);
    fixture_end(&f);
}

/* Good and bad answers of all kinds in turn: every request ends, once, and as it should. */
static void every_request_ends_once(void) {
    static struct job jobs[400];
    static const struct fake_answer kinds[] = {
        {0}, {.status = 0x38}, {0}, {.id_xor = 4}, {.status = 0x08}, {0}, {.length_owner = 4}};
    struct fixture f = fixture_new(16);
    for (unsigned i = 0; i < 400; i++) {
        job_start(&f, &jobs[i], 16 + 16 * (i % 4), i);
        if (i % 8 == 7) {
            script(&f, kinds[i / 8 % 7], i / 8 % 5, 1);
            (void)cd_eip93_driver_poll(f.driver);
            f.fake->time_ns += TIMEOUT_NS;
            (void)cd_eip93_driver_poll(f.driver);
        }
    }
    f.fake->irq_hook = fake_answer_all;
    for (unsigned i = 0; i < 400; i++) {
        wait_bounded(&f, &jobs[i], TIMEOUT_NS);
        CHECK(job_is_right(&jobs[i]) || job_failed(&jobs[i], CD_E_DEVICE) ||
              job_failed(&jobs[i], CD_E_TIMEOUT));
    }
    struct cd_eip93_driver_counters counters = fixture_counters(&f);
    CHECK_EQ(counters.requests, 400);
    CHECK_EQ(counters.completed, 400);
    CHECK(counters.resets > 10);
    CHECK(counters.failed > 20 && counters.failed < 200);
    CHECK_EQ(counters.maps, counters.unmaps);
    fixture_end(&f);
}

int main(void) {
    RUN(wrong_id);
    RUN(never_owned);
    RUN(half_owned);
    RUN(count_is_nonsense);
    RUN(result_is_late);
    RUN(engine_hangs);
    RUN(polling_meets_a_hang);
    RUN(bound_starts_again);
    RUN(engine_is_dead);
    RUN(interrupt_never_comes);
    RUN(interrupt_is_stuck);
    RUN(error_statuses);
    RUN(short_result);
    RUN(error_in_a_segment);
    RUN(mapping_fails);
    RUN(few_windows);
    RUN(closed_under_way);
    RUN(closed_by_a_completion);
    RUN(every_request_ends_once);
    return test_end();
}
