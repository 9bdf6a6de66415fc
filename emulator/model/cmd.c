// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command engine: from the GO bit in the HCR to the status, by the table
 * of all commands the device knows.
 *
 * A command runs as soon as it is posted. Its answer is in the HCR (polled)
 * or in an EQE (event mode) when the register write returns, unless a fault
 * makes it late or swallows it.
 */
#include "core.h"

/* What a command may expect of its parameters and of the device. */
#define IN_MBOX 0x01u	/* in_param is a mailbox that must be there */
#define OUT_MBOX 0x02u	/* out_param likewise */
#define OUT_OPT 0x04u	/* output mailbox optional */
#define OUT_IMM 0x08u	/* out_param takes an immediate */
#define BY_MASK 0x10u	/* in_mod is an object number of kind .kind */

/* Mailbox lengths that depend on the command. */
#define LEN_MAP 0xfff0u	/* in_mod entries of 16 bytes */
#define LEN_MTT 0xfff1u	/* 16 bytes and in_mod entries of 8 */
#define LEN_MTT_OUT 0xfff2u	/* in_mod entries of 8 */
#define LEN_MCG 0xfff3u	/* one multicast entry */

/* Phases, as a set. */
#define P(x) (1u << (CX3_PH_##x))
#define P_ANY (P(RESET) | P(FA) | P(FW) | P(RUN))
#define P_UP (P(FW) | P(RUN))

/* .mods: opcode modifiers that exist, as a set; left out = none but 0. */
struct cmd_entry {
	u16 opcode;
	u16 in_len;
	u16 out_len;
	u8 flags;
	u8 phases;
	u8 kind;
	const char *name;
	cx3_cmd_fn fn;
	u16 mods;
};

#define QP_MODIFY(op, nm) \
	{ op, 264, 0, IN_MBOX | BY_MASK, P(RUN), CX3_QP, nm, cx3_qp_cmd_modify }

