/*
 * The families of software implementations. Each has one file that describes its implementations as
 * constant tables, and a line in software_register.c.
 */
#ifndef CD_SOFTWARE_INTERNAL_H
#define CD_SOFTWARE_INTERNAL_H

#include <stddef.h>

#include "cryptodispatch/algorithm.h"

/* The implementation of a family at `index`, counted from 0; NULL behind the last. */
typedef const struct cd_implementation *cd_software_family(size_t index);

/* AES: ecb, cbc, ctr, rfc3686 in every backend. */
cd_software_family cd_software_aes;

/* DES and triple DES: ecb, cbc. */
cd_software_family cd_software_des;

/* MD5, SHA-1, SHA-224, SHA-256 and their HMACs in every backend. */
cd_software_family cd_software_hash;

/* authenc(hmac(H),C) of those hashes with cbc and rfc3686. */
cd_software_family cd_software_authenc;

#endif
