// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers: what a load or store to BAR0 or BAR2 means.
 *
 * PCI hands over integers in little-endian byte order; the card's registers
 * are big-endian, so a 32-bit value is byte swapped here and nowhere else.
 */
#include "core.h"

/* EQ doorbells of a UAR page: four, 8 bytes apart. */
#define UAR_EQ_DB 0x800u
#define UAR_EQ_DB_END 0x820u

static u32 swap32(u64 v)
{
	return (u32)(v & 0xff) << 24 | (u32)(v >> 8 & 0xff) << 16 | (u32)(v >> 16 & 0xff) << 8 |
	       (u32)(v >> 24 & 0xff);
}

static u64 all_ones(unsigned int size)
{
	return size >= 8 ? ~0ull : CX3_BIT(8 * size) - 1;
}

/* ---------------------------------------------------------------------- BAR0 */

static u32 take_semaphore(bool *taken)
{
	u32 old = *taken;

	*taken = true;
	return old;
}

/* Free running clock of 156.25 MHz: 5 ticks each 32 ns; @part 0 = high word. */
static u32 clock_word(struct cx3_hca *hca, unsigned int part)
{
	u64 ticks = cx3_now(hca) / 32 * 5;

	return part ? (u32)ticks : (u32)(ticks >> 32);
}

static u32 bar0_word(struct cx3_hca *hca, u32 addr)
{
	struct cx3_core *core = hca->core;

	if (addr >= CX3_REG_HCR && addr < CX3_REG_HCR + 4 * CX3_HCR_WORDS)
		return core->hcr[(addr - CX3_REG_HCR) / 4];
	if (addr >= CX3_REG_ERR_BUF && addr < CX3_REG_ERR_BUF + 4 * CX3_ERR_WORDS)
		return core->err_buf[(addr - CX3_REG_ERR_BUF) / 4];
	switch (addr) {
	case CX3_REG_OWNER:
		return take_semaphore(&core->owner_taken);
	case CX3_REG_HW_SEM:
		return take_semaphore(&core->hw_sem);
	case CX3_REG_CLOCK:
	case CX3_REG_CLOCK + 4:
		return clock_word(hca, addr & 4);
	case CX3_REG_RESET:
	case CX3_REG_MARK:
		return 0;
	}
	cx3_violation(hca, CX3_V_MMIO, "read of no register, BAR0 %x", addr);
	return 0;
}

static void write_hcr(struct cx3_hca *hca, unsigned int word, u32 val)
{
	struct cx3_core *core = hca->core;

	if (core->hcr[6] & CX3_HCR_GO) {
		cx3_violation(hca, CX3_V_CMD_BUSY, "HCR word %u written while a command runs",
			      word);
		return;
	}
	core->hcr[word] = val;
	if (word == 6 && (val & CX3_HCR_GO))
		cx3_cmd_post(hca);
}

static void write_reset(struct cx3_hca *hca, u32 val)
{
	u64 arg = 0;

	if (!(val & 1))
		return;
	if (cx3_fault(hca, CX3_FP_RESET, 0, &arg) != CX3_FA_NONE)
		return;
	cx3_soft_reset(hca);
}

static void bar0_write_word(struct cx3_hca *hca, u32 addr, u32 val)
{
	struct cx3_core *core = hca->core;

	if (addr >= CX3_REG_HCR && addr < CX3_REG_HCR + 4 * CX3_HCR_WORDS) {
		write_hcr(hca, (addr - CX3_REG_HCR) / 4, val);
		return;
	}
	switch (addr) {
	case CX3_REG_OWNER:
		core->owner_taken = val;
		return;
	case CX3_REG_HW_SEM:
		core->hw_sem = val;
		return;
	case CX3_REG_RESET:
		write_reset(hca, val);
		return;
	case CX3_REG_CLR_INT:
	case CX3_REG_CLR_INT + 4:
		core->intx = false;
		return;
	case CX3_REG_MARK:
		cx3_count(hca, CX3_C_MARK, 1);
		cx3_log(hca, CX3_LOG_INFO, "mark %u at %llu", val, cx3_now(hca));
		return;
	}
	cx3_violation(hca, CX3_V_MMIO, "write to no register, BAR0 %x", addr);
}

/* ---------------------------------------------------------------------- BAR2 */

static void eq_doorbell(struct cx3_hca *hca, u32 page, u32 off, const u8 *b, unsigned int size)
{
	if (off % 8 || size != 4) {
		cx3_violation(hca, CX3_V_DB_BAD, "EQ doorbell of %u bytes at UAR %u + %x", size,
			      page, off);
		return;
	}
	cx3_eq_doorbell(hca, page * 4 + (off - UAR_EQ_DB) / 8, get32(b));
}

static void bar2_write(struct cx3_hca *hca, u64 addr, const u8 *b, unsigned int size)
{
	u32 page = (u32)(addr / CX3_PAGE), off = (u32)(addr % CX3_PAGE);

	if (hca->phase == CX3_PH_DEAD)
		return;
	if (hca->phase != CX3_PH_RUN) {
		cx3_violation(hca, hca->core->finished ? CX3_V_AFTER_END : CX3_V_DB_DEAD,
			      "doorbell at UAR %u + %x, and the HCA is not initialised", page, off);
		return;
	}
	if (page >= hca->geo.num_uars * (hca->cfg.blueflame ? 2 : 1))
		cx3_violation(hca, CX3_V_DB_BAD, "doorbell at UAR %u of %u", page,
			      hca->geo.num_uars);
	else if (page >= hca->geo.num_uars)
		cx3_transport_bf_write(hca, page - hca->geo.num_uars, off, b, size);
	else if (off >= UAR_EQ_DB && off < UAR_EQ_DB_END)
		eq_doorbell(hca, page, off, b, size);
	else
		cx3_transport_uar_write(hca, page, off, b, size);
}

/* ------------------------------------------------------------ from outside */

u64 cx3_bar_read(struct cx3_hca *hca, unsigned int bar, u64 addr, unsigned int size)
{
	u32 word;

	if (hca->gone)
		return all_ones(size);
	cx3_enter(hca);
	cx3_count(hca, CX3_C_MMIO_READ, 1);
	if (bar == 2) {
		/* write only: real pages read as zero */
		cx3_leave(hca);
		return 0;
	}
	/* A narrow or wide load is allowed only where nothing happens by reading. */
	if (size != 4 || addr % 4 || addr >= CX3_BAR0_SIZE) {
		cx3_violation(hca, CX3_V_MMIO, "read of %u bytes at BAR0 %llx", size, addr);
		cx3_leave(hca);
		return all_ones(size);
	}
	word = bar0_word(hca, (u32)addr);
	cx3_leave(hca);
	return swap32(word);
}

void cx3_bar_write(struct cx3_hca *hca, unsigned int bar, u64 addr, u64 val, unsigned int size)
{
	u8 b[8];
	unsigned int i;

	if (hca->gone)
		return;
	cx3_enter(hca);
	cx3_count(hca, CX3_C_MMIO_WRITE, 1);
	if (bar == 2 && size && size <= 8) {
		for (i = 0; i < 8; i++)
			b[i] = (u8)(val >> (8 * i));
		bar2_write(hca, addr, b, size);
	} else if (size != 4 || addr % 4 || addr >= CX3_BAR0_SIZE) {
		cx3_violation(hca, CX3_V_MMIO, "write of %u bytes at BAR%u %llx", size, bar, addr);
	} else {
		bar0_write_word(hca, (u32)addr, swap32(val));
	}
	cx3_leave(hca);
}
