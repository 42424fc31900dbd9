/* One sentence about one failure, for the caller who asked for it. */
#ifndef CD_ERROR_H
#define CD_ERROR_H

#include "cryptodispatch/status.h"

/* Write a sentence into out_error (NULL: nobody asked), cut to what fits, and return `status`. */
__attribute__((format(printf, 3, 4))) cd_status
cd_error_set(cd_status status, struct cd_error *out_error, const char *format, ...);

#endif