static const struct cmd_entry table[] = {
	/* firmware and device */
	{ 0x004, 0, 256, OUT_MBOX, P_ANY, 0, "QUERY_FW", cx3_cmd_query_fw },
	{ 0xfff, LEN_MAP, 0, IN_MBOX, P(RESET) | P(FA), 0, "MAP_FA", cx3_cmd_map_fa },
	{ 0xffe, 0, 0, 0, P_ANY, 0, "UNMAP_FA", cx3_cmd_unmap_fa },
	{ 0xff6, 0, 0, 0, P(FA), 0, "RUN_FW", cx3_cmd_run_fw },
	{ 0x034, 256, 256, OUT_OPT, P_UP, 0, "MOD_STAT_CFG", cx3_cmd_mod_stat_cfg, 0x5 },
	{ 0x003, 0, 256, OUT_MBOX, P_UP, 0, "QUERY_DEV_CAP", cx3_cmd_query_dev_cap },
	{ 0x043, 0, 256, OUT_MBOX, P_UP, 0, "QUERY_PORT", cx3_cmd_query_port },
	{ 0x006, 0, 256, OUT_MBOX, P_UP, 0, "QUERY_ADAPTER", cx3_cmd_query_adapter },
	{ 0x007, 1024, 0, IN_MBOX, P(FW), 0, "INIT_HCA", cx3_cmd_init_hca },
	{ 0x008, 0, 0, 0, P(RUN), 0, "CLOSE_HCA", cx3_cmd_close_hca, 0x3 },
	{ 0x00b, 0, 1024, OUT_MBOX, P(RUN), 0, "QUERY_HCA", cx3_cmd_query_hca },
	{ 0x031, 0, 0, 0, P(RUN), 0, "NOP", cx3_cmd_nop },
	/* ICM */
	{ 0xffd, 0, 0, OUT_IMM, P_UP, 0, "SET_ICM_SIZE", cx3_cmd_set_icm_size },
	{ 0xffc, LEN_MAP, 0, IN_MBOX, P_UP, 0, "MAP_ICM_AUX", cx3_cmd_map_icm_aux },
	{ 0xffb, 0, 0, 0, P_UP, 0, "UNMAP_ICM_AUX", cx3_cmd_unmap_icm_aux },
	{ 0xffa, LEN_MAP, 0, IN_MBOX, P_UP, 0, "MAP_ICM", cx3_cmd_map_icm },
	{ 0xff9, 0, 0, 0, P_UP, 0, "UNMAP_ICM", cx3_cmd_unmap_icm },
	/* memory keys and translation */
	{ 0x00d, 64, 0, IN_MBOX | BY_MASK, P(RUN), CX3_MPT, "SW2HW_MPT", cx3_cmd_sw2hw_mpt },
	{ 0x00e, 0, 64, OUT_MBOX | BY_MASK, P(RUN), CX3_MPT, "QUERY_MPT", cx3_cmd_query_mpt },
	{ 0x00f, 0, 64, OUT_OPT | BY_MASK, P(RUN), CX3_MPT, "HW2SW_MPT", cx3_cmd_hw2sw_mpt, 0x3 },
	{ 0x010, 0, LEN_MTT_OUT, OUT_MBOX, P(RUN), 0, "READ_MTT", cx3_cmd_read_mtt },
	{ 0x011, LEN_MTT, 0, IN_MBOX, P(RUN), 0, "WRITE_MTT", cx3_cmd_write_mtt },
	{ 0x02f, 0, 0, 0, P(RUN), 0, "SYNC_TPT", cx3_cmd_sync_tpt },
	/* event queues */
	{ 0x012, 0, 0, 0, P(RUN), 0, "MAP_EQ", cx3_cmd_map_eq },
	{ 0x013, 64, 0, IN_MBOX | BY_MASK, P(RUN), CX3_EQ, "SW2HW_EQ", cx3_cmd_sw2hw_eq },
	{ 0x014, 0, 64, OUT_OPT | BY_MASK, P(RUN), CX3_EQ, "HW2SW_EQ", cx3_cmd_hw2sw_eq, 0x3 },
	{ 0x015, 0, 64, OUT_MBOX | BY_MASK, P(RUN), CX3_EQ, "QUERY_EQ", cx3_cmd_query_eq },
	/* completion queues */
	{ 0x016, 64, 0, IN_MBOX | BY_MASK, P(RUN), CX3_CQ, "SW2HW_CQ", cx3_cq_cmd_sw2hw, 0x3 },
	{ 0x017, 0, 64, OUT_OPT | BY_MASK, P(RUN), CX3_CQ, "HW2SW_CQ", cx3_cq_cmd_hw2sw, 0x3 },
	{ 0x018, 0, 64, OUT_MBOX | BY_MASK, P(RUN), CX3_CQ, "QUERY_CQ", cx3_cq_cmd_query },
	{ 0x02c, 64, 0, IN_MBOX | BY_MASK, P(RUN), CX3_CQ, "MODIFY_CQ", cx3_cq_cmd_modify, 0x3 },
	/* shared receive queues */
	{ 0x035, 64, 0, IN_MBOX | BY_MASK, P(RUN), CX3_SRQ, "SW2HW_SRQ", cx3_srq_cmd_sw2hw },
	{ 0x036, 0, 64, OUT_OPT | BY_MASK, P(RUN), CX3_SRQ, "HW2SW_SRQ", cx3_srq_cmd_hw2sw, 0x3 },
	{ 0x037, 0, 64, OUT_MBOX | BY_MASK, P(RUN), CX3_SRQ, "QUERY_SRQ", cx3_srq_cmd_query },
	{ 0x040, 0, 0, BY_MASK, P(RUN), CX3_SRQ, "ARM_SRQ", cx3_srq_cmd_arm },
	/* queue pairs */
	QP_MODIFY(0x019, "RST2INIT_QP"),
	QP_MODIFY(0x01a, "INIT2RTR_QP"),
	QP_MODIFY(0x01b, "RTR2RTS_QP"),
	QP_MODIFY(0x01c, "RTS2RTS_QP"),
	QP_MODIFY(0x01d, "SQERR2RTS_QP"),
	{ 0x01e, 0, 0, BY_MASK, P(RUN), CX3_QP, "2ERR_QP", cx3_qp_cmd_modify },
	{ 0x01f, 0, 0, BY_MASK, P(RUN), CX3_QP, "RTS2SQD_QP", cx3_qp_cmd_modify },
	QP_MODIFY(0x020, "SQD2RTS_QP"),
	QP_MODIFY(0x02d, "INIT2INIT_QP"),
	QP_MODIFY(0x038, "SQD2SQD_QP"),
	{ 0x021, 0, 264, OUT_OPT | BY_MASK, P(RUN), CX3_QP, "2RST_QP", cx3_qp_cmd_reset, 0xf },
	{ 0x022, 0, 264, OUT_MBOX | BY_MASK, P(RUN), CX3_QP, "QUERY_QP", cx3_qp_cmd_query },
	{ 0x023, 0, 0, 0, P(RUN), 0, "CONF_SPECIAL_QP", cx3_cmd_special_qp },
	/* multicast */
	{ 0x025, 0, LEN_MCG, OUT_MBOX, P(RUN), 0, "READ_MCG", cx3_cmd_read_mcg },
	{ 0x026, LEN_MCG, 0, IN_MBOX, P(RUN), 0, "WRITE_MCG", cx3_cmd_write_mcg },
	{ 0x027, 16, 0, IN_MBOX | OUT_IMM, P(RUN), 0, "MGID_HASH", cx3_cmd_mgid_hash },
	/* ports and management */
	{ 0x009, 0, 0, 0, P(RUN), 0, "INIT_PORT", cx3_cmd_init_port },
	{ 0x00a, 0, 0, 0, P(RUN), 0, "CLOSE_PORT", cx3_cmd_close_port },
	{ 0x00c, 256, 0, IN_MBOX, P(RUN), 0, "SET_PORT", cx3_cmd_set_port },
	{ 0x024, 512, 256, IN_MBOX | OUT_MBOX, P(RUN), 0, "MAD_IFC", cx3_cmd_mad_ifc, 0xffff },
	{ 0x05a, 64, 0, IN_MBOX, P(RUN), 0, "SET_NODE", cx3_cmd_set_node },
	{ 0x030, 0, 1024, OUT_MBOX, P(RUN), 0, "DIAG_RPRT", cx3_cmd_diag_rprt, 0x4 },
};

