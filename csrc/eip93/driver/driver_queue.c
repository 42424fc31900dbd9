/*
 * Jobs: a queue that feeds the ring, and the ends of jobs.
 *
 * The queue is strictly first in, first out. Only its first job may be partly in the ring; a job
 * leaves the queue with its last segment, or with its first error.
 */
#include "base/secure.h"
#include "eip93/driver/driver_internal.h"

#include <string.h>

static void list_append(struct cd_driver_list *list, struct cd_driver_job *job) {
    job->next = NULL;
    if (list->head == NULL) {
        list->head = job;
    } else {
        list->tail->next = job;
    }
    list->tail = job;
}

static struct cd_driver_job *list_take(struct cd_driver_list *list) {
    struct cd_driver_job *job = list->head;
    if (job != NULL) {
        list->head = job->next;
    }
    return job;
}

/* Give the job what it holds until its end. False: something in the ring has to end first. */
static bool take_memory(struct cd_eip93_driver *driver, struct cd_driver_job *job) {
    if (job->ops->bounces && job->bounce == CD_DRIVER_NONE) {
        if (driver->free_bounces == 0) {
            return false;
        }
        job->bounce = (uint32_t)__builtin_ctz(driver->free_bounces);
        driver->free_bounces &= ~(1u << job->bounce);
    }
    if (job->record == CD_DRIVER_NONE) {
        if (driver->free_record_count == 0) {
            return false;
        }
        job->record = driver->free_records[--driver->free_record_count];
    }
    return true;
}

/* Keys and text do not stay in DMA memory. */
static void give_memory(struct cd_eip93_driver *driver, struct cd_driver_job *job) {
    if (job->record != CD_DRIVER_NONE) {
        cd_wipe(cd_driver_record(driver, job->record), job->ops->record_size);
        driver->free_records[driver->free_record_count++] = (uint16_t)job->record;
        job->record = CD_DRIVER_NONE;
    }
    if (job->bounce != CD_DRIVER_NONE) {
        cd_wipe(cd_driver_bounce(driver, job->bounce), job->length + CD_DRIVER_BOUNCE_TAIL);
        driver->free_bounces |= 1u << job->bounce;
        job->bounce = CD_DRIVER_NONE;
    }
}

/* The job has nothing in the ring and nothing to put there. */
static void end_job(struct cd_eip93_driver *driver, struct cd_driver_job *job,
                    struct cd_driver_list *done) {
    if (job->status == CD_OK) {
        job->status = job->ops->finish(job, cd_driver_record(driver, job->record));
    }
    driver->counters.failed += job->status != CD_OK ? 1 : 0;
    give_memory(driver, job);
    driver->counters.completed++;
    list_append(done, job);
}

/* Note the first error; only the queue's first job can still be queued here. */
static void fail_job(struct cd_eip93_driver *driver, struct cd_driver_job *job, cd_status status) {
    if (job->status == CD_OK) {
        job->status = status;
    }
    if (job->queued) {
        (void)list_take(&driver->queue);
        job->queued = false;
    }
}

void cd_driver_settle(struct cd_eip93_driver *driver, const struct cd_driver_slot *slot,
                      cd_status status, struct cd_driver_list *done) {
    struct cd_driver_job *job = slot->job;
    cd_driver_unmap(driver, slot);
    job->in_ring--;
    if (status != CD_OK) {
        fail_job(driver, job, status);
    }
    if (job->in_ring == 0 && !job->queued) {
        end_job(driver, job, done);
    }
}

/* Put the next segment of the queue's first job into the ring. CD_E_BUSY: not now, something in the
 * ring has to end first. */
