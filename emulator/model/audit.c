// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the driver did wrong (violations), what it did (counts), and what it
 * has left (audit).
 */
#include "core.h"

/* Lines logged for one kind of violation; the rest is only counted. */
#define VIOL_LINES 100u

static const char *const viol_name[CX3_NVIOLS] = {
	[CX3_V_ICM_UNMAPPED] = "icm-unmapped",
	[CX3_V_ICM_BUSY] = "icm-busy",
	[CX3_V_DMA_NO_MASTER] = "dma-no-master",
	[CX3_V_DMA_FAULT] = "dma-fault",
	[CX3_V_DB_DEAD] = "doorbell-dead",
	[CX3_V_DB_BAD] = "doorbell-bad",
	[CX3_V_WQE] = "wqe",
	[CX3_V_CMD_BUSY] = "command-busy",
	[CX3_V_CMD_STATE] = "command-state",
	[CX3_V_BAD_NUMBER] = "bad-number",
	[CX3_V_DEAD_OBJECT] = "dead-object",
	[CX3_V_LEFT_OVER] = "left-over",
	[CX3_V_AFTER_END] = "after-end",
	[CX3_V_RESERVED] = "reserved",
	[CX3_V_MMIO] = "mmio",
};

static const char *const count_name[CX3_C_TX] = {
	[CX3_C_MMIO_READ] = "mmio-read",
	[CX3_C_MMIO_WRITE] = "mmio-write",
	[CX3_C_DMA_READ_BYTES] = "dma-read-bytes",
	[CX3_C_DMA_WRITE_BYTES] = "dma-write-bytes",
	[CX3_C_IRQ] = "irq",
	[CX3_C_EQE] = "eqe",
	[CX3_C_DB_SEND] = "doorbell-send",
	[CX3_C_DB_CQ] = "doorbell-cq",
	[CX3_C_DB_EQ] = "doorbell-eq",
	[CX3_C_BLUEFLAME] = "blueflame",
	[CX3_C_CQE] = "cqe",
	[CX3_C_CQE_ERROR] = "cqe-error",
	[CX3_C_WQE_SEND] = "wqe-send",
	[CX3_C_WQE_RECV] = "wqe-recv",
	[CX3_C_RETRANSMIT] = "retransmit",
	[CX3_C_MARK] = "mark",
};

void cx3_violation(struct cx3_hca *hca, enum cx3_viol id, const char *fmt, ...)
{
	char line[160];
	u64 ip = 0;
	va_list ap;

	if (hca->viol[id]++ >= VIOL_LINES || !hca->cfg.strict)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (hca->host.ops->guest_ip)
		ip = hca->host.ops->guest_ip(hca->host.ctx);
	cx3_log(hca, CX3_LOG_VIOLATION, "violation %s: %s (t=%llu ip=%llx)", viol_name[id], line,
		cx3_now(hca), ip);
}

u64 cx3_violations(struct cx3_hca *hca, void (*emit)(void *arg, const char *line), void *arg)
{
	char line[64];
	unsigned int i;
	u64 n = 0;

	for (i = 0; i < CX3_NVIOLS; i++) {
		n += hca->viol[i];
		if (!emit || !hca->viol[i])
			continue;
		snprintf(line, sizeof(line), "%s %llu", viol_name[i], hca->viol[i]);
		emit(arg, line);
	}
	return n;
}

void cx3_counts(struct cx3_hca *hca, void (*emit)(void *arg, const char *line), void *arg)
{
	char line[64];
	unsigned int i;

	cx3_cmd_counts(hca, emit, arg);
	for (i = 0; i < CX3_C_TX; i++) {
		snprintf(line, sizeof(line), "%s %llu", count_name[i], hca->count[i]);
		emit(arg, line);
	}
	for (i = 0; i < CX3_NPKT; i++) {
		snprintf(line, sizeof(line), "tx.%s %llu", cx3_pkt_name[i],
			 hca->count[CX3_C_TX + i]);
		emit(arg, line);
		snprintf(line, sizeof(line), "rx.%s %llu", cx3_pkt_name[i],
			 hca->count[CX3_C_RX + i]);
		emit(arg, line);
	}
	snprintf(line, sizeof(line), "faults %llu", cx3_faults_struck(hca));
	emit(arg, line);
}

