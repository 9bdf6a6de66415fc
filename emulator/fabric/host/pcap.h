/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A capture file of a fabric: the classic pcap format with nanosecond time
 * stamps. The link type is ERF (197) with records of type InfiniBand (21), LRH
 * to VCRC: the link type for bare InfiniBand, 247, cannot be read by the
 * tshark of Debian 12 (4.0 knows no such network type). For front-ends, which
 * have a libc.
 */
#ifndef FABRIC_HOST_PCAP_H
#define FABRIC_HOST_PCAP_H

#include "../fabric.h"

struct pcap;

/**
 * pcap_open() - create a capture file
 * @path: file; an existing one is overwritten
 *
 * Return: the capture, or NULL with errno set.
 */
struct pcap *pcap_open(const char *path);

/**
 * pcap_packet() - append one packet; fits fabric_tap()
 * @arg: struct pcap
 * @now: time stamp, ns
 * @pkt: whole packet with its CRCs
 * @len: its length
 *
 * A full disk ends the capture with one line on stderr.
 */
void pcap_packet(void *arg, u64 now, const u8 *pkt, u32 len);

/** pcap_flush() - let a reader see everything so far */
void pcap_flush(struct pcap *pcap);

/** pcap_close() - finish; NULL is allowed */
void pcap_close(struct pcap *pcap);

#endif
