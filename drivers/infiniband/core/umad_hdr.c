// SPDX-License-Identifier: GPL-2.0-only
/*
 * The header in front of each MAD that a program reads or writes.
 *
 * There are two, and the old one is the begin of the new one: it ends before the P_Key index.
 * Lengths, ids and times are in host byte order, what comes from packets is as it was there.
 */
#include <linux/string.h>

#include "umad.h"

#define UMAD_HDR_OLD sizeof(struct ib_user_mad_hdr_old)
#define UMAD_HDR_NEW sizeof(struct ib_user_mad_hdr)

static_assert(UMAD_HDR_OLD == 56);
static_assert(UMAD_HDR_NEW == 64);
static_assert(offsetof(struct ib_user_mad_hdr, length) == 16);
static_assert(offsetof(struct ib_user_mad_hdr, lid) == 28);
static_assert(offsetof(struct ib_user_mad_hdr, gid) == 36);
static_assert(offsetof(struct ib_user_mad_hdr, flow_label) == 52);
static_assert(offsetof(struct ib_user_mad_hdr, pkey_index) == UMAD_HDR_OLD);

/**
 * umad_hdr_size() - the size of the header that a file has
 * @file: the file
 *
 * Return: bytes.
 */
size_t umad_hdr_size(struct umad_file *file)
{
	return READ_ONCE(file->pkey) ? UMAD_HDR_NEW : UMAD_HDR_OLD;
}

/**
 * umad_hdr_to_addr() - where a program wants a MAD to go
 * @hdr: of the program; zero behind the end of an old one
 * @addr: filled in
 *
 * The Q_Key is not the program's to choose: the one of all QP1s is used.
 */
void umad_hdr_to_addr(const struct ib_user_mad_hdr *hdr, struct ib_mad_addr *addr)
{
	*addr = (struct ib_mad_addr) {
		.lid = be16_to_cpu(hdr->lid),
		.sl = hdr->sl,
		.path_bits = hdr->path_bits,
		.pkey_index = hdr->pkey_index,
		.qpn = be32_to_cpu(hdr->qpn),
		.has_grh = hdr->grh_present,
	};
	if (!addr->has_grh)
		return;
	addr->grh.sgid_index = hdr->gid_index;
	addr->grh.hop_limit = hdr->hop_limit;
	addr->grh.traffic_class = hdr->traffic_class;
	addr->grh.flow_label = be32_to_cpu(hdr->flow_label);
	memcpy(addr->grh.dgid.raw, hdr->gid, sizeof(hdr->gid));
}

/**
 * umad_hdr_of_recv() - the header of what was received
 * @hdr: filled in
 * @id: the agent
 * @recv: the message
 *
 * All but the length, which depends on the reader.
 */
void umad_hdr_of_recv(struct ib_user_mad_hdr *hdr, u32 id, const struct ib_mad_recv *recv)
{
	const struct ib_mad_addr *from = &recv->from;

	*hdr = (struct ib_user_mad_hdr) {
		.id = id,
		.qpn = cpu_to_be32(from->qpn),
		.lid = cpu_to_be16(from->lid),
		.sl = from->sl,
		.path_bits = from->path_bits,
		.pkey_index = from->pkey_index,
		.grh_present = from->has_grh,
	};
	if (!from->has_grh)
		return;
	hdr->gid_index = from->grh.sgid_index;
	hdr->hop_limit = from->grh.hop_limit;
	hdr->traffic_class = from->grh.traffic_class;
	hdr->flow_label = cpu_to_be32(from->grh.flow_label);
	memcpy(hdr->gid, from->grh.dgid.raw, sizeof(hdr->gid));
}