/* --------------------------------------------------------------------- audit */

static void describe(struct cx3_hca *hca, enum cx3_kind kind, struct cx3_obj *obj, char *buf,
		     size_t len)
{
	if (kind == CX3_QP || kind == CX3_CQ || kind == CX3_SRQ)
		cx3_transport_describe(hca, kind, obj, buf, len);
	else
		snprintf(buf, len, "%s %u", cx3_kind_name[kind], obj->num);
}

static bool is_live(struct cx3_hca *hca, enum cx3_kind kind, struct cx3_obj *obj)
{
	if (kind == CX3_MPT)
		cx3_mpt_refresh(hca, obj);
	/* an overflow entry counts with the head of its chain */
	if (kind == CX3_MCG && obj->num >> hca->geo.log_mcg_hash)
		return false;
	return !obj->sw;
}

unsigned int cx3_audit_objects(struct cx3_hca *hca, void (*emit)(void *arg, const char *line),
			       void *arg)
{
	unsigned int n = 0, kind;
	char line[160];

	for (kind = 0; kind < CX3_NKINDS; kind++) {
		struct cx3_obj *obj;
		u32 slot = 0;

		while ((obj = cx3_obj_next(hca, kind, &slot))) {
			if (!is_live(hca, kind, obj))
				continue;
			n++;
			if (!emit)
				continue;
			describe(hca, kind, obj, line, sizeof(line));
			emit(arg, line);
		}
	}
	return n;
}

/* Mapped ICM, one line for each run of pages. */
static void audit_icm(struct cx3_hca *hca, void (*emit)(void *arg, const char *line), void *arg)
{
	const u64 end = CX3_BIT(CX3_ICM_LOG_BYTES - 12);
	u64 page, first = 0, run = 0;
	char line[80];

	for (page = 0; page <= end; page++) {
		struct cx3_icm_mid *mid = page < end ? hca->core->icm.mid[page >> 16] : NULL;
		struct cx3_icm_leaf *leaf = mid ? mid->leaf[page >> 8 & 0xff] : NULL;

		if (leaf && leaf->page[page & 0xff]) {
			if (!run++)
				first = page;
			continue;
		}
		if (run) {
			snprintf(line, sizeof(line), "ICM %llx: %llu pages", first * CX3_PAGE,
				 run);
			emit(arg, line);
		}
		run = 0;
		/* whole empty leaves in one step */
		if (!leaf)
			page |= mid ? 0xff : 0xffff;
	}
}

unsigned int cx3_audit(struct cx3_hca *hca, void (*emit)(void *arg, const char *line), void *arg)
{
	struct cx3_core *core = hca->core;
	unsigned int n = cx3_audit_objects(hca, emit, arg);
	char line[80];

	n += core->icm.pages + core->aux_pages + core->fa_pages;
	if (!emit)
		return n;
	if (core->icm.pages)
		audit_icm(hca, emit, arg);
	if (core->aux_pages) {
		snprintf(line, sizeof(line), "AUX: %u pages", core->aux_pages);
		emit(arg, line);
	}
	if (core->fa_pages) {
		snprintf(line, sizeof(line), "FA: %u pages", core->fa_pages);
		emit(arg, line);
	}
	return n;
}

struct log_arg {
	struct cx3_hca *hca;
	unsigned int left;
};

static void log_line(void *arg, const char *line)
{
	struct log_arg *a = arg;

	if (!a->left)
		return;
	a->left--;
	cx3_log(a->hca, CX3_LOG_VIOLATION, "  left: %s", line);
}

void cx3_audit_log(struct cx3_hca *hca, unsigned int most)
{
	struct log_arg a = { hca, most };

	if (hca->cfg.strict)
		cx3_audit_objects(hca, log_line, &a);
}
