// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ports in sysfs: ports/N with its attributes, GID and P_Key tables and counters.
 *
 * The tables are read from the cache. The attributes ask the port, since some of what they show
 * changes without an event.
 */
#include <linux/kobject.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "sysfs_port.h"

static struct ib_sysfs_port *ib_sysfs_port_of(struct kobject *kobj)
{
	return container_of(kobj, struct ib_sysfs_port, kobj);
}

static ssize_t ib_sysfs_port_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	struct ib_port_file *file = container_of(attr, struct ib_port_file, attr);

	return file->show(ib_sysfs_port_of(kobj), file, buf);
}

static const struct sysfs_ops ib_sysfs_port_ops = {
	.show = ib_sysfs_port_show,
};

static const char *const ib_port_state_words[] = {
	[IB_PORT_NOP] = "NOP",
	[IB_PORT_DOWN] = "DOWN",
	[IB_PORT_INIT] = "INIT",
	[IB_PORT_ARMED] = "ARMED",
	[IB_PORT_ACTIVE] = "ACTIVE",
	[IB_PORT_ACTIVE_DEFER] = "ACTIVE_DEFER",
};

/* PortInfo:PortPhysicalState (IBA 14.2.5.6). */
static const char *const ib_phys_state_words[] = {
	[1] = "Sleep",
	[2] = "Polling",
	[3] = "Disabled",
	[4] = "PortConfigurationTraining",
	[5] = "LinkUp",
	[6] = "LinkErrorRecovery",
	[7] = "Phy Test",
};

static const char *ib_word(const char *const *words, size_t count, unsigned int i,
			   const char *unknown)
{
	return i < count && words[i] ? words[i] : unknown;
}

static ssize_t ib_emit_state(const struct ib_port_attr *attr, char *buf)
{
	return sysfs_emit(buf, "%d: %s\n", attr->state,
			  ib_word(ib_port_state_words, ARRAY_SIZE(ib_port_state_words),
				  attr->state, "UNKNOWN"));
}

static ssize_t ib_emit_phys_state(const struct ib_port_attr *attr, char *buf)
{
	return sysfs_emit(buf, "%d: %s\n", attr->phys_state,
			  ib_word(ib_phys_state_words, ARRAY_SIZE(ib_phys_state_words),
				  attr->phys_state, "<unknown>"));
}

static ssize_t ib_emit_lid(const struct ib_port_attr *attr, char *buf)
{
	return sysfs_emit(buf, "0x%x\n", attr->lid);
}

static ssize_t ib_emit_lmc(const struct ib_port_attr *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", attr->lmc);
}

static ssize_t ib_emit_sm_lid(const struct ib_port_attr *attr, char *buf)
{
	return sysfs_emit(buf, "0x%x\n", attr->sm_lid);
}

static ssize_t ib_emit_sm_sl(const struct ib_port_attr *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", attr->sm_sl);
}

static ssize_t ib_emit_cap_mask(const struct ib_port_attr *attr, char *buf)
{
	return sysfs_emit(buf, "0x%08x\n", attr->cap_mask);
}

static ssize_t ib_emit_link_layer(const struct ib_port_attr *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", attr->is_ethernet ? "Ethernet" : "InfiniBand");
}

/**
 * struct ib_lane_speed - what user programs call a speed
 * @speed: IB_SPEED_*
 * @word: its name
 */
struct ib_lane_speed {
	u16 speed;
	const char *word;
};

static const struct ib_lane_speed ib_lane_speeds[] = {
	{ IB_SPEED_SDR, "SDR" },
	{ IB_SPEED_DDR, "DDR" },
	{ IB_SPEED_QDR, "QDR" },
	{ IB_SPEED_FDR10, "FDR10" },
	{ IB_SPEED_FDR, "FDR" },
	{ IB_SPEED_EDR, "EDR" },
	{ IB_SPEED_HDR, "HDR" },
	{ IB_SPEED_NDR, "NDR" },
};

