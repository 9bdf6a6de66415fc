// SPDX-License-Identifier: GPL-2.0-only
/*
 * One HCA without a driver; see bare.h.
 */
#include <stdlib.h>

#include "bare.h"
#include "tap.h"

static void fire(void *arg)
{
	struct rig_hca *h = arg;

	cx3_timer_fire(h->hca);
}

void bare_up(struct fake_world *w, struct rig_hca *h, void (*adjust)(struct cx3_config *cfg))
{
	struct cx3_config cfg;
	const char *why = "";

	memset(h, 0, sizeof(*h));
	fake_host_init(&h->host, w, BARE_RAM);
	cx3_config_init(&cfg);
	if (adjust)
		adjust(&cfg);
	h->hca = cx3_create(&h->host.host, &cfg, &why);
	if (!h->hca) {
		tap_note("no device: %s", why);
		abort();
	}
	h->host.fire = fire;
	h->host.arg = h;
	cx3_set_bus_master(h->hca, true);
	cx3_set_msix(h->hca, true);
	h->brk = h->host.ram_base;
	h->mbox_in = rig_alloc(h, 4096, 4096);
	h->mbox_out = rig_alloc(h, 4096, 4096);
}

void bare_down(struct rig_hca *h)
{
	cx3_destroy(h->hca);
	if (h->host.live)
		tap_ok(false, "%u allocations left", h->host.live);
	fake_host_fini(&h->host);
}

u8 bare_map(struct rig_hca *h, u16 opcode, u64 va, u64 pa, u32 log_pages)
{
	u8 entry[16];

	put64(entry, va);
	put64(entry + 8, pa | log_pages);
	return rig_cmd_try(h, opcode, 0, 1, entry, sizeof(entry), 0, NULL);
}

void bare_fw(struct rig_hca *h)
{
	if (bare_map(h, OP_MAP_FA, 0, 0x2000000, 8))
		abort();
	rig_cmd(h, OP_RUN_FW, 0, 0, NULL, 0, 0);
}

u32 bare_read32(struct rig_hca *h, u64 addr)
{
	return __builtin_bswap32((u32)cx3_bar_read(h->hca, 0, addr, 4));
}

void bare_post(struct rig_hca *h, u32 control, u32 in_mod, u64 in, u64 out, u16 token)
{
	rig_mmio32(h, 0, BARE_HCR + 0x00, (u32)(in >> 32));
	rig_mmio32(h, 0, BARE_HCR + 0x04, (u32)in);
	rig_mmio32(h, 0, BARE_HCR + 0x08, in_mod);
	rig_mmio32(h, 0, BARE_HCR + 0x0c, (u32)(out >> 32));
	rig_mmio32(h, 0, BARE_HCR + 0x10, (u32)out);
	rig_mmio32(h, 0, BARE_HCR + 0x14, (u32)token << 16);
	rig_mmio32(h, 0, BARE_HCR + 0x18, control);
}

bool bare_violated(struct rig_hca *h, const char *text)
{
	unsigned int i;

	for (i = 0; i < h->host.violations && i < FAKE_VIOLATIONS; i++)
		if (strstr(h->host.violation[i], text))
			return true;
	return false;
}
