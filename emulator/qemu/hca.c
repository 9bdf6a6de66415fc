// SPDX-License-Identifier: GPL-2.0-only
/*
 * cx3-hca: the device model as a PCI function of QEMU.
 *
 * Everything here runs with QEMU's big lock held: MMIO callbacks, the virtual
 * clock's timer, and monitor commands. The device model needs no lock.
 */
#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "qapi/error.h"
#include "hw/pci/msi.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pci_bus.h"
#include "hw/qdev-properties.h"
#include "hw/core/cpu.h"
#include "qom/object.h"
#include "sysemu/cpu-timers.h"

#include "plugin.h"
#include "sockfabric.h"

OBJECT_DECLARE_SIMPLE_TYPE(Cx3Hca, CX3_HCA)

/**
 * struct Cx3Hca - the QEMU object
 * @parent_obj: PCI function
 * @bar0: registers
 * @bar2: doorbell pages
 * @cfg: properties of the model
 * @hca: the model
 * @timer: its timer
 * @out: log file or NULL
 * @gone: surprise removal happened
 * @port: property: names of the fabrics
 * @firmware: property "fw"
 * @log: property: log file name
 * @fault: property: rules, separated by ';'
 * @fault_file: property: file with a rule a line
 * @board: property: board id
 * @plain: property: properties that are taken over by number
 */
struct Cx3Hca {
	PCIDevice parent_obj;
	MemoryRegion bar0, bar2;
	struct cx3_config cfg;
	struct cx3_hca *hca;
	QEMUTimer *timer;
	FILE *out;
	bool gone;
	char *port[CX3_MAX_PORTS];
	char *firmware;
	char *log;
	char *fault;
	char *fault_file;
	char *board;
	struct {
		uint16_t devid;
		uint8_t revision;
		uint64_t guid;
		uint8_t ports;
		uint8_t eth_ports;
		uint8_t eth_only;
		uint16_t vectors;
		uint8_t log_uar;
		bool blueflame;
		uint64_t caps_set;
		uint64_t caps_clear;
		uint32_t bmme_clear;
		uint8_t max_vl;
		uint16_t pkeys;
		uint16_t gids;
		bool strict;
		bool log_commands;
		uint64_t ack_min;
	} plain;
};

/* ------------------------------------------------------ the model's host side */

static int host_dma(Cx3Hca *s, u64 addr, void *buf, u32 len, DMADirection dir)
{
	/* plain memory only: a guest must not aim the HCA at a register */
	MemTxAttrs attrs = {
		.memory = 1,
		.requester_id = pci_requester_id(PCI_DEVICE(s)),
	};

	return pci_dma_rw(PCI_DEVICE(s), addr, buf, len, dir, attrs) == MEMTX_OK ? 0 : -1;
}

static int host_dma_read(void *ctx, u64 addr, void *buf, u32 len)
{
	return host_dma(ctx, addr, buf, len, DMA_DIRECTION_TO_DEVICE);
}

static int host_dma_write(void *ctx, u64 addr, const void *buf, u32 len)
{
	return host_dma(ctx, addr, (void *)buf, len, DMA_DIRECTION_FROM_DEVICE);
}

static void host_msix(void *ctx, unsigned int vector)
{
	PCIDevice *pci = ctx;

	if (msix_enabled(pci) && vector < pci->msix_entries_nr)
		msix_notify(pci, vector);
}

static void host_intx(void *ctx, bool level)
{
	pci_set_irq(PCI_DEVICE(ctx), level);
}

