/*
 * The EIP-93 as facts: register offsets, bit fields, and the layout of descriptors and records.
 *
 * Shared by the emulator and the driver; nothing here does anything. All words are little-endian
 * and 32 bits wide. Each entry ends with where it is from: [drv] the Linux driver, [doc] a public
 * document of the same core, [model] no source says, this project's choice. Sections are those of
 * eip93-hardware.md. Fields are given as mask (FIELD) and shift (FIELD_SHIFT); enumerated values
 * (FIELD_NAME) stand unshifted.
 */
#ifndef EIP93_REGS_H
#define EIP93_REGS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* The value of `field` in `word`, and a value put in its place: EIP93_GET(word, EIP93_SA0_HASH). */
#define EIP93_GET(word, field) (((word) & (field)) >> field##_SHIFT)
#define EIP93_PUT(value, field) (((uint32_t)(value) << field##_SHIFT) & (field))

/* ---- Registers (section 2) ---- */

#define EIP93_REG_WINDOW_SIZE 0x1000u /* [drv] */

/* 2.2: one descriptor, as in the ring; loaded by the engine in autonomous ring mode */
#define EIP93_REG_PE_CTRL_STAT 0x000u      /* [drv] */
#define EIP93_REG_PE_SOURCE_ADDR 0x004u    /* [drv] */
#define EIP93_REG_PE_DEST_ADDR 0x008u      /* [drv] */
#define EIP93_REG_PE_SA_ADDR 0x00Cu        /* [drv] */
#define EIP93_REG_PE_STATE_ADDR 0x010u     /* [drv] */
#define EIP93_REG_PE_ARC4STATE_ADDR 0x014u /* [doc] */
#define EIP93_REG_PE_USER_ID 0x018u        /* [drv] */
#define EIP93_REG_PE_LENGTH 0x01Cu         /* [drv] */

/* 2.3: rings */
#define EIP93_REG_PE_CDR_BASE 0x080u     /* [drv] */
#define EIP93_REG_PE_RDR_BASE 0x084u     /* [drv] */
#define EIP93_REG_PE_RING_CONFIG 0x088u  /* [drv] */
#define EIP93_REG_PE_RING_THRESH 0x08Cu  /* [drv] */
#define EIP93_REG_PE_CD_COUNT 0x090u     /* [drv] read: pending; write: add */
#define EIP93_REG_PE_RD_COUNT 0x094u     /* [drv] read: unacknowledged; write: subtract */
#define EIP93_REG_PE_RING_RW_PNTR 0x098u /* [drv] */
#define EIP93_REG_PE_RING_STAT 0x09Cu    /* [doc] any write clears */

/* 2.4: configuration */
#define EIP93_REG_PE_CONFIG 0x100u       /* [drv] */
#define EIP93_REG_PE_STATUS 0x104u       /* [drv] */
#define EIP93_REG_PE_BUF_THRESH 0x10Cu   /* [drv] */
#define EIP93_REG_PE_INBUF_COUNT 0x110u  /* [doc] 0x100 in some driver headers is a mistake */
#define EIP93_REG_PE_OUTBUF_COUNT 0x114u /* [drv] */
#define EIP93_REG_PE_BUF_RW_PNTR 0x118u  /* [drv] */
#define EIP93_REG_PE_DMA_CONFIG 0x120u   /* [doc] */

/* 2.5: endian, halt, clock, identification */
#define EIP93_REG_PE_ENDIAN_CONFIG_OLD 0x1CCu /* [drv] MT7621 map */
#define EIP93_REG_PE_ENDIAN_CONFIG 0x1D0u     /* [drv] */
#define EIP93_REG_PE_HALT_CTRL 0x1E0u         /* [doc] reads HALT_STAT */
#define EIP93_REG_PE_CONTINUE 0x1E4u          /* [doc] */
#define EIP93_REG_PE_CLOCK_CTRL 0x1E8u        /* [drv] */
#define EIP93_REG_PE_OPTION_1 0x1F4u          /* [drv] */
#define EIP93_REG_PE_OPTION_0 0x1F8u          /* [drv] */
#define EIP93_REG_PE_REVISION 0x1FCu          /* [drv] */

