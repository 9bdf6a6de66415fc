// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event queues: rings in guest memory that the device fills, and the map from
 * event types to queues.
 */
#include "core.h"

/* EQ context, byte offsets (hardware interface). */
#define EQC_FLAGS 0x00
#define EQC_PAGE_OFFSET 0x0a
#define EQC_LOG_SIZE 0x0c
#define EQC_VECTOR 0x16
#define EQC_LOG_PAGE 0x18
#define EQC_MTT 0x1b
#define EQC_CI 0x28
#define EQC_PI 0x2c
#define EQC_BYTES 64u

#define EQC_STATUS_SHIFT 28
#define EQC_OWNER_HW 0x01000000u
#define EQC_OI 0x00020000u
#define EQC_STATE_SHIFT 8

#define EQ_ARMED 9
#define EQ_FIRED 10
#define EQ_ALWAYS 11
#define EQ_OVERFLOW 9
#define EQ_WRITE_FAIL 10

#define EQ_CI_MASK 0xffffffu
#define EQ_MAX_LOG_SIZE 22u

#define EQE_BYTES 32u
#define EQE_OWNER 31

static struct cx3_eq *eq_of(struct cx3_hca *hca, u32 eqn)
{
	struct cx3_obj *obj = cx3_obj_get(hca, CX3_EQ, eqn);

	return obj ? container_of(obj, struct cx3_eq, obj) : NULL;
}

bool cx3_eq_alive(struct cx3_hca *hca, u32 eqn)
{
	return eq_of(hca, eqn);
}

void cx3_eq_reset(struct cx3_hca *hca)
{
	struct cx3_obj *obj;
	u32 slot = 0;

	while ((obj = cx3_obj_next(hca, CX3_EQ, &slot))) {
		cx3_obj_del(hca, CX3_EQ, obj);
		cx3_free(hca, container_of(obj, struct cx3_eq, obj));
	}
}

/* The context as the device would leave it in ICM. */
static void write_back(struct cx3_hca *hca, struct cx3_eq *eq, bool hw)
{
	u8 c[EQC_BYTES];

	if (cx3_icm_read(hca, CX3_ICM_EQC, eq->obj.num, 0, c, sizeof(c)))
		return;
	put32(c + EQC_FLAGS, (u32)eq->status << EQC_STATUS_SHIFT | (hw ? EQC_OWNER_HW : 0) |
			     (eq->oi ? EQC_OI : 0) | (u32)eq->state << EQC_STATE_SHIFT);
	put32(c + EQC_CI, eq->ci);
	put32(c + EQC_PI, eq->pi & EQ_CI_MASK);
	cx3_icm_write(hca, CX3_ICM_EQC, eq->obj.num, 0, c, sizeof(c));
}

/* ------------------------------------------------------------------- posting */

static u32 pending(const struct cx3_eq *eq)
{
	return (eq->pi - eq->ci) & EQ_CI_MASK;
}

static void maybe_fire(struct cx3_hca *hca, struct cx3_eq *eq)
{
	if (!pending(eq) || eq->state == EQ_FIRED)
		return;
	if (eq->state == EQ_ARMED)
		eq->state = EQ_FIRED;
	cx3_irq(hca, eq->vector);
}

static void write_entry(struct cx3_hca *hca, struct cx3_eq *eq, u8 *eqe)
{
	u32 size = hca->geo.eqe_size;
	u64 pos = (u64)(eq->pi & ((1u << eq->log_size) - 1)) * size + (size - EQE_BYTES);
	int err;

	eqe[EQE_OWNER] = eq->pi >> eq->log_size & 1 ? 0x80 : 0;
	err = cx3_buf_write(hca, &eq->buf, pos, eqe, EQE_OWNER);
	if (!err)
		err = cx3_buf_write(hca, &eq->buf, pos + EQE_OWNER, eqe + EQE_OWNER, 1);
	if (err) {
		eq->status = EQ_WRITE_FAIL;
		cx3_log(hca, CX3_LOG_WARN, "EQ %u: entry cannot be written", eq->obj.num);
		return;
	}
	eq->pi++;
	cx3_count(hca, CX3_C_EQE, 1);
}

static void put_entry(struct cx3_hca *hca, struct cx3_eq *eq, const void *data, bool twice)
{
	u8 eqe[EQE_BYTES];

	memcpy(eqe, data, sizeof(eqe));
	if (eq->status)
		return;
	if (pending(eq) >= 1u << eq->log_size && !eq->oi) {
		eq->status = EQ_OVERFLOW;
		cx3_log(hca, CX3_LOG_WARN, "EQ %u: overflow", eq->obj.num);
		return;
	}
	write_entry(hca, eq, eqe);
	if (twice)
		write_entry(hca, eq, eqe);
	maybe_fire(hca, eq);
}