static ssize_t ib_emit_rate(const struct ib_port_attr *attr, char *buf)
{
	const struct ib_lane_speed *speed = ib_lane_speeds;
	unsigned int lanes = ib_width_lanes(attr->active_width);
	unsigned int i, tenths;

	if (!lanes)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(ib_lane_speeds); i++)
		if (ib_lane_speeds[i].speed == attr->active_speed)
			speed = &ib_lane_speeds[i];
	tenths = ib_lane_rate(speed->speed) * lanes;
	return sysfs_emit(buf, "%u%s Gb/sec (%uX %s)\n", tenths / 10, tenths % 10 ? ".5" : "",
			  lanes, speed->word);
}

static ssize_t ib_port_show_attr(struct ib_sysfs_port *port, struct ib_port_file *file, char *buf)
{
	struct ib_port_attr attr;
	int err;

	err = ib_port_query(port->device, port->port, &attr);
	return err ?: file->emit(&attr, buf);
}

#define IB_PORT_FILE(name_)									\
	static struct ib_port_file ib_port_##name_ = {						\
		.attr = { .name = #name_, .mode = 0444 },					\
		.show = ib_port_show_attr,							\
		.emit = ib_emit_##name_,							\
	}

/* Named after LMC, shown under its longer name. */
#define ib_emit_lid_mask_count ib_emit_lmc

IB_PORT_FILE(state);
IB_PORT_FILE(phys_state);
IB_PORT_FILE(lid);
IB_PORT_FILE(lid_mask_count);
IB_PORT_FILE(sm_lid);
IB_PORT_FILE(sm_sl);
IB_PORT_FILE(cap_mask);
IB_PORT_FILE(rate);
IB_PORT_FILE(link_layer);

static struct attribute *ib_port_attrs[] = {
	&ib_port_state.attr,
	&ib_port_phys_state.attr,
	&ib_port_lid.attr,
	&ib_port_lid_mask_count.attr,
	&ib_port_sm_lid.attr,
	&ib_port_sm_sl.attr,
	&ib_port_cap_mask.attr,
	&ib_port_rate.attr,
	&ib_port_link_layer.attr,
	NULL,
};
ATTRIBUTE_GROUPS(ib_port);

static ssize_t ib_show_gid(struct ib_sysfs_port *port, struct ib_port_file *file, char *buf)
{
	union ib_gid gid;
	int err;

	err = ib_gid_cached(port->device, port->port, file->index, &gid);
	return err ?: sysfs_emit(buf, "%pI6\n", gid.raw);
}

static ssize_t ib_show_pkey(struct ib_sysfs_port *port, struct ib_port_file *file, char *buf)
{
	u16 pkey;
	int err;

	err = ib_pkey_cached(port->device, port->port, file->index, &pkey);
	return err ?: sysfs_emit(buf, "0x%04x\n", pkey);
}

/* What user programs expect for an InfiniBand port; an empty entry has no type. */
static ssize_t ib_show_gid_type(struct ib_sysfs_port *port, struct ib_port_file *file, char *buf)
{
	union ib_gid gid;
	int err;

	err = ib_gid_cached(port->device, port->port, file->index, &gid);
	if (err)
		return err;
	if (!memchr_inv(gid.raw, 0, sizeof(gid.raw)))
		return -EINVAL;
	return sysfs_emit(buf, "IB/RoCE v1\n");
}

/* GIDs of InfiniBand ports belong to no network device. */
static ssize_t ib_show_gid_ndev(struct ib_sysfs_port *port, struct ib_port_file *file, char *buf)
{
	return -EINVAL;
}