/* 2.6: interrupts */
#define EIP93_REG_INT_UNMASK_STAT 0x200u  /* [drv] raw latched */
#define EIP93_REG_INT_MASK_STAT 0x204u    /* [drv] read: raw AND enable */
#define EIP93_REG_INT_CLR 0x204u          /* [drv] write: clear raw */
#define EIP93_REG_INT_MASK 0x208u         /* [drv] enable word */
#define EIP93_REG_INT_CFG 0x20Cu          /* [drv] */
#define EIP93_REG_INT_MASK_ENABLE 0x210u  /* [drv] write: set bits of the enable word */
#define EIP93_REG_INT_MASK_DISABLE 0x214u /* [drv] write: clear bits of the enable word */

/* 2.7: PRNG block of the MT7621-era map; storage only */
#define EIP93_REG_PRNG_FIRST 0x300u /* [drv] */
#define EIP93_REG_PRNG_LAST 0x33Cu  /* [drv] */

/* 2.8: windows of direct host mode */
#define EIP93_REG_SA_CMD_0 0x400u         /* [drv] */
#define EIP93_REG_SA_CMD_1 0x404u         /* [drv] */
#define EIP93_REG_SA_KEY 0x408u           /* [drv] 8 words */
#define EIP93_REG_SA_IDIGEST 0x428u       /* [drv] 8 words */
#define EIP93_REG_SA_ODIGEST 0x448u       /* [drv] 8 words */
#define EIP93_REG_SA_SPI 0x468u           /* [drv] */
#define EIP93_REG_SA_SEQNUM0 0x46Cu       /* [drv] */
#define EIP93_REG_SA_SEQNUM1 0x470u       /* [drv] */
#define EIP93_REG_SA_SEQNUM_MASK0 0x474u  /* [drv] */
#define EIP93_REG_SA_SEQNUM_MASK1 0x478u  /* [drv] */
#define EIP93_REG_SA_NONCE 0x47Cu         /* [drv] nonce, ARC4 pointers, SA_READY */
#define EIP93_REG_STATE_IV 0x500u         /* [drv] 4 words */
#define EIP93_REG_STATE_BYTE_CNT0 0x510u  /* [drv] */
#define EIP93_REG_STATE_BYTE_CNT1 0x514u  /* [drv] */
#define EIP93_REG_STATE_IDIGEST 0x518u    /* [drv] 8 words */
#define EIP93_REG_ARC4_SBOX 0x700u        /* [doc] 256 bytes */
#define EIP93_REG_DATA_BUFFER 0x800u      /* [doc] 256 bytes; write: input, read: output */
#define EIP93_REG_DATA_BUFFER_SIZE 0x100u /* [doc] */

/* PE_RING_CONFIG */
#define EIP93_RING_CONFIG_SIZE 0x000003FFu /* [drv] entries - 1, 1..1023 */
#define EIP93_RING_CONFIG_SIZE_SHIFT 0
#define EIP93_RING_CONFIG_STRIDE 0x00FF0000u /* [doc] words per entry; 0: 8; older revisions */
#define EIP93_RING_CONFIG_STRIDE_SHIFT 16
#define EIP93_RING_CONFIG_EN_EXT_TRIG (1u << 31) /* [drv] */
#define EIP93_RING_ENTRIES_MAX 1024u             /* [doc] */

/* PE_RING_THRESH */
#define EIP93_RING_THRESH_CDR 0x000003FFu /* [drv] */
#define EIP93_RING_THRESH_CDR_SHIFT 0
#define EIP93_RING_THRESH_RDR 0x03FF0000u /* [drv] */
#define EIP93_RING_THRESH_RDR_SHIFT 16
#define EIP93_RING_THRESH_RD_TIMEOUT 0x3C000000u /* [drv] N: 2^(N+10) engine clocks */
#define EIP93_RING_THRESH_RD_TIMEOUT_SHIFT 26
#define EIP93_RING_THRESH_TIMEOUT_EN (1u << 31) /* [drv] */