static void late_entry(struct cx3_hca *hca, u32 num, const void *data, u32 len)
{
	struct cx3_eq *eq = eq_of(hca, num);

	if (eq)
		put_entry(hca, eq, data, false);
}

static void eq_post(struct cx3_hca *hca, struct cx3_eq *eq, const u8 *eqe)
{
	u64 arg = 0;
	enum cx3_fault_act act = cx3_fault(hca, CX3_FP_EQE, eqe[1], &arg);

	if (act == CX3_FA_DELAY)
		cx3_keep(hca, cx3_now(hca) + arg, late_entry, eq->obj.num, eqe, EQE_BYTES);
	else if (act != CX3_FA_DROP)
		put_entry(hca, eq, eqe, act == CX3_FA_DUP);
}

void cx3_event(struct cx3_hca *hca, u8 type, u8 subtype, const u8 *data)
{
	u8 eqe[EQE_BYTES] = { 0 };
	struct cx3_eq *eq;
	u32 eqn;

	if (hca->phase != CX3_PH_RUN || type >= ARRAY_SIZE(hca->core->event_eq))
		return;
	eqn = hca->core->event_eq[type];
	eq = eqn == CX3_NO_EQ ? NULL : eq_of(hca, eqn);
	if (!eq) {
		if (type == CX3_EV_CMD)
			cx3_violation(hca, CX3_V_CMD_STATE,
				      "command by event, and no EQ has its type mapped");
		return;
	}
	eqe[1] = type;
	eqe[3] = subtype;
	memcpy(eqe + 4, data, 24);
	eq_post(hca, eq, eqe);
}

void cx3_event_num(struct cx3_hca *hca, u8 type, u32 num)
{
	u8 data[24] = { 0 };

	put32(data, num & 0xffffff);
	cx3_event(hca, type, 0, data);
}

void cx3_event_cq_err(struct cx3_hca *hca, u32 cqn, u8 syndrome)
{
	u8 data[24] = { 0 };

	put32(data, cqn & 0xffffff);
	data[11] = syndrome;
	cx3_event(hca, CX3_EV_CQ_ERR, 0, data);
}

void cx3_eq_comp(struct cx3_hca *hca, u32 eqn, u32 cqn)
{
	struct cx3_eq *eq = eq_of(hca, eqn);
	u8 eqe[EQE_BYTES] = { 0 };

	if (!eq) {
		cx3_violation(hca, CX3_V_DEAD_OBJECT, "CQ %u reports to EQ %u, which is not alive",
			      cqn, eqn);
		return;
	}
	eqe[1] = CX3_EV_COMP;
	put32(eqe + 4, cqn & 0xffffff);
	eq_post(hca, eq, eqe);
}

void cx3_eq_doorbell(struct cx3_hca *hca, u32 eqn, u32 val)
{
	struct cx3_eq *eq = eq_of(hca, eqn);

	cx3_count(hca, CX3_C_DB_EQ, 1);
	if (!eq) {
		cx3_violation(hca, CX3_V_DB_DEAD, "doorbell for EQ %u, which is not alive", eqn);
		return;
	}
	if (((val - eq->ci) & EQ_CI_MASK) > pending(eq))
		cx3_violation(hca, CX3_V_DB_BAD, "EQ %u: consumer index %u passes producer %u",
			      eqn, val & EQ_CI_MASK, eq->pi & EQ_CI_MASK);
	eq->ci = val & EQ_CI_MASK;
	if (!(val & 0x80000000u))
		return;
	if (eq->state != EQ_ALWAYS)
		eq->state = EQ_ARMED;
	maybe_fire(hca, eq);
}

/* ------------------------------------------------------------- the commands */

static enum cx3_status eq_decode(struct cx3_hca *hca, struct cx3_eq *eq, const u8 *c)
{
	u32 flags = get32(c + EQC_FLAGS);
	u8 log_page = (c[EQC_LOG_PAGE] & 0x3f) + 12;
	u64 mtt = (u64)c[EQC_MTT] << 32 | get32(c + EQC_MTT + 1);