static_assert(ARRAY_SIZE(table) <= CX3_MAX_CMDS, "cmd_ops");

static const struct cmd_entry *find_entry(u16 opcode)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].opcode == opcode)
			return &table[i];
	return NULL;
}

const char *cx3_cmd_name(u16 opcode)
{
	const struct cmd_entry *e = find_entry(opcode);

	return e ? e->name : "?";
}

void cx3_cmd_counts(struct cx3_hca *hca, void (*emit)(void *arg, const char *line), void *arg)
{
	struct cx3_core *core = hca->core;
	char line[64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		if (core->cmd_ops[i]) {
			snprintf(line, sizeof(line), "cmd.%s %llu", table[i].name,
				 core->cmd_ops[i]);
			emit(arg, line);
		}
		if (core->cmd_time[i]) {
			snprintf(line, sizeof(line), "cmd-ns.%s %llu", table[i].name,
				 core->cmd_time[i]);
			emit(arg, line);
		}
	}
}

/* ------------------------------------------------------------------ running */

static u8 log_of_kind(const struct cx3_hca *hca, u8 kind)
{
	switch (kind) {
	case CX3_SRQ:
		return hca->geo.log_srqs;
	case CX3_CQ:
		return hca->geo.log_cqs;
	case CX3_EQ:
		return hca->geo.log_eqs;
	case CX3_MPT:
		return hca->geo.log_mpts;
	default:
		return 24;
	}
}

static enum cx3_status check_number(struct cx3_hca *hca, const struct cmd_entry *e,
				    struct cx3_cmd *cmd)
{
	/* bit 31 of RTS2SQD asks for an event; QPNs have 24 bits, all of them used */
	u32 num = e->kind == CX3_QP ? cmd->in_mod & 0xffffff : cmd->in_mod;