/* PE_CD_COUNT, PE_RD_COUNT, PE_RING_RW_PNTR, PE_RING_STAT */
#define EIP93_COUNT_READ 0x7FFu            /* [doc] */
#define EIP93_COUNT_WRITE 0x0FFu           /* [doc] 1..255 */
#define EIP93_COUNT_WRITE_MAX 255u         /* [doc] */
#define EIP93_RING_RW_PNTR_CDR 0x000003FFu /* [doc] next entry to be read */
#define EIP93_RING_RW_PNTR_CDR_SHIFT 0
#define EIP93_RING_RW_PNTR_RDR 0x03FF0000u /* [doc] next entry to be written */
#define EIP93_RING_RW_PNTR_RDR_SHIFT 16
#define EIP93_RING_STAT_CDR_OVERFLOW 0x1u  /* [doc] */
#define EIP93_RING_STAT_RDR_UNDERFLOW 0x2u /* [doc] */

/* PE_CONFIG */
#define EIP93_CONFIG_RST_PE (1u << 0)       /* [drv] level: held while 1 */
#define EIP93_CONFIG_RST_RING_DOC (1u << 1) /* [doc] ring reset of the manual */
#define EIP93_CONFIG_RST_RING (1u << 2)     /* [drv] ring reset of the Linux driver */
#define EIP93_CONFIG_RST_RING_ANY (EIP93_CONFIG_RST_RING_DOC | EIP93_CONFIG_RST_RING)
#define EIP93_CONFIG_PE_MODE 0x00000300u /* [drv] */
#define EIP93_CONFIG_PE_MODE_SHIFT 8
#define EIP93_CONFIG_PE_MODE_DHM 0u           /* [drv] direct host mode */
#define EIP93_CONFIG_PE_MODE_TCM 1u           /* [doc] target command mode, no result ring */
#define EIP93_CONFIG_PE_MODE_TCM_RDR 2u       /* [doc] target command mode with result ring */
#define EIP93_CONFIG_PE_MODE_ARM 3u           /* [drv] autonomous ring mode */
#define EIP93_CONFIG_EN_CDR_UPDATE (1u << 10) /* [drv] */
#define EIP93_CONFIG_SWAP_CDRD (1u << 16)     /* [drv] */
#define EIP93_CONFIG_SWAP_SA (1u << 17)       /* [drv] */
#define EIP93_CONFIG_SWAP_DATA (1u << 18)     /* [drv] */
#define EIP93_CONFIG_SWAP_TARGET (1u << 20)   /* [drv] */

/* PE_STATUS */
#define EIP93_STATUS_INPUT_DONE (1u << 0)      /* [doc] */
#define EIP93_STATUS_OUTPUT_DONE (1u << 1)     /* [doc] */
#define EIP93_STATUS_CRYPTO_DONE (1u << 2)     /* [doc] */
#define EIP93_STATUS_INNER_HASH_DONE (1u << 3) /* [doc] */
#define EIP93_STATUS_OUTER_HASH_DONE (1u << 4) /* [doc] */
#define EIP93_STATUS_IDLE 0x0000001Fu          /* [model] everything done */

/* PE_BUF_THRESH */
#define EIP93_BUF_THRESH_INBUF 0x000000FFu /* [drv] */
#define EIP93_BUF_THRESH_INBUF_SHIFT 0
#define EIP93_BUF_THRESH_OUTBUF 0x00FF0000u /* [drv] */
#define EIP93_BUF_THRESH_OUTBUF_SHIFT 16

/* PE_ENDIAN_CONFIG */
#define EIP93_ENDIAN_MASTER 0x000000FFu /* [doc] four 2-bit lane selectors */
#define EIP93_ENDIAN_TARGET 0x00FF0000u /* [doc] */
#define EIP93_ENDIAN_RESET 0x00E400E4u  /* [model] no swap */

/* PE_CLOCK_CTRL */
#define EIP93_CLOCK_ENGINE (1u << 0) /* [drv] */
#define EIP93_CLOCK_DES (1u << 1)    /* [drv] */
#define EIP93_CLOCK_AES (1u << 2)    /* [drv] */
#define EIP93_CLOCK_ARC4 (1u << 3)   /* [drv] */
#define EIP93_CLOCK_HASH (1u << 4)   /* [drv] */
#define EIP93_CLOCK_ALL 0x0000001Fu  /* [doc] reset value */

