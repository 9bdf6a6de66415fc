/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Emulated HCAs for KUnit suites: the device model of emulator/model in a slot of the fake PCI
 * bridge. A driver that is built into the kernel probes it like a card.
 *
 *	struct lr_hca *h = lr_hca_new(test, NULL);
 *
 *	KUNIT_ASSERT_EQ(test, lr_hca_plug(h), 0);
 *	lr_hca_fault(h, "...");
 *	...
 *
 * The end of the test unplugs it, and fails the test if the driver broke a rule of the hardware
 * (a violation, see emulator/model/audit.c) or left an object or a mapped page behind.
 */
#ifndef LASTREF_HCA_H
#define LASTREF_HCA_H

#include <linux/types.h>

struct cx3_config;
struct kunit;
struct lr_fabric;
struct lr_hca;
struct pci_dev;

/**
 * lr_hca_new() - an HCA, not yet plugged
 * @test: owner
 * @cfg: properties (cx3_config_init() of model/cx3.h, then changed), or NULL for the defaults
 *
 * Return: the HCA. The test ends here if there is none.
 */
struct lr_hca *lr_hca_new(struct kunit *test, const struct cx3_config *cfg);

/**
 * lr_hca_plug() - power on, scan the bus; drivers have probed when this returns
 * @h: not plugged
 *
 * Return: 0, or -ENODEV. Whether a driver bound is told by lr_hca_bound().
 */
int lr_hca_plug(struct lr_hca *h);

/** lr_hca_unplug() - removal in order; the driver has unbound when this returns */
void lr_hca_unplug(struct lr_hca *h);

/**
 * lr_hca_vanish() - surprise: from now on all-ones, no DMA, no interrupt
 * @h: plugged
 *
 * lr_hca_unplug() then plays the hotplug driver that notices. Context: any.
 */
void lr_hca_vanish(struct lr_hca *h);

/** lr_hca_free() - what the end of the test would do with it, at once */
void lr_hca_free(struct lr_hca *h);

/** lr_hca_pdev() - its PCI device while plugged, no reference taken; else NULL */
struct pci_dev *lr_hca_pdev(struct lr_hca *h);

/** lr_hca_bound() - has a driver bound to it? */
bool lr_hca_bound(struct lr_hca *h);

/** lr_hca_fault() - add a fault rule (language: emulator/model/fault.c); a bad one ends the test */
void lr_hca_fault(struct lr_hca *h, const char *rule);

/**
 * lr_hca_pd() - tell the model that the driver has made or destroyed a protection domain
 * @h: the HCA
 * @pd: its number
 * @alive: false: destroyed; what uses it from now on is a violation
 */
void lr_hca_pd(struct lr_hca *h, u32 pd, bool alive);

/** lr_hca_violations() - rules of the hardware broken since it was made */
u64 lr_hca_violations(struct lr_hca *h);

/** lr_hca_live() - objects and mapped pages at this moment, each also a line in the log */
unsigned int lr_hca_live(struct lr_hca *h);

/**
 * lr_hca_count() - one of the model's counters
 * @h: HCA
 * @name: as cx3_counts() spells it
 *
 * Return: its value; 0 for one that has not counted yet.
 */
u64 lr_hca_count(struct lr_hca *h, const char *name);

/**
 * lr_fabric_new() - an empty fabric
 * @test: owner
 * @always_switch: a switch even between two ports
 *
 * Two ports are cabled back to back; with the third a switch appears. Links that both ends poll
 * train within a millisecond. No subnet manager runs: ports stay in INIT until a test plays one.
 *
 * Return: the fabric; it lives until the test and every connected HCA are done.
 */
struct lr_fabric *lr_fabric_new(struct kunit *test, bool always_switch);

/** lr_fabric_fault() - add a fault rule (emulator/fabric/fault.c); a bad one ends the test */
void lr_fabric_fault(struct kunit *test, struct lr_fabric *f, const char *rule);

/** lr_hca_connect() - a cable from port @port (from 1) of @h into a fabric; before it is plugged */
void lr_hca_connect(struct lr_hca *h, unsigned int port, struct lr_fabric *f);

/** lr_hca_expect_violations() - the test provokes them: do not fail it for any */
void lr_hca_expect_violations(struct lr_hca *h);

#endif
