/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of the device: what its parts know of each other.
 *
 * Who owns what (file: part):
 *   hca.c    creation, reset, timers, interrupts, DMA gate
 *   bar.c    BAR0 registers, UAR decoding, EQ doorbells
 *   cmd.c    command engine and its table;  fw.c, icm.c, eq.c, mpt.c, mcg.c,
 *            port.c, sma.c, pma.c, trap.c: the commands behind it
 *   audit.c  violations, counts, list of live objects;  fault.c: faults
 *   wire.c, qp.c, cq.c, srq.c, wqe.c, ... (transport): declared below under
 *            "transport", they own QP, CQ and SRQ objects and all packets
 *            of class BTH; they reach the outside only through this header.
 *
 * Every entry from outside (register, timer, packet, state) is bracketed by
 * cx3_enter() and cx3_leave(); interrupts and the host timer are set in
 * cx3_leave(). An entry does a bounded amount of work and leaves the rest to
 * a timer: about 64 packets or 256 KiB is the measure.
 *
 * Return values: functions that can fail return 0 or a negative cx3_err;
 * command handlers return an enum cx3_status.
 */
#ifndef CX3_MODEL_HCA_H
#define CX3_MODEL_HCA_H

#include "cx3.h"
#include "pktclass.h"

#define CX3_PAGE 4096u

/* Errors inside the model. */
enum cx3_err {
	CX3_E_DMA = -1,		/* bus master off, or no memory behind the address */
	CX3_E_ICM = -2,		/* ICM page not mapped (already reported as violation) */
	CX3_E_KEY = -3,		/* key unknown, free, of another PD or another QP */
	CX3_E_RANGE = -4,	/* address range outside the region */
	CX3_E_ACCESS = -5,	/* right missing */
	CX3_E_NOMEM = -6,	/* host memory */
	CX3_E_MTT = -7,		/* MTT entry not present */
	CX3_E_EXIST = -8,	/* number already in use */
};

/* Command status byte (hardware interface, table in the command chapter). */
enum cx3_status {
	CX3_OK = 0x00,
	CX3_INTERNAL_ERR = 0x01,
	CX3_BAD_OP = 0x02,
	CX3_BAD_PARAM = 0x03,
	CX3_BAD_SYS_STATE = 0x04,
	CX3_BAD_RESOURCE = 0x05,
	CX3_RESOURCE_BUSY = 0x06,
	CX3_EXCEED_LIM = 0x08,
	CX3_BAD_RES_STATE = 0x09,
	CX3_BAD_INDEX = 0x0a,
	CX3_BAD_NVMEM = 0x0b,
	CX3_ICM_ERROR = 0x0c,
	CX3_BAD_QP_STATE = 0x10,
	CX3_BAD_SEG_PARAM = 0x20,
	CX3_REG_BOUND = 0x21,
	CX3_LAM_NOT_PRE = 0x22,
	CX3_BAD_PKT = 0x30,
	CX3_BAD_SIZE = 0x40,
};

/* ------------------------------------------------------------------ timers */

/**
 * struct cx3_timer - a virtual timer inside the device
 * @deadline: absolute ns; meaningful while @armed
 * @fn: called once when due, inside cx3_enter()/cx3_leave()
 * @prev: list, sorted by deadline
 * @next: list
 * @armed: in the list
 *
 * Zeroed memory plus @fn is a valid idle timer. Arming is O(1) when deadlines
 * come in rising order. Many objects with equal timeouts are fine.
 */
struct cx3_timer {
	u64 deadline;
	void (*fn)(struct cx3_hca *hca, struct cx3_timer *t);
	struct cx3_timer *prev, *next;
	bool armed;
};

/** cx3_timer_arm() - (re)arm @t for absolute time @deadline */
void cx3_timer_arm(struct cx3_hca *hca, struct cx3_timer *t, u64 deadline);
/** cx3_timer_cancel() - after it @t->fn will not run; idle timers are fine */
void cx3_timer_cancel(struct cx3_hca *hca, struct cx3_timer *t);

/* ----------------------------------------------------------- object tables */

enum cx3_kind {
	CX3_QP,
	CX3_SRQ,
	CX3_CQ,
	CX3_EQ,
	CX3_MPT,
	CX3_MCG,
	CX3_NKINDS,
};

/**
 * struct cx3_obj - head of every live object
 * @num: its full number (QPN with all 24 bits, CQN, MPT index, ...)
 * @sw: object record exists but software owns it: not counted as live
 *
 * Embedded first in the object of a part (struct cx3_qp and so on). The table
 * slot is num & (table size - 1); two numbers of one slot cannot both live.
 */
struct cx3_obj {
	u32 num;
	bool sw;
};

#define CX3_LEAF 256u

/**
 * struct cx3_table - sparse array of live objects
 * @leaf: allocated on demand, @nleaf of them, each CX3_LEAF pointers
 * @nleaf: length of @leaf; 0 before INIT_HCA
 * @mask: number of slots - 1
 * @count: objects in it
 */
