# The CPU of a simulated machine.


@cython.no_gc_clear  # __dealloc__ needs what it holds
cdef class Machine:
    """Modelled software implementations on a virtual clock.

    Args:
        name: goes into the driver names, as ``cbc(aes-an7581)``.
        clock: the virtual clock.
        costs: rows (algorithm, key size in bytes or 0, picoseconds per request, femtoseconds per byte).
    """

    cdef cd_machine *handle
    cdef Clock clock

    def __cinit__(self, str name not None, Clock clock not None, list costs not None):
        cdef cd_error error
        cdef cd_status status
        cdef cd_cpu_cost *rows = <cd_cpu_cost *>calloc(max(len(costs), 1), sizeof(cd_cpu_cost))
        error.message[0] = 0
        if rows == NULL:
            raise MemoryError("costs: out of memory")
        self.clock = clock
        try:
            for index, (algorithm, key_size, request_ps, byte_fs) in enumerate(costs):
                encoded = algorithm.encode()
                if len(encoded) >= CD_NAME_MAX:
                    raise ValueError(f"costs[{index}]: algorithm: {len(encoded)} bytes, at most {CD_NAME_MAX - 1} are allowed")
                memcpy(rows[index].algorithm, <const char *>encoded, len(encoded))
                rows[index].key_size = key_size
                rows[index].request_ps = request_ps
                rows[index].byte_fs = byte_fs
            status = cd_machine_new(&self.handle, registry.handle, name.encode(), &clock.clock, rows, len(costs), &error)
        finally:
            free(rows)
        check(status, &error)

    def __dealloc__(self):
        cd_machine_free(self.handle)

    def close(self):
        """Take the implementations away; their transforms fail from now on. Idempotent."""
        cd_machine_free(self.handle)
        self.handle = NULL
