# The host's clock. Made once, at import: its frequency may have to be measured for 10 ms, so lazily.

cdef cd_clock _host_clock
cdef bint _host_clock_made = False


cdef const cd_clock *host_clock():
    global _host_clock_made
    if not _host_clock_made:
        cd_clock_host(&_host_clock)
        _host_clock_made = True
    return &_host_clock


def clock_now():
    """Read the host's cycle counter, in ticks."""
    return cd_clock_now(host_clock())


def clock_seconds():
    """Read the host's cycle counter, in seconds since an arbitrary origin."""
    cdef const cd_clock *clock = host_clock()
    return cd_clock_now(clock) / <double>clock.hz


def clock_describe():
    """Name, hz and overhead (ticks of two adjacent readings) of the host's clock: a tuple."""
    cdef const cd_clock *clock = host_clock()
    return clock.name.decode(), clock.hz, cd_clock_overhead(clock, 1000)
