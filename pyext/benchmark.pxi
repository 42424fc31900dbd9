# Measuring transforms on the host's clock, or on the one of a simulated machine.


def measure(transform, Py_ssize_t size, uint32_t warmup, uint32_t runs, Clock clock=None, bint decrypt=False):
    """Sum the ticks of `runs` requests of `size` bytes; see benchmark.h. Only ciphers decrypt."""
    cdef uint64_t ticks = 0
    cdef cd_status status
    cdef const cd_clock *source = host_clock() if clock is None else &clock.clock
    cdef uint8_t *buffer = <uint8_t *>calloc(size, 2)
    if buffer == NULL:
        raise MemoryError("size: out of memory")
    cd_benchmark_fill(buffer, size, 1)
    try:
        if isinstance(transform, Cipher):
            status = measure_cipher(transform, &ticks, source, buffer, size, warmup, runs, decrypt)
        elif isinstance(transform, Hash):
            status = measure_hash(transform, &ticks, source, buffer, size, warmup, runs)
        else:
            status = measure_aead(transform, &ticks, source, buffer, size, warmup, runs)
    finally:
        free(buffer)
    if status == CD_E_BENCHMARK:
        check(status)
    if status != CD_OK:
        raise (<Hash>transform).failure(status) if isinstance(transform, Hash) else (
            (<Cipher>transform).failure(status, size) if isinstance(transform, Cipher)
            else (<Aead>transform).failure(status, size))
    return ticks


cdef cd_status measure_cipher(Cipher cipher, uint64_t *out_ticks, const cd_clock *clock, uint8_t *buffer,
                              size_t size, uint32_t warmup, uint32_t runs, bint decrypt) except *:
    cdef cd_status status
    cipher.ready()
    cipher.active += 1
    with nogil:
        if decrypt:
            status = cd_benchmark_cipher_decrypt(out_ticks, cipher.handle, clock, buffer, size, warmup, runs)
        else:
            status = cd_benchmark_cipher(out_ticks, cipher.handle, clock, buffer, size, warmup, runs)
    cipher.leave()
    return status


cdef cd_status measure_hash(Hash hash, uint64_t *out_ticks, const cd_clock *clock, uint8_t *buffer,
                            size_t size, uint32_t warmup, uint32_t runs) except *:
    cdef cd_status status
    hash.ready()
    hash.active += 1
    with nogil:
        status = cd_benchmark_hash(out_ticks, hash.handle, clock, buffer, size, warmup, runs)
    hash.leave()
    return status


cdef cd_status measure_aead(Aead aead, uint64_t *out_ticks, const cd_clock *clock, uint8_t *buffer,
                            size_t size, uint32_t warmup, uint32_t runs) except *:
    cdef cd_status status
    aead.ready()
    aead.active += 1
    with nogil:
        status = cd_benchmark_aead(out_ticks, aead.handle, clock, buffer, buffer + size, size, warmup, runs)
    aead.leave()
    return status


def benchmark_sizes():
    """The sizes the fallback measures, in bytes: a list of int."""
    return [cd_benchmark_sizes[index] for index in range(CD_BENCHMARK_SIZES)]


cdef class Clock:
    """A clock of somebody else (a bus): borrowed, its owner is kept alive."""

    cdef cd_clock clock
    cdef object owner

    @property
    def name(self):
        return self.clock.name.decode()

    @property
    def hz(self):
        return self.clock.hz

    def now(self):
        return cd_clock_now(&self.clock)


cdef uint64_t _stand_still(void *_context) noexcept:
    return 0


def still_clock():
    """A clock that stands still, for fallbacks that measure nothing: the host's may take 10 ms to make."""
    cdef Clock clock = Clock()
    clock.clock.now = _stand_still
    clock.clock.context = NULL
    clock.clock.name = b"still"
    clock.clock.hz = 1000000000
    return clock


def bus_clock(uintptr_t bus_address, owner):
    """The clock of a ``struct cd_eip93_bus``."""
    cdef Clock clock = Clock()
    clock.clock = (<cd_eip93_bus *>bus_address).clock
    clock.owner = owner
    return clock
