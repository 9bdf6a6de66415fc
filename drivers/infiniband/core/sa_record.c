// SPDX-License-Identifier: GPL-2.0-only
/*
 * SA records: what stands where.
 *
 * A record is a table of fields.  A field knows its place in the MAD (bit offset, width; bit 0 is
 * the most significant bit of the first byte, as the specification counts) and its place in the
 * structure of <ib/sa_defs.h>.  One loop reads the tables, for both ways; nothing else in the core
 * knows these offsets.
 */
#include <linux/export.h>
#include <linux/string.h>

#include <ib/sa.h>

/**
 * struct sa_field - a field of a record, or an array of equal fields
 * @bit: where it begins in the record, in bits
 * @width: of one element, in bits, at most 64
 * @count: number of elements, side by side
 * @at: offset in the structure, in bytes
 * @size: of one element of the structure: 1, 2, 4 or 8 bytes
 */
struct sa_field {
	u16 bit;
	u8 width;
	u8 count;
	u8 at;
	u8 size;
};

/**
 * struct sa_layout - a record
 * @attr: its attribute
 * @len: in the MAD, in bytes
 * @fields: the table
 * @nfields: how many
 */
struct sa_layout {
	enum ib_sa_attr attr;
	u16 len;
	const struct sa_field *fields;
	unsigned int nfields;
};

#define SA_FIELD(type, member, bit_, width_) {				\
	.bit = (bit_),							\
	.width = (width_) + BUILD_BUG_ON_ZERO((width_) >		\
		8 * sizeof_field(struct type, member)),			\
	.count = 1,							\
	.at = offsetof(struct type, member),				\
	.size = sizeof_field(struct type, member),			\
}

/* An array of numbers, or of bytes. */
#define SA_ARRAY(type, member, bit_) {					\
	.bit = (bit_),							\
	.width = 8 * sizeof_field(struct type, member[0]),		\
	.count = ARRAY_SIZE(((struct type *)0)->member),		\
	.at = offsetof(struct type, member),				\
	.size = sizeof_field(struct type, member[0]),			\
}

#define SA_GID(type, member, bit_) SA_ARRAY(type, member.raw, bit_)

/* IBA 15.2.5.16 */
#define PATH(member, bit, width) SA_FIELD(ib_sa_path, member, bit, width)
static const struct sa_field sa_path_fields[] = {
	PATH(service_id, 0, 64),
	SA_GID(ib_sa_path, dgid, 64),
	SA_GID(ib_sa_path, sgid, 192),
	PATH(dlid, 320, 16),
	PATH(slid, 336, 16),
	PATH(raw_traffic, 352, 1),
	PATH(flow_label, 356, 20),
	PATH(hop_limit, 376, 8),
	PATH(traffic_class, 384, 8),
	PATH(reversible, 392, 1),
	PATH(numb_path, 393, 7),
	PATH(pkey, 400, 16),
	PATH(qos_class, 416, 12),
	PATH(sl, 428, 4),
	PATH(mtu_selector, 432, 2),
	PATH(mtu, 434, 6),
	PATH(rate_selector, 440, 2),
	PATH(rate, 442, 6),
	PATH(lifetime_selector, 448, 2),
	PATH(lifetime, 450, 6),
	PATH(preference, 456, 8),
};

/* IBA 15.2.5.17 */
#define MEMBER(member, bit, width) SA_FIELD(ib_sa_mcmember, member, bit, width)
static const struct sa_field sa_mcmember_fields[] = {
	SA_GID(ib_sa_mcmember, mgid, 0),
	SA_GID(ib_sa_mcmember, port_gid, 128),
	MEMBER(qkey, 256, 32),
	MEMBER(mlid, 288, 16),
	MEMBER(mtu_selector, 304, 2),
	MEMBER(mtu, 306, 6),
	MEMBER(traffic_class, 312, 8),
	MEMBER(pkey, 320, 16),
	MEMBER(rate_selector, 336, 2),
	MEMBER(rate, 338, 6),
	MEMBER(lifetime_selector, 344, 2),
	MEMBER(lifetime, 346, 6),
	MEMBER(sl, 352, 4),
	MEMBER(flow_label, 356, 20),
	MEMBER(hop_limit, 376, 8),
	MEMBER(scope, 384, 4),
	MEMBER(join_state, 388, 4),
	MEMBER(proxy_join, 392, 1),
};

/* IBA 15.2.5.14 */
#define SERVICE(member, bit, width) SA_FIELD(ib_sa_service, member, bit, width)
static const struct sa_field sa_service_fields[] = {
	SERVICE(id, 0, 64),
	SA_GID(ib_sa_service, gid, 64),
	SERVICE(pkey, 192, 16),
	SERVICE(lease, 224, 32),
	SA_ARRAY(ib_sa_service, key, 256),
	SA_ARRAY(ib_sa_service, name, 384),
	SA_ARRAY(ib_sa_service, data8, 896),
	SA_ARRAY(ib_sa_service, data16, 1024),
	SA_ARRAY(ib_sa_service, data32, 1152),
	SA_ARRAY(ib_sa_service, data64, 1280),
};