	if (num >> log_of_kind(hca, e->kind)) {
		cx3_violation(hca, CX3_V_BAD_NUMBER, "%s: number %x out of range", e->name,
			      cmd->in_mod);
		return CX3_BAD_INDEX;
	}
	return CX3_OK;
}

static enum cx3_status check_phase(struct cx3_hca *hca, const struct cmd_entry *e)
{
	if (e->phases & 1u << hca->phase)
		return CX3_OK;
	cx3_violation(hca, hca->core->finished ? CX3_V_AFTER_END : CX3_V_CMD_STATE,
		      "%s in phase %u", e->name, hca->phase);
	return CX3_BAD_SYS_STATE;
}

/* Bytes of a mailbox; a count too large for one is left to the handler. */
static u32 mbox_len(const struct cx3_hca *hca, u16 len, const struct cx3_cmd *cmd)
{
	u64 n = len;

	switch (len) {
	case LEN_MAP:
		n = (u64)cmd->in_mod * 16;
		break;
	case LEN_MTT:
		n = 16 + (u64)cmd->in_mod * CX3_MTT_SIZE;
		break;
	case LEN_MTT_OUT:
		n = (u64)cmd->in_mod * CX3_MTT_SIZE;
		break;
	case LEN_MCG:
		n = 1u << hca->geo.log_mcg_size;
		break;
	}
	return n > CX3_MBOX_SIZE ? CX3_MBOX_SIZE : (u32)n;
}

static enum cx3_status fetch(struct cx3_hca *hca, const struct cmd_entry *e, struct cx3_cmd *cmd)
{
	u32 in_len = mbox_len(hca, e->in_len, cmd);
	bool want = e->flags & IN_MBOX;

	cmd->has_in = e->in_len && cmd->in_param;
	cmd->has_out = (e->flags & (OUT_MBOX | OUT_OPT)) && cmd->out_param;
	if ((want && !cmd->has_in) || ((e->flags & OUT_MBOX) && !cmd->has_out))
		return CX3_BAD_PARAM;
	if ((cmd->has_in && cmd->in_param % 16) || (cmd->has_out && cmd->out_param % 16))
		return CX3_BAD_PARAM;
	memset(cmd->in, 0, CX3_MBOX_SIZE);
	memset(cmd->out, 0, CX3_MBOX_SIZE);
	if (cmd->has_in && cx3_dma_read(hca, cmd->in_param, cmd->in, in_len))
		return CX3_INTERNAL_ERR;
	return CX3_OK;
}

static enum cx3_status run(struct cx3_hca *hca, const struct cmd_entry *e, struct cx3_cmd *cmd)
{
	enum cx3_status st;

	if (!e)
		return CX3_BAD_OP;
	hca->core->cmd_ops[e - table]++;
	if (!((e->mods ? e->mods : 1) >> cmd->op_mod & 1))
		return CX3_BAD_OP;
	st = check_phase(hca, e);
	if (!st && (e->flags & BY_MASK))
		st = check_number(hca, e, cmd);
	if (!st)
		st = fetch(hca, e, cmd);
	if (!st)
		st = e->fn(hca, cmd);
	if (!st && cmd->has_out &&
	    cx3_dma_write(hca, cmd->out_param, cmd->out, mbox_len(hca, e->out_len, cmd)))
		st = CX3_INTERNAL_ERR;
	if (e->flags & OUT_IMM)
		return st;
	cmd->out_imm = 0;
	return st;
}

static void answer(struct cx3_hca *hca, const u32 *hcr, enum cx3_status st, u64 imm)
{
	u8 data[24] = { 0 };

	if (!(hcr[6] & CX3_HCR_E)) {
		hca->core->hcr[3] = (u32)(imm >> 32);
		hca->core->hcr[4] = (u32)imm;
		hca->core->hcr[6] = (u32)st << 24 | (hcr[6] & ~CX3_HCR_GO & 0xffffff);
		return;
	}
	put16(data + 2, (u16)(hcr[5] >> 16));
	data[11] = st;
	put64(data + 12, imm);
	cx3_event(hca, CX3_EV_CMD, 0, data);
}

