/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * umadtool: a program for the scenarios of ib_umad.  Speaks to the nodes by system calls alone.
 */
#ifndef UMAD_TOOL_H
#define UMAD_TOOL_H

#include <stdint.h>
#include <rdma/ib_user_mad.h>

#define HDR sizeof(struct ib_user_mad_hdr)
#define HDR_OLD sizeof(struct ib_user_mad_hdr_old)
#define MAD 256

/* A packet of one MAD with the new header. */
struct packet {
	struct ib_user_mad_hdr hdr;
	uint8_t mad[MAD];
};

/* An address where there is no memory. */
extern void *nowhere;

void fail(const char *what) __attribute__((noreturn));
int open_node(const char *node, int flags);
int add_agent(int fd, int qpn, int class, int version, uint32_t flags, int rmpp);
void put16(uint8_t *at, uint16_t value);
void put32(uint8_t *at, uint32_t value);
void put64(uint8_t *at, uint64_t value);
uint64_t get64(const uint8_t *at);
void smp_to_self(struct packet *p, uint32_t agent, uint16_t attribute, uint64_t tid);

/* Test points as the scenarios print them; returns whether it held. */
int point(int good, const char *name);

int cmd_abi(int argc, char **argv);
int cmd_join(int argc, char **argv);
int cmd_wait(int argc, char **argv);
int cmd_fuzz(int argc, char **argv);
int cmd_mark(int argc, char **argv);
int cmd_active(int argc, char **argv);
int cmd_gets(int argc, char **argv);
int cmd_hold(int argc, char **argv);

#endif
