/*
 * The division of a batch. Records stay where they are: the software takes those of a range whose
 * status is CD_OK, so whatever is the hardware's has another one until the end of the batch.
 */
#include "fallback/fallback_batch.h"

/* The status of a record that the hardware has, or has done well. */
#define ON_HARDWARE CD_IN_PROGRESS

/* Rather than wait for the hardware the CPU does so many records of its own, if there are: four
 * times the lanes of the widest software, which empty towards the end of a run. */
#define RUN_MIN 64u

struct division {
    const struct cd_fallback_batch *batch;
    size_t begin;                     /* of the range that the software has not seen */
    size_t waiting;                   /* records for it in there */
    uint64_t uncounted[CD_WHY_COUNT]; /* of those, by reason */
    size_t started;                   /* requests in the window ... */
    size_t ended;                     /* ... and of them, those that are over */
    size_t in_slot[CD_BATCH_WINDOW];  /* the record of each slot */
    bool hardware;                    /* some record has status ON_HARDWARE */
};

static void *field(const struct cd_fallback_batch *batch, size_t index, size_t offset) {
    return (uint8_t *)batch->records + index * batch->record_size + offset;
}

static int32_t *status_of(const struct cd_fallback_batch *batch, size_t index) {
    return field(batch, index, batch->status_offset);
}

/* Hand the records from `begin` to `end` to the software; they are counted before they start. */
static void run_software(struct division *division, size_t end) {
    for (int why = 0; why < CD_WHY_COUNT; why++) {
        if (division->uncounted[why] > 0) {
            cd_fallback_count(division->batch->transform, (enum cd_why)why,
                              division->uncounted[why]);
            division->uncounted[why] = 0;
        }
    }
    if (division->waiting > 0) {
        division->batch->software(division->batch, division->begin, end - division->begin);
        division->waiting = 0;
    }
    division->begin = end;
}

static void add_to_software(struct division *division, enum cd_why why) {
    division->uncounted[why]++;
    division->waiting++;
}

static void finish_oldest(struct division *division) {
    unsigned slot = division->ended++ % CD_BATCH_WINDOW;
    cd_status outcome = division->batch->finish(division->batch, slot);
    if (outcome != CD_OK) {
        *status_of(division->batch, division->in_slot[slot]) = outcome;
    }
}

/* As in cd_fallback_dispatch: what the hardware cannot do is the software's. */
static void start_on_hardware(struct division *division, size_t index, enum cd_why why) {
    const struct cd_fallback_batch *batch = division->batch;
    if (division->started - division->ended == CD_BATCH_WINDOW) {
        if (division->waiting >= RUN_MIN) {
            run_software(division, index);
        }
        finish_oldest(division);
    }
    unsigned slot = division->started % CD_BATCH_WINDOW;
    cd_fallback_count(batch->transform, why, 1);
    cd_status status = batch->start(batch, index, slot);
    if (status == CD_E_UNSUPPORTED) {
        cd_fallback_uncount(batch->transform, why);
        add_to_software(division, CD_WHY_UNSUPPORTED);
        return;
    }
    if (status == CD_IN_PROGRESS) {
        division->in_slot[slot] = index;
        division->started++;
    }
    *status_of(batch, index) = status == CD_OK ? ON_HARDWARE : status;
    division->hardware = true;
}

static void divide(struct division *division, size_t index) {
    const struct cd_fallback_batch *batch = division->batch;
    size_t length = *(const size_t *)field(batch, index, batch->length_offset);
    if (*status_of(batch, index) != CD_OK || (length == 0 && batch->empty_does_nothing)) {
        return;
    }
    struct cd_decision decision = cd_fallback_decide(batch->transform, length);
    if (decision.side == CD_SIDE_SOFTWARE) {
        add_to_software(division, decision.why);
    } else {
        start_on_hardware(division, index, decision.why);
    }
}

void cd_fallback_batch_run(const struct cd_fallback_batch *batch, size_t count) {
    struct division division = {.batch = batch};
    for (size_t i = 0; i < count; i++) {
        divide(&division, i);
    }
    run_software(&division, count);
    while (division.ended < division.started) {
        finish_oldest(&division);
    }
    for (size_t i = 0; division.hardware && i < count; i++) {
        int32_t *status = status_of(batch, i);
        *status = *status == ON_HARDWARE ? CD_OK : *status;
    }
}
