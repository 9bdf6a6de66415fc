// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fabrics in QEMU; see sockfabric.h.
 *
 * The portable fabric runs in one place only: the callback of a timer of the
 * virtual clock. The handler of a socket stores what came and has that timer
 * armed; it never calls a port.
 */
#include "qemu/osdep.h"
#include <sys/un.h>
#include "qemu/error-report.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"
#include "qapi/error.h"
#include "hw/qdev-core.h"
#include "hw/qdev-properties.h"
#include "qom/object.h"
#include "sysemu/sysemu.h"

#include "../fabric/fabric.h"
#include "../fabric/host/pcap.h"
#include "../fabric/host/peer.h"
#include "sockfabric.h"

/**
 * struct named_fabric - a fabric of this process
 * @next: list of all
 * @name: its name, or the path of its socket
 * @fab: the fabric
 * @host: what it sees as its host
 * @timer: virtual clock
 * @pcap: capture or NULL
 * @peer: socket fabrics: the connection; such a fabric has one port
 * @dead: socket fabrics: the connection is over
 * @told: that was said
 * @redial: tries to get a new one, on the virtual clock
 */
struct named_fabric {
	struct named_fabric *next;
	char *name;
	struct fabric *fab;
	struct cx3_host host;
	QEMUTimer *timer;
	struct pcap *pcap;
	struct peer *peer;
	bool dead, told;
	QEMUTimer *redial;
};

#define REDIAL_NS 1000000000ll

static struct named_fabric *fabrics;

static u64 host_now(void *ctx)
{
	return (u64)qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static void host_timer(void *ctx, u64 deadline)
{
	struct named_fabric *f = ctx;

	if (deadline == CX3_NEVER)
		timer_del(f->timer);
	else
		timer_mod(f->timer, (s64)deadline);
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
	g_autofree char *line = g_strdup_vprintf(fmt, ap);

	if (level >= CX3_LOG_WARN)
		warn_report("%s", line);
	else
		qemu_log("%s\n", line);
}

static const struct cx3_host_ops host_ops = {
	.now = host_now,
	.timer = host_timer,
	.alloc = host_alloc,
	.free = host_free,
	.log = host_log,
};

static void peer_update(struct named_fabric *f);

static void peer_over(struct named_fabric *f, const char *why)
{
	if (f->dead)
		return;
	/* once, not each time that a stranger answers the call */
	if (!f->told || peer_greeted(f->peer))
		warn_report("fabric %s: %s; the link is down until it comes back", f->name, why);
	f->told = true;
	f->dead = true;
	timer_mod(f->redial, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + REDIAL_NS);
	qemu_set_fd_handler(peer_fd(f->peer), NULL, NULL, NULL);
	peer_hang_up(f->peer);
}

static void on_readable(void *opaque)
{
	struct named_fabric *f = opaque;
	const char *why = peer_read(f->peer);

	if (why)
		peer_over(f, why);
	else
		peer_update(f);
}

static void on_writable(void *opaque)
{
	struct named_fabric *f = opaque;
	const char *why = peer_flush(f->peer);

	if (why)
		peer_over(f, why);
	else
		peer_update(f);
}

/* Listen for what the peer can use now. */
static void peer_update(struct named_fabric *f)
{
	if (!f->dead)
		qemu_set_fd_handler(peer_fd(f->peer),
				    peer_wants_read(f->peer) ? on_readable : NULL,
				    peer_wants_write(f->peer) ? on_writable : NULL, f);
}

/* From inside the fabric: the socket is written to when the main loop says that it can be. */
static void on_kick(void *arg)
{
	peer_update(arg);
}

static void fabric_free(struct named_fabric *f)
{
	struct named_fabric **p = &fabrics;

	while (*p && *p != f)
		p = &(*p)->next;
	if (*p)
		*p = f->next;
	if (f->peer) {
		qemu_set_fd_handler(peer_fd(f->peer), NULL, NULL, NULL);
		peer_destroy(f->peer);
	}
	fabric_destroy(f->fab);
	pcap_close(f->pcap);
	if (f->timer)
		timer_free(f->timer);
	if (f->redial)
		timer_free(f->redial);
	g_free(f->name);
	g_free(f);
}

static void settle_peer(struct named_fabric *f)
{
	const char *why = NULL;

	if (peer_alone(f->peer)) {
		/* The port was unplugged, and nobody else can have the cable. */
		peer_flush(f->peer);
		fabric_free(f);
		return;
	}
	if (f->dead)
		return;
	why = peer_flush(f->peer);
	if (!why && peer_resumes(f->peer))
		why = peer_read(f->peer);
	if (why)
		peer_over(f, why);
	else
		peer_update(f);
}

static void on_timer(void *opaque)
{
	struct named_fabric *f = opaque;

	fabric_fire(f->fab);
	pcap_flush(f->pcap);
	if (f->peer)
		settle_peer(f);
}

static struct named_fabric *fabric_new(const char *name, bool always_switch, Error **errp)
{
	struct named_fabric *f = g_new0(struct named_fabric, 1);

	f->name = g_strdup(name);
	f->host.ops = &host_ops;
	f->host.ctx = f;
	f->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, on_timer, f);
	f->fab = fabric_create(&f->host, name, always_switch);
	if (!f->fab) {
		error_setg(errp, "no memory for fabric %s", name);
		fabric_free(f);
		return NULL;
	}
	f->next = fabrics;
	fabrics = f;
	return f;
}

