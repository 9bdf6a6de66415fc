/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A user of umadN and issmN without a process: the suites open nodes as the kernel would for a
 * program and call their file operations, on a bench whose provider has QP0 and QP1.
 */
#ifndef UMAD_USER_H
#define UMAD_USER_H

#include <linux/fs.h>

#include <lastref/clock.h>
#include <lastref/fault.h>
#include <ib/port.h>
#include <lastref/kunit.h>

#include "bench.h"
#include "umad.h"

#define HDR sizeof(struct ib_user_mad_hdr)

/**
 * struct user_file - an open node
 * @inode: what it was opened by
 * @filp: the kernel's
 * @open: it is
 */
struct user_file {
	struct inode inode;
	struct file filp;
	bool open;
};

/**
 * struct user_mad - a packet of one MAD, as a program with the new header has it
 * @hdr: the header
 * @mad: the MAD
 */
struct user_mad {
	struct ib_user_mad_hdr hdr;
	u8 mad[IB_MAD_SIZE];
};

struct bench *user_bench(struct kunit *test, const char *name);
struct device *user_node(struct bench *b, const char *name);
int user_attach(struct user_file *uf, struct device *node, unsigned int flags);
int user_open(struct kunit *test, struct device *node, unsigned int flags, struct user_file **uf);
struct user_file *user_must_open(struct bench *b, const char *name, unsigned int flags);
int user_close(struct user_file *uf);
ssize_t user_read(struct user_file *uf, void *data, size_t size);
ssize_t user_write(struct user_file *uf, const void *data, size_t size);
__poll_t user_poll(struct user_file *uf);
int user_register(struct user_file *uf, u8 class, u8 version, u64 methods);
void user_fill(struct user_mad *m, u32 agent, u8 class, u8 method, u64 tid);

static inline struct umad_file *user_umad(struct user_file *uf)
{
	return uf->filp.private_data;
}

/* ---- the other end of the wire ---- */
bool wire_sent(struct bench *b, u8 qpn, u8 *mad);
void wire_send(struct bench *b, u8 qpn, const u8 *mad, u16 slid, u32 src_qp, bool grh);
void wire_hold(struct bench *b, bool hold);

#endif