static u64 host_now(void *ctx)
{
	return (u64)qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static void host_timer(void *ctx, u64 deadline)
{
	Cx3Hca *s = ctx;

	if (deadline >= INT64_MAX)
		timer_del(s->timer);
	else
		timer_mod(s->timer, (int64_t)deadline);
}

static void *host_alloc(void *ctx, size_t size)
{
	return g_try_malloc0(size);
}

static void host_free(void *ctx, void *p)
{
	g_free(p);
}

static void host_log(void *ctx, enum cx3_log_level level, const char *fmt, va_list ap)
{
	Cx3Hca *s = ctx;
	FILE *out = s->out ? s->out : stderr;

	if (!s->out && level < CX3_LOG_WARN)
		return;
	fprintf(out, "%" PRId64 " ", qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
	if (icount_enabled())
		fprintf(out, "icount=%" PRId64 " ", icount_get_raw());
	if (cx3_insns() >= 0)
		fprintf(out, "insns=%" PRId64 " ", cx3_insns());
	vfprintf(out, fmt, ap);
	fputc('\n', out);
	fflush(out);
}

static u64 host_guest_ip(void *ctx)
{
	CPUState *cpu = current_cpu;
	CPUClass *class = cpu ? CPU_GET_CLASS(cpu) : NULL;

	/* under TCG: start of the translation block that made the access */
	return class && class->get_pc ? class->get_pc(cpu) : 0;
}

static void host_unplug(void *ctx)
{
	Cx3Hca *s = ctx;

	s->gone = true;
	cx3_root_port_surprise(PCI_DEVICE(s));
}

static const struct cx3_host_ops host_ops = {
	.dma_read = host_dma_read,
	.dma_write = host_dma_write,
	.msix = host_msix,
	.intx = host_intx,
	.now = host_now,
	.timer = host_timer,
	.alloc = host_alloc,
	.free = host_free,
	.log = host_log,
	.guest_ip = host_guest_ip,
	.unplug = host_unplug,
};

static void timer_due(void *opaque)
{
	Cx3Hca *s = opaque;

	cx3_timer_fire(s->hca);
}

/* -------------------------------------------------------- accesses by the guest */

/*
 * A vCPU may still have the region of a card that was let go a moment ago: the
 * object lives as long as the region does, the model does not.
 */
static uint64_t bar_read(Cx3Hca *s, unsigned int bar, hwaddr addr, unsigned int size)
{
	return s->hca ? cx3_bar_read(s->hca, bar, addr, size) : ~0ull;
}

static void bar_write(Cx3Hca *s, unsigned int bar, hwaddr addr, uint64_t val, unsigned int size)
{
	if (s->hca)
		cx3_bar_write(s->hca, bar, addr, val, size);
}

static uint64_t bar0_read(void *opaque, hwaddr addr, unsigned int size)
{
	return bar_read(opaque, 0, addr, size);
}

static void bar0_write(void *opaque, hwaddr addr, uint64_t val, unsigned int size)
{
	bar_write(opaque, 0, addr, val, size);
}

static uint64_t bar2_read(void *opaque, hwaddr addr, unsigned int size)
{
	return bar_read(opaque, 2, addr, size);
}

static void bar2_write(void *opaque, hwaddr addr, uint64_t val, unsigned int size)
{
	bar_write(opaque, 2, addr, val, size);
}

static const MemoryRegionOps bar0_ops = {
	.read = bar0_read,
	.write = bar0_write,
	.endianness = DEVICE_LITTLE_ENDIAN,
	.valid.min_access_size = 1,
	.valid.max_access_size = 8,
	.impl.min_access_size = 1,
	.impl.max_access_size = 8,
};

static const MemoryRegionOps bar2_ops = {
	.read = bar2_read,
	.write = bar2_write,
	.endianness = DEVICE_LITTLE_ENDIAN,
	.valid.min_access_size = 1,
	.valid.max_access_size = 8,
	.impl.min_access_size = 1,
	.impl.max_access_size = 8,
};

static uint32_t config_read(PCIDevice *pci, uint32_t addr, int len)
{
	if (CX3_HCA(pci)->gone)
		return ~0u >> (32 - 8 * len);
	return pci_default_read_config(pci, addr, len);
}

/* The model wants to know who may use the bus and how interrupts go out. */
static void tell_state(Cx3Hca *s)
{
	PCIDevice *pci = PCI_DEVICE(s);

	cx3_set_bus_master(s->hca, pci_get_word(pci->config + PCI_COMMAND) & PCI_COMMAND_MASTER);
	cx3_set_msix(s->hca, msix_present(pci) && msix_enabled(pci));
}

static void config_write(PCIDevice *pci, uint32_t addr, uint32_t val, int len)
{
	Cx3Hca *s = CX3_HCA(pci);

	if (s->gone || !s->hca)
		return;
	pci_default_write_config(pci, addr, val, len);
	if (pci->exp.exp_cap) {
		pcie_cap_flr_write_config(pci, addr, val, len);
		pcie_aer_write_config(pci, addr, val, len);
	}
	tell_state(s);
}

bool cx3_hca_is_gone(PCIDevice *dev)
{
	return object_dynamic_cast(OBJECT(dev), TYPE_CX3_HCA) && CX3_HCA(dev)->gone;
}

/* ------------------------------------------------------------ life of the device */

/* Two cards of one process differ by name; across processes give them guid=. */
static u64 guid_from_name(const char *name)
{
	u32 h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (u8)*name) * 16777619u;
	return 0x0002c90300000000ull | (u64)((h ^ h >> 24) & 0xffffffu) << 4;
}

/* Who is in another process may be a busy host's last. */
#define ACK_MIN_ABROAD 1000000000ull

static u64 least_ack_timeout(const Cx3Hca *s)
{
	bool abroad = false;
	unsigned int i;

	for (i = 0; i < CX3_MAX_PORTS; i++)
		abroad |= s->port[i] && strchr(s->port[i], '/');
	return abroad ? MAX(s->plain.ack_min, ACK_MIN_ABROAD) : s->plain.ack_min;
}

static bool take_properties(Cx3Hca *s, Error **errp)
{
	struct cx3_config *cfg = &s->cfg;
	const char *name = DEVICE(s)->id ? DEVICE(s)->id : TYPE_CX3_HCA;
	unsigned int v[3];

	cx3_config_init(cfg);
	if (s->firmware) {
		if (sscanf(s->firmware, "%u.%u.%u", &v[0], &v[1], &v[2]) != 3) {
			error_setg(errp, "fw is a version such as 2.42.5000");
			return false;
		}
		cfg->fw_major = v[0];
		cfg->fw_minor = v[1];
		cfg->fw_sub = v[2];
	}
	cfg->device_id = s->plain.devid;
	cfg->revision = s->plain.revision;
	cfg->node_guid = s->plain.guid ? s->plain.guid : guid_from_name(name);
	cfg->nports = s->plain.ports;
	cfg->eth_ports = s->plain.eth_ports;
	cfg->eth_only = s->plain.eth_only;
	cfg->nvectors = s->plain.vectors;
	cfg->log_uar_bytes = s->plain.log_uar;
	cfg->blueflame = s->plain.blueflame;
	cfg->caps_set = s->plain.caps_set;
	cfg->caps_clear = s->plain.caps_clear;
	cfg->bmme_clear = s->plain.bmme_clear;
	cfg->max_vl = s->plain.max_vl;
	cfg->pkeys = s->plain.pkeys;
	cfg->gids = s->plain.gids;
	cfg->strict = s->plain.strict;
	cfg->log_commands = s->plain.log_commands;
	cfg->ack_timeout_min = least_ack_timeout(s);
	if (s->board)
		snprintf(cfg->board_id, sizeof(cfg->board_id), "%s", s->board);
	snprintf(cfg->name, sizeof(cfg->name), "%s", name);
	return true;
}

static bool add_faults(Cx3Hca *s, const char *rules, const char *separators, Error **errp)
{
	g_auto(GStrv) list = g_strsplit_set(rules, separators, -1);
	const char *why;
	char **rule;

	for (rule = list; *rule; rule++) {
		/* the human monitor takes no blanks: a plus stands for one */
		g_strdelimit(*rule, "+", ' ');
		g_strstrip(*rule);
		if (!**rule || **rule == '#')
			continue;
		if (cx3_fault_add(s->hca, *rule, &why)) {
			error_setg(errp, "fault rule '%s': %s", *rule, why);
			return false;
		}
	}
	return true;
}

static bool start_faults(Cx3Hca *s, Error **errp)
{
	g_autofree char *text = NULL;
	GError *gerr = NULL;

	if (s->fault && !add_faults(s, s->fault, ";", errp))
		return false;
	if (!s->fault_file)
		return true;
	if (!g_file_get_contents(s->fault_file, &text, NULL, &gerr)) {
		error_setg(errp, "%s", gerr->message);
		g_error_free(gerr);
		return false;
	}
	return add_faults(s, text, "\n", errp);
}

static bool attach_ports(Cx3Hca *s, Error **errp)
{
	unsigned int i;

	for (i = 0; i < s->cfg.nports; i++) {
		struct link_end *end;

		if (!s->port[i])
			continue;
		end = cx3_fabric_connect(s->port[i], errp);
		if (!end)
			return false;
		cx3_port_attach(s->hca, i + 1, end);
	}
	return true;
}

/* The card is a PCIe 3.0 x8 one; QEMU's default is the slowest link there is. */
static void set_link(PCIDevice *pci)
{
	uint8_t *cap = pci->config + pci->exp.exp_cap;

	pci_long_test_and_clear_mask(cap + PCI_EXP_LNKCAP, PCI_EXP_LNKCAP_SLS | PCI_EXP_LNKCAP_MLW);
	pci_long_test_and_set_mask(cap + PCI_EXP_LNKCAP, PCI_EXP_LNKCAP_SLS_8_0GB | 8 << 4);
	/* supported speeds: 2.5, 5 and 8 GT/s */
	pci_set_long(cap + PCI_EXP_LNKCAP2, PCI_EXP_LNKCAP2_SLS_2_5GB | PCI_EXP_LNKCAP2_SLS_5_0GB |
		     PCI_EXP_LNKCAP2_SLS_8_0GB);
	pci_word_test_and_clear_mask(cap + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_CLS | PCI_EXP_LNKSTA_NLW);
	pci_word_test_and_set_mask(cap + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_CLS_8_0GB | 8 << 4);
}

static bool make_config_space(Cx3Hca *s, Error **errp)
{
	PCIDevice *pci = PCI_DEVICE(s);

	pci_set_word(pci->config + PCI_DEVICE_ID, s->cfg.device_id);
	pci_set_byte(pci->config + PCI_REVISION_ID, s->cfg.revision);
	pci_set_word(pci->config + PCI_SUBSYSTEM_VENDOR_ID, 0x15b3);
	pci_set_word(pci->config + PCI_SUBSYSTEM_ID, 0x0051);
	pci_config_set_interrupt_pin(pci->config, 1);
	memory_region_init_io(&s->bar0, OBJECT(s), &bar0_ops, s, "cx3-registers", CX3_BAR0_SIZE);
	memory_region_init_io(&s->bar2, OBJECT(s), &bar2_ops, s, "cx3-uar",
			      cx3_bar2_size(&s->cfg));
	pci_register_bar(pci, 0, PCI_BASE_ADDRESS_SPACE_MEMORY | PCI_BASE_ADDRESS_MEM_TYPE_64,
			 &s->bar0);
	pci_register_bar(pci, 2, PCI_BASE_ADDRESS_SPACE_MEMORY | PCI_BASE_ADDRESS_MEM_TYPE_64 |
			 PCI_BASE_ADDRESS_MEM_PREFETCH, &s->bar2);
	if (pci_bus_is_express(pci_get_bus(pci))) {
		if (pcie_endpoint_cap_init(pci, 0x60) < 0) {
			error_setg(errp, "no room for the PCIe capability");
			return false;
		}
		set_link(pci);
		pcie_cap_deverr_init(pci);
		pcie_cap_flr_init(pci);
		if (pcie_aer_init(pci, PCI_ERR_VER, 0x100, PCI_ERR_SIZEOF, errp) < 0)
			return false;
	}
	if (!s->cfg.nvectors)
		return true;
	return msix_init(pci, s->cfg.nvectors, &s->bar0, 0, CX3_MSIX_TABLE, &s->bar0, 0,
			 CX3_MSIX_PBA, 0x9c, errp) >= 0;
}

static void drop(Cx3Hca *s)
{
	cx3_destroy(s->hca);
	s->hca = NULL;
	if (s->timer)
		timer_free(s->timer);
	s->timer = NULL;
	if (s->out)
		fclose(s->out);
	s->out = NULL;
}

static void realize(PCIDevice *pci, Error **errp)
{
	Cx3Hca *s = CX3_HCA(pci);
	struct cx3_host host = { &host_ops, s };
	const char *why;
	unsigned int i;

	if (s->log) {
		s->out = fopen(s->log, "w");
		if (!s->out) {
			error_setg_errno(errp, errno, "cannot write %s", s->log);
			return;
		}
	}
	if (!take_properties(s, errp))
		goto fail;
	s->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, timer_due, s);
	s->hca = cx3_create(&host, &s->cfg, &why);
	if (!s->hca) {
		error_setg(errp, "%s", why);
		goto fail;
	}
	if (!start_faults(s, errp) || !attach_ports(s, errp) || !make_config_space(s, errp))
		goto fail;
	for (i = 0; i < s->cfg.nvectors; i++)
		msix_vector_use(pci, i);
	return;
fail:
	drop(s);
}

