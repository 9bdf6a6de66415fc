// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the device says of itself: QUERY_DEV_CAP and QUERY_PORT as tables of
 * fields. Optional abilities are left out so that drivers take their plainest
 * path; properties of the device can add and remove flags.
 */
#include "core.h"

/* Device flags (QUERY_DEV_CAP 0x40, bits of the 64-bit word). */
#define FLAG_RC CX3_BIT(0)
#define FLAG_UC CX3_BIT(1)
#define FLAG_UD CX3_BIT(2)
#define FLAG_XRC CX3_BIT(3)
#define FLAG_SRQ CX3_BIT(6)
#define FLAG_IPOIB_CSUM CX3_BIT(7)
#define FLAG_PKEY_CNTR CX3_BIT(8)
#define FLAG_QKEY_CNTR CX3_BIT(9)
#define FLAG_BLH CX3_BIT(15)
#define FLAG_MW CX3_BIT(16)
#define FLAG_APM CX3_BIT(17)
#define FLAG_ATOMIC CX3_BIT(18)
#define FLAG_UD_AV_PORT CX3_BIT(20)
#define FLAG_UD_MCAST CX3_BIT(21)
#define FLAG_UC_LOOPBACK CX3_BIT(32)
#define FLAG_PORT_MGMT CX3_BIT(59)

#define DEFAULT_FLAGS                                                                          \
	(FLAG_RC | FLAG_UC | FLAG_UD | FLAG_XRC | FLAG_SRQ | FLAG_IPOIB_CSUM | FLAG_PKEY_CNTR | \
	 FLAG_QKEY_CNTR | FLAG_BLH | FLAG_MW | FLAG_APM | FLAG_ATOMIC | FLAG_UD_AV_PORT |       \
	 FLAG_UD_MCAST | FLAG_UC_LOOPBACK | FLAG_PORT_MGMT)

/* The first byte of QUERY_PORT. */
#define TYPE_IB 0x01u
#define TYPE_ETH 0x02u
#define SUGGEST_ETH 0x08u

/* BMME flags (QUERY_DEV_CAP 0x94). */
#define BMME_WIN_2B 0x002u
#define BMME_LOCAL_INV 0x040u
#define BMME_REMOTE_INV 0x080u
#define BMME_TYPE2_WIN 0x200u
#define BMME_RESERVED_LKEY 0x400u
#define BMME_FAST_REG 0x800u
#define DEFAULT_BMME \
	(BMME_WIN_2B | BMME_LOCAL_INV | BMME_REMOTE_INV | BMME_TYPE2_WIN | BMME_RESERVED_LKEY | \
	 BMME_FAST_REG)

struct cap_field {
	u8 off;
	u8 bytes;
	u32 value;
};

static const struct cap_field caps[] = {
	{ 0x10, 1, CX3_LOG_MAX_SRQ_WQES },
	{ 0x11, 1, CX3_LOG_MAX_QP_WQES },
	{ 0x12, 1, CX3_LOG_RSVD_QPS },
	{ 0x13, 1, CX3_LOG_MAX_QPS },
	{ 0x14, 1, CX3_LOG_RSVD_SRQS << 4 },
	{ 0x15, 1, CX3_LOG_MAX_SRQS },
	{ 0x19, 1, CX3_LOG_MAX_CQES },
	{ 0x1a, 1, CX3_LOG_RSVD_CQS },
	{ 0x1b, 1, CX3_LOG_MAX_CQS },
	{ 0x1d, 1, CX3_LOG_MAX_MPTS },
	{ 0x1e, 1, CX3_LOG_RSVD_EQS },
	{ 0x1f, 1, CX3_LOG_MAX_EQS },
	{ 0x20, 1, CX3_LOG_RSVD_MTTS << 4 },
	{ 0x21, 1, 40 },			/* log max memory region */
	{ 0x22, 1, CX3_LOG_RSVD_MPTS },
	{ 0x23, 1, 24 },			/* log max MTT segments */
	{ 0x29, 1, CX3_LOG_MAX_RDMARC },
	{ 0x2b, 1, CX3_LOG_MAX_RDMARC },
	{ 0x2d, 1, CX3_LOG_MAX_GSO },
	{ 0x2f, 1, 20 },			/* log max RDMA resources, all QPs */
	{ 0x33, 1, 0 },				/* SRQ resize */
	{ 0x35, 1, 15 },			/* local ACK delay, 4.096 us << 15 */
	{ 0x38, 1, CX3_LOG_MAX_MSG },
	{ 0x3c, 2, 0x1f80 },			/* static rates: 2.5 to 40 Gb/s */
	{ 0x48, 1, CX3_RSVD_UARS << 4 },
	{ 0x4b, 1, 12 },			/* log min page size */
	{ 0x51, 1, CX3_MAX_SG_SQ },
	{ 0x52, 2, CX3_MAX_SQ_DESC },
	{ 0x55, 1, CX3_MAX_SG_RQ },
	{ 0x56, 2, CX3_MAX_RQ_DESC },
	{ 0x61, 1, 8 },				/* log QPs per multicast group */
	{ 0x62, 1, 0 },				/* reserved MCGs */
	{ 0x63, 1, CX3_LOG_MAX_MCGS },
	{ 0x64, 1, 1 << 4 },			/* reserved PDs */
	{ 0x65, 1, 17 },			/* log max PDs */
	{ 0x66, 1, 1 << 4 },			/* reserved XRCDs */
	{ 0x67, 1, 16 },			/* log max XRCDs */
	{ 0x80, 2, CX3_RDMARC_SIZE },
	{ 0x82, 2, CX3_QPC_SIZE },
	{ 0x84, 2, CX3_AUXC_SIZE },
	{ 0x86, 2, CX3_ALTC_SIZE },
	{ 0x88, 2, CX3_EQC_SIZE },
	{ 0x8a, 2, CX3_CQC_SIZE },
	{ 0x8c, 2, CX3_SRQC_SIZE },
	{ 0x8e, 2, CX3_CMPT_SIZE },
	{ 0x90, 2, CX3_MTT_SIZE },
	{ 0x92, 2, CX3_MPT_SIZE },
	{ 0x98, 4, CX3_RESERVED_LKEY },
	{ 0xa0, 4, 1u << (CX3_ICM_LOG_BYTES - 32) },	/* max ICM bytes, high word */
};

