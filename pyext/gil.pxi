# When the GIL is released.

# Requests longer than this release the GIL while software runs: releasing and taking it costs about
# 40 ns, which is 2 % of 4096 bytes of chained AES-NI CBC and 10 % of wide CTR (speed.md's machine;
# measured by benchmarks/compare.py).
cdef size_t gil_release_bytes = 4096


def gil_release_size():
    """Bytes above which a request releases the GIL."""
    return gil_release_bytes


def set_gil_release_size(size):
    """Set the bytes above which a request releases the GIL, for all transforms of this process.

    Waits for an engine release it always. 0: every request that has any text.

    Raises:
        TypeError, ValueError: size is no int from 0 to 2^63 - 1.
    """
    global gil_release_bytes
    number = _integer(size, "size")
    if not 0 <= number <= INT64_MAX:
        raise ValueError(f"size: {number} was given, 0 to {INT64_MAX} are allowed")
    gil_release_bytes = number