static void unrealize(PCIDevice *pci)
{
	Cx3Hca *s = CX3_HCA(pci);

	if (msix_present(pci))
		msix_uninit(pci, &s->bar0, &s->bar0);
	if (pci->exp.exp_cap) {
		pcie_aer_exit(pci);
		pcie_cap_exit(pci);
	}
	drop(s);
}

static void reset(DeviceState *dev)
{
	Cx3Hca *s = CX3_HCA(dev);

	if (!s->hca)
		return;
	if (PCI_DEVICE(s)->exp.exp_cap)
		pcie_cap_deverr_reset(PCI_DEVICE(s));
	cx3_function_reset(s->hca);
	tell_state(s);
}

/* ------------------------------------------------------ what the monitor can ask */

static void emit_line(void *arg, const char *line)
{
	g_string_append((GString *)arg, line);
	g_string_append_c((GString *)arg, '\n');
}

static char *get_audit(Object *obj, Error **errp)
{
	GString *text = g_string_new(NULL);

	if (CX3_HCA(obj)->hca)
		cx3_audit(CX3_HCA(obj)->hca, emit_line, text);
	return g_string_free(text, FALSE);
}

static char *get_violations(Object *obj, Error **errp)
{
	GString *text = g_string_new(NULL);

	if (CX3_HCA(obj)->hca)
		cx3_violations(CX3_HCA(obj)->hca, emit_line, text);
	return g_string_free(text, FALSE);
}