static struct named_fabric *fabric_find(const char *name)
{
	struct named_fabric *f = fabrics;

	while (f && strcmp(f->name, name))
		f = f->next;
	return f;
}

static int socket_connect(const char *path, Error **errp);

/* The process at the other side may have been started again. */
static void on_redial(void *opaque)
{
	struct named_fabric *f = opaque;
	int fd = socket_connect(f->name, NULL);

	if (fd < 0 || !peer_redial(f->peer, fd)) {
		timer_mod(f->redial, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + REDIAL_NS);
		return;
	}
	f->dead = false;
	peer_update(f);
}

static int socket_connect(const char *path, Error **errp)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(addr.sun_path)) {
		error_setg(errp, "the path %s is too long for a socket", path);
		return -1;
	}
	memcpy(addr.sun_path, path, strlen(path));
	/* not to wait for a server that takes nobody */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		error_setg_errno(errp, errno, "no fabric at %s (is switchd running there?)", path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

static struct link_end *connect_socket(const char *path, Error **errp)
{
	struct link_end *end = NULL;
	struct named_fabric *f;
	int fd = socket_connect(path, errp);

	if (fd < 0)
		return NULL;
	f = fabric_new(path, false, errp);
	if (!f) {
		close(fd);
		return NULL;
	}
	f->redial = timer_new_ns(QEMU_CLOCK_VIRTUAL, on_redial, f);
	f->peer = peer_create(fd, on_kick, f);
	if (!f->peer || !peer_plug(f->peer, f->fab, &end)) {
		error_setg(errp, "no memory for the connection to %s", path);
		fabric_free(f);
		return NULL;
	}
	peer_update(f);
	return end;
}

struct link_end *cx3_fabric_connect(const char *name, Error **errp)
{
	struct named_fabric *f;
	struct link_end *end;

	if (strchr(name, '/'))
		return connect_socket(name, errp);
	f = fabric_find(name);
	if (!f)
		f = fabric_new(name, false, errp);
	if (!f)
		return NULL;
	end = fabric_attach(f->fab);
	if (!end)
		error_setg(errp, "fabric %s has no free port", name);
	return end;
}

/* The type cx3-fabric: a fabric's properties. */

#define TYPE_CX3_FABRIC "cx3-fabric"
OBJECT_DECLARE_SIMPLE_TYPE(Cx3Fabric, CX3_FABRIC)

struct Cx3Fabric {
	DeviceState parent_obj;
	struct named_fabric *f;
	char *pcap;
	char *fault;
	bool always_switch;
};

static bool add_faults(struct named_fabric *f, const char *rules, Error **errp)
{
	g_auto(GStrv) list = g_strsplit(rules, ";", -1);
	const char *why;
	char **rule;

	for (rule = list; *rule; rule++) {
		/* the human monitor takes no blanks: a plus stands for one */
		g_strdelimit(*rule, "+", ' ');
		g_strstrip(*rule);
		if (**rule && fabric_fault_add(f->fab, *rule, &why)) {
			error_setg(errp, "fault rule '%s': %s", *rule, why);
			return false;
		}
	}
	return true;
}

static void set_fault(Object *obj, const char *value, Error **errp)
{
	if (CX3_FABRIC(obj)->f)
		add_faults(CX3_FABRIC(obj)->f, value, errp);
	else
		error_setg(errp, "the fabric is not realized");
}

/* Reads as the number of times that a rule has struck. */
static char *get_fault(Object *obj, Error **errp)
{
	struct named_fabric *f = CX3_FABRIC(obj)->f;

	return g_strdup_printf("%" PRIu64, f ? (uint64_t)fabric_faults_struck(f->fab) : 0);
}

static void cx3_fabric_realize(DeviceState *dev, Error **errp)
{
	Cx3Fabric *s = CX3_FABRIC(dev);
	struct named_fabric *f;

	if (!dev->id || strchr(dev->id, '/')) {
		error_setg(errp, "a fabric needs an id, which becomes its name");
		return;
	}
	if (fabric_find(dev->id)) {
		error_setg(errp, "fabric %s exists already; put its cx3-fabric before the HCAs",
			   dev->id);
		return;
	}
	f = fabric_new(dev->id, s->always_switch, errp);
	if (!f)
		return;
	if (s->fault && !add_faults(f, s->fault, errp)) {
		fabric_free(f);
		return;
	}
	s->f = f;
	if (!s->pcap)
		return;
	f->pcap = pcap_open(s->pcap);
	if (!f->pcap) {
		error_setg_errno(errp, errno, "cannot write %s", s->pcap);
		s->f = NULL;
		fabric_free(f);
		return;
	}
	fabric_tap(f->fab, pcap_packet, f->pcap);
}

static Property cx3_fabric_properties[] = {
	DEFINE_PROP_STRING("pcap", Cx3Fabric, pcap),
	DEFINE_PROP_STRING("faults", Cx3Fabric, fault),
	DEFINE_PROP_BOOL("switch", Cx3Fabric, always_switch, false),
	DEFINE_PROP_END_OF_LIST(),
};

static void cx3_fabric_class_init(ObjectClass *class, void *data)
{
	DeviceClass *dc = DEVICE_CLASS(class);

	dc->desc = "InfiniBand fabric for cx3-hca";
	dc->realize = cx3_fabric_realize;
	dc->hotpluggable = false;
	device_class_set_props(dc, cx3_fabric_properties);
	object_class_property_add_str(class, "fault", get_fault, set_fault);
	set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
}

static const TypeInfo cx3_fabric_type = {
	.name = TYPE_CX3_FABRIC,
	.parent = TYPE_DEVICE,
	.instance_size = sizeof(Cx3Fabric),
	.class_init = cx3_fabric_class_init,
};

/* Captures are whole files also when the machine is quit. */
static void flush_captures(Notifier *n, void *data)
{
	struct named_fabric *f;

	for (f = fabrics; f; f = f->next)
		pcap_flush(f->pcap);
}

void cx3_fabric_register_types(void)
{
	static Notifier at_exit = { .notify = flush_captures };

	type_register_static(&cx3_fabric_type);
	qemu_add_exit_notifier(&at_exit);
}