/* IBA 13.4.8.1 */
#define INFO(member, bit, width) SA_FIELD(ib_sa_class_port_info, member, bit, width)
static const struct sa_field sa_class_port_info_fields[] = {
	INFO(base_version, 0, 8),
	INFO(class_version, 8, 8),
	INFO(cap_mask, 16, 16),
	INFO(cap_mask2, 32, 27),
	INFO(resp_time, 59, 5),
	SA_GID(ib_sa_class_port_info, redirect_gid, 64),
	INFO(redirect_tc, 192, 8),
	INFO(redirect_sl, 200, 4),
	INFO(redirect_fl, 204, 20),
	INFO(redirect_lid, 224, 16),
	INFO(redirect_pkey, 240, 16),
	INFO(redirect_qp, 264, 24),
	INFO(redirect_qkey, 288, 32),
	SA_GID(ib_sa_class_port_info, trap_gid, 320),
	INFO(trap_tc, 448, 8),
	INFO(trap_sl, 456, 4),
	INFO(trap_fl, 460, 20),
	INFO(trap_lid, 480, 16),
	INFO(trap_pkey, 496, 16),
	INFO(trap_hl, 512, 8),
	INFO(trap_qp, 520, 24),
	INFO(trap_qkey, 544, 32),
};

/* IBA 15.2.5.18 */
#define GUIDS(member, bit, width) SA_FIELD(ib_sa_guid_info, member, bit, width)
static const struct sa_field sa_guid_info_fields[] = {
	GUIDS(lid, 0, 16),
	GUIDS(block, 16, 8),
	SA_ARRAY(ib_sa_guid_info, guid, 64),
};

#define SA_LAYOUT(attr_, len_, name) {			\
	.attr = (attr_),				\
	.len = (len_),					\
	.fields = sa_##name##_fields,			\
	.nfields = ARRAY_SIZE(sa_##name##_fields),	\
}

static const struct sa_layout sa_layouts[] = {
	SA_LAYOUT(IB_SA_CLASS_PORT_INFO, 72, class_port_info),
	SA_LAYOUT(IB_SA_GUID_INFO, 72, guid_info),
	SA_LAYOUT(IB_SA_SERVICE, 176, service),
	SA_LAYOUT(IB_SA_PATH, 64, path),
	SA_LAYOUT(IB_SA_MCMEMBER, 52, mcmember),
};

static const struct sa_layout *sa_layout(enum ib_sa_attr attr)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sa_layouts); i++)
		if (sa_layouts[i].attr == attr)
			return &sa_layouts[i];
	return NULL;
}

/* Fields are narrow or begin with a byte; a bit at a time is enough for what is sent seldom. */
static u64 sa_wire_get(const u8 *wire, unsigned int bit, unsigned int width)
{
	u64 value = 0;

	for (; width; width--, bit++)
		value = value << 1 | (wire[bit / 8] >> (7 - bit % 8) & 1);
	return value;
}

static void sa_wire_put(u8 *wire, unsigned int bit, unsigned int width, u64 value)
{
	u8 one;

	for (; width; width--, bit++) {
		one = BIT(7 - bit % 8);
		if (value >> (width - 1) & 1)
			wire[bit / 8] |= one;
		else
			wire[bit / 8] &= ~one;
	}
}

static u64 sa_host_get(const void *at, unsigned int size)
{
	switch (size) {
	case 1:
		return *(const u8 *)at;
	case 2:
		return *(const u16 *)at;
	case 4:
		return *(const u32 *)at;
	default:
		return *(const u64 *)at;
	}
}

static void sa_host_put(void *at, unsigned int size, u64 value)
{
	switch (size) {
	case 1:
		*(u8 *)at = value;
		break;
	case 2:
		*(u16 *)at = value;
		break;
	case 4:
		*(u32 *)at = value;
		break;
	default:
		*(u64 *)at = value;
	}
}

size_t ib_sa_record_len(enum ib_sa_attr attr)
{
	const struct sa_layout *layout = sa_layout(attr);

	return layout ? layout->len : 0;
}
EXPORT_SYMBOL_GPL(ib_sa_record_len);

/* Which way a record goes. */
enum sa_way {
	SA_TO_WIRE,
	SA_TO_HOST,
};

static void sa_element_move(const struct sa_field *field, unsigned int n, u8 *record, u8 *wire,
			    enum sa_way way)
{
	unsigned int bit = field->bit + n * field->width;
	u8 *at = record + field->at + n * field->size;

	if (way == SA_TO_WIRE)
		sa_wire_put(wire, bit, field->width, sa_host_get(at, field->size));
	else
		sa_host_put(at, field->size, sa_wire_get(wire, bit, field->width));
}

/* One of the two is only read. */
static void sa_record_move(const struct sa_layout *layout, u8 *record, u8 *wire, enum sa_way way)
{
	const struct sa_field *field;
	unsigned int n;

	for (field = layout->fields; field < layout->fields + layout->nfields; field++)
		for (n = 0; n < field->count; n++)
			sa_element_move(field, n, record, wire, way);
}

void ib_sa_record_pack(enum ib_sa_attr attr, const union ib_sa_record *record, u8 *wire)
{
	const struct sa_layout *layout = sa_layout(attr);

	if (!layout)
		return;
	memset(wire, 0, layout->len);
	sa_record_move(layout, (u8 *)record, wire, SA_TO_WIRE);
}
EXPORT_SYMBOL_GPL(ib_sa_record_pack);

void ib_sa_record_unpack(enum ib_sa_attr attr, const u8 *wire, union ib_sa_record *record)
{
	const struct sa_layout *layout = sa_layout(attr);

	memset(record, 0, sizeof(*record));
	if (layout)
		sa_record_move(layout, (u8 *)record, (u8 *)wire, SA_TO_HOST);
}
EXPORT_SYMBOL_GPL(ib_sa_record_unpack);
