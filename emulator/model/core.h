/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State shared by the files of the device's core: registers, commands,
 * firmware area, ICM, events, memory keys. The transport does not include it.
 */
#ifndef CX3_MODEL_CORE_H
#define CX3_MODEL_CORE_H

#include "hca.h"

#define CX3_MBOX_SIZE 4096u
#define CX3_HCR_WORDS 7u
#define CX3_ERR_WORDS 16u
#define CX3_LOG_MAX_CMDS 4u
#define CX3_LATE_CMDS ((u32)CX3_BIT(CX3_LOG_MAX_CMDS))
#define CX3_MAX_CMDS 128u

/* BAR0 offsets; the last three are told by QUERY_FW. */
#define CX3_REG_HCR 0x80680u
#define CX3_REG_OWNER 0x8069cu
#define CX3_REG_RESET 0xf0010u
#define CX3_REG_HW_SEM 0xf03fcu
#define CX3_REG_CLR_INT 0xf00d8u
#define CX3_REG_CLOCK 0xf2000u
#define CX3_REG_ERR_BUF 0xf3000u

/* Status word of the HCR. */
#define CX3_HCR_T 0x00200000u
#define CX3_HCR_E 0x00400000u
#define CX3_HCR_GO 0x00800000u

/* Limits told by QUERY_DEV_CAP. */
#define CX3_LOG_MAX_QPS 19u
#define CX3_LOG_MAX_SRQS 17u
#define CX3_LOG_MAX_CQS 17u
#define CX3_LOG_MAX_EQS 9u
#define CX3_LOG_MAX_MPTS 20u
#define CX3_LOG_MAX_MCGS 14u
#define CX3_LOG_RSVD_QPS 6u
#define CX3_LOG_RSVD_SRQS 6u
#define CX3_LOG_RSVD_CQS 7u
#define CX3_LOG_RSVD_EQS 2u
#define CX3_LOG_RSVD_MTTS 4u
#define CX3_LOG_RSVD_MPTS 4u
#define CX3_RSVD_UARS 1u
#define CX3_FA_PAGES 256u

/*
 * ICM virtual space: 2^36 bytes, looked up in three steps of 8 bits of page
 * number. A slot holds the bus address of a page with bit 0 set, or 0.
 */
#define CX3_ICM_LOG_BYTES 36u
#define CX3_ICM_FAN 256u
/* Most 4 KiB pages one command may map or unmap: bounds its run time. */
#define CX3_ICM_MAX_PAGES 0x40000u

struct cx3_icm_leaf {
	u64 page[CX3_ICM_FAN];
	u32 used;
};

struct cx3_icm_mid {
	struct cx3_icm_leaf *leaf[CX3_ICM_FAN];
	u32 used;
};

/**
 * struct cx3_icm - ICM page map
 * @mid: upper level
 * @pages: pages mapped now
 * @last_va: page number of the last translation, ~0 = none
 * @last_pa: its address
 */
struct cx3_icm {
	struct cx3_icm_mid *mid[CX3_ICM_FAN];
	u32 pages;
	u64 last_va;
	u64 last_pa;
};

/**
 * struct cx3_eq - a live event queue
 * @obj: number
 * @buf: ring
 * @log_size: log2 of entries
 * @vector: MSI-X vector
 * @oi: overruns are ignored
 * @state: 9 armed, 10 fired, 11 always armed (context coding)
 * @status: 0 ok, 9 overflow, 10 write failure
 * @ci: consumer index, 24 bits
 * @pi: producer index, runs on
 */
struct cx3_eq {
	struct cx3_obj obj;
	struct cx3_buf buf;
	u8 log_size;
	u16 vector;
	bool oi;
	u8 state;
	u8 status;
	u32 ci;
	u32 pi;
};

/**
 * struct cx3_late - a command that answers later
 * @timer: when
 * @posted: when it was posted
 * @hcr: its words
 * @busy: in use
 */
struct cx3_late {
	struct cx3_timer timer;
	u64 posted;
	u32 hcr[CX3_HCR_WORDS];
	bool busy;
};

/**
 * struct cx3_core - private state of the core
 * @hcr: register words in host order
 * @owner_taken: owner semaphore
 * @hw_sem: reset semaphore
 * @err_buf: internal error buffer
 * @mbox_in: input mailbox of the running command
 * @mbox_out: output mailbox
 * @late: commands delayed by a fault
 * @cmd_ops: executed commands by table index
 * @cmd_time: virtual ns they took, by table index (0 unless a fault delays them)
 * @cmd_count: commands executed
 * @silent: firmware answers no command any more (fault)
 * @excused: a fault was injected that justifies a reset with live objects
 * @cut_off: until then a running device may try in vain for the bus it was denied, in virtual ns
 * @finished: CLOSE_HCA was seen, nothing but unmapping may follow
 * @fa_pages: firmware area pages mapped
 * @aux_pages: auxiliary ICM pages mapped
 * @aux_needed: pages told by SET_ICM_SIZE
 * @icm_size: bytes told by SET_ICM_SIZE
 * @icm: page map
 * @base: ICM address of each table
 * @event_eq: EQN that mapped each event type, or CX3_NO_EQ
 * @tpt_gen: raised by SYNC_TPT: cached MPT entries are read anew
 * @init_hca: mailbox of INIT_HCA, given back by QUERY_HCA
 * @irq: vectors to raise in cx3_leave()
 * @intx: level wanted
 * @intx_level: level told to the host
 * @intx_tell: level has to be told
 * @deadline: deadline told to the host
 * @fault: rules (fault.c)
 * @kept: what faults keep back (keep.c)
 * @nkept: how many
 * @dead_pds: a bit for each PD that software said to have destroyed, NULL before the first
 * @node_desc: node description
 */
