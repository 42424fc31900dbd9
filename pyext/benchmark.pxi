# Measuring transforms on the host's clock, or on the one of a simulated machine.


def measure_cipher(Cipher cipher not None, Py_ssize_t size, uint32_t warmup, uint32_t runs, Clock clock=None):
    """Sum the ticks of `runs` encryptions of `size` bytes in place; see benchmark.h."""
    cdef uint64_t ticks = 0
    cdef cd_status status
    cdef const cd_clock *source = host_clock() if clock is None else &clock.clock
    cdef uint8_t *buffer
    cipher.ready()
    buffer = <uint8_t *>calloc(size, 1)
    if buffer == NULL:
        raise MemoryError("size: out of memory")
    cipher.active += 1
    with nogil:
        cd_benchmark_fill(buffer, size, 1)
        status = cd_benchmark_cipher(&ticks, cipher.handle, source, buffer, size, warmup, runs)
    cipher.active -= 1
    free(buffer)
    if status == CD_E_BENCHMARK:
        check(status)
    if status != CD_OK:
        raise cipher.failure(status, size)
    return ticks


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


def bus_clock(uintptr_t bus_address, owner):
    """The clock of a ``struct cd_eip93_bus``."""
    cdef Clock clock = Clock()
    clock.clock = (<cd_eip93_bus *>bus_address).clock
    clock.owner = owner
    return clock