struct cx3_table {
	struct cx3_obj ***leaf;
	u32 nleaf;
	u32 mask;
	u32 count;
};

/** cx3_obj_add() - enter @obj under obj->num; 0, CX3_E_EXIST or CX3_E_NOMEM */
int cx3_obj_add(struct cx3_hca *hca, enum cx3_kind kind, struct cx3_obj *obj);
/** cx3_obj_get() - the object with exactly this number, or NULL */
struct cx3_obj *cx3_obj_get(struct cx3_hca *hca, enum cx3_kind kind, u32 num);
/** cx3_obj_del() - take @obj out of the table (does not free it) */
void cx3_obj_del(struct cx3_hca *hca, enum cx3_kind kind, struct cx3_obj *obj);
/** cx3_obj_next() - first object in slot *@slot or later; advances *@slot past it */
struct cx3_obj *cx3_obj_next(struct cx3_hca *hca, enum cx3_kind kind, u32 *slot);

/* --------------------------------------------------------------------- ICM */

enum cx3_icm_table {
	CX3_ICM_QPC,
	CX3_ICM_AUXC,
	CX3_ICM_ALTC,
	CX3_ICM_RDMARC,
	CX3_ICM_SRQC,
	CX3_ICM_CQC,
	CX3_ICM_EQC,
	CX3_ICM_DMPT,
	CX3_ICM_CMPT,
	CX3_ICM_MTT,
	CX3_ICM_MCG,
	CX3_ICM_NTABLES,
};

/* Entry sizes told by QUERY_DEV_CAP (bytes). */
#define CX3_QPC_SIZE 256u
#define CX3_AUXC_SIZE 64u
#define CX3_ALTC_SIZE 64u
#define CX3_RDMARC_SIZE 32u
#define CX3_SRQC_SIZE 64u
#define CX3_CQC_SIZE 64u
#define CX3_EQC_SIZE 128u
#define CX3_MPT_SIZE 64u
#define CX3_CMPT_SIZE 64u
#define CX3_MTT_SIZE 8u
#define CX3_MCG_MAX_SIZE 4096u

/**
 * cx3_icm_read() - read part of a context from the guest's ICM pages
 * @hca: device
 * @table: which table
 * @index: entry; QPNs and such are masked by the caller (cx3_qpc_index())
 * @off: byte offset in the entry; off + len may run over following entries
 * @buf: destination
 * @len: bytes
 *
 * Return: 0, CX3_E_ICM (violation reported; @buf zeroed) or CX3_E_DMA.
 */
int cx3_icm_read(struct cx3_hca *hca, enum cx3_icm_table table, u32 index, u32 off, void *buf,
		 u32 len);
/** cx3_icm_write() - the other direction */
int cx3_icm_write(struct cx3_hca *hca, enum cx3_icm_table table, u32 index, u32 off,
		  const void *buf, u32 len);
/** cx3_icm_mapped() - is every page of this entry mapped? reports nothing */
bool cx3_icm_mapped(struct cx3_hca *hca, enum cx3_icm_table table, u32 index);

/**
 * cx3_cmpt_touch() - note in the control MPT that object @num of @kind exists
 * @hca: device
 * @kind: CX3_QP, CX3_SRQ, CX3_CQ or CX3_EQ
 * @num: its index in the table (QPN masked)
 *
 * The driver has to map this entry too before it creates the object.
 *
 * Return: 0 or CX3_E_ICM (violation reported).
 */
int cx3_cmpt_touch(struct cx3_hca *hca, enum cx3_kind kind, u32 num);

/* --------------------------------------------------- queue buffers by MTT */

/**
 * struct cx3_buf - a buffer named by an MTT range, as in EQ, CQ, QP, SRQ contexts
 * @mtt: byte offset relative to the MTT base (context fields "MTT base")
 * @log_page: log2 of its page size (context field + 12)
 * @offset: byte offset of the buffer in its first page
 * @cached_page: page of the last translation, or ~0
 * @cached_addr: its bus address
 *
 * MTT entries of a live queue do not change, so a translation is kept.
 */
struct cx3_buf {
	u64 mtt;
	u8 log_page;
	u32 offset;
	u64 cached_page;
	u64 cached_addr;
};

/** cx3_buf_init() - set up @b; @log_page is the real log2 (12..31) */
void cx3_buf_init(struct cx3_buf *b, u64 mtt, u8 log_page, u32 offset);
/** cx3_buf_read() - read @len bytes at byte @pos of the buffer; crosses pages */
int cx3_buf_read(struct cx3_hca *hca, struct cx3_buf *b, u64 pos, void *dst, u32 len);
/** cx3_buf_write() - write; 0, CX3_E_MTT, CX3_E_ICM or CX3_E_DMA */
int cx3_buf_write(struct cx3_hca *hca, struct cx3_buf *b, u64 pos, const void *src, u32 len);
/**
 * cx3_buf_fill_owner() - write 0x80 into the last byte of each entry
 * @hca: device
 * @b: ring
 * @entries: number of entries
 * @size: bytes per entry, 32 or 64; all other bytes of an entry become 0
 *
 * The device does this to a new EQ or CQ, so that no entry looks valid.
 */
