// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast group table: chains of entries in ICM that software maintains by
 * READ_MCG and WRITE_MCG and that the device walks for each multicast packet.
 *
 * An entry that was never written reads as empty, whatever its page holds;
 * the record of a written one is a struct cx3_obj.
 */
#include "core.h"

#define MCG_NEXT 0
#define MCG_COUNT 4
#define MCG_GID 16
#define MCG_HEAD 32u
#define MCG_NEXT_SHIFT 6
#define MCG_BLOCK_LOOPBACK 0x40000000u
#define MCG_MAX_WALK 1024u

void cx3_mcg_reset(struct cx3_hca *hca)
{
	struct cx3_obj *obj;
	u32 slot = 0;

	while ((obj = cx3_obj_next(hca, CX3_MCG, &slot))) {
		cx3_obj_del(hca, CX3_MCG, obj);
		cx3_free(hca, obj);
	}
}

static bool mcg_index_ok(struct cx3_hca *hca, u32 index)
{
	return hca->geo.log_mcg_size && !(index >> hca->geo.log_mcgs);
}

enum cx3_status cx3_cmd_read_mcg(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	if (!mcg_index_ok(hca, cmd->in_mod))
		return CX3_BAD_INDEX;
	if (!cx3_obj_get(hca, CX3_MCG, cmd->in_mod))
		return CX3_OK;
	if (cx3_icm_read(hca, CX3_ICM_MCG, cmd->in_mod, 0, cmd->out, 1u << hca->geo.log_mcg_size))
		return CX3_ICM_ERROR;
	return CX3_OK;
}

static u32 mcg_members(const u8 *e)
{
	return get24(e + MCG_COUNT + 1);
}

enum cx3_status cx3_cmd_write_mcg(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	u32 size = 1u << hca->geo.log_mcg_size;
	struct cx3_obj *obj;

	if (!mcg_index_ok(hca, cmd->in_mod))
		return CX3_BAD_INDEX;
	if (mcg_members(cmd->in) > (size - MCG_HEAD) / 4)
		return CX3_BAD_PARAM;
	if (cx3_icm_write(hca, CX3_ICM_MCG, cmd->in_mod, 0, cmd->in, size))
		return CX3_ICM_ERROR;
	obj = cx3_obj_get(hca, CX3_MCG, cmd->in_mod);
	if (!mcg_members(cmd->in) && !get32(cmd->in + MCG_NEXT)) {
		if (obj)
			cx3_obj_del(hca, CX3_MCG, obj);
		cx3_free(hca, obj);
		return CX3_OK;
	}
	if (obj)
		return CX3_OK;
	obj = cx3_alloc(hca, sizeof(*obj));
	if (!obj)
		return CX3_EXCEED_LIM;
	obj->num = cmd->in_mod;
	if (!cx3_obj_add(hca, CX3_MCG, obj))
		return CX3_OK;
	cx3_free(hca, obj);
	return CX3_EXCEED_LIM;
}

static u32 mcg_hash(struct cx3_hca *hca, const u8 *gid)
{
	u32 h = 0, i;

	for (i = 0; i < 16; i++)
		h = h * 31 + gid[i];
	return (h ^ h >> 16) & ((1u << hca->geo.log_mcg_hash) - 1) & 0xffff;
}

enum cx3_status cx3_cmd_mgid_hash(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	cmd->out_imm = mcg_hash(hca, cmd->in);
	return CX3_OK;
}

/* Call @fn for the members of one entry, read in small pieces. */
static unsigned int walk_members(struct cx3_hca *hca, u32 index, u32 members,
				 void (*fn)(void *arg, u32 qpn, bool block), void *arg)
{
	u8 chunk[128];
	u32 i, j, n;

	for (i = 0; i < members; i += n) {
		n = members - i < sizeof(chunk) / 4 ? members - i : sizeof(chunk) / 4;
		if (cx3_icm_read(hca, CX3_ICM_MCG, index, MCG_HEAD + i * 4, chunk, n * 4))
			return i;
		for (j = 0; j < n; j++) {
			u32 w = get32(chunk + j * 4);

			fn(arg, w & 0xffffff, w & MCG_BLOCK_LOOPBACK);
		}
	}
	return members;
}

unsigned int cx3_mcg_walk(struct cx3_hca *hca, const u8 *mgid,
			  void (*fn)(void *arg, u32 qpn, bool block_loopback), void *arg)
{
	u32 most = (1u << hca->geo.log_mcg_size) / 4 - MCG_HEAD / 4;
	unsigned int found = 0, steps;
	u8 head[MCG_HEAD];
	u32 index;

	if (!hca->geo.log_mcg_size)
		return 0;
	index = mcg_hash(hca, mgid);
	for (steps = 0; steps < MCG_MAX_WALK; steps++) {
		if (!mcg_index_ok(hca, index) || !cx3_obj_get(hca, CX3_MCG, index))
			return found;
		if (cx3_icm_read(hca, CX3_ICM_MCG, index, 0, head, sizeof(head)))
			return found;
		if (!memcmp(head + MCG_GID, mgid, 16) && mcg_members(head) <= most)
			found += walk_members(hca, index, mcg_members(head), fn, arg);
		index = get32(head + MCG_NEXT) >> MCG_NEXT_SHIFT;
		if (!index || found > MCG_MAX_WALK)
			break;
	}
	return found;
}
