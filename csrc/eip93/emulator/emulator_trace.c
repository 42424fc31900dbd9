/* The trace: the last events in a ring, and what was counted besides. */
#include "eip93/emulator/emulator_internal.h"

#include <stdlib.h>

#define TRACE_MAX 65536u

const char *cd_eip93_event_name(int32_t event) {
    static const char *const names[CD_EIP93_EVENT_LAST + 1] = {
        [CD_EIP93_EVENT_DOORBELL] = "doorbell",
        [CD_EIP93_EVENT_FETCH] = "fetch",
        [CD_EIP93_EVENT_CHECK] = "check",
        [CD_EIP93_EVENT_READ_SA] = "read_sa",
        [CD_EIP93_EVENT_READ_STATE] = "read_state",
        [CD_EIP93_EVENT_GATHER] = "gather",
        [CD_EIP93_EVENT_TRANSFORM] = "transform",
        [CD_EIP93_EVENT_SCATTER] = "scatter",
        [CD_EIP93_EVENT_WRITE_STATE] = "write_state",
        [CD_EIP93_EVENT_UPDATE_COMMAND] = "update_command",
        [CD_EIP93_EVENT_WRITE_RESULT] = "write_result",
        [CD_EIP93_EVENT_RAISE] = "raise",
        [CD_EIP93_EVENT_RESET] = "reset",
        [CD_EIP93_EVENT_GUEST_ERROR] = "guest_error",
        [CD_EIP93_EVENT_UNIMPLEMENTED] = "unimplemented",
    };
    if (event < 1 || event > CD_EIP93_EVENT_LAST) {
        return "?";
    }
    return names[event];
}

void cd_emulator_trace_record(struct cd_eip93_emulator *emulator, int32_t event, uint32_t value) {
    uint32_t slot = (emulator->trace_first + emulator->trace_count) % emulator->trace_capacity;
    if (emulator->trace_count == emulator->trace_capacity) {
        emulator->trace_first = (emulator->trace_first + 1) % emulator->trace_capacity;
    } else {
        emulator->trace_count++;
    }
    emulator->trace[slot] = (struct cd_eip93_trace_entry){
        .ticks = cd_emulator_time_to_ticks(emulator, emulator->at_ps),
        .event = event,
        .value = value,
    };
}

void cd_emulator_guest_error(struct cd_eip93_emulator *emulator, uint32_t where) {
    emulator->counters.guest_errors++;
    cd_emulator_trace_event(emulator, CD_EIP93_EVENT_GUEST_ERROR, where);
}

void cd_emulator_unimplemented(struct cd_eip93_emulator *emulator, uint32_t what) {
    emulator->counters.unimplemented++;
    cd_emulator_trace_event(emulator, CD_EIP93_EVENT_UNIMPLEMENTED, what);
}

cd_status cd_eip93_emulator_trace(struct cd_eip93_emulator *emulator, uint32_t entries) {
    if (entries > TRACE_MAX) {
        return CD_E_RANGE;
    }
    struct cd_eip93_trace_entry *trace = NULL;
    if (entries != 0) {
        trace = calloc(entries, sizeof *trace);
        if (trace == NULL) {
            return CD_E_NO_MEMORY;
        }
    }
    pthread_mutex_lock(&emulator->lock);
    free(emulator->trace);
    emulator->trace = trace;
    emulator->trace_capacity = entries;
    emulator->trace_first = 0;
    emulator->trace_count = 0;
    pthread_mutex_unlock(&emulator->lock);
    return CD_OK;
}

size_t cd_eip93_emulator_trace_take(struct cd_eip93_emulator *emulator,
                                    struct cd_eip93_trace_entry *out_entries, size_t capacity) {
    pthread_mutex_lock(&emulator->lock);
    size_t taken = 0;
    while (taken < capacity && emulator->trace_count != 0) {
        out_entries[taken++] = emulator->trace[emulator->trace_first];
        emulator->trace_first = (emulator->trace_first + 1) % emulator->trace_capacity;
        emulator->trace_count--;
    }
    pthread_mutex_unlock(&emulator->lock);
    return taken;
}

void cd_eip93_emulator_counters(struct cd_eip93_emulator *emulator,
                                struct cd_eip93_emulator_counters *out_counters) {
    pthread_mutex_lock(&emulator->lock);
    *out_counters = emulator->counters;
    pthread_mutex_unlock(&emulator->lock);
}
