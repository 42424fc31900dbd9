/* Register sequences: how the engine is started, stopped and left (eip93-hardware.md 9.1). */
#include "eip93/driver/driver_internal.h"

#include <string.h>

#define CONFIG_RUN                                                                                 \
    (EIP93_PUT(EIP93_CONFIG_PE_MODE_ARM, EIP93_CONFIG_PE_MODE) | EIP93_CONFIG_EN_CDR_UPDATE)
/* Both bits that are called ring reset somewhere: with one alone, some chips keep stale ring
 * pointers over a restart (11, item 15). */
#define CONFIG_RESET (EIP93_CONFIG_RST_PE | EIP93_CONFIG_RST_RING_ANY)
#define RESET_DELAY_NS 20000u
#define RD_TIMEOUT_EXPONENT 5u /* 2^(5 + 10) engine clocks */
#define BUFFER_THRESHOLD 128u  /* bytes */

/* Clocks of the units that this variant has and the driver uses; ARC4 stays off. */
static uint32_t clock_bits(uint32_t option_1) {
    const uint32_t hashes =
        EIP93_OPTION_MD5 | EIP93_OPTION_SHA1 | EIP93_OPTION_SHA224 | EIP93_OPTION_SHA256;
    uint32_t bits = EIP93_CLOCK_ENGINE;
    bits |= (option_1 & EIP93_OPTION_TDES) != 0 ? EIP93_CLOCK_DES : 0;
    bits |= (option_1 & EIP93_OPTION_AES) != 0 ? EIP93_CLOCK_AES : 0;
    bits |= (option_1 & hashes) != 0 ? EIP93_CLOCK_HASH : 0;
    return bits;
}

/* The command threshold is masked; it stands where the Linux driver puts it, 15/16 of the ring. */
static uint32_t threshold_word(uint32_t entries) {
    return EIP93_RING_THRESH_TIMEOUT_EN |
           EIP93_PUT(RD_TIMEOUT_EXPONENT, EIP93_RING_THRESH_RD_TIMEOUT) |
           EIP93_PUT(0, EIP93_RING_THRESH_RDR) |
           EIP93_PUT(entries - entries / 16, EIP93_RING_THRESH_CDR);
}

/* Reset with the rings in place, and see that both sides agree on index 0. */
static cd_status reset_rings(struct cd_eip93_driver *driver) {
    cd_driver_write(driver, EIP93_REG_PE_CDR_BASE, driver->command_ring.address);
    cd_driver_write(driver, EIP93_REG_PE_RDR_BASE, driver->result_ring.address);
    cd_driver_write(driver, EIP93_REG_PE_RING_CONFIG, driver->entries - 1);
    driver->option_1 = cd_driver_read(driver, EIP93_REG_PE_OPTION_1);
    cd_driver_write(driver, EIP93_REG_PE_CONFIG, CONFIG_RUN | CONFIG_RESET);
    cd_driver_delay(driver, RESET_DELAY_NS);
    uint32_t config = cd_driver_read(driver, EIP93_REG_PE_CONFIG);
    cd_driver_write(driver, EIP93_REG_PE_CONFIG, config & ~CONFIG_RESET);
    bool up = (config & ~CONFIG_RESET) == CONFIG_RUN &&
              (cd_driver_read(driver, EIP93_REG_PE_CD_COUNT) & EIP93_COUNT_READ) == 0 &&
              (cd_driver_read(driver, EIP93_REG_PE_RD_COUNT) & EIP93_COUNT_READ) == 0 &&
              cd_driver_read(driver, EIP93_REG_PE_RING_RW_PNTR) == 0;
    return up ? CD_OK : CD_E_DEVICE;
}

cd_status cd_driver_engine_start(struct cd_eip93_driver *driver) {
    uint32_t revision = cd_driver_read(driver, EIP93_REG_PE_REVISION);
    if (EIP93_GET(revision, EIP93_REVISION_EIP) != EIP93_REVISION_EIP_93) {
        return CD_E_DEVICE;
    }
    cd_driver_ring_clear(driver);
    cd_status status = reset_rings(driver);
    if (status != CD_OK) {
        cd_driver_engine_stop(driver);
        return status;
    }
    cd_driver_write(driver, EIP93_REG_PE_CLOCK_CTRL, clock_bits(driver->option_1));
    cd_driver_write(driver, EIP93_REG_PE_BUF_THRESH,
                    EIP93_PUT(BUFFER_THRESHOLD, EIP93_BUF_THRESH_OUTBUF) |
                        EIP93_PUT(BUFFER_THRESHOLD, EIP93_BUF_THRESH_INBUF));
    cd_driver_write(driver, EIP93_REG_INT_CFG, 0);
    cd_driver_write(driver, EIP93_REG_INT_CLR, EIP93_INT_ALL);
    cd_driver_write(driver, EIP93_REG_INT_MASK_DISABLE, EIP93_INT_ALL);
    cd_driver_write(driver, EIP93_REG_PE_RING_THRESH, threshold_word(driver->entries));
    cd_driver_write(driver, EIP93_REG_INT_MASK_ENABLE, EIP93_INT_RDR_THRESH);
    return CD_OK;
}

void cd_driver_engine_stop(const struct cd_eip93_driver *driver) {
    cd_driver_write(driver, EIP93_REG_PE_CONFIG, CONFIG_RUN | CONFIG_RESET);
    cd_driver_delay(driver, RESET_DELAY_NS);
}

void cd_driver_engine_continue(const struct cd_eip93_driver *driver) {
    cd_driver_write(driver, EIP93_REG_PE_CONFIG, CONFIG_RUN | EIP93_CONFIG_RST_PE);
    cd_driver_delay(driver, RESET_DELAY_NS);
    cd_driver_write(driver, EIP93_REG_PE_CONFIG, CONFIG_RUN);
}

void cd_driver_engine_quiesce(const struct cd_eip93_driver *driver) {
    cd_driver_engine_stop(driver);
    cd_driver_write(driver, EIP93_REG_INT_CLR, EIP93_INT_ALL);
    cd_driver_write(driver, EIP93_REG_INT_MASK_DISABLE, EIP93_INT_ALL);
    cd_driver_write(driver, EIP93_REG_PE_CLOCK_CTRL, 0);
    cd_driver_write(driver, EIP93_REG_PE_RING_CONFIG, 0);
    cd_driver_write(driver, EIP93_REG_PE_CDR_BASE, 0);
    cd_driver_write(driver, EIP93_REG_PE_RDR_BASE, 0);
    cd_driver_write(driver, EIP93_REG_PE_CONFIG, 0);
}