static void execute(struct cx3_hca *hca, const u32 *hcr, enum cx3_status forced)
{
	struct cx3_core *core = hca->core;
	struct cx3_cmd cmd = {
		.opcode = hcr[6] & 0xfff,
		.op_mod = hcr[6] >> 12 & 0xf,
		.in_mod = hcr[2],
		.in_param = (u64)hcr[0] << 32 | hcr[1],
		.out_param = (u64)hcr[3] << 32 | hcr[4],
		.in = core->mbox_in,
		.out = core->mbox_out,
	};
	enum cx3_status st = forced;

	core->cmd_count++;
	if (!forced)
		st = run(hca, find_entry(cmd.opcode), &cmd);
	if (hca->cfg.log_commands)
		cx3_log(hca, CX3_LOG_DEBUG, "%s %03x.%x mod %08x in %llx out %llx imm %llx -> %02x",
			cx3_cmd_name(cmd.opcode), cmd.opcode, cmd.op_mod, cmd.in_mod,
			cmd.in_param, cmd.out_param, cmd.out_imm, st);
	answer(hca, hcr, st, cmd.out_imm);
}

/* ------------------------------------------------------- faults on commands */

static void late_fn(struct cx3_hca *hca, struct cx3_timer *t)
{
	struct cx3_late *late = container_of(t, struct cx3_late, timer);
	const struct cmd_entry *e = find_entry(late->hcr[6] & 0xfff);
	u32 hcr[CX3_HCR_WORDS];

	if (e)
		hca->core->cmd_time[e - table] += cx3_now(hca) - late->posted;
	memcpy(hcr, late->hcr, sizeof(hcr));
	late->busy = false;
	execute(hca, hcr, CX3_OK);
}

static void defer(struct cx3_hca *hca, u64 delay)
{
	unsigned int i;

	for (i = 0; i < CX3_LATE_CMDS; i++) {
		struct cx3_late *late = &hca->core->late[i];

		if (late->busy)
			continue;
		late->busy = true;
		late->posted = cx3_now(hca);
		late->timer.fn = late_fn;
		memcpy(late->hcr, hca->core->hcr, sizeof(late->hcr));
		cx3_timer_arm(hca, &late->timer, cx3_now(hca) + delay);
		return;
	}
	/* More than the device can hold is never answered. */
}

void cx3_cmd_reset(struct cx3_hca *hca)
{
	unsigned int i;

	for (i = 0; i < CX3_LATE_CMDS; i++) {
		cx3_timer_cancel(hca, &hca->core->late[i].timer);
		hca->core->late[i].busy = false;
	}
	memset(hca->core->hcr, 0, sizeof(hca->core->hcr));
}

void cx3_cmd_post(struct cx3_hca *hca)
{
	struct cx3_core *core = hca->core;
	u32 hcr[CX3_HCR_WORDS];
	enum cx3_fault_act act;
	u64 arg = 0;

	if (core->silent || hca->phase == CX3_PH_DEAD)
		return;
	core->cut_off = 0;
	memcpy(hcr, core->hcr, sizeof(hcr));
	act = cx3_fault(hca, CX3_FP_CMD, hcr[6] & 0xfff, &arg);
	/* a fault may have killed the firmware just now */
	if (core->silent || hca->phase == CX3_PH_DEAD || hca->gone)
		return;
	/* By event, taking the command frees the HCR; the toggle stays as posted. */
	if (hcr[6] & CX3_HCR_E)
		core->hcr[6] &= ~CX3_HCR_GO;
	switch (act) {
	case CX3_FA_SILENT:
		core->excused = true;
		return;
	case CX3_FA_DELAY:
		core->excused = true;
		defer(hca, arg);
		return;
	case CX3_FA_STATUS:
		core->excused = true;
		execute(hca, hcr, arg & 0xff ? arg & 0xff : CX3_INTERNAL_ERR);
		return;
	default:
		execute(hca, hcr, CX3_OK);
	}
}