int cx3_buf_fill_owner(struct cx3_hca *hca, struct cx3_buf *b, u32 entries, u32 size);

/* -------------------------------------------------------------- guest DMA */

/** cx3_dma_read() - plain DMA by bus address; 0 or CX3_E_DMA (bus master off: violation) */
int cx3_dma_read(struct cx3_hca *hca, u64 addr, void *buf, u32 len);
/** cx3_dma_write() - the other direction */
int cx3_dma_write(struct cx3_hca *hca, u64 addr, const void *buf, u32 len);

/* ------------------------------------------------------------ memory keys */

/* Rights wanted, as in MPT flags bits 10..15 shifted down by 10. */
#define CX3_ACC_LOCAL_READ 0x01u
#define CX3_ACC_LOCAL_WRITE 0x02u
#define CX3_ACC_REMOTE_READ 0x04u
#define CX3_ACC_REMOTE_WRITE 0x08u
#define CX3_ACC_ATOMIC 0x10u
#define CX3_ACC_BIND 0x20u

/**
 * struct cx3_mr - a checked key: result of cx3_mr_check(), short-lived
 * @physical: addresses are bus addresses
 * @start: first virtual address of the region or window
 * @mtt: byte offset of the region's first MTT entry relative to the MTT base
 * @log_page: log2 page size
 * @fbo: offset of @start from the region's first page; physical: what to add
 * @cached_page: last translation
 * @cached_addr: last translation
 */
struct cx3_mr {
	bool physical;
	u64 start;
	u64 mtt;
	u8 log_page;
	u64 fbo;
	u64 cached_page;
	u64 cached_addr;
};

/**
 * cx3_mr_check() - may this QP touch this range with this key?
 * @hca: device
 * @key: L_Key or R_Key
 * @pd: the QP's PD
 * @qpn: the QP's number (for type 2 windows)
 * @va: first byte
 * @len: bytes; 0 is allowed and checks the key only
 * @access: CX3_ACC_* bits that are all needed
 * @rlkey: the QP may use the reserved L_Key (QP context bit), local access only
 * @mr: filled on success
 *
 * Keep @mr only for the packet or WQE at hand: the key may be invalidated later.
 *
 * Return: 0, CX3_E_KEY, CX3_E_RANGE, CX3_E_ACCESS, CX3_E_ICM or CX3_E_DMA.
 */
int cx3_mr_check(struct cx3_hca *hca, u32 key, u32 pd, u32 qpn, u64 va, u64 len, u32 access,
		 bool rlkey, struct cx3_mr *mr);
/** cx3_mr_read() - copy out of a checked region; range must be inside what was checked */
int cx3_mr_read(struct cx3_hca *hca, struct cx3_mr *mr, u64 va, void *dst, u32 len);
/** cx3_mr_write() - copy into a checked region */
int cx3_mr_write(struct cx3_hca *hca, struct cx3_mr *mr, u64 va, const void *src, u32 len);

/**
 * struct cx3_fast_reg - a fast-register work request (segment decoded by the caller)
 * @key: new key; its index part selects the MPT
 * @flags: first word of the segment, access in bits 27..31
 * @list: bus address of the page list (8-byte entries)
 * @start: virtual address of the region
 * @len: its bytes
 * @offset: first byte offset
 * @log_page: log2 page size
 */
struct cx3_fast_reg {
	u32 key;
	u32 flags;
	u64 list;
	u64 start;
	u64 len;
	u32 offset;
	u8 log_page;
};

/** cx3_mpt_fast_reg() - run it for a QP of this PD; 0 or cx3_err */
int cx3_mpt_fast_reg(struct cx3_hca *hca, u32 pd, const struct cx3_fast_reg *fr);

/**
 * cx3_mpt_invalidate() - local or remote invalidate of a region or type 2 window
 * @hca: device
 * @key: key to invalidate
 * @pd: the QP's PD
 * @qpn: the QP
 * @remote: send with invalidate by the peer (needs the right in the MPT)
 *
 * Return: 0, CX3_E_KEY or CX3_E_ACCESS.
 */
int cx3_mpt_invalidate(struct cx3_hca *hca, u32 key, u32 pd, u32 qpn, bool remote);

/**
 * struct cx3_bind - a bind-window work request
 * @flags1: first word: access bits 27..31 as in fast register
 * @flags2: second word: bit 30 zero based, bit 31 type 2
 * @new_rkey: key the window gets
 * @lkey: region bound to
 * @addr: start
 * @len: bytes; 0 unbinds a type 1 window
 */
struct cx3_bind {
	u32 flags1;
	u32 flags2;
	u32 new_rkey;
	u32 lkey;
	u64 addr;
	u64 len;
};

