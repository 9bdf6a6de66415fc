// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands about the firmware and the device as a whole.
 */
#include "core.h"

/* QUERY_FW output. */
enum cx3_status cx3_cmd_query_fw(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	u8 *o = cmd->out;

	put16(o + 0x00, CX3_FA_PAGES);
	put16(o + 0x02, hca->cfg.fw_major);
	/* subminor before minor: the driver swaps them when it composes */
	put16(o + 0x04, hca->cfg.fw_sub);
	put16(o + 0x06, hca->cfg.fw_minor);
	put16(o + 0x0a, 3); /* command interface revision */
	o[0x0f] = CX3_LOG_MAX_CMDS;
	/* build time, shown by tools only: hour, minute, second; year, month, day in BCD */
	put32(o + 0x14, 0x00120000);
	put32(o + 0x18, 0x20170508);
	put64(o + 0x20, CX3_REG_CLR_INT);
	put64(o + 0x30, CX3_REG_ERR_BUF);
	put32(o + 0x38, CX3_ERR_WORDS);
	put64(o + 0x50, CX3_REG_CLOCK);
	return CX3_OK;
}

enum cx3_status cx3_cmd_run_fw(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	(void)cmd;
	if (hca->core->fa_pages < CX3_FA_PAGES)
		return CX3_BAD_SYS_STATE;
	hca->core->finished = false;
	hca->phase = CX3_PH_FW;
	return CX3_OK;
}

/* Opcode modifiers: 0 = set (page size), 2 = query of a port's physical id. */
enum cx3_status cx3_cmd_mod_stat_cfg(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	u32 port = cmd->in_mod >> 8 & 0xff;

	switch (cmd->op_mod) {
	case 0:
		return cmd->has_in ? CX3_OK : CX3_BAD_PARAM;
	case 2:
		if (!cmd->has_out)
			return CX3_BAD_PARAM;
		if (!cx3_port(hca, port))
			return CX3_BAD_INDEX;
		put32(cmd->out + 0x14, (u32)(hca->cfg.node_guid >> 32));
		put32(cmd->out + 0x1c, (u32)hca->cfg.node_guid + port);
		return CX3_OK;
	default:
		return CX3_BAD_OP;
	}
}

/*
 * Vendor specific data of a Mellanox board: the board id, near its end. (Boards
 * of another maker have a signature and keep the id elsewhere.)
 */
#define ADAPTER_VSD 0x20
#define VSD_BOARD_ID 0xd0

enum cx3_status cx3_cmd_query_adapter(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	u8 *vsd = cmd->out + ADAPTER_VSD;
	u8 id[16] = { 0 };
	unsigned int i;

	cmd->out[0x10] = 0; /* interrupt pin */
	memcpy(id, hca->cfg.board_id, strlen(hca->cfg.board_id));
	/* each word of the text is stored byte swapped */
	for (i = 0; i < sizeof(id); i++)
		vsd[(VSD_BOARD_ID + i) ^ 3] = id[i];
	return CX3_OK;
}

/* ----------------------------------------------------------------- INIT_HCA */

/* Where the mailbox has the base of a table, and its log2 of entries if any. */
static const struct {
	u8 table;
	u16 base;
	u16 log;	/* 0 = none */
	u8 log_bits;
	u8 max;
} init_tables[] = {
	{ CX3_ICM_QPC, 0x30, 0x37, 0x1f, CX3_LOG_MAX_QPS },
	{ CX3_ICM_SRQC, 0x48, 0x4f, 0x1f, CX3_LOG_MAX_SRQS },
	{ CX3_ICM_CQC, 0x50, 0x57, 0x1f, CX3_LOG_MAX_CQS },
	{ CX3_ICM_EQC, 0x80, 0x87, 0x1f, CX3_LOG_MAX_EQS + 1 },
	{ CX3_ICM_ALTC, 0x60, 0, 0, 0 },
	{ CX3_ICM_AUXC, 0x70, 0, 0, 0 },
	{ CX3_ICM_RDMARC, 0x90, 0x97, 0x07, CX3_LOG_MAX_RDMARC },
	{ CX3_ICM_MCG, 0xc0, 0, 0, 0 },
	{ CX3_ICM_DMPT, 0xf0, 0xfb, 0x3f, CX3_LOG_MAX_MPTS },
	{ CX3_ICM_MTT, 0x100, 0, 0, 0 },
	{ CX3_ICM_CMPT, 0x108, 0, 0, 0 },
};

static bool take_bases(struct cx3_hca *hca, const u8 *m)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(init_tables); i++) {
		u64 base = get64(m + init_tables[i].base) & ~0x1full;

		if (base >> CX3_ICM_LOG_BYTES)
			return false;
		if (init_tables[i].log &&
		    (m[init_tables[i].log] & init_tables[i].log_bits) > init_tables[i].max)
			return false;
		hca->core->base[init_tables[i].table] = base;
	}
	return true;
}

