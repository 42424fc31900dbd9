/*
 * Batches through a proxy, of any type: each record's side is chosen as a request's is, the
 * software's records go through its lanes side by side, the hardware's are requests in flight.
 */
#ifndef CD_FALLBACK_BATCH_H
#define CD_FALLBACK_BATCH_H

#include "algorithm/algorithm_batch.h"
#include "fallback/fallback_dispatch.h"

/* One batch: its records, and what is particular to their type. */
struct cd_fallback_batch {
    const struct cd_fallback_transform *transform;
    void *records;
    void *window; /* CD_BATCH_WINDOW requests of the type */
    bool decrypt;
    size_t record_size;
    size_t length_offset; /* of a size_t in a record */
    size_t status_offset; /* of an int32_t in a record */
    /* True if a request of no bytes ends before it reaches an implementation, uncounted. */
    bool empty_does_nothing;
    /* Start a record on the hardware in a slot of the window; what the request returned. */
    cd_status (*start)(const struct cd_fallback_batch *batch, size_t index, unsigned slot);
    /* Wait for the request in a slot; its outcome. */
    cd_status (*finish)(const struct cd_fallback_batch *batch, unsigned slot);
    /* Run those of `count` records from `begin` on whose status is CD_OK on the software. */
    void (*software)(const struct cd_fallback_batch *batch, size_t begin, size_t count);
};

/*
 * Run the records whose status is CD_OK and set the status of those that fail. Records, counters
 * and statuses are as if each had been a request of the proxy. The software must take batches.
 */
void cd_fallback_batch_run(const struct cd_fallback_batch *batch, size_t count);

#endif