/* PE_OPTION_1: what this variant can do */
#define EIP93_OPTION_TDES (1u << 0)         /* [drv] DES and 3DES */
#define EIP93_OPTION_ARC4 (1u << 1)         /* [drv] */
#define EIP93_OPTION_AES (1u << 2)          /* [drv] */
#define EIP93_OPTION_AES_KEY128 (1u << 13)  /* [drv] */
#define EIP93_OPTION_AES_KEY192 (1u << 14)  /* [drv] */
#define EIP93_OPTION_AES_KEY256 (1u << 15)  /* [drv] */
#define EIP93_OPTION_MD5 (1u << 16)         /* [drv] */
#define EIP93_OPTION_SHA1 (1u << 17)        /* [drv] */
#define EIP93_OPTION_SHA224 (1u << 18)      /* [drv] */
#define EIP93_OPTION_SHA256 (1u << 19)      /* [drv] */
#define EIP93_OPTION_AES_XCBC (1u << 23)    /* [drv] */
#define EIP93_OPTION_AES_CBC_MAC (1u << 28) /* [drv] */
#define EIP93_OPTION_MAC_KEY128 (1u << 29)  /* [drv] */
#define EIP93_OPTION_MAC_KEY192 (1u << 30)  /* [drv] */
#define EIP93_OPTION_MAC_KEY256 (1u << 31)  /* [drv] */

#define EIP93_OPTION_1_93I 0x00022005u   /* [model] made from the bits above */
#define EIP93_OPTION_1_93IE 0x000EE005u  /* [model] */
#define EIP93_OPTION_1_93IS 0x00032007u  /* [model] */
#define EIP93_OPTION_1_93IES 0x000FE007u /* [model] */
#define EIP93_OPTION_1_93IW 0x30822005u  /* [model] */

/* PE_REVISION */
#define EIP93_REVISION_EIP 0x000000FFu /* [drv] */
#define EIP93_REVISION_EIP_SHIFT 0
#define EIP93_REVISION_EIP_93 0x5Du      /* [drv] */
#define EIP93_REVISION_PATCH 0x000F0000u /* [drv] */
#define EIP93_REVISION_PATCH_SHIFT 16
#define EIP93_REVISION_MINOR 0x00F00000u /* [drv] */
#define EIP93_REVISION_MINOR_SHIFT 20
#define EIP93_REVISION_MAJOR 0x0F000000u /* [drv] */
#define EIP93_REVISION_MAJOR_SHIFT 24
#define EIP93_REVISION_RESET 0x0210A25Du /* [model] */

/* Interrupt sources (section 7.1) */
#define EIP93_INT_CDR_THRESH (1u << 0)     /* [drv] level */
#define EIP93_INT_RDR_THRESH (1u << 1)     /* [drv] level */
#define EIP93_INT_OPERATION_DONE (1u << 9) /* [drv] event, direct host mode */
#define EIP93_INT_INBUF_THRESH (1u << 10)  /* [drv] level, direct host mode */
#define EIP93_INT_OUTBUF_THRESH (1u << 11) /* [drv] level, direct host mode */
#define EIP93_INT_HALT (1u << 15)          /* [drv] level */
#define EIP93_INT_RING_ERR (1u << 16)      /* [drv] event */
#define EIP93_INT_PROC_ERR (1u << 17)      /* [drv] event */
#define EIP93_INT_INTERFACE_ERR (1u << 18) /* [drv] event */
#define EIP93_INT_ALL 0x00078E03u          /* [drv] as the driver writes it (has HALT, 9..11) */
#define EIP93_INT_CFG_PULSE (1u << 0)      /* [doc] */
#define EIP93_INT_CFG_AUTO_CLEAR (1u << 1) /* [doc] after a pulse */

/* ---- Descriptors (section 4) ---- */

/* Command and result share the layout; the result copies words 1..6. */
struct eip93_descriptor {
    uint32_t control;     /* result: control and status */
    uint32_t source_addr; /* bus addresses of bytes */
    uint32_t dest_addr;
    uint32_t sa_addr;
    uint32_t state_addr;
    uint32_t arc4_addr;
    uint32_t user_id; /* passed through */
    uint32_t length;  /* result: bytes of output */
};

#define EIP93_DESCRIPTOR_WORDS 8u
#define EIP93_DESCRIPTOR_SIZE 32u

