/*
 * Results of every call of the library.
 *
 * Zero is success, positive values are outcomes that are not errors, negative values are errors.
 * The numbers are part of the ABI: Python sees them.
 */
#ifndef CD_STATUS_H
#define CD_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cd_status {
    CD_OK = 0,
    CD_IN_PROGRESS = 1,          /* accepted; the completion reports the outcome */
    CD_E_INVALID = -1,           /* an argument is not of the documented form */
    CD_E_RANGE = -2,             /* a number is outside its documented range */
    CD_E_KEY = -3,               /* the key has a length (or form) the algorithm does not take */
    CD_E_NO_KEY = -4,            /* no key is set, or the last set_key failed */
    CD_E_LENGTH = -5,            /* the text has a length the algorithm does not take */
    CD_E_OVERLAP = -6,           /* source and destination overlap without being the same */
    CD_E_UNKNOWN_ALGORITHM = -7, /* no implementation of that name and kind is registered */
    CD_E_UNAVAILABLE = -8,       /* registered, but this CPU cannot run it */
    CD_E_EXISTS = -9,            /* the name is taken */
    CD_E_NO_MEMORY = -10,        /* an allocation or a DMA mapping could not be made */
    CD_E_BUSY = -11,             /* no room now; nothing was done */
    CD_E_TIMEOUT = -12,          /* the wait's bound passed */
    CD_E_NO_DEVICE = -13,        /* the device was closed or has failed for good */
    CD_E_DEVICE = -14,           /* the device answered with an error */
    CD_E_BUS = -15,              /* an address that nothing answers to */
    CD_E_MISMATCH = -16,         /* two implementations of a pair do not fit together */
    CD_E_BENCHMARK = -17,        /* a measurement could not be made */
    CD_E_CANCELLED = -18,        /* the caller's progress function asked to stop */
    CD_E_AUTHENTICATION = -19,   /* the tag does not match; nothing was released */
    CD_E_UNSUPPORTED = -20,      /* this implementation cannot do it, another one may */
} cd_status;

#define CD_STATUS_LAST (-20) /* the most negative status, for tests of totality */

#if defined(__GNUC__)
#define CD_MUST_CHECK __attribute__((warn_unused_result))
#else
#define CD_MUST_CHECK
#endif

/*
 * A sentence about one failure, for calls whose status alone does not say which of many inputs was
 * at fault. Callers may pass NULL where a `struct cd_error *` is taken.
 */
struct cd_error {
    char message[256];
};

/* Name of a status as it stands in this header ("CD_E_KEY"); "CD_E_?" for any other number. */
const char *cd_status_name(int status);

/* Describe a status in a few English words; never NULL. */
const char *cd_status_text(int status);

#ifdef __cplusplus
}
#endif

#endif
