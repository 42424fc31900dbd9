/* The whole C API of the engine. The emulated chip is apart: cryptodispatch/eip93_emulator.h. */
#ifndef CD_CRYPTODISPATCH_H
#define CD_CRYPTODISPATCH_H

#include "cryptodispatch/aead.h"
#include "cryptodispatch/algorithm.h"
#include "cryptodispatch/batch.h"
#include "cryptodispatch/benchmark.h"
#include "cryptodispatch/cipher.h"
#include "cryptodispatch/clock.h"
#include "cryptodispatch/cpu.h"
#include "cryptodispatch/eip93_bus.h"
#include "cryptodispatch/eip93_driver.h"
#include "cryptodispatch/fallback.h"
#include "cryptodispatch/hash.h"
#include "cryptodispatch/machine.h"
#include "cryptodispatch/openssl.h"
#include "cryptodispatch/pycryptodome.h"
#include "cryptodispatch/registry.h"
#include "cryptodispatch/software.h"
#include "cryptodispatch/status.h"
#include "cryptodispatch/stream.h"

#endif