	eq->log_size = c[EQC_LOG_SIZE] & 0x1f;
	eq->vector = get16(c + EQC_VECTOR) & 0x3ff;
	eq->oi = flags & EQC_OI;
	eq->state = flags >> EQC_STATE_SHIFT & 0xf;
	eq->ci = get32(c + EQC_CI) & EQ_CI_MASK;
	eq->pi = get32(c + EQC_PI) & EQ_CI_MASK;
	if (eq->log_size > EQ_MAX_LOG_SIZE || log_page > 31 ||
	    get16(c + EQC_PAGE_OFFSET) % EQE_BYTES)
		return CX3_BAD_PARAM;
	if (eq->state != EQ_ARMED && eq->state != EQ_FIRED && eq->state != EQ_ALWAYS)
		return CX3_BAD_PARAM;
	if (hca->msix_on && eq->vector >= hca->cfg.nvectors)
		return CX3_BAD_PARAM;
	cx3_buf_init(&eq->buf, mtt & ~7ull, log_page, get16(c + EQC_PAGE_OFFSET));
	return CX3_OK;
}

static void audit_reserved(struct cx3_hca *hca, u32 eqn, const u8 *c)
{
	/* words of the context in which nothing is */
	static const u8 empty[] = { 0x04, 0x20, 0x24, 0x30, 0x34, 0x38, 0x3c };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(empty); i++) {
		if (!get32(c + empty[i]))
			continue;
		cx3_violation(hca, CX3_V_RESERVED, "context of EQ %u has reserved bits", eqn);
		return;
	}
}

enum cx3_status cx3_cmd_sw2hw_eq(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_eq *eq;
	enum cx3_status st;

	if (cx3_eq_alive(hca, cmd->in_mod))
		return CX3_BAD_RES_STATE;
	eq = cx3_alloc(hca, sizeof(*eq));
	if (!eq)
		return CX3_EXCEED_LIM;
	eq->obj.num = cmd->in_mod;
	if (hca->cfg.strict)
		audit_reserved(hca, cmd->in_mod, cmd->in);
	st = eq_decode(hca, eq, cmd->in);
	if (!st && cx3_icm_write(hca, CX3_ICM_EQC, eq->obj.num, 0, cmd->in, EQC_BYTES))
		st = CX3_ICM_ERROR;
	if (!st && cx3_cmpt_touch(hca, CX3_EQ, eq->obj.num))
		st = CX3_ICM_ERROR;
	if (!st && cx3_buf_fill_owner(hca, &eq->buf, 1u << eq->log_size, hca->geo.eqe_size))
		st = CX3_ICM_ERROR;
	if (!st && cx3_obj_add(hca, CX3_EQ, &eq->obj))
		st = CX3_EXCEED_LIM;
	if (st) {
		cx3_free(hca, eq);
		return st;
	}
	write_back(hca, eq, true);
	return CX3_OK;
}

enum cx3_status cx3_cmd_hw2sw_eq(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_eq *eq = eq_of(hca, cmd->in_mod);
	unsigned int i;

	if (!eq)
		return CX3_BAD_RES_STATE;
	for (i = 0; i < ARRAY_SIZE(hca->core->event_eq); i++) {
		if (hca->core->event_eq[i] != cmd->in_mod)
			continue;
		cx3_violation(hca, CX3_V_DEAD_OBJECT, "HW2SW_EQ %u with event type %x mapped to it",
			      cmd->in_mod, i);
		hca->core->event_eq[i] = CX3_NO_EQ;
	}
	write_back(hca, eq, false);
	if (cmd->has_out)
		cx3_icm_read(hca, CX3_ICM_EQC, cmd->in_mod, 0, cmd->out, EQC_BYTES);
	cx3_keep_drop(hca, late_entry, eq->obj.num);
	cx3_obj_del(hca, CX3_EQ, &eq->obj);
	cx3_free(hca, eq);
	return CX3_OK;
}

enum cx3_status cx3_cmd_query_eq(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_eq *eq = eq_of(hca, cmd->in_mod);

	if (!eq)
		return CX3_BAD_RES_STATE;
	write_back(hca, eq, true);
	if (cx3_icm_read(hca, CX3_ICM_EQC, cmd->in_mod, 0, cmd->out, EQC_BYTES))
		return CX3_ICM_ERROR;
	return CX3_OK;
}

enum cx3_status cx3_cmd_map_eq(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	u32 eqn = cmd->in_mod & 0x7fffffffu;
	bool unmap = cmd->in_mod >> 31;
	unsigned int i;

	if (eqn >> hca->geo.log_eqs)
		return CX3_BAD_INDEX;
	if (!cx3_eq_alive(hca, eqn))
		return CX3_BAD_RES_STATE;
	for (i = 0; i < ARRAY_SIZE(hca->core->event_eq); i++) {
		u32 *slot = &hca->core->event_eq[i];

		if (!(cmd->in_param & CX3_BIT(i)))
			continue;
		if (!unmap)
			*slot = eqn;
		else if (*slot == eqn)
			*slot = CX3_NO_EQ;
	}
	return CX3_OK;
}