/** cx3_mpt_bind() - run it; 0 or cx3_err (syndrome: MW bind error) */
int cx3_mpt_bind(struct cx3_hca *hca, u32 pd, u32 qpn, const struct cx3_bind *b);

/* ------------------------------------------------------------ event queues */

enum cx3_event_type {
	CX3_EV_COMP = 0x00,
	CX3_EV_PATH_MIG = 0x01,
	CX3_EV_COMM_EST = 0x02,
	CX3_EV_SQ_DRAINED = 0x03,
	CX3_EV_CQ_ERR = 0x04,
	CX3_EV_WQ_CATAS = 0x05,
	CX3_EV_PATH_MIG_FAIL = 0x07,
	CX3_EV_LOCAL_CATAS = 0x08,
	CX3_EV_PORT_CHANGE = 0x09,
	CX3_EV_CMD = 0x0a,
	CX3_EV_EQ_OVERFLOW = 0x0f,
	CX3_EV_WQ_INVALID = 0x10,
	CX3_EV_WQ_ACCESS = 0x11,
	CX3_EV_SRQ_CATAS = 0x12,
	CX3_EV_SRQ_LAST_WQE = 0x13,
	CX3_EV_SRQ_LIMIT = 0x14,
	CX3_EV_PORT_MGMT = 0x1d,
	CX3_EV_RECOVERABLE = 0x3e,
};

/**
 * cx3_event() - post an asynchronous event to the EQ that mapped its type
 * @hca: device
 * @type: one of enum cx3_event_type; not CX3_EV_COMP
 * @subtype: byte 3 of the entry
 * @data: bytes 4..27 of the entry (24)
 *
 * Dropped silently if no EQ has mapped the type.
 */
void cx3_event(struct cx3_hca *hca, u8 type, u8 subtype, const u8 *data);
/** cx3_event_num() - the same with @num (24 bits) as BE32 at entry byte 4 (QP, SRQ events) */
void cx3_event_num(struct cx3_hca *hca, u8 type, u32 num);
/** cx3_event_cq_err() - CQ error event; @syndrome 1 overrun, 2 access violation */
void cx3_event_cq_err(struct cx3_hca *hca, u32 cqn, u8 syndrome);
/** cx3_eq_comp() - completion event of CQ @cqn on EQ @eqn (the CQ context's) */
void cx3_eq_comp(struct cx3_hca *hca, u32 eqn, u32 cqn);
/** cx3_eq_alive() - is there such an EQ? */
bool cx3_eq_alive(struct cx3_hca *hca, u32 eqn);

/* ---------------------------------------------------------------- commands */

/**
 * struct cx3_cmd - one command while it runs
 * @opcode: 12 bits
 * @op_mod: opcode modifier, 4 bits
 * @in_mod: input modifier
 * @in_param: immediate, or bus address of the input mailbox
 * @out_param: bus address of the output mailbox
 * @out_imm: immediate result, set by the handler
 * @in: input mailbox, already read (as many bytes as the table entry says,
 *	zeros when the command has none)
 * @out: output mailbox, zeroed; written back after CX3_OK
 * @has_in: an input mailbox address was given (in_param not 0)
 * @has_out: an output mailbox address was given (out_param not 0)
 */
struct cx3_cmd {
	u16 opcode;
	u8 op_mod;
	u32 in_mod;
	u64 in_param;
	u64 out_param;
	u64 out_imm;
	u8 *in;
	u8 *out;
	bool has_in;
	bool has_out;
};

typedef enum cx3_status (*cx3_cmd_fn)(struct cx3_hca *hca, struct cx3_cmd *cmd);

/* ------------------------------------------------------------------- ports */

enum cx3_port_state {
	CX3_PORT_DOWN = 1,
	CX3_PORT_INIT = 2,
	CX3_PORT_ARMED = 3,
	CX3_PORT_ACTIVE = 4,
};

#define CX3_MAX_PKEYS 128
#define CX3_MAX_GIDS 128

/**
 * struct cx3_port_counters - what PMA reads; 64 bit inside, clamped on the wire
 * @xmit_data: 4-byte words sent on all VLs, LRH to ICRC (IBA 16.1.3.5)
 * @rcv_data: received
 * @xmit_pkts: packets sent, all VLs
 * @rcv_pkts: packets received, all VLs
 * @uni_xmit: unicast, sent
 * @uni_rcv: unicast, received
 * @multi_xmit: multicast, sent
 * @multi_rcv: multicast, received
 * @rcv_errors: packets with errors (length, CRC, header)
 * @rcv_constraint: P_Key enforcement (switches)
 * @xmit_discards: no link, or port not active
 * @vl15_dropped: SMPs dropped for lack of a receive WQE
 * @symbol: symbol errors
 * @link_recovers: link error recovery
 * @link_downed: link downed
 */