struct cx3_core {
	u32 hcr[CX3_HCR_WORDS];
	bool owner_taken;
	bool hw_sem;
	u32 err_buf[CX3_ERR_WORDS];
	u8 *mbox_in;
	u8 *mbox_out;
	struct cx3_late late[CX3_LATE_CMDS];
	u64 cmd_ops[CX3_MAX_CMDS];
	u64 cmd_time[CX3_MAX_CMDS];
	u64 cmd_count;
	bool silent;
	bool excused;
	u64 cut_off;
	bool finished;
	u32 fa_pages;
	u32 aux_pages;
	u32 aux_needed;
	u64 icm_size;
	struct cx3_icm icm;
	u64 base[CX3_ICM_NTABLES];
	u32 event_eq[64];
	u32 tpt_gen;
	u8 *init_hca;
	u64 irq[CX3_MAX_VECTORS / 64];
	bool intx;
	bool intx_level;
	bool intx_tell;
	u64 deadline;
	struct cx3_faults *fault;
	struct cx3_kept *kept;
	u32 nkept;
	u8 *dead_pds;
	u8 node_desc[64];
};

#define CX3_NO_EQ 0xffffffffu

/* hca.c */
/** cx3_irq() - raise the interrupt of an EQ with this vector when the model is left */
void cx3_irq(struct cx3_hca *hca, u16 vector);
/** cx3_soft_reset() - the reset register: back to the state after power-on */
void cx3_soft_reset(struct cx3_hca *hca);
/** cx3_forget() - drop all objects, mappings and tables (reset, CLOSE_HCA, GONE) */
void cx3_forget(struct cx3_hca *hca);
/** cx3_fatal() - fatal internal error: fill the error buffer, answer no command any more */
void cx3_fatal(struct cx3_hca *hca, u32 code);

/* obj.c */
int cx3_table_init(struct cx3_hca *hca, enum cx3_kind kind, u8 log_slots);
void cx3_table_fini(struct cx3_hca *hca, enum cx3_kind kind);
extern const char *const cx3_kind_name[CX3_NKINDS];

/* icm.c */
void cx3_icm_clear(struct cx3_hca *hca);
/** cx3_icm_addr() - bus address behind ICM address @va, 0 if not mapped */
u64 cx3_icm_addr(struct cx3_hca *hca, u64 va);
u32 cx3_icm_entry_size(struct cx3_hca *hca, enum cx3_icm_table table);
extern const char *const cx3_icm_name[CX3_ICM_NTABLES];

/* mtt.c */
/** cx3_mtt_get() - entry at byte offset @off relative to the MTT base; 0 or cx3_err */
int cx3_mtt_get(struct cx3_hca *hca, u64 off, u64 *addr);

/* Longest piece of one DMA. */
#define CX3_COPY_PIECE 0x10000u
/* Bus address of position @at of a thing, and how many bytes follow it there; 0 or cx3_err. */
typedef int (*cx3_translate_fn)(struct cx3_hca *hca, void *what, u64 at, u64 *addr, u32 *room);
/** cx3_copy() - copy to or from a thing that a translation describes */
int cx3_copy(struct cx3_hca *hca, cx3_translate_fn translate, void *what, u64 at, u8 *p, u32 len,
	     bool write);

/* eq.c */
void cx3_eq_doorbell(struct cx3_hca *hca, u32 eqn, u32 val);
void cx3_eq_reset(struct cx3_hca *hca);

/* mpt.c, mcg.c */
void cx3_mpt_reset(struct cx3_hca *hca);
/** cx3_mpt_refresh() - take a CPU-edited entry from memory if SYNC_TPT allows it */
void cx3_mpt_refresh(struct cx3_hca *hca, struct cx3_obj *obj);
/** cx3_mpt_unmapped() - drop records of software-owned entries in ICM [va, end) */
void cx3_mpt_unmapped(struct cx3_hca *hca, u64 va, u64 end);
void cx3_mcg_reset(struct cx3_hca *hca);

/* port.c */
int cx3_ports_create(struct cx3_hca *hca);
void cx3_ports_destroy(struct cx3_hca *hca);
void cx3_ports_reset(struct cx3_hca *hca);
void cx3_port_mgmt_event(struct cx3_port *p, u8 subtype, const u8 *params);

/* cmd.c */
void cx3_cmd_post(struct cx3_hca *hca);
void cx3_cmd_reset(struct cx3_hca *hca);
const char *cx3_cmd_name(u16 opcode);
void cx3_cmd_counts(struct cx3_hca *hca, void (*emit)(void *arg, const char *line), void *arg);