static cd_status push_segment(struct cd_eip93_driver *driver, struct cd_driver_job *job) {
    if (!take_memory(driver, job)) {
        return CD_E_BUSY;
    }
    struct cd_driver_record *record = cd_driver_record(driver, job->record);
    if (!job->started) {
        job->ops->start(job, record);
        job->started = true;
    }
    struct cd_driver_segment segment = {.source = NULL};
    if (!job->ops->segment(job, record, &segment)) {
        return CD_E_BUSY;
    }
    bool last = job->submitted + segment.length == job->length;
    struct cd_driver_slot slot = {
        .job = job,
        .length = segment.length,
        .result_length = segment.result_length,
        .user_id = job->ops->user_flags | (last ? CD_DRIVER_USER_LAST : 0) | job->record,
        .hash_final = segment.hash_final,
        .last_sa = segment.last_sa,
    };
    cd_status status = cd_driver_map(driver, &slot, &segment);
    if (status != CD_OK) {
        /* Windows come back with the descriptors that hold them. */
        return status == CD_E_NO_MEMORY && driver->in_flight > 0 ? CD_E_BUSY : status;
    }
    job->in_ring++;
    job->submitted += segment.length;
    cd_driver_ring_push(driver, &slot);
    if (last) {
        (void)list_take(&driver->queue);
        job->queued = false;
    }
    return CD_OK;
}

void cd_driver_pump(struct cd_eip93_driver *driver, struct cd_driver_list *done) {
    while (driver->queue.head != NULL && cd_driver_ring_has_room(driver)) {
        struct cd_driver_job *job = driver->queue.head;
        cd_status status = push_segment(driver, job);
        if (status == CD_E_BUSY) {
            break;
        }
        if (status != CD_OK) {
            fail_job(driver, job, status);
            if (job->in_ring == 0) {
                end_job(driver, job, done);
            }
        }
    }
    cd_driver_ring_announce(driver);
}

cd_status cd_driver_submit(struct cd_eip93_driver *driver, struct cd_driver_job *job) {
    struct cd_driver_list done = {NULL, NULL};
    pthread_mutex_lock(&driver->lock);
    if (driver->state != CD_DRIVER_READY) {
        pthread_mutex_unlock(&driver->lock);
        return CD_E_NO_DEVICE;
    }
    driver->counters.requests++;
    job->record = CD_DRIVER_NONE;
    job->bounce = CD_DRIVER_NONE;
    job->queued = true;
    list_append(&driver->queue, job);
    cd_driver_pump(driver, &done);
    if (job->queued && job->submitted == 0) {
        driver->counters.backlogged++;
    }
    (void)cd_driver_publish(driver, &done);
    pthread_mutex_unlock(&driver->lock);
    return CD_IN_PROGRESS;
}

void cd_driver_abort_queue(struct cd_eip93_driver *driver, cd_status status,
                           struct cd_driver_list *done) {
    while (driver->queue.head != NULL) {
        struct cd_driver_job *job = driver->queue.head;
        fail_job(driver, job, status);
        if (job->in_ring == 0) {
            end_job(driver, job, done);
        }
    }
}

bool cd_driver_process(struct cd_eip93_driver *driver, struct cd_driver_list *done) {
    enum cd_driver_pop popped = cd_driver_ring_pop(driver, done);
    switch (popped) {
    case CD_DRIVER_POP_SOME:
        driver->stalled = false;
        break;
    case CD_DRIVER_POP_BROKEN:
        cd_driver_recover(driver, done);
        break;
    case CD_DRIVER_POP_NONE:
        cd_driver_check_stall(driver, done);
        break;
    }
    if (driver->state == CD_DRIVER_READY) {
        cd_driver_pump(driver, done);
    }
    return popped == CD_DRIVER_POP_SOME;
}

size_t cd_driver_publish(struct cd_eip93_driver *driver, struct cd_driver_list *done) {
    size_t count = 0;
    if (done->head == NULL) {
        return 0;
    }
    pthread_mutex_unlock(&driver->lock);
    for (struct cd_driver_job *job; (job = list_take(done)) != NULL; count++) {
        job->ops->complete(job, job->status);
    }
    pthread_mutex_lock(&driver->lock);
    if (driver->followers > 0) {
        pthread_cond_broadcast(&driver->progress);
    }
    return count;
}