/* Word 0 of a command */
#define EIP93_CD_HOST_READY (1u << 0) /* [drv] */
#define EIP93_CD_PE_READY (1u << 1)   /* [drv] */
#define EIP93_CD_OWNER 0x00000003u    /* [drv] PE_READY, HOST_READY */
#define EIP93_CD_OWNER_SHIFT 0
#define EIP93_CD_INIT_ARC4 (1u << 3)   /* [drv] */
#define EIP93_CD_HASH_FINAL (1u << 4)  /* [drv] */
#define EIP93_CD_HALT_MODE (1u << 5)   /* [doc] older headers; write 0 */
#define EIP93_CD_PRNG_MODE 0x000000C0u /* [drv] */
#define EIP93_CD_PRNG_MODE_SHIFT 6
#define EIP93_CD_PRNG_MODE_NONE 0u     /* [drv] */
#define EIP93_CD_PRNG_MODE_INIT 1u     /* [drv] */
#define EIP93_CD_PRNG_MODE_GENERATE 2u /* [doc] */
#define EIP93_CD_PRNG_MODE_TEST 3u     /* [doc] */
#define EIP93_CD_PAD_VALUE 0x0000FF00u /* [drv] next header or constant */
#define EIP93_CD_PAD_VALUE_SHIFT 8
#define EIP93_CD_PAD_CTRL 0xFF000000u /* [drv] alignment code, section 6.2 */
#define EIP93_CD_PAD_CTRL_SHIFT 24

/* Word 7 of a command */
#define EIP93_CD_LENGTH 0x000FFFFFu /* [drv] bytes of input, bypass included */
#define EIP93_CD_LENGTH_SHIFT 0
#define EIP93_CD_LENGTH_MAX 0x000FFFFFu       /* [drv] */
#define EIP93_CD_LENGTH_HOST_READY (1u << 22) /* [drv] */
#define EIP93_CD_LENGTH_PE_READY (1u << 23)   /* [drv] */
#define EIP93_CD_LENGTH_OWNER 0x00C00000u     /* [drv] */
#define EIP93_CD_LENGTH_OWNER_SHIFT 22
#define EIP93_CD_BYPASS 0xFF000000u /* [drv] words */
#define EIP93_CD_BYPASS_SHIFT 24

/* Values of both ownership fields (4.3) */
#define EIP93_OWNER_NULL 0u     /* [doc] */
#define EIP93_OWNER_ENGINE 1u   /* [drv] */
#define EIP93_OWNER_HOST 2u     /* [drv] done */
#define EIP93_OWNER_RESERVED 3u /* [doc] */

/* Word 0 of a result */
#define EIP93_RD_STATUS 0x00FF0000u /* [drv] the status byte, below */
#define EIP93_RD_STATUS_SHIFT 16
#define EIP93_RD_PAD_STATUS 0xFF000000u /* [doc] pad bytes, low 8 bits of the number */
#define EIP93_RD_PAD_STATUS_SHIFT 24
#define EIP93_RD_PAD_VALUE 0x0000FF00u /* [doc] next header found */
#define EIP93_RD_PAD_VALUE_SHIFT 8
#define EIP93_RD_COPIED 0x000000D8u /* [doc] PRNG_MODE, HASH_FINAL, INIT_ARC4 */

/* Status byte (section 8.1): three flags, or one extended code << 4 with bit 3 */
#define EIP93_RD_OK 0x00u
#define EIP93_RD_AUTH_ERR 0x01u        /* [drv] */
#define EIP93_RD_PAD_ERR 0x02u         /* [drv] */
#define EIP93_RD_SEQNUM_ERR 0x04u      /* [drv] */
#define EIP93_RD_EXT_ERR 0x08u         /* [drv] bits 7:4 hold a code */
#define EIP93_RD_ERR_BUS 0x08u         /* [drv] */
#define EIP93_RD_ERR_OWNER 0x18u       /* [drv] */
#define EIP93_RD_ERR_OPERATION 0x28u   /* [drv] */
#define EIP93_RD_ERR_ALGORITHM 0x38u   /* [drv] */
#define EIP93_RD_ERR_SPI 0x48u         /* [drv] */
#define EIP93_RD_ERR_ZERO_LENGTH 0x58u /* [drv] */
#define EIP93_RD_ERR_LENGTH 0x68u      /* [drv] */
#define EIP93_RD_ERR_BLOCK_SIZE 0x78u  /* [drv] */
#define EIP93_RD_ERR_PROCESSING 0x88u  /* [drv] */

