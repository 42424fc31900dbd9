/* Error sentences. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

cd_status cd_error_set(cd_status status, struct cd_error *out_error, const char *format, ...) {
    if (out_error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(out_error->message, sizeof(out_error->message), format, arguments);
        va_end(arguments);
    }
    return status;
}
