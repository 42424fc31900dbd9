/* The software implementations that come with the library. */
#ifndef CD_SOFTWARE_H
#define CD_SOFTWARE_H

#include "cryptodispatch/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Register every software implementation, those this CPU cannot run included (they are listed as
 * unavailable). Errors: those of cd_registry_add; on an error none of them stays registered.
 */
CD_MUST_CHECK cd_status cd_software_register(struct cd_registry *registry,
                                             struct cd_error *out_error);

#ifdef __cplusplus
}
#endif

#endif