/* ---- SA record (sections 5.1, 5.4, 5.5) ---- */

struct eip93_sa {
    uint32_t cmd0;
    uint32_t cmd1;
    uint8_t key[32];      /* plain byte string */
    uint32_t i_digest[8]; /* raw chaining words */
    uint32_t o_digest[8];
    uint32_t spi;     /* numeric */
    uint32_t seqnum0; /* low */
    uint32_t seqnum1; /* high */
    uint32_t seqnum_mask0;
    uint32_t seqnum_mask1;
    uint8_t nonce[4]; /* byte string; ARC4: i, j */
};

#define EIP93_SA_WORDS 32u
#define EIP93_SA_SIZE 128u

/* SA_CMD0 */
#define EIP93_SA0_OPCODE 0x00000007u /* [drv] */
#define EIP93_SA0_OPCODE_SHIFT 0
#define EIP93_SA0_DIRECTION_IN (1u << 3) /* [drv] inbound: decrypt */
#define EIP93_SA0_OPGROUP 0x00000030u    /* [drv] */
#define EIP93_SA0_OPGROUP_SHIFT 4
#define EIP93_SA0_OPGROUP_BASIC 0u     /* [drv] */
#define EIP93_SA0_OPGROUP_PROTOCOL 1u  /* [drv] */
#define EIP93_SA0_OPGROUP_EXTENDED 2u  /* [drv] */
#define EIP93_SA0_PAD_TYPE 0x000000C0u /* [drv] */
#define EIP93_SA0_PAD_TYPE_SHIFT 6
#define EIP93_SA0_PAD_TYPE_IPSEC 0u    /* [drv] with EXT_PAD 0 */
#define EIP93_SA0_PAD_TYPE_PKCS7 1u    /* [drv] */
#define EIP93_SA0_PAD_TYPE_CONSTANT 2u /* [drv] */
#define EIP93_SA0_PAD_TYPE_ZERO 3u     /* [drv] */
#define EIP93_SA0_PAD_TYPE_EXT_TLS 1u  /* [doc] with EXT_PAD 1 */
#define EIP93_SA0_PAD_TYPE_EXT_SSL 2u  /* [doc] */
#define EIP93_SA0_CIPHER 0x00000F00u   /* [drv] */
#define EIP93_SA0_CIPHER_SHIFT 8
#define EIP93_SA0_CIPHER_DES 0u    /* [drv] */
#define EIP93_SA0_CIPHER_3DES 1u   /* [drv] */
#define EIP93_SA0_CIPHER_ARC4 2u   /* [drv] */
#define EIP93_SA0_CIPHER_AES 3u    /* [drv] */
#define EIP93_SA0_CIPHER_NULL 15u  /* [drv] */
#define EIP93_SA0_HASH 0x0000F000u /* [drv] */
#define EIP93_SA0_HASH_SHIFT 12
#define EIP93_SA0_HASH_MD5 0u               /* [drv] */
#define EIP93_SA0_HASH_SHA1 1u              /* [drv] */
#define EIP93_SA0_HASH_SHA224 2u            /* [drv] */
#define EIP93_SA0_HASH_SHA256 3u            /* [drv] */
#define EIP93_SA0_HASH_NULL 15u             /* [drv] */
#define EIP93_SA0_SCPAD (1u << 17)          /* [drv] pad stream ciphers too */
#define EIP93_SA0_EXT_PAD (1u << 18)        /* [drv] */
#define EIP93_SA0_HDR_PROC (1u << 19)       /* [drv] */
#define EIP93_SA0_DIGEST_LENGTH 0x00F00000u /* [drv] */
#define EIP93_SA0_DIGEST_LENGTH_SHIFT 20
#define EIP93_SA0_DIGEST_LENGTH_3_WORDS 0u   /* [drv] 1..8: that many words */
#define EIP93_SA0_DIGEST_LENGTH_10_BYTES 10u /* [doc] */
#define EIP93_SA0_IV_SOURCE 0x03000000u      /* [drv] */
#define EIP93_SA0_IV_SOURCE_SHIFT 24
#define EIP93_SA0_IV_SOURCE_PREVIOUS 0u   /* [drv] */
#define EIP93_SA0_IV_SOURCE_INPUT 1u      /* [drv] */
#define EIP93_SA0_IV_SOURCE_STATE 2u      /* [drv] */
#define EIP93_SA0_IV_SOURCE_PRNG 3u       /* [drv] outbound only */
#define EIP93_SA0_HASH_SOURCE 0x0C000000u /* [drv] */
#define EIP93_SA0_HASH_SOURCE_SHIFT 26
#define EIP93_SA0_HASH_SOURCE_SA 0u      /* [drv] byte count 64 */
#define EIP93_SA0_HASH_SOURCE_STATE 2u   /* [drv] */
#define EIP93_SA0_HASH_SOURCE_NO_LOAD 3u /* [drv] constants, byte count 0 */
#define EIP93_SA0_SAVE_IV (1u << 28)     /* [drv] */
#define EIP93_SA0_SAVE_HASH (1u << 29)   /* [drv] */

