/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory protection table entry: its layout and the device's record of it.
 */
#ifndef CX3_MODEL_MPT_H
#define CX3_MODEL_MPT_H

#include "core.h"

/* Byte offsets of the 64-byte entry (hardware interface). */
#define MPT_FLAGS 0
#define MPT_QPN 4
#define MPT_KEY 8
#define MPT_PD 12
#define MPT_START 16
#define MPT_LENGTH 24
#define MPT_LKEY 32
#define MPT_WINDOWS 36
#define MPT_LEN64 41
#define MPT_MTT 44
#define MPT_MTT_SIZE 52
#define MPT_ENTITY 56
#define MPT_FBO 60

#define MPT_STATUS_SHIFT 28
#define MPT_STATUS_HW 0x0u
#define MPT_STATUS_FREE 0x3u
#define MPT_STATUS_SW 0xfu
#define MPT_PHYSICAL 0x200u
#define MPT_REGION 0x100u
#define MPT_ACCESS_SHIFT 10
#define MPT_ACCESS_MASK 0x3fu

#define MPT_PD_MASK 0x1ffffu
#define MPT_PD_FAST_REG 0x08000000u
#define MPT_PD_INVALIDATE 0x03000000u
#define MPT_QPN_BOUND 0x80u

/**
 * struct cx3_mpt - what the device knows of one entry
 * @obj: index; obj.sw = software owns the entry
 * @gen: SYNC_TPT generation it was read in
 * @status: MPT_STATUS_*
 * @flags: flags word without status
 * @pd: PD word with its flags
 * @key: key field (the key rotated right by 8)
 * @qpn: QPN word
 * @start: virtual start
 * @length: bytes
 * @lkey: key field of the region a window is bound to
 * @windows: windows bound to this region
 * @mtt: byte offset relative to the MTT base
 * @mtt_size: entries of a fast-register region
 * @log_page: log2 page size
 * @shift: window: address in the region minus address in the window
 */
struct cx3_mpt {
	struct cx3_obj obj;
	u32 gen;
	u8 status;
	u32 flags;
	u32 pd;
	u32 key;
	u32 qpn;
	u64 start;
	u64 length;
	u32 lkey;
	u32 windows;
	u64 mtt;
	u32 mtt_size;
	u8 log_page;
	u64 shift;
};

static inline u32 mpt_rotate(u32 key)
{
	return key >> 8 | key << 24;
}

/** cx3_mpt_of() - live or free entry that carries this key, or NULL */
struct cx3_mpt *cx3_mpt_of(struct cx3_hca *hca, u32 key);
/** cx3_mpt_store() - write the changed parts of the entry to ICM; 0 or cx3_err */
int cx3_mpt_store(struct cx3_hca *hca, struct cx3_mpt *m);

#endif