struct cx3_port_counters {
	u64 xmit_data, rcv_data, xmit_pkts, rcv_pkts;
	u64 uni_xmit, uni_rcv, multi_xmit, multi_rcv;
	u64 rcv_errors, rcv_constraint, xmit_discards, vl15_dropped;
	u64 symbol, link_recovers, link_downed;
};

/**
 * struct cx3_port - one port
 * @hca: its device
 * @num: 1 based
 * @end: cable, or NULL
 * @enabled: INIT_PORT done
 * @ethernet: nobody has made it an InfiniBand port yet
 * @link_up: physical link
 * @link_width: active width (IBA code)
 * @link_speed: active speed
 * @state: logical state
 * @lid: base LID, 0 before the SM set it
 * @lmc: LMC
 * @sm_lid: LID of the SM
 * @sm_sl: SL towards it
 * @cap_mask: capability mask as SET_PORT and SMA leave it
 * @gid_prefix: subnet prefix (host order)
 * @guid: table of GUIDs; entry 0 is the port GUID
 * @pkey: P_Key table
 * @sl2vl: 8 bytes, as in the attribute
 * @mtu: IBA code in use
 * @vl_op: operational VLs, IBA code
 * @qkey_violations: bad Q_Key counter
 * @pkey_violations: bad P_Key counter
 * @mkey_violations: bad M_Key counter
 * @cnt: performance counters
 * @sma: the rest of the SMA's state is in port.h
 */
struct cx3_port {
	struct cx3_hca *hca;
	u8 num;
	struct link_end *end;
	bool enabled;
	bool ethernet;
	bool link_up;
	u8 link_width;
	enum link_speed link_speed;
	enum cx3_port_state state;
	u16 lid;
	u8 lmc;
	u16 sm_lid;
	u8 sm_sl;
	u32 cap_mask;
	u64 gid_prefix;
	u64 guid[CX3_MAX_GIDS];
	u16 pkey[CX3_MAX_PKEYS];
	u8 sl2vl[8];
	u8 mtu;
	u8 vl_op;
	u16 qkey_violations;
	u16 pkey_violations;
	u16 mkey_violations;
	struct cx3_port_counters cnt;
	struct cx3_port_sma *sma;
};

/** cx3_port() - port @num (1 based), or NULL if there is none */
struct cx3_port *cx3_port(struct cx3_hca *hca, unsigned int num);
/** cx3_port_is_mine() - is @dlid one of the port's LIDs (base, LMC)? false while it has none */
bool cx3_port_is_mine(const struct cx3_port *p, u16 dlid);
/** cx3_port_gid() - GID table entry @index as 16 bytes; zeros beyond the table */
void cx3_port_gid(const struct cx3_port *p, unsigned int index, u8 *gid);
/** cx3_port_pkey() - P_Key at @index, 0 beyond the table */
u16 cx3_port_pkey(const struct cx3_port *p, unsigned int index);
/** cx3_port_find_pkey() - index of an entry that matches @pkey (IBA 10.9.3), or -1 */
int cx3_port_find_pkey(const struct cx3_port *p, u16 pkey);
/** cx3_port_vl() - data VL for @sl; 15 = drop */
u8 cx3_port_vl(const struct cx3_port *p, u8 sl);
/** cx3_port_bad_pkey() - a received packet has a P_Key that does not fit: count it, tell the SM */
void cx3_port_bad_pkey(struct cx3_port *p, const u8 *pkt, u32 len);
/** cx3_port_bad_qkey() - likewise a Q_Key */
void cx3_port_bad_qkey(struct cx3_port *p, const u8 *pkt, u32 len);

/**
 * cx3_port_tx() - send a packet out of the port
 * @p: port
 * @pkt: packet as in link.h
 * @len: its bytes
 *
 * Counts it. VL15 packets need a physical link, others state ACTIVE (or ARMED).
 *
 * Return: LINK_OK, LINK_BUSY (keep it; cx3_transport_tx_ready() follows) or
 * LINK_DOWN (dropped and counted as discard).
 */
enum link_result cx3_port_tx(struct cx3_port *p, const u8 *pkt, u32 len);

/* ---------------------------------------------------------- multicast table */

/**
 * cx3_mcg_walk() - call @fn for each QP attached to @mgid
 * @hca: device
 * @mgid: 16 bytes
 * @fn: gets the QPN and whether "block loopback" is set in its entry
 * @arg: its argument
 *
 * At most 1024 entries are walked. Return: QPs found.
 */
unsigned int cx3_mcg_walk(struct cx3_hca *hca, const u8 *mgid,
			  void (*fn)(void *arg, u32 qpn, bool block_loopback), void *arg);

/* -------------------------------------------------------- violations, counts */