/* fault.c */
void cx3_fault_free(struct cx3_hca *hca);
/** cx3_faults_struck() - how often rules have struck */
u64 cx3_faults_struck(struct cx3_hca *hca);

/* keep.c */
#define CX3_KEPT_ANY 0xffffffffu	/* whatever the number */
/** typedef cx3_keep_fn - takes @len bytes that were kept back for the port, EQ or CQ @num */
typedef void (*cx3_keep_fn)(struct cx3_hca *hca, u32 num, const void *data, u32 len);
/**
 * cx3_keep() - keep something back
 * @hca: device
 * @deadline: until when
 * @fn: who takes it then
 * @num: of which port, EQ or CQ
 * @data: is copied
 * @len: bytes
 *
 * Return: false if there is no room: then it is lost, unless the caller gives it to @fn at once.
 */
bool cx3_keep(struct cx3_hca *hca, u64 deadline, cx3_keep_fn fn, u32 num, const void *data,
	      u32 len);
/** cx3_keep_until() - when the first that is kept for @fn and @num goes on; 0 = nothing is kept */
u64 cx3_keep_until(struct cx3_hca *hca, cx3_keep_fn fn, u32 num);
/** cx3_keep_give() - everything that is kept for @fn and @num goes on now */
void cx3_keep_give(struct cx3_hca *hca, cx3_keep_fn fn, u32 num);
/** cx3_keep_drop() - it is lost; with NULL everything is */
void cx3_keep_drop(struct cx3_hca *hca, cx3_keep_fn fn, u32 num);

/* fail.c */
/** cx3_fail_object() - put a QP, CQ or SRQ into its error state; false if there is none */
bool cx3_fail_object(struct cx3_hca *hca, enum cx3_kind kind, u32 num);

/* pd.c */
void cx3_pd_use(struct cx3_hca *hca, u32 pd, const char *what, u32 num);
void cx3_pd_forget(struct cx3_hca *hca);

/* audit.c */
/** cx3_audit_objects() - live objects without ICM pages; @emit may be NULL */
unsigned int cx3_audit_objects(struct cx3_hca *hca, void (*emit)(void *arg, const char *line),
			       void *arg);
/** cx3_audit_log() - log the first @most lines of the audit */
void cx3_audit_log(struct cx3_hca *hca, unsigned int most);

/* Command handlers, by file. */
#define CX3_HANDLER(name) enum cx3_status name(struct cx3_hca *hca, struct cx3_cmd *cmd)
/* fw.c */
CX3_HANDLER(cx3_cmd_query_fw);
CX3_HANDLER(cx3_cmd_map_fa);
CX3_HANDLER(cx3_cmd_unmap_fa);
CX3_HANDLER(cx3_cmd_run_fw);
CX3_HANDLER(cx3_cmd_mod_stat_cfg);
CX3_HANDLER(cx3_cmd_query_adapter);
CX3_HANDLER(cx3_cmd_init_hca);
CX3_HANDLER(cx3_cmd_close_hca);
CX3_HANDLER(cx3_cmd_query_hca);
CX3_HANDLER(cx3_cmd_nop);
CX3_HANDLER(cx3_cmd_special_qp);
/* caps.c */
CX3_HANDLER(cx3_cmd_query_dev_cap);
CX3_HANDLER(cx3_cmd_query_port);
/* icm.c */
CX3_HANDLER(cx3_cmd_set_icm_size);
CX3_HANDLER(cx3_cmd_map_icm);
CX3_HANDLER(cx3_cmd_unmap_icm);
CX3_HANDLER(cx3_cmd_map_icm_aux);
CX3_HANDLER(cx3_cmd_unmap_icm_aux);
/* mtt.c */
CX3_HANDLER(cx3_cmd_read_mtt);
CX3_HANDLER(cx3_cmd_write_mtt);
/* eq.c */
CX3_HANDLER(cx3_cmd_sw2hw_eq);
CX3_HANDLER(cx3_cmd_hw2sw_eq);
CX3_HANDLER(cx3_cmd_query_eq);
CX3_HANDLER(cx3_cmd_map_eq);
/* mpt.c */
CX3_HANDLER(cx3_cmd_sw2hw_mpt);
CX3_HANDLER(cx3_cmd_hw2sw_mpt);
CX3_HANDLER(cx3_cmd_query_mpt);
CX3_HANDLER(cx3_cmd_sync_tpt);
/* mcg.c */
CX3_HANDLER(cx3_cmd_read_mcg);
CX3_HANDLER(cx3_cmd_write_mcg);
CX3_HANDLER(cx3_cmd_mgid_hash);
/* port.c */
CX3_HANDLER(cx3_cmd_init_port);
CX3_HANDLER(cx3_cmd_close_port);
CX3_HANDLER(cx3_cmd_set_port);
CX3_HANDLER(cx3_cmd_set_node);
CX3_HANDLER(cx3_cmd_diag_rprt);
/* mad.c */
CX3_HANDLER(cx3_cmd_mad_ifc);

#endif