static char *get_counts(Object *obj, Error **errp)
{
	GString *text = g_string_new(NULL);

	if (CX3_HCA(obj)->hca)
		cx3_counts(CX3_HCA(obj)->hca, emit_line, text);
	return g_string_free(text, FALSE);
}

static char *get_nothing(Object *obj, Error **errp)
{
	return g_strdup("");
}

static void set_fault(Object *obj, const char *value, Error **errp)
{
	if (CX3_HCA(obj)->hca)
		add_faults(CX3_HCA(obj), value, ";", errp);
	else
		error_setg(errp, "the device is not realized");
}

/* "17 destroyed" or "17 created" */
static void set_pd(Object *obj, const char *value, Error **errp)
{
	unsigned int pd;
	char what[16];

	if (!CX3_HCA(obj)->hca || sscanf(value, "%u %15s", &pd, what) != 2 ||
	    (strcmp(what, "created") && strcmp(what, "destroyed")) ||
	    cx3_pd_tell(CX3_HCA(obj)->hca, pd, what[0] == 'c'))
		error_setg(errp, "pd is a number and 'created' or 'destroyed'");
}

static void set_aer(Object *obj, const char *value, Error **errp)
{
	if (CX3_HCA(obj)->hca)
		cx3_excuse_reset(CX3_HCA(obj)->hca);
	cx3_aer_inject(PCI_DEVICE(obj), value, errp);
}