/* Opcodes by group and direction (5.6) */
#define EIP93_OPCODE_CRYPT 0u      /* [drv] basic: encrypt, decrypt */
#define EIP93_OPCODE_CRYPT_HASH 1u /* [drv] basic: encrypt-hash, hash-decrypt */
#define EIP93_OPCODE_HASH 3u       /* [drv] basic, both directions */
#define EIP93_OPCODE_PRNG 7u       /* [drv] basic, outbound */
#define EIP93_OPCODE_ESP 0u        /* [drv] protocol, both directions */
#define EIP93_OPCODE_SSL_IN 2u     /* [doc] protocol */
#define EIP93_OPCODE_TLS_IN 3u     /* [doc] protocol */
#define EIP93_OPCODE_SSL_OUT 4u    /* [doc] protocol */
#define EIP93_OPCODE_TLS_OUT 5u    /* [doc] protocol */
#define EIP93_OPCODE_SRTP 7u       /* [doc] protocol, both directions */
#define EIP93_OPCODE_EXT_DTLS 1u   /* [doc] extended */
#define EIP93_OPCODE_EXT_SSL 4u    /* [doc] extended */
#define EIP93_OPCODE_EXT_TLS10 5u  /* [doc] extended */
#define EIP93_OPCODE_EXT_TLS11 6u  /* [doc] extended */

/* SA_CMD1 */
#define EIP93_SA1_COPY_DIGEST (1u << 0)   /* [drv] */
#define EIP93_SA1_COPY_HEADER (1u << 1)   /* [drv] */
#define EIP93_SA1_COPY_PAYLOAD (1u << 2)  /* [drv] hash-only */
#define EIP93_SA1_COPY_PAD (1u << 3)      /* [drv] */
#define EIP93_SA1_CIPHER_MODE 0x00000300u /* [drv] */
#define EIP93_SA1_CIPHER_MODE_SHIFT 8
#define EIP93_SA1_CIPHER_MODE_ECB 0u            /* [drv] */
#define EIP93_SA1_CIPHER_MODE_CBC 1u            /* [drv] */
#define EIP93_SA1_CIPHER_MODE_CTR 2u            /* [drv] AES only */
#define EIP93_SA1_CIPHER_MODE_ICM 3u            /* [drv] AES only */
#define EIP93_SA1_CIPHER_MODE_ARC4_STATELESS 0u /* [doc] */
#define EIP93_SA1_CIPHER_MODE_ARC4_STATEFUL 1u  /* [doc] */
#define EIP93_SA1_SSL_MAC (1u << 11)            /* [doc] the Linux header says 12 */
#define EIP93_SA1_HMAC (1u << 12)               /* [drv] */
#define EIP93_SA1_BYTE_OFFSET (1u << 13)        /* [drv] HASH_CRYPT_OFFSET in bytes, not words */
#define EIP93_SA1_HASH_CRYPT_OFFSET 0x00FF0000u /* [drv] */
#define EIP93_SA1_HASH_CRYPT_OFFSET_SHIFT 16
#define EIP93_SA1_AES_KEY_LENGTH 0x07000000u /* [drv] */
#define EIP93_SA1_AES_KEY_LENGTH_SHIFT 24
#define EIP93_SA1_AES_KEY_LENGTH_128 2u       /* [drv] */
#define EIP93_SA1_AES_KEY_LENGTH_192 3u       /* [drv] */
#define EIP93_SA1_AES_KEY_LENGTH_256 4u       /* [drv] */
#define EIP93_SA1_AES_DEC_KEY (1u << 28)      /* [drv] */
#define EIP93_SA1_ARC4_KEY_LENGTH 0x1F000000u /* [drv] bytes */
#define EIP93_SA1_ARC4_KEY_LENGTH_SHIFT 24
#define EIP93_SA1_EN_SEQNUM_CHK (1u << 29) /* [drv] */