/* A folder with one file for each entry of a table: 0, 1, 2, ... */
static int ib_port_table_make(struct ib_port_table *table, const char *name, unsigned int len,
			      ib_port_show show)
{
	unsigned int i;

	table->files = kcalloc(len, sizeof(*table->files), GFP_KERNEL);
	table->list = kcalloc(len + 1, sizeof(*table->list), GFP_KERNEL);
	if (!table->files || !table->list)
		return -ENOMEM;
	for (i = 0; i < len; i++) {
		struct ib_port_file *file = &table->files[i];

		snprintf(file->name, sizeof(file->name), "%u", i);
		sysfs_attr_init(&file->attr);
		file->attr.name = file->name;
		file->attr.mode = 0444;
		file->show = show;
		file->index = i;
		table->list[i] = &file->attr;
	}
	table->group.name = name;
	table->group.attrs = table->list;
	return 0;
}

static void ib_port_table_free(struct ib_port_table *table)
{
	kfree(table->files);
	kfree(table->list);
}

static void ib_sysfs_port_release(struct kobject *kobj)
{
	struct ib_sysfs_port *port = ib_sysfs_port_of(kobj);

	struct ib_device *device = port->device;

	ib_port_table_free(&port->gids);
	ib_port_table_free(&port->pkeys);
	kfree(port);
	put_device(&device->dev);
}

static const struct kobj_type ib_sysfs_port_type = {
	.release = ib_sysfs_port_release,
	.sysfs_ops = &ib_sysfs_port_ops,
	.default_groups = ib_port_groups,
};

/**
 * struct ib_gid_attrs - the folder gid_attrs of a port
 * @kobj: the folder
 * @port: the port; its memory is kept
 * @types: its folder "types"
 * @ndevs: its folder "ndevs"
 */
struct ib_gid_attrs {
	struct kobject kobj;
	struct ib_sysfs_port *port;
	struct ib_port_table types;
	struct ib_port_table ndevs;
};

static ssize_t ib_gid_attrs_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	struct ib_gid_attrs *gid_attrs = container_of(kobj, struct ib_gid_attrs, kobj);
	struct ib_port_file *file = container_of(attr, struct ib_port_file, attr);

	return file->show(gid_attrs->port, file, buf);
}

static const struct sysfs_ops ib_gid_attrs_ops = {
	.show = ib_gid_attrs_show,
};

static void ib_gid_attrs_release(struct kobject *kobj)
{
	struct ib_gid_attrs *gid_attrs = container_of(kobj, struct ib_gid_attrs, kobj);

	ib_port_table_free(&gid_attrs->types);
	ib_port_table_free(&gid_attrs->ndevs);
	kobject_put(&gid_attrs->port->kobj);
	kfree(gid_attrs);
}

static const struct kobj_type ib_gid_attrs_type = {
	.release = ib_gid_attrs_release,
	.sysfs_ops = &ib_gid_attrs_ops,
};

/* Also right for one that could not be added. */
static void ib_kobject_del(struct kobject *kobj)
{
	if (kobj->state_in_sysfs)
		kobject_del(kobj);
}

static void ib_gid_attrs_del(struct ib_sysfs_port *port)
{
	if (!port->gid_attrs)
		return;
	ib_kobject_del(&port->gid_attrs->kobj);
	kobject_put(&port->gid_attrs->kobj);
	port->gid_attrs = NULL;
}

static int ib_gid_attrs_add(struct ib_sysfs_port *port, unsigned int len)
{
	struct ib_gid_attrs *gid_attrs = kzalloc(sizeof(*gid_attrs), GFP_KERNEL);
	int err;

	if (!gid_attrs)
		return -ENOMEM;
	gid_attrs->port = port;
	kobject_get(&port->kobj);
	port->gid_attrs = gid_attrs;
	err = kobject_init_and_add(&gid_attrs->kobj, &ib_gid_attrs_type, &port->kobj,
				   "gid_attrs");
	if (!err)
		err = ib_port_table_make(&gid_attrs->types, "types", len, ib_show_gid_type);
	if (!err)
		err = ib_port_table_make(&gid_attrs->ndevs, "ndevs", len, ib_show_gid_ndev);
	if (!err)
		err = sysfs_create_group(&gid_attrs->kobj, &gid_attrs->types.group);
	if (!err)
		err = sysfs_create_group(&gid_attrs->kobj, &gid_attrs->ndevs.group);
	if (err)
		ib_gid_attrs_del(port);
	return err;
}