enum cx3_viol {
	CX3_V_ICM_UNMAPPED,	/* access to an ICM page that is not mapped */
	CX3_V_ICM_BUSY,		/* ICM or FA unmapped below a live object */
	CX3_V_DMA_NO_MASTER,	/* DMA while bus mastering is off */
	CX3_V_DMA_FAULT,	/* DMA to no memory, or refused by the IOMMU */
	CX3_V_DB_DEAD,		/* doorbell for a QP, CQ, EQ that is not alive */
	CX3_V_DB_BAD,		/* doorbell malformed: wrong UAR, offset, size, state */
	CX3_V_WQE,		/* WQE with wrong ownership, size, opcode, segment */
	CX3_V_CMD_BUSY,		/* command posted while one is being taken */
	CX3_V_CMD_STATE,	/* command in the wrong phase of the device */
	CX3_V_BAD_NUMBER,	/* object number out of range or not reserved */
	CX3_V_DEAD_OBJECT,	/* use of a destroyed CQ, SRQ, MPT, MTT, EQ */
	CX3_V_LEFT_OVER,	/* object or page left at CLOSE_HCA, UNMAP_FA, reset */
	CX3_V_AFTER_END,	/* anything at all after the driver was finished */
	CX3_V_RESERVED,		/* reserved field set */
	CX3_V_MMIO,		/* access of a wrong size or to no register */
	CX3_NVIOLS,
};

/** cx3_violation() - report one: a log line (strict mode) and a count */
void __printf(3, 4) cx3_violation(struct cx3_hca *hca, enum cx3_viol id, const char *fmt, ...);

/* Counts that parts outside this header's own files raise with cx3_count(). */
enum cx3_counter {
	CX3_C_MMIO_READ,
	CX3_C_MMIO_WRITE,
	CX3_C_DMA_READ_BYTES,
	CX3_C_DMA_WRITE_BYTES,
	CX3_C_IRQ,
	CX3_C_EQE,
	CX3_C_DB_SEND,
	CX3_C_DB_CQ,
	CX3_C_DB_EQ,
	CX3_C_BLUEFLAME,
	CX3_C_CQE,
	CX3_C_CQE_ERROR,
	CX3_C_WQE_SEND,
	CX3_C_WQE_RECV,
	CX3_C_RETRANSMIT,
	CX3_C_MARK,
	CX3_C_TX,					/* + enum cx3_pkt_class */
	CX3_C_RX = CX3_C_TX + CX3_NPKT,			/* + enum cx3_pkt_class */
	CX3_NCOUNTERS = CX3_C_RX + CX3_NPKT,
};

/* ------------------------------------------------------------------ faults */

/* Where a fault rule can strike; @key is what the rule's filter compares. */
enum cx3_fault_point {
	CX3_FP_CMD,		/* key: opcode */
	CX3_FP_TX,		/* key: enum cx3_pkt_class; about to leave */
	CX3_FP_RX,		/* key: enum cx3_pkt_class; arrived */
	CX3_FP_CQE,		/* key: CQN; about to be written */
	CX3_FP_EQE,		/* key: event type; about to be written */
	CX3_FP_RESET,		/* key: 0; write to the reset register */
	CX3_FP_TIME,		/* key: 0; at a virtual time */
	CX3_NFAULTPOINTS,
};

enum cx3_fault_act {
	CX3_FA_NONE,
	CX3_FA_DROP,		/* lost */
	CX3_FA_DUP,		/* twice */
	CX3_FA_DELAY,		/* *arg ns later */
	CX3_FA_CORRUPT,		/* payload byte flipped; receiver's CRC check would drop it */
	CX3_FA_STATUS,		/* command: fail with status *arg */
	CX3_FA_SILENT,		/* command: never answered */
	CX3_NFAULTACTS,
};

/**
 * cx3_fault() - ask whether a fault strikes here
 * @hca: device
 * @point: where
 * @key: which
 * @arg: set to the action's argument
 *
 * Return: what to do, one of those that the table in fault.c allows at @point.
 */
enum cx3_fault_act cx3_fault(struct cx3_hca *hca, enum cx3_fault_point point, u32 key, u64 *arg);

/* --------------------------------------------------------------- transport */
/*
 * Implemented by the transport (qp.c and its neighbours). Handlers are entered
 * in the command table of cmd.c; numbers in in_mod are masked to 24 bits and
 * checked against the table size there (BAD_INDEX), phase and mailboxes too.
 */

/** struct cx3_transport - private to the transport, in hca->xport */
struct cx3_transport;

/** cx3_transport_create() - allocate hca->xport; 0 or CX3_E_NOMEM */
int cx3_transport_create(struct cx3_hca *hca);
/** cx3_transport_destroy() - free it and every object; no DMA */
void cx3_transport_destroy(struct cx3_hca *hca);
/**
 * cx3_transport_reset() - reset, CLOSE_HCA or GONE: forget everything
 * @hca: device
 *
 * Every QP, CQ and SRQ is freed and taken out of its table, every queued
 * packet and timer is dropped. No DMA.
 */
void cx3_transport_reset(struct cx3_hca *hca);