static void put_field(u8 *o, u8 bytes, u32 value)
{
	if (bytes == 1)
		*o = (u8)value;
	else if (bytes == 2)
		put16(o, (u16)value);
	else
		put32(o, value);
}

enum cx3_status cx3_cmd_query_dev_cap(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	const struct cx3_config *cfg = &hca->cfg;
	u8 *o = cmd->out;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(caps); i++)
		put_field(o + caps[i].off, caps[i].bytes, caps[i].value);
	o[0x37] = (u8)(cfg->max_vl << 4 | cfg->nports);
	put64(o + 0x40, 0);
	put32(o + 0x40, (u32)(((DEFAULT_FLAGS | cfg->caps_set) & ~cfg->caps_clear) >> 32));
	put32(o + 0x44, (u32)((DEFAULT_FLAGS | cfg->caps_set) & ~cfg->caps_clear));
	put32(o + 0x94, DEFAULT_BMME & ~cfg->bmme_clear);
	o[0x49] = cfg->log_uar_bytes - 20;
	if (cfg->blueflame) {
		o[0x4c] = 0x80;
		o[0x4d] = CX3_LOG_BF_REG;
		o[0x4e] = 12 - CX3_LOG_BF_REG;
	}
	return CX3_OK;
}

static u8 log2_of(u32 v)
{
	u8 n = 0;

	while (v >>= 1)
		n++;
	return n;
}

/* What the port can be, and that it will be Ethernet if nobody says otherwise. */
static u8 port_types(const struct cx3_config *cfg, unsigned int num)
{
	u8 bit = (u8)(1u << (num - 1));

	if (cfg->eth_only & bit)
		return TYPE_ETH | SUGGEST_ETH;
	return cfg->eth_ports & bit ? TYPE_IB | TYPE_ETH | SUGGEST_ETH : TYPE_IB;
}

enum cx3_status cx3_cmd_query_port(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_port *p = cx3_port(hca, cmd->in_mod);
	u8 *o = cmd->out;

	if (!p)
		return CX3_BAD_INDEX;
	o[0x00] = (u8)(port_types(&hca->cfg, p->num) | (p->link_up ? 0x80 : 0));
	o[0x01] = 5;					/* MTU 4096 */
	o[0x04] = 7;					/* SDR, DDR, QDR */
	o[0x06] = 3;					/* 1X and 4X */
	o[0x07] = (u8)(log2_of(hca->cfg.gids) << 4 | log2_of(hca->cfg.pkeys));
	o[0x0a] = 0x77;					/* 128 MACs and VLANs, for Ethernet */
	o[0x0b] = hca->cfg.max_vl;
	put64(o + 0x10, p->guid[0] & 0xffffffffffffull);
	return CX3_OK;
}