static bool take_geometry(struct cx3_hca *hca, const u8 *m)
{
	struct cx3_geometry *g = &hca->geo;

	g->log_qps = m[0x37] & 0x1f;
	g->log_srqs = m[0x4f] & 0x1f;
	g->log_cqs = m[0x57] & 0x1f;
	g->log_eqs = m[0x87] & 0x1f;
	g->log_rdmarc = m[0x97] & 0x07;
	g->log_mpts = m[0xfb] & 0x3f;
	g->log_mcg_size = m[0xd3] & 0x1f;
	g->log_mcg_hash = m[0xd7] & 0x1f;
	g->log_mcgs = m[0xdb] & 0x1f;
	g->flags = get32(m + 0x14);
	g->eqe_size = get32(m + 0x58) & 0x20000000 ? 64 : 32;
	g->cqe_size = get32(m + 0x58) & 0x40000000 ? 64 : 32;
	if (g->log_mcg_size && (g->log_mcg_size < 6 || g->log_mcg_size > 12))
		return false;
	if (g->log_mcgs > CX3_LOG_MAX_MCGS || g->log_mcg_hash > g->log_mcgs)
		return false;
	if (m[0x12a] > hca->cfg.log_uar_bytes - 12 || m[0x12b])
		return false;
	g->num_uars = 1u << m[0x12a];
	return true;
}

/*
 * EQs: in-tree maps context space for more of them than the table size it
 * tells, so the object table always has room for every EQ the device knows.
 */
static int make_tables(struct cx3_hca *hca)
{
	const struct cx3_geometry *g = &hca->geo;

	return cx3_table_init(hca, CX3_QP, g->log_qps) ||
	       cx3_table_init(hca, CX3_SRQ, g->log_srqs) ||
	       cx3_table_init(hca, CX3_CQ, g->log_cqs) ||
	       cx3_table_init(hca, CX3_EQ, CX3_LOG_MAX_EQS) ||
	       cx3_table_init(hca, CX3_MPT, g->log_mpts) ||
	       cx3_table_init(hca, CX3_MCG, g->log_mcgs);
}

static void drop_tables(struct cx3_hca *hca)
{
	unsigned int i;

	for (i = 0; i < CX3_NKINDS; i++)
		cx3_table_fini(hca, i);
	memset(&hca->geo, 0, sizeof(hca->geo));
}

enum cx3_status cx3_cmd_init_hca(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	if (cmd->in[0] != 2 || !take_bases(hca, cmd->in) || !take_geometry(hca, cmd->in)) {
		memset(&hca->geo, 0, sizeof(hca->geo));
		return CX3_BAD_PARAM;
	}
	if (make_tables(hca)) {
		drop_tables(hca);
		return CX3_EXCEED_LIM;
	}
	/* The real number of EQs, for doorbells and MAP_EQ. */
	hca->geo.log_eqs = CX3_LOG_MAX_EQS;
	memcpy(hca->core->init_hca, cmd->in, 1024);
	hca->phase = CX3_PH_RUN;
	return CX3_OK;
}

enum cx3_status cx3_cmd_query_hca(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	memcpy(cmd->out, hca->core->init_hca, 1024);
	put64(cmd->out + 0x04, 0);
	put16(cmd->out + 0x0c, 156); /* core clock, MHz */
	return CX3_OK;
}

enum cx3_status cx3_cmd_close_hca(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	unsigned int left = cx3_audit_objects(hca, NULL, NULL);

	if (cmd->op_mod > 1)
		return CX3_BAD_OP;
	if (left && !cmd->op_mod) {
		cx3_violation(hca, CX3_V_LEFT_OVER, "CLOSE_HCA with %u objects alive", left);
		cx3_audit_log(hca, 16);
	}
	cx3_transport_reset(hca);
	cx3_eq_reset(hca);
	cx3_mpt_reset(hca);
	cx3_mcg_reset(hca);
	cx3_pd_forget(hca);
	drop_tables(hca);
	cx3_ports_reset(hca);
	hca->special_base = 0;
	hca->core->finished = true;
	hca->phase = CX3_PH_FW;
	return CX3_OK;
}

enum cx3_status cx3_cmd_nop(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	(void)hca;
	(void)cmd;
	return CX3_OK;
}

enum cx3_status cx3_cmd_special_qp(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	u32 base = cmd->in_mod & 0xffffff;

	if (base % 8 || base >> hca->geo.log_qps)
		return CX3_BAD_PARAM;
	hca->special_base = base;
	return CX3_OK;
}