static int ib_port_tables_add(struct ib_sysfs_port *port, const struct ib_port_attr *attr)
{
	int err = 0;

	if (attr->gid_tbl_len) {
		err = ib_port_table_make(&port->gids, "gids", attr->gid_tbl_len, ib_show_gid);
		if (!err)
			err = sysfs_create_group(&port->kobj, &port->gids.group);
		if (!err)
			err = ib_gid_attrs_add(port, attr->gid_tbl_len);
	}
	if (!err && attr->pkey_tbl_len) {
		err = ib_port_table_make(&port->pkeys, "pkeys", attr->pkey_tbl_len, ib_show_pkey);
		if (!err)
			err = sysfs_create_group(&port->kobj, &port->pkeys.group);
	}
	return err;
}

static void ib_port_del(struct ib_sysfs_port *port)
{
	ib_stats_del(port->stats);
	ib_gid_attrs_del(port);
	ib_kobject_del(&port->kobj);
	kobject_put(&port->kobj);
}

static struct ib_sysfs_port *ib_port_add(struct ib_device *device, struct kobject *folder, u8 n)
{
	struct ib_sysfs_port *port;
	struct ib_port_attr attr;
	int err;

	err = ib_port_cached(device, n, &attr);
	if (err)
		return ERR_PTR(err);
	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return ERR_PTR(-ENOMEM);
	port->device = device;
	get_device(&device->dev);
	port->port = n;
	err = kobject_init_and_add(&port->kobj, &ib_sysfs_port_type, folder, "%u", n);
	if (!err)
		err = ib_port_tables_add(port, &attr);
	if (!err)
		err = ib_port_counters_add(port);
	if (!err)
		err = ib_stats_add(device, n, &port->kobj, &port->stats);
	if (err) {
		ib_port_del(port);
		return ERR_PTR(err);
	}
	kobject_uevent(&port->kobj, KOBJ_ADD);
	return port;
}

/**
 * struct ib_sysfs - what a device keeps of its ports in sysfs
 * @folder: "ports"
 * @stats: "hw_counters" of the device, or NULL
 * @ports: port 1 first; NULL beyond the last that was made
 */
struct ib_sysfs {
	struct kobject *folder;
	struct ib_stats *stats;
	struct ib_sysfs_port *ports[U8_MAX];
};

int ib_sysfs_add_ports(struct ib_device *device)
{
	struct ib_sysfs *sysfs;
	int err;
	u8 n;

	if (!device->ops->verbs)
		return 0;
	sysfs = kzalloc(sizeof(*sysfs), GFP_KERNEL);
	if (!sysfs)
		return -ENOMEM;
	device->objects->sysfs = sysfs;
	sysfs->folder = kobject_create_and_add("ports", &device->dev.kobj);
	if (!sysfs->folder) {
		ib_sysfs_del_ports(device);
		return -ENOMEM;
	}
	for (n = 1; n <= device->phys_port_cnt; n++) {
		struct ib_sysfs_port *port = ib_port_add(device, sysfs->folder, n);

		if (IS_ERR(port)) {
			ib_sysfs_del_ports(device);
			return PTR_ERR(port);
		}
		sysfs->ports[n - 1] = port;
	}
	err = ib_stats_add(device, 0, &device->dev.kobj, &sysfs->stats);
	if (err)
		ib_sysfs_del_ports(device);
	return err;
}

void ib_sysfs_del_ports(struct ib_device *device)
{
	struct ib_sysfs *sysfs = device->objects->sysfs;
	u8 n;

	if (!sysfs)
		return;
	ib_stats_del(sysfs->stats);
	for (n = 0; n < U8_MAX && sysfs->ports[n]; n++)
		ib_port_del(sysfs->ports[n]);
	if (sysfs->folder) {
		kobject_del(sysfs->folder);
		kobject_put(sysfs->folder);
	}
	device->objects->sysfs = NULL;
	kfree(sysfs);
}