/* opcodes 0x19 0x1a 0x1b 0x1c 0x1d 0x1e 0x1f 0x20 0x2d 0x38; in_mod & 0xffffff = QPN */
enum cx3_status cx3_qp_cmd_modify(struct cx3_hca *hca, struct cx3_cmd *cmd);
enum cx3_status cx3_qp_cmd_reset(struct cx3_hca *hca, struct cx3_cmd *cmd);	/* 0x21 */
enum cx3_status cx3_qp_cmd_query(struct cx3_hca *hca, struct cx3_cmd *cmd);	/* 0x22 */
enum cx3_status cx3_cq_cmd_sw2hw(struct cx3_hca *hca, struct cx3_cmd *cmd);	/* 0x16 */
enum cx3_status cx3_cq_cmd_hw2sw(struct cx3_hca *hca, struct cx3_cmd *cmd);	/* 0x17 */
enum cx3_status cx3_cq_cmd_query(struct cx3_hca *hca, struct cx3_cmd *cmd);	/* 0x18 */
enum cx3_status cx3_cq_cmd_modify(struct cx3_hca *hca, struct cx3_cmd *cmd);	/* 0x2c */
enum cx3_status cx3_srq_cmd_sw2hw(struct cx3_hca *hca, struct cx3_cmd *cmd);	/* 0x35 */
enum cx3_status cx3_srq_cmd_hw2sw(struct cx3_hca *hca, struct cx3_cmd *cmd);	/* 0x36 */
enum cx3_status cx3_srq_cmd_query(struct cx3_hca *hca, struct cx3_cmd *cmd);	/* 0x37 */
enum cx3_status cx3_srq_cmd_arm(struct cx3_hca *hca, struct cx3_cmd *cmd);	/* 0x40 */

/**
 * cx3_transport_uar_write() - a store to a UAR page, EQ doorbells excepted
 * @hca: device
 * @page: UAR number
 * @off: byte offset in the page
 * @b: the bytes in memory order
 * @size: 1 to 8
 */
void cx3_transport_uar_write(struct cx3_hca *hca, u32 page, u32 off, const u8 *b,
			     unsigned int size);
/** cx3_transport_bf_write() - a store to BlueFlame page @page; arguments as above */
void cx3_transport_bf_write(struct cx3_hca *hca, u32 page, u32 off, const u8 *b,
			    unsigned int size);
/**
 * cx3_transport_rx() - a packet from the wire
 * @p: port; its receive counters are already raised, VL and state are checked
 * @pkt: packet as in link.h, LRH length checked against @len
 * @len: its bytes
 */
void cx3_transport_rx(struct cx3_port *p, const u8 *pkt, u32 len);
/** cx3_transport_tx_ready() - the link takes packets again after LINK_BUSY */
void cx3_transport_tx_ready(struct cx3_port *p);
/** cx3_transport_port_change() - p->state or p->link_up changed */
void cx3_transport_port_change(struct cx3_port *p);
/** cx3_transport_describe() - one line about a live QP, CQ or SRQ for the audit */
void cx3_transport_describe(struct cx3_hca *hca, enum cx3_kind kind, struct cx3_obj *obj,
			    char *buf, size_t len);

/* ------------------------------------------------------------- the device */

/* Byte offsets of counters in the DIAG_RPRT output (hardware interface). */
#define CX3_DIAG_RQ_LENGTH 0x00
#define CX3_DIAG_SQ_LENGTH 0x04
#define CX3_DIAG_RQ_QP_OP 0x08
#define CX3_DIAG_SQ_QP_OP 0x0c
#define CX3_DIAG_RQ_PROTECTION 0x18
#define CX3_DIAG_SQ_PROTECTION 0x1c
#define CX3_DIAG_RQ_FLUSH 0x20
#define CX3_DIAG_SQ_FLUSH 0x24
#define CX3_DIAG_SQ_BIND 0x2c
#define CX3_DIAG_SQ_BAD_RESP 0x34
#define CX3_DIAG_SQ_REM_INV_REQ 0x44
#define CX3_DIAG_RQ_REM_INV_REQ 0x48
#define CX3_DIAG_SQ_REM_ACCESS 0x4c
#define CX3_DIAG_RQ_REM_ACCESS 0x50
#define CX3_DIAG_SQ_REM_OP 0x54
#define CX3_DIAG_SQ_RETRY 0x5c
#define CX3_DIAG_SQ_RNR_RETRY 0x64
#define CX3_DIAG_RQ_RNR 0x68
#define CX3_DIAG_SQ_RNR 0x6c
#define CX3_DIAG_RQ_SEQUENCE 0x100
#define CX3_DIAG_SQ_SEQUENCE 0x104
#define CX3_DIAG_RQ_UD_DROPPED 0x118
#define CX3_DIAG_RQ_DUPLICATE 0x130
#define CX3_DIAG_SQ_TIMEOUT 0x134
#define CX3_DIAG_CQ_OVERFLOW 0x1a0

