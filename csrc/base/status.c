/* Names and texts of the statuses. */
#include "cryptodispatch/status.h"

#include <stddef.h>

struct status_entry {
    int status;
    const char *name;
    const char *text;
};

static const struct status_entry entries[] = {
    {CD_OK, "CD_OK", "success"},
    {CD_IN_PROGRESS, "CD_IN_PROGRESS", "accepted, still in progress"},
    {CD_E_INVALID, "CD_E_INVALID", "invalid argument"},
    {CD_E_RANGE, "CD_E_RANGE", "number out of range"},
    {CD_E_KEY, "CD_E_KEY", "key of a length or form the algorithm does not take"},
    {CD_E_NO_KEY, "CD_E_NO_KEY", "no key is set"},
    {CD_E_LENGTH, "CD_E_LENGTH", "text of a length the algorithm does not take"},
    {CD_E_OVERLAP, "CD_E_OVERLAP", "source and destination overlap without being the same"},
    {CD_E_UNKNOWN_ALGORITHM, "CD_E_UNKNOWN_ALGORITHM", "no such algorithm is registered"},
    {CD_E_UNAVAILABLE, "CD_E_UNAVAILABLE", "this CPU cannot run the implementation"},
    {CD_E_EXISTS, "CD_E_EXISTS", "the name is already taken"},
    {CD_E_NO_MEMORY, "CD_E_NO_MEMORY", "out of memory"},
    {CD_E_BUSY, "CD_E_BUSY", "no room now, nothing was done"},
    {CD_E_TIMEOUT, "CD_E_TIMEOUT", "timed out"},
    {CD_E_NO_DEVICE, "CD_E_NO_DEVICE", "the device is gone"},
    {CD_E_DEVICE, "CD_E_DEVICE", "the device reported an error"},
    {CD_E_BUS, "CD_E_BUS", "nothing answers at that bus address"},
    {CD_E_MISMATCH, "CD_E_MISMATCH", "the two implementations do not fit together"},
    {CD_E_BENCHMARK, "CD_E_BENCHMARK", "the measurement could not be made"},
    {CD_E_CANCELLED, "CD_E_CANCELLED", "cancelled by the caller"},
    {CD_E_AUTHENTICATION, "CD_E_AUTHENTICATION", "authentication failed"},
    {CD_E_UNSUPPORTED, "CD_E_UNSUPPORTED", "not supported by this implementation"},
};

static const struct status_entry *find(int status) {
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (entries[i].status == status) {
            return &entries[i];
        }
    }
    return NULL;
}

const char *cd_status_name(int status) {
    const struct status_entry *entry = find(status);

    return entry != NULL ? entry->name : "CD_E_?";
}

const char *cd_status_text(int status) {
    const struct status_entry *entry = find(status);

    return entry != NULL ? entry->text : "unknown status";
}
