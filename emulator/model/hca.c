// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device as a whole: creation, reset, the bracket around every entry,
 * interrupts on the way out, and the gate through which all DMA goes.
 */
#include "core.h"

void cx3_config_init(struct cx3_config *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->device_id = 0x1003;
	cfg->fw_major = 2;
	cfg->fw_minor = 42;
	cfg->fw_sub = 5000;
	cfg->node_guid = 0x0002c90300100000ull;
	cfg->nports = CX3_MAX_PORTS;
	cfg->nvectors = CX3_MAX_VECTORS;
	cfg->log_uar_bytes = 23;
	cfg->blueflame = true;
	cfg->max_vl = 8;
	cfg->pkeys = CX3_MAX_PKEYS;
	cfg->gids = CX3_MAX_GIDS;
	cfg->strict = true;
	snprintf(cfg->board_id, sizeof(cfg->board_id), "MT_1100120019");
	snprintf(cfg->name, sizeof(cfg->name), "cx3");
}

static bool is_power_of_two_in(u32 v, u32 low, u32 high)
{
	return v >= low && v <= high && !(v & (v - 1));
}

static const char *config_error(const struct cx3_config *cfg)
{
	if (cfg->nports < 1 || cfg->nports > CX3_MAX_PORTS)
		return "the number of ports is 1 or 2";
	if (cfg->nvectors > CX3_MAX_VECTORS)
		return "there are at most 128 vectors";
	if (cfg->log_uar_bytes < 20 || cfg->log_uar_bytes > 28)
		return "the UAR area has 2^20 to 2^28 bytes";
	if (!is_power_of_two_in(cfg->max_vl, 1, 8))
		return "the number of data VLs is 1, 2, 4 or 8";
	if (!is_power_of_two_in(cfg->pkeys, 16, CX3_MAX_PKEYS))
		return "the P_Key table has 16, 32, 64 or 128 entries";
	if (!is_power_of_two_in(cfg->gids, 8, CX3_MAX_GIDS))
		return "the GID table has 8, 16, 32, 64 or 128 entries";
	if (!cfg->node_guid)
		return "the node GUID is not 0";
	return NULL;
}

u64 cx3_bar2_size(const struct cx3_config *cfg)
{
	return 1ull << (cfg->log_uar_bytes + (cfg->blueflame ? 1 : 0));
}

struct cx3_hca *cx3_create(const struct cx3_host *host, const struct cx3_config *cfg,
			   const char **why)
{
	struct cx3_hca *hca;

	*why = config_error(cfg);
	if (*why)
		return NULL;
	*why = "out of memory";
	hca = cx3_host_alloc(host, sizeof(*hca));
	if (!hca)
		return NULL;
	hca->host = *host;
	hca->cfg = *cfg;
	hca->core = cx3_alloc(hca, sizeof(*hca->core));
	if (!hca->core)
		goto fail;
	hca->core->mbox_in = cx3_alloc(hca, CX3_MBOX_SIZE);
	hca->core->mbox_out = cx3_alloc(hca, CX3_MBOX_SIZE);
	hca->core->init_hca = cx3_alloc(hca, CX3_MBOX_SIZE);
	hca->core->deadline = CX3_NEVER;
	if (!hca->core->mbox_in || !hca->core->mbox_out || !hca->core->init_hca)
		goto fail;
	if (cx3_ports_create(hca) || cx3_transport_create(hca))
		goto fail;
	cx3_forget(hca);
	return hca;
fail:
	cx3_destroy(hca);
	return NULL;
}

void cx3_destroy(struct cx3_hca *hca)
{
	if (!hca)
		return;
	if (hca->core) {
		if (hca->xport) {
			cx3_forget(hca);
			cx3_transport_destroy(hca);
		}
		cx3_ports_destroy(hca);
		cx3_fault_free(hca);
		hca->host.ops->timer(hca->host.ctx, CX3_NEVER);
		cx3_free(hca, hca->core->mbox_in);
		cx3_free(hca, hca->core->mbox_out);
		cx3_free(hca, hca->core->init_hca);
		cx3_free(hca, hca->core);
	}
	cx3_free(hca, hca);
}

/* ------------------------------------------------------------ entry and exit */

void cx3_enter(struct cx3_hca *hca)
{
	hca->depth++;
}

static void flush_irqs(struct cx3_hca *hca)
{
	struct cx3_core *core = hca->core;
	unsigned int i, v;

	for (i = 0; i < ARRAY_SIZE(core->irq); i++) {
		u64 bits = core->irq[i];

		core->irq[i] = 0;
		for (v = 0; bits; v++, bits >>= 1)
			if (bits & 1)
				hca->host.ops->msix(hca->host.ctx, i * 64 + v);
	}
	if (core->intx_level != core->intx) {
		core->intx_level = core->intx;
		hca->host.ops->intx(hca->host.ctx, core->intx);
	}
}

void cx3_leave(struct cx3_hca *hca)
{
	u64 deadline = hca->timers ? hca->timers->deadline : CX3_NEVER;

	if (--hca->depth)
		return;
	flush_irqs(hca);
	if (deadline != hca->core->deadline) {
		hca->core->deadline = deadline;
		hca->host.ops->timer(hca->host.ctx, deadline);
	}
}

void cx3_irq(struct cx3_hca *hca, u16 vector)
{
	if (hca->gone)
		return;
	cx3_count(hca, CX3_C_IRQ, 1);
	if (!hca->msix_on)
		hca->core->intx = true;
	else if (vector < CX3_MAX_VECTORS)
		hca->core->irq[vector / 64] |= CX3_BIT(vector % 64);
}

