/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ib_umad: MADs for user programs, ABI 5 (<uapi/rdma/ib_user_mad.h>).
 *
 *   umad_main.c   the module, the client, the nodes of each port
 *   umad_issm.c   issmN: who has it open is the port's subnet manager
 *   umad_file.c   open files of umadN: life, poll, revocation
 *   umad_ioctl.c  ioctls, and the agents that they make
 *   umad_hdr.c    the header in front of each MAD
 *   umad_write.c  sends
 *   umad_read.c   what was received, and the sends that nobody answered
 *
 * A file keeps memory: of its node, of the device, of the attachment.  What it does with hardware
 * goes through a MAD agent, whose service refuses when the device leaves.  remove_one takes the
 * nodes away, kills every file (its agents go, its sleepers wake) and waits for no process: only
 * for calls that are inside the MAD service at that moment.
 *
 * Locks, outer first: &umad_node.lock, &umad_file.mutex, &umad_file.lock.  None is held over user
 * memory, and none over a call into the MAD service, but &umad_file.mutex while an agent is made.
 */
#ifndef IB_CORE_UMAD_H
#define IB_CORE_UMAD_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/uio.h>
#include <uapi/rdma/ib_user_mad.h>

#include <ib/cdev.h>
#include <ib/client.h>
#include <ib/compat.h>
#include <ib/mad.h>
#include <ib/revoke.h>

/* Numbers of the ABI. */
#define UMAD_AGENTS 32
#define UMAD_RECV_MAX 200000

/* The longest message that can be handed to the kernel's RMPP at once, in bytes. */
#define UMAD_SEND_MAX (16U << 20)

/* Numbers of nodes: the first have a place in the major number that was always theirs. */
#define UMAD_MAJOR 231
#define UMAD_FIXED 64
#define UMAD_NODES 1024

/**
 * struct umad_node - umadN or issmN
 * @cdev: the char device; first, and owner of the memory
 * @attachment: the pair (ib_umad, device); not to be touched when @dead
 * @port: the port, from 1
 * @issm: it is issmN
 * @all: in the list of the visible ones (umad_main.c)
 * @lock: protects @dead, @files and @taken
 * @dead: remove_one has begun, or is about to
 * @files: &umad_file.node; umadN only
 * @taken: somebody has issmN open
 * @wait: for those who want it next
 */
struct umad_node {
	struct ib_cdev cdev;
	struct ib_attachment *attachment;
	u8 port;
	bool issm;
	struct list_head all;
	struct mutex lock; /* protects dead, files, taken */
	bool dead;
	struct list_head files;
	bool taken;
	wait_queue_head_t wait;
};

/**
 * struct umad_agent - an agent of a file
 * @mad: the MAD agent
 * @file: the file
 * @id: what the user calls it
 * @users: sends under way inside a system call; under &umad_file.lock
 * @gone: @users has reached 0 after the agent was taken out of &umad_file.agents
 */
struct umad_agent {
	struct ib_mad_agent *mad;
	struct umad_file *file;
	u32 id;
	unsigned int users;
	struct completion gone;
};

/**
 * struct umad_packet - a MAD that is being sent, or is to be read; memory and nothing else
 * @node: in &umad_file.sends or &umad_file.recv
 * @hdr: the header in front of it; when it is being sent, that of the user
 * @recv: what was received, or NULL: a send without an answer
 * @head: of such a send: the begin of the MAD, with the TID as it was sent
 * @agent: of a send: whose
 * @tid: of a send: its TID
 * @class: of a send: its class
 * @response: of a send: it is a response
 */
struct umad_packet {
	struct list_head node;
	struct ib_user_mad_hdr hdr;
	struct ib_mad_recv *recv;
	u8 head[IB_MAD_HEADER];
	struct umad_agent *agent;
	u64 tid;
	u8 class;
	bool response;
};

