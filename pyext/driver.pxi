# The EIP-93 driver on a bus that another module provides.


@cython.no_gc_clear  # __dealloc__ needs what it holds
cdef class Driver:
    """The EIP-93 driver; registers the engine's algorithms until closed.

    Args:
        bus_address: address of a ``struct cd_eip93_bus`` (eip93_bus.h); copied.
        owner: kept alive as long as the driver.
        ring_entries: 4 to 1024.
        request_timeout_ns: bound of one request on the bus's clock.
        hash_segment: bytes per hash descriptor, a multiple of 64; 0: the most.
    """

    cdef cd_eip93_driver *handle
    cdef object owner

    def __cinit__(self, uintptr_t bus_address, owner, uint32_t ring_entries, uint64_t request_timeout_ns,
                  uint32_t hash_segment):
        cdef cd_error error
        cdef cd_status status
        cdef cd_eip93_driver_config config
        error.message[0] = 0
        memset(&config, 0, sizeof(config))  # fields that are new in C
        config.ring_entries = ring_entries
        config.request_timeout_ns = request_timeout_ns
        config.hash_segment = hash_segment
        self.owner = owner
        status = cd_eip93_driver_new(&self.handle, registry.handle, <cd_eip93_bus *>bus_address, &config, &error)
        if status == CD_E_EXISTS:
            raise DeviceError(f"device: an EIP-93 is open already, close it first ({_text(status, &error)})")
        check(status, &error)

    def __dealloc__(self):
        cd_eip93_driver_free(self.handle)

    def close(self):
        """Take the engine away; requests under way end with DeviceError. Idempotent."""
        cdef cd_eip93_driver *handle = self.handle
        self.handle = NULL
        with nogil:
            cd_eip93_driver_free(handle)

    def poll(self):
        """Process completions without waiting; returns how many requests ended."""
        if self.handle == NULL:
            return 0
        return cd_eip93_driver_poll(self.handle)

    def counters(self):
        """The driver's counters: a dict."""
        cdef cd_eip93_driver_counters counters
        if self.handle == NULL:
            raise DeviceError("driver: it is closed")
        cd_eip93_driver_get_counters(self.handle, &counters)
        return counters
