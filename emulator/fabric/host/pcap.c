// SPDX-License-Identifier: GPL-2.0-only
/*
 * Capture files; see pcap.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "pcap.h"

enum {
	MAGIC_NS = 0xa1b23c4d,
	LINKTYPE_ERF = 197,
	ERF_INFINIBAND = 21,
	ERF_VARYING = 4,	/* flag: records are as long as their packets */
	ERF_HEADER = 16,
	SNAP_LENGTH = 65535,
};

struct pcap {
	FILE *file;
	char path[256];
};

/* The reader takes byte order from the magic number; ours is big-endian everywhere. */
static void put_header(u8 *h)
{
	put32(h, MAGIC_NS);
	put16(h + 4, 2);
	put16(h + 6, 4);
	put32(h + 8, 0);
	put32(h + 12, 0);
	put32(h + 16, SNAP_LENGTH);
	put32(h + 20, LINKTYPE_ERF);
}

/* Time stamp in seconds and 2^-32 of them, little-endian; lengths big-endian. */
static void put_erf(u8 *h, u64 now, u32 len)
{
	u64 stamp = now / 1000000000 << 32 | (now % 1000000000 << 32) / 1000000000;
	unsigned int i;

	for (i = 0; i < 8; i++)
		h[i] = (u8)(stamp >> 8 * i);
	h[8] = ERF_INFINIBAND;
	h[9] = ERF_VARYING;
	put16(h + 10, (u16)(len + ERF_HEADER));
	put16(h + 12, 0);
	put16(h + 14, (u16)len);
}

struct pcap *pcap_open(const char *path)
{
	struct pcap *p = calloc(1, sizeof(*p));
	u8 header[24];

	if (!p)
		return NULL;
	snprintf(p->path, sizeof(p->path), "%s", path);
	p->file = fopen(path, "wb");
	put_header(header);
	if (!p->file || fwrite(header, sizeof(header), 1, p->file) != 1 || fflush(p->file)) {
		int saved = errno;

		pcap_close(p);
		errno = saved;
		return NULL;
	}
	return p;
}

void pcap_packet(void *arg, u64 now, const u8 *pkt, u32 len)
{
	struct pcap *p = arg;
	u8 record[16 + ERF_HEADER];

	if (!p->file)
		return;
	put32(record, (u32)(now / 1000000000));
	put32(record + 4, (u32)(now % 1000000000));
	put32(record + 8, len + ERF_HEADER);
	put32(record + 12, len + ERF_HEADER);
	put_erf(record + 16, now, len);
	if (fwrite(record, sizeof(record), 1, p->file) == 1 && fwrite(pkt, len, 1, p->file) == 1)
		return;
	fprintf(stderr, "capture %s ends here: %m\n", p->path);
	fclose(p->file);
	p->file = NULL;
}

void pcap_flush(struct pcap *p)
{
	if (p && p->file)
		fflush(p->file);
}

void pcap_close(struct pcap *p)
{
	if (!p)
		return;
	if (p->file)
		fclose(p->file);
	free(p);
}