enum cx3_phase {
	CX3_PH_RESET,		/* after reset: QUERY_FW, MAP_FA only */
	CX3_PH_FA,		/* firmware area mapped */
	CX3_PH_FW,		/* RUN_FW done */
	CX3_PH_RUN,		/* INIT_HCA done */
	CX3_PH_DEAD,		/* fatal internal error: commands are not answered */
};

/**
 * struct cx3_geometry - what INIT_HCA told, and what follows from it
 * @log_qps: log2 of each table's entries, likewise the next ones
 * @log_srqs: see @log_qps
 * @log_cqs: see @log_qps
 * @log_eqs: see @log_qps
 * @log_mpts: see @log_qps
 * @log_rdmarc: log2 RDMARC entries per QP
 * @log_mcg_size: log2 of the bytes of an MCG entry
 * @log_mcg_hash: log2 of the hash region's entries
 * @log_mcgs: log2 of all MCG entries
 * @num_uars: 4 KiB UAR pages; BlueFlame pages lie above them
 * @flags: INIT_HCA flags word
 * @eqe_size: bytes of an EQE, 32 or 64
 * @cqe_size: bytes of a CQE, 32 or 64
 */
struct cx3_geometry {
	u8 log_qps, log_srqs, log_cqs, log_eqs, log_mpts, log_rdmarc;
	u8 log_mcg_size, log_mcg_hash, log_mcgs;
	u32 num_uars;
	u32 flags;
	u8 eqe_size, cqe_size;
};

/**
 * struct cx3_hca - the device
 * @host: front-end
 * @cfg: properties
 * @phase: how far the driver has brought it up
 * @bus_master: DMA allowed
 * @msix_on: MSI-X enabled
 * @gone: surprise removal
 * @geo: table sizes; valid in CX3_PH_RUN
 * @special_base: QPN of the special QPs (CONF_SPECIAL_QP), 0 = none;
 *	QP0 of port p is base + p - 1, QP1 of port p is base + 2 + p - 1
 * @port: the ports
 * @table: live objects by kind
 * @xport: transport's private state
 * @core: private state of the files named at the top of this header (core.h)
 * @count: counters, enum cx3_counter
 * @viol: violations by kind
 * @diag: DIAG_RPRT output words; a part raises hca->diag[CX3_DIAG_x / 4]
 * @timers: sorted list of armed timers
 * @timers_last: its tail
 * @depth: 1 inside cx3_enter()/cx3_leave()
 */
struct cx3_hca {
	struct cx3_host host;
	struct cx3_config cfg;
	enum cx3_phase phase;
	bool bus_master;
	bool msix_on;
	bool gone;
	struct cx3_geometry geo;
	u32 special_base;
	struct cx3_port port[CX3_MAX_PORTS];
	struct cx3_table table[CX3_NKINDS];
	struct cx3_transport *xport;
	struct cx3_core *core;
	u64 count[CX3_NCOUNTERS];
	u64 viol[CX3_NVIOLS];
	u32 diag[128];
	struct cx3_timer *timers, *timers_last;
	unsigned int depth;
};

/** cx3_enter() - begin serving a call from outside */
void cx3_enter(struct cx3_hca *hca);
/** cx3_leave() - end it: raise pending interrupts, set the host timer */
void cx3_leave(struct cx3_hca *hca);

static inline u64 cx3_now(const struct cx3_hca *hca)
{
	return cx3_host_now(&hca->host);
}

static inline void *cx3_alloc(const struct cx3_hca *hca, size_t size)
{
	return cx3_host_alloc(&hca->host, size);
}

static inline void cx3_free(const struct cx3_hca *hca, void *p)
{
	cx3_host_free(&hca->host, p);
}

static inline void cx3_count(struct cx3_hca *hca, unsigned int counter, u64 n)
{
	hca->count[counter] += n;
}

/** cx3_log() - a line prefixed with the device's name */
void __printf(3, 4) cx3_log(struct cx3_hca *hca, enum cx3_log_level level, const char *fmt, ...);

static inline u32 cx3_qpc_index(const struct cx3_hca *hca, u32 qpn)
{
	return qpn & ((1u << hca->geo.log_qps) - 1);
}

/* The L_Key for bus addresses that kernel QPs may use; told by QUERY_DEV_CAP. */
#define CX3_RESERVED_LKEY 0x00000700u
#define CX3_INVALID_LKEY 0x00000100u

/* Limits told by QUERY_DEV_CAP that the transport enforces too. */
#define CX3_LOG_MAX_QP_WQES 14u
#define CX3_LOG_MAX_SRQ_WQES 14u
#define CX3_LOG_MAX_CQES 22u
#define CX3_MAX_SQ_DESC 1008u
#define CX3_MAX_RQ_DESC 512u
#define CX3_MAX_SG_SQ 62u
#define CX3_MAX_SG_RQ 32u
#define CX3_LOG_MAX_RDMARC 7u
#define CX3_LOG_MAX_MSG 30u
#define CX3_LOG_MAX_GSO 18u
#define CX3_LOG_BF_REG 9u

#endif