static bool get_surprise(Object *obj, Error **errp)
{
	return CX3_HCA(obj)->gone;
}

static void set_surprise(Object *obj, bool value, Error **errp)
{
	Cx3Hca *s = CX3_HCA(obj);

	if (!value || !s->hca) {
		error_setg(errp, "surprise removal cannot be taken back");
		return;
	}
	s->gone = true;
	cx3_set_gone(s->hca);
	if (!cx3_root_port_surprise(PCI_DEVICE(s)))
		error_setg(errp, "the slot says so below a " TYPE_CX3_ROOT_PORT " only");
}

/* ---------------------------------------------------------------------- type */

static Property properties[] = {
	DEFINE_PROP_STRING("port1", Cx3Hca, port[0]),
	DEFINE_PROP_STRING("port2", Cx3Hca, port[1]),
	DEFINE_PROP_STRING("fw", Cx3Hca, firmware),
	DEFINE_PROP_STRING("log", Cx3Hca, log),
	DEFINE_PROP_STRING("faults", Cx3Hca, fault),
	DEFINE_PROP_STRING("fault-file", Cx3Hca, fault_file),
	DEFINE_PROP_STRING("board", Cx3Hca, board),
	DEFINE_PROP_UINT16("devid", Cx3Hca, plain.devid, 0x1003),
	DEFINE_PROP_UINT8("revision", Cx3Hca, plain.revision, 0),
	DEFINE_PROP_UINT64("guid", Cx3Hca, plain.guid, 0),
	DEFINE_PROP_UINT8("ports", Cx3Hca, plain.ports, 2),
	DEFINE_PROP_UINT8("eth-ports", Cx3Hca, plain.eth_ports, 0),
	DEFINE_PROP_UINT8("eth-only", Cx3Hca, plain.eth_only, 0),
	DEFINE_PROP_UINT16("vectors", Cx3Hca, plain.vectors, CX3_MAX_VECTORS),
	DEFINE_PROP_UINT8("log-uar", Cx3Hca, plain.log_uar, 23),
	DEFINE_PROP_BOOL("blueflame", Cx3Hca, plain.blueflame, true),
	DEFINE_PROP_UINT64("caps-set", Cx3Hca, plain.caps_set, 0),
	DEFINE_PROP_UINT64("caps-clear", Cx3Hca, plain.caps_clear, 0),
	DEFINE_PROP_UINT32("bmme-clear", Cx3Hca, plain.bmme_clear, 0),
	DEFINE_PROP_UINT8("max-vl", Cx3Hca, plain.max_vl, 8),
	DEFINE_PROP_UINT16("pkeys", Cx3Hca, plain.pkeys, 128),
	DEFINE_PROP_UINT16("gids", Cx3Hca, plain.gids, 128),
	DEFINE_PROP_BOOL("strict", Cx3Hca, plain.strict, true),
	DEFINE_PROP_BOOL("log-commands", Cx3Hca, plain.log_commands, false),
	DEFINE_PROP_UINT64("ack-min", Cx3Hca, plain.ack_min, 0),
	DEFINE_PROP_END_OF_LIST(),
};

