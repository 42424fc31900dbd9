/*
 * The CPU of a simulated machine: software implementations that compute for real and take the time
 * that a cost model says, on a virtual clock.
 */
#ifndef CD_MACHINE_H
#define CD_MACHINE_H

#include "cryptodispatch/clock.h"
#include "cryptodispatch/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Cost of one request of `algorithm` with a key of `key_size` bytes (0: any other size; hashes have
 * this row alone; of an aead it is the cipher's key).
 *
 * The bytes are those of the text, of an aead the associated data too. A message hashed in pieces
 * pays byte_fs in each update and request_ps in each finish.
 */
struct cd_cpu_cost {
    char algorithm[CD_NAME_MAX];
    uint32_t key_size;
    uint64_t request_ps; /* picoseconds per request */
    uint64_t byte_fs;    /* femtoseconds per byte */
};

struct cd_machine;

/*
 * Register, for every algorithm named in `costs`, an implementation `<algorithm with @name>`: for
 * machine "an7581", `cbc(aes)` gets `cbc(aes-an7581)`; flags CD_FLAG_MODELLED, priority 0. Each
 * runs the best unmodelled synchronous software implementation and advances `clock`; a request that
 * fails, as by a wrong tag, has taken its time as well.
 *
 * `clock` is copied, must have `advance`, which must not call a request of the machine, and its
 * context must live until cd_machine_free has returned. Errors: CD_E_INVALID (name, clock),
 * CD_E_UNKNOWN_ALGORITHM (no software for an algorithm), CD_E_EXISTS, CD_E_NO_MEMORY; on an error
 * nothing stays registered.
 */
CD_MUST_CHECK cd_status cd_machine_new(struct cd_machine **out_machine,
                                       struct cd_registry *registry, const char *name,
                                       const struct cd_clock *clock,
                                       const struct cd_cpu_cost *costs, size_t cost_count,
                                       struct cd_error *out_error);

/*
 * Unregister and end time: when this returns the clock is never touched again, and requests (pieces
 * of a message too) of transforms that still live fail with CD_E_NO_DEVICE, also in other threads.
 * Memory goes with the last transform. NULL does nothing.
 */
void cd_machine_free(struct cd_machine *machine);

#ifdef __cplusplus
}
#endif

#endif