/**
 * struct umad_file - an open umadN
 * @ib: the framework's part: revocation, and the queue that readers sleep on
 * @ref: of the open file, and of remove_one while it kills it
 * @umad: the node
 * @attachment: its memory is kept
 * @node: in &umad_node.files
 * @mutex: one registration at a time
 * @lock: protects what follows; a leaf
 * @agents: by id
 * @dead: no agent is made any more
 * @used: an agent has been registered: the size of the header is fixed
 * @pkey: the header has a P_Key index: 64 bytes, not 56
 * @recv: packets to be read
 * @recv_count: how many are on @recv
 * @sends: packets whose send has not ended
 */
struct umad_file {
	struct ib_file ib;
	struct kref ref;
	struct umad_node *umad;
	struct ib_attachment *attachment;
	struct list_head node;
	struct mutex mutex; /* serialises registrations */

	spinlock_t lock; /* protects the rest */
	struct umad_agent *agents[UMAD_AGENTS];
	bool dead;
	bool used;
	bool pkey;
	struct list_head recv;
	unsigned int recv_count;
	struct list_head sends;
};

/* ---- umad_issm.c ---- */
extern const struct file_operations issm_fops;

/* ---- umad_file.c ---- */
extern const struct file_operations umad_fops;
void umad_file_put(struct umad_file *file);
void umad_node_kill(struct umad_node *node);

/* ---- umad_ioctl.c ---- */
struct umad_agent *umad_agent_get(struct umad_file *file, u32 id);
void umad_agent_put(struct umad_agent *agent);
bool umad_agent_end(struct umad_file *file, u32 id);
int umad_register_old(struct umad_file *file, struct ib_user_mad_reg_req *req);
int umad_register(struct umad_file *file, struct ib_user_mad_reg_req2 *req);
int umad_unregister(struct umad_file *file, u32 id);
int umad_enable_pkey(struct umad_file *file);
long umad_ioctl(struct file *filp, unsigned int command, unsigned long arg);

/**
 * struct umad_calls - what the suites call, which have no user memory to give to an ioctl
 * @register_old: umad_register_old()
 * @register_new: umad_register()
 * @unregister: umad_unregister()
 * @enable_pkey: umad_enable_pkey()
 * @to_addr: umad_hdr_to_addr()
 * @of_recv: umad_hdr_of_recv()
 */
struct umad_calls {
	int (*register_old)(struct umad_file *file, struct ib_user_mad_reg_req *req);
	int (*register_new)(struct umad_file *file, struct ib_user_mad_reg_req2 *req);
	int (*unregister)(struct umad_file *file, u32 id);
	int (*enable_pkey)(struct umad_file *file);
	void (*to_addr)(const struct ib_user_mad_hdr *hdr, struct ib_mad_addr *addr);
	void (*of_recv)(struct ib_user_mad_hdr *hdr, u32 id, const struct ib_mad_recv *recv);
};

#if IS_ENABLED(CONFIG_KUNIT)
extern const struct umad_calls umad_calls;
#endif

/* ---- umad_hdr.c ---- */
size_t umad_hdr_size(struct umad_file *file);
void umad_hdr_to_addr(const struct ib_user_mad_hdr *hdr, struct ib_mad_addr *addr);
void umad_hdr_of_recv(struct ib_user_mad_hdr *hdr, u32 id, const struct ib_mad_recv *recv);

/* ---- umad_write.c ---- */
ssize_t umad_write_iter(struct kiocb *iocb, struct iov_iter *from);

/* ---- umad_read.c ---- */
void umad_packet_queue(struct umad_file *file, struct umad_packet *packet);
void umad_packet_free(struct umad_packet *packet);
enum ib_cb_result umad_received(struct ib_mad_agent *mad, struct ib_mad_recv *recv);
ssize_t umad_read_iter(struct kiocb *iocb, struct iov_iter *to);

#endif /* IB_CORE_UMAD_H */