static void class_init(ObjectClass *class, void *data)
{
	DeviceClass *dc = DEVICE_CLASS(class);
	PCIDeviceClass *pc = PCI_DEVICE_CLASS(class);

	pc->realize = realize;
	pc->exit = unrealize;
	pc->config_read = config_read;
	pc->config_write = config_write;
	pc->vendor_id = 0x15b3;
	pc->device_id = 0x1003;
	pc->class_id = PCI_CLASS_NETWORK_OTHER;
	dc->reset = reset;
	dc->desc = "ConnectX-3 InfiniBand HCA";
	set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
	device_class_set_props(dc, properties);
	object_class_property_add_str(class, "audit", get_audit, NULL);
	object_class_property_add_str(class, "violations", get_violations, NULL);
	object_class_property_add_str(class, "counts", get_counts, NULL);
	object_class_property_add_str(class, "fault", get_nothing, set_fault);
	object_class_property_add_str(class, "pd", get_nothing, set_pd);
	object_class_property_add_str(class, "aer", get_nothing, set_aer);
	object_class_property_add_bool(class, "surprise", get_surprise, set_surprise);
}

static const TypeInfo hca_info = {
	.name = TYPE_CX3_HCA,
	.parent = TYPE_PCI_DEVICE,
	.instance_size = sizeof(Cx3Hca),
	.class_init = class_init,
	.interfaces = (InterfaceInfo[]) {
		{ INTERFACE_PCIE_DEVICE },
		{ },
	},
};

void cx3_hca_register(void)
{
	type_register_static(&hca_info);
}