void cx3_log(struct cx3_hca *hca, enum cx3_log_level level, const char *fmt, ...)
{
	char line[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	cx3_host_log(&hca->host, level, "%s: %s", hca->cfg.name, line);
}

/* ---------------------------------------------------------------------- DMA */

/*
 * A driver that must end the device at once takes bus mastering away first, so that memory is safe,
 * and resets it then. In between the device tries in vain: that is no mistake of the driver, unless
 * the reset does not come, or it asks for more itself.
 */
#define CUT_OFF_NS 2000000000ull

/* One answer for both directions: may the device use the bus? */
static int dma_gate(struct cx3_hca *hca, u64 addr, u32 len)
{
	if (hca->gone)
		return CX3_E_DMA;
	if (!hca->bus_master) {
		if (cx3_now(hca) < hca->core->cut_off)
			return CX3_E_DMA;
		cx3_violation(hca, CX3_V_DMA_NO_MASTER, "DMA of %u bytes at %llx, bus master off",
			      len, addr);
		return CX3_E_DMA;
	}
	return 0;
}

int cx3_dma_read(struct cx3_hca *hca, u64 addr, void *buf, u32 len)
{
	int err = dma_gate(hca, addr, len);

	if (err)
		return err;
	cx3_count(hca, CX3_C_DMA_READ_BYTES, len);
	if (!hca->host.ops->dma_read(hca->host.ctx, addr, buf, len))
		return 0;
	cx3_violation(hca, CX3_V_DMA_FAULT, "DMA read of %u bytes at %llx failed", len, addr);
	return CX3_E_DMA;
}

int cx3_dma_write(struct cx3_hca *hca, u64 addr, const void *buf, u32 len)
{
	int err = dma_gate(hca, addr, len);

	if (err)
		return err;
	cx3_count(hca, CX3_C_DMA_WRITE_BYTES, len);
	if (!hca->host.ops->dma_write(hca->host.ctx, addr, buf, len))
		return 0;
	cx3_violation(hca, CX3_V_DMA_FAULT, "DMA write of %u bytes at %llx failed", len, addr);
	return CX3_E_DMA;
}

/* -------------------------------------------------------------------- reset */

void cx3_forget(struct cx3_hca *hca)
{
	struct cx3_core *core = hca->core;
	unsigned int i;

	cx3_transport_reset(hca);
	cx3_eq_reset(hca);
	cx3_mpt_reset(hca);
	cx3_mcg_reset(hca);
	cx3_pd_forget(hca);
	for (i = 0; i < CX3_NKINDS; i++)
		cx3_table_fini(hca, i);
	cx3_icm_clear(hca);
	core->fa_pages = 0;
	core->aux_pages = 0;
	core->aux_needed = 0;
	core->icm_size = 0;
	for (i = 0; i < ARRAY_SIZE(core->event_eq); i++)
		core->event_eq[i] = CX3_NO_EQ;
	for (i = 0; i < ARRAY_SIZE(core->irq); i++)
		core->irq[i] = 0;
	core->intx = false;
	hca->special_base = 0;
	memset(&hca->geo, 0, sizeof(hca->geo));
	cx3_ports_reset(hca);
}

static void reset_all(struct cx3_hca *hca)
{
	cx3_cmd_reset(hca);
	cx3_forget(hca);
	cx3_keep_drop(hca, NULL, 0);
	memset(hca->core->err_buf, 0, sizeof(hca->core->err_buf));
	hca->core->silent = false;
	hca->core->excused = false;
	hca->core->finished = false;
	hca->phase = CX3_PH_RESET;
}

void cx3_soft_reset(struct cx3_hca *hca)
{
	/*
	 * A driver that was told of a fatal error, or lost a command, resets
	 * with everything still in place, and so does one that has just taken
	 * bus mastering away because it must stop at once (the machine goes
	 * down).  Otherwise it forgot to close.
	 */
	if (hca->phase == CX3_PH_RUN && !hca->core->excused &&
	    cx3_now(hca) >= hca->core->cut_off)
		cx3_violation(hca, CX3_V_LEFT_OVER, "reset of a running device: %u things live",
			      cx3_audit(hca, NULL, NULL));
	reset_all(hca);
	hca->core->hw_sem = false;
}

void cx3_function_reset(struct cx3_hca *hca)
{
	if (hca->gone)
		return;
	cx3_enter(hca);
	reset_all(hca);
	hca->core->hw_sem = false;
	hca->core->owner_taken = false;
	hca->bus_master = false;
	hca->msix_on = false;
	cx3_leave(hca);
}

void cx3_fatal(struct cx3_hca *hca, u32 code)
{
	hca->core->err_buf[0] = code ? code : 1;
	hca->core->err_buf[1] = (u32)(cx3_now(hca) / 1000000);
	hca->core->excused = true;
	hca->phase = CX3_PH_DEAD;
	cx3_transport_reset(hca);
}

void cx3_excuse_reset(struct cx3_hca *hca)
{
	hca->core->excused = true;
}

void cx3_set_bus_master(struct cx3_hca *hca, bool on)
{
	if (on)
		hca->core->cut_off = 0;
	else if (hca->bus_master && hca->phase == CX3_PH_RUN)
		hca->core->cut_off = cx3_now(hca) + CUT_OFF_NS;
	hca->bus_master = on;
}

void cx3_set_msix(struct cx3_hca *hca, bool on)
{
	if (hca->gone)
		return;
	cx3_enter(hca);
	hca->msix_on = on;
	if (on)
		hca->core->intx = false;
	cx3_leave(hca);
}

void cx3_set_gone(struct cx3_hca *hca)
{
	if (hca->gone)
		return;
	cx3_enter(hca);
	hca->gone = true;
	cx3_cmd_reset(hca);
	cx3_forget(hca);
	cx3_leave(hca);
}