/* Key bytes (5.1) */
#define EIP93_KEY_DES 8u       /* [drv] parity ignored */
#define EIP93_KEY_3DES 24u     /* [drv] K1, K2, K3: encrypt, decrypt, encrypt */
#define EIP93_KEY_ARC4_MIN 5u  /* [doc] */
#define EIP93_KEY_ARC4_MAX 16u /* [doc] */

/* ---- State record (section 5.2) ---- */

struct eip93_state {
    uint8_t iv[16];       /* 8 used by DES and 3DES */
    uint32_t byte_cnt[2]; /* hashed bytes, low word first */
    uint32_t i_digest[8]; /* raw chaining words */
};

#define EIP93_STATE_SIZE 56u
#define EIP93_ARC4_STATE_SIZE 256u /* [doc] the S-box */

/* Limits of a packet (6.1) */
#define EIP93_LENGTH_ESP_MAX 65535u /* [doc] also SRTP */
#define EIP93_LENGTH_TLS_MAX 16383u /* [doc] SSL, TLS, DTLS */
#define EIP93_LENGTH_PRNG_MAX 4080u /* [doc] multiple of 16, at least 16 */

static_assert(sizeof(struct eip93_descriptor) == EIP93_DESCRIPTOR_SIZE, "4.1");
static_assert(offsetof(struct eip93_descriptor, source_addr) == 0x04, "4.1");
static_assert(offsetof(struct eip93_descriptor, dest_addr) == 0x08, "4.1");
static_assert(offsetof(struct eip93_descriptor, sa_addr) == 0x0C, "4.1");
static_assert(offsetof(struct eip93_descriptor, state_addr) == 0x10, "4.1");
static_assert(offsetof(struct eip93_descriptor, arc4_addr) == 0x14, "4.1");
static_assert(offsetof(struct eip93_descriptor, user_id) == 0x18, "4.1");
static_assert(offsetof(struct eip93_descriptor, length) == 0x1C, "4.1");
static_assert(sizeof(struct eip93_sa) == EIP93_SA_SIZE, "5.1");
static_assert(offsetof(struct eip93_sa, key) == 0x08, "5.1");
static_assert(offsetof(struct eip93_sa, i_digest) == 0x28, "5.1");
static_assert(offsetof(struct eip93_sa, o_digest) == 0x48, "5.1");
static_assert(offsetof(struct eip93_sa, spi) == 0x68, "5.1");
static_assert(offsetof(struct eip93_sa, seqnum0) == 0x6C, "5.1");
static_assert(offsetof(struct eip93_sa, seqnum1) == 0x70, "5.1");
static_assert(offsetof(struct eip93_sa, seqnum_mask0) == 0x74, "5.1");
static_assert(offsetof(struct eip93_sa, seqnum_mask1) == 0x78, "5.1");
static_assert(offsetof(struct eip93_sa, nonce) == 0x7C, "5.1");
static_assert(sizeof(struct eip93_state) == EIP93_STATE_SIZE, "5.2");
static_assert(offsetof(struct eip93_state, byte_cnt) == 0x10, "5.2");
static_assert(offsetof(struct eip93_state, i_digest) == 0x18, "5.2");
static_assert(EIP93_INT_ALL ==
                  (EIP93_INT_CDR_THRESH | EIP93_INT_RDR_THRESH | EIP93_INT_OPERATION_DONE |
                   EIP93_INT_INBUF_THRESH | EIP93_INT_OUTBUF_THRESH | EIP93_INT_HALT |
                   EIP93_INT_RING_ERR | EIP93_INT_PROC_ERR | EIP93_INT_INTERFACE_ERR),
              "7.1");

#endif
