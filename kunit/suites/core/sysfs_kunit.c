// SPDX-License-Identifier: GPL-2.0-only
/*
 * The class "infiniband" as a user program reads it: every file, byte for byte, with its mode; from
 * a mount of sysfs that only the test has.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/namei.h>

#include "bench.h"

#define ROOT "class/infiniband/vfake_0/"

struct file_case {
	const char *name;
	const char *text;
};

static const struct file_case files[] = {
	{ "node_type", "1: CA\n" },
	{ "node_guid", "0002:c903:00a1:b2c0\n" },
	{ "sys_image_guid", "0002:c903:00a1:b2c3\n" },
	{ "fw_ver", "2.42.5000\n" },
	{ "node_desc", "LastRef fake HCA\n" },
	{ "hca_type", "MT4099\n" },
	{ "hw_rev", "1b\n" },
	{ "board_id", "MT_1090120019\n" },
	{ "ports/1/state", "4: ACTIVE\n" },
	{ "ports/1/phys_state", "5: LinkUp\n" },
	{ "ports/1/lid", "0x11\n" },
	{ "ports/2/lid", "0x12\n" },
	{ "ports/1/lid_mask_count", "0\n" },
	{ "ports/2/lid_mask_count", "1\n" },
	{ "ports/1/sm_lid", "0x1\n" },
	{ "ports/1/sm_sl", "0\n" },
	{ "ports/1/cap_mask", "0x0251486a\n" },
	{ "ports/1/rate", "56 Gb/sec (4X FDR)\n" },
	{ "ports/1/link_layer", "InfiniBand\n" },
	{ "ports/1/gids/0", "fe80:0000:0000:0000:0002:c903:00a1:b2c1\n" },
	{ "ports/2/gids/0", "fe80:0000:0000:0000:0002:c903:00a1:b2c2\n" },
	{ "ports/1/gids/3", "0000:0000:0000:0000:0000:0000:0000:0000\n" },
	{ "ports/1/gid_attrs/types/0", "IB/RoCE v1\n" },
	{ "ports/1/pkeys/0", "0xffff\n" },
	{ "ports/1/pkeys/1", "0x1234\n" },
	{ "ports/1/pkeys/2", "0x0000\n" },
	/* The agent's data is 0, 1, 2, ...: each counter shows where it was read. */
	{ "ports/1/counters/symbol_error", "1029\n" },
	{ "ports/1/counters/link_error_recovery", "6\n" },
	{ "ports/1/counters/link_downed", "7\n" },
	{ "ports/1/counters/port_rcv_errors", "2057\n" },
	{ "ports/1/counters/port_rcv_remote_physical_errors", "2571\n" },
	{ "ports/1/counters/port_rcv_switch_relay_errors", "3085\n" },
	{ "ports/1/counters/port_xmit_discards", "3599\n" },
	{ "ports/1/counters/port_xmit_constraint_errors", "16\n" },
	{ "ports/1/counters/port_rcv_constraint_errors", "17\n" },
	{ "ports/1/counters/local_link_integrity_errors", "1\n" },
	{ "ports/1/counters/excessive_buffer_overrun_errors", "3\n" },
	{ "ports/1/counters/VL15_dropped", "5655\n" },
	{ "ports/1/counters/port_xmit_data", "404298267\n" },
	{ "ports/1/counters/port_rcv_data", "471670303\n" },
	{ "ports/1/counters/port_xmit_packets", "539042339\n" },
	{ "ports/1/counters/port_rcv_packets", "606414375\n" },
	{ "ports/1/counters/port_xmit_wait", "673786411\n" },
};

static const char *const absent[] = {
	"ports/0", "ports/3", "ports/1/gids/4", "ports/1/pkeys/3", "ports/1/hw_counters",
	"hw_counters",
	"ports/1/counters/unicast_xmit_packets", "ports/1/gid_attrs/types/4",
};

static void sysfs_umount(void *mount)
{
	kern_unmount(mount);
}

static struct vfsmount *sysfs_mount(struct kunit *test)
{
	struct file_system_type *type = get_fs_type("sysfs");
	struct vfsmount *mount;

	KUNIT_ASSERT_NOT_NULL(test, type);
	mount = kern_mount(type);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mount));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, sysfs_umount, mount), 0);
	return mount;
}

static struct file *open_file(struct vfsmount *mount, const char *name, int flags)
{
	char path[128];

	snprintf(path, sizeof(path), ROOT "%s", name);
	return file_open_root_mnt(mount, path, flags, 0);
}

/* Reads a file of the device; the value is its length or an error. */
static ssize_t slurp(struct kunit *test, struct vfsmount *mount, const char *name, char *buf,
		     size_t size, umode_t *mode)
{
	struct file *file = open_file(mount, name, O_RDONLY);
	loff_t pos = 0;
	ssize_t n;

	if (IS_ERR(file))
		return PTR_ERR(file);
	n = kernel_read(file, buf, size - 1, &pos);
	buf[max_t(ssize_t, n, 0)] = 0;
	if (mode)
		*mode = file_inode(file)->i_mode & 0777;
	fput(file);
	return n;
}

static void every_file_byte_for_byte(struct kunit *test)
{
	struct vfsmount *mount = sysfs_mount(test);
	char buf[128];
	umode_t mode;
	int i;

	bench_up(test, "lr-sysfs");
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		ssize_t n = slurp(test, mount, files[i].name, buf, sizeof(buf), &mode);

		KUNIT_EXPECT_GT_MSG(test, n, 0, "%s", files[i].name);
		if (n <= 0)
			continue;
		KUNIT_EXPECT_STREQ_MSG(test, buf, files[i].text, "%s", files[i].name);
		KUNIT_EXPECT_EQ_MSG(test, mode, strcmp(files[i].name, "node_desc") ? 0444 : 0644,
				    "%s", files[i].name);
	}
	for (i = 0; i < ARRAY_SIZE(absent); i++)
		KUNIT_EXPECT_EQ_MSG(test, slurp(test, mount, absent[i], buf, sizeof(buf), NULL),
				    -ENOENT, "%s", absent[i]);
	/* Nobody has a network device; an empty GID has no type. */
	KUNIT_EXPECT_EQ(test, slurp(test, mount, "ports/1/gid_attrs/ndevs/0", buf, sizeof(buf),
				    NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, slurp(test, mount, "ports/1/gid_attrs/types/1", buf, sizeof(buf),
				    NULL), -EINVAL);
}

struct state_case {
	u8 state;
	u8 phys;
	const char *state_text;
	const char *phys_text;
};

static void states_have_words(struct kunit *test)
{
	static const struct state_case cases[] = {
		{ 0, 0, "0: NOP\n", "0: <unknown>\n" },
		{ 1, 1, "1: DOWN\n", "1: Sleep\n" },
		{ 2, 2, "2: INIT\n", "2: Polling\n" },
		{ 3, 3, "3: ARMED\n", "3: Disabled\n" },
		{ 4, 4, "4: ACTIVE\n", "4: PortConfigurationTraining\n" },
		{ 5, 5, "5: ACTIVE_DEFER\n", "5: LinkUp\n" },
		{ 5, 6, "5: ACTIVE_DEFER\n", "6: LinkErrorRecovery\n" },
		{ 5, 7, "5: ACTIVE_DEFER\n", "7: Phy Test\n" },
	};
	struct vfsmount *mount = sysfs_mount(test);
	struct bench *b = bench_up(test, "lr-sysfs");
	char buf[64];
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		b->vf.port[0].state = cases[i].state;
		b->vf.port[0].phys_state = cases[i].phys;
		slurp(test, mount, "ports/1/state", buf, sizeof(buf), NULL);
		KUNIT_EXPECT_STREQ(test, buf, cases[i].state_text);
		slurp(test, mount, "ports/1/phys_state", buf, sizeof(buf), NULL);
		KUNIT_EXPECT_STREQ(test, buf, cases[i].phys_text);
	}
}

struct rate_case {
	u8 width;
	u16 speed;
	const char *text;
};

static void rates_have_words(struct kunit *test)
{
	static const struct rate_case cases[] = {
		{ IB_WIDTH_1X, IB_SPEED_SDR, "2.5 Gb/sec (1X SDR)\n" },
		{ IB_WIDTH_4X, IB_SPEED_SDR, "10 Gb/sec (4X SDR)\n" },
		{ IB_WIDTH_4X, IB_SPEED_DDR, "20 Gb/sec (4X DDR)\n" },
		{ IB_WIDTH_4X, IB_SPEED_QDR, "40 Gb/sec (4X QDR)\n" },
		{ IB_WIDTH_4X, IB_SPEED_FDR10, "40 Gb/sec (4X FDR10)\n" },
		{ IB_WIDTH_4X, IB_SPEED_FDR, "56 Gb/sec (4X FDR)\n" },
		{ IB_WIDTH_12X, IB_SPEED_EDR, "300 Gb/sec (12X EDR)\n" },
		{ IB_WIDTH_2X, IB_SPEED_HDR, "100 Gb/sec (2X HDR)\n" },
		{ IB_WIDTH_8X, IB_SPEED_NDR, "800 Gb/sec (8X NDR)\n" },
	};
	struct vfsmount *mount = sysfs_mount(test);
	struct bench *b = bench_up(test, "lr-sysfs");
	char buf[64];
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		b->vf.port[0].active_width = cases[i].width;
		b->vf.port[0].active_speed = cases[i].speed;
		slurp(test, mount, "ports/1/rate", buf, sizeof(buf), NULL);
		KUNIT_EXPECT_STREQ(test, buf, cases[i].text);
	}
	b->vf.port[0].active_width = 3;
	KUNIT_EXPECT_EQ(test, slurp(test, mount, "ports/1/rate", buf, sizeof(buf), NULL), -EINVAL);
}

static void counters_follow_the_agents_capabilities(struct kunit *test)
{
	struct vfsmount *mount = sysfs_mount(test);
	struct bench *b = bench_create(test, "lr-sysfs");
	char buf[64];

	b->vf.perf_cap = BIT(9);
	bench_bind(b);
	slurp(test, mount, "ports/1/counters/port_xmit_data", buf, sizeof(buf), NULL);
	KUNIT_EXPECT_STREQ(test, buf, "579005069656919567\n");
	slurp(test, mount, "ports/1/counters/multicast_rcv_packets", buf, sizeof(buf), NULL);
	KUNIT_EXPECT_STREQ(test, buf, "4630054748589213255\n");
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->fake), 0);
	b->vf.perf_cap = BIT(10);
	bench_bind(b);
	slurp(test, mount, "ports/1/counters/port_xmit_data", buf, sizeof(buf), NULL);
	KUNIT_EXPECT_STREQ(test, buf, "579005069656919567\n");
	KUNIT_EXPECT_EQ(test, slurp(test, mount, "ports/1/counters/multicast_rcv_packets", buf,
				    sizeof(buf), NULL), -ENOENT);
	/* An agent that stops to answer. */
	b->vf.fails[VFAKE_PROCESS_MAD] = -EIO;
	KUNIT_EXPECT_EQ(test, slurp(test, mount, "ports/1/counters/port_xmit_data", buf,
				    sizeof(buf), NULL), -EINVAL);
	b->vf.fails[VFAKE_PROCESS_MAD] = 0;
}

/* The value of a figure, or an error. */
static int figure(struct kunit *test, struct vfsmount *mount, const char *name)
{
	char buf[32];
	int value;
	ssize_t n = slurp(test, mount, name, buf, sizeof(buf), NULL);

	if (n <= 0)
		return n;
	return kstrtoint(buf, 10, &value) ?: value;
}

static ssize_t spit(struct vfsmount *mount, const char *name, const char *text)
{
	struct file *file = open_file(mount, name, O_WRONLY);
	loff_t pos = 0;
	ssize_t n;

	if (IS_ERR(file))
		return PTR_ERR(file);
	n = kernel_write(file, text, strlen(text), &pos);
	fput(file);
	return n;
}

/* All figures of a folder come from one reading, which is good for as long as "lifespan" says. */
static void statistics_are_good_for_a_while(struct kunit *test)
{
	struct vfsmount *mount = sysfs_mount(test);
	struct bench *b = bench_create(test, "lr-sysfs");
	umode_t mode = 0;
	char buf[32];

	b->vf.stats = true;
	bench_bind(b);
	KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, VFAKE_READ_STATS), 0);
	KUNIT_EXPECT_EQ(test, figure(test, mount, "hw_counters/readings"), 1);
	KUNIT_EXPECT_EQ(test, figure(test, mount, "hw_counters/port"), 0);
	KUNIT_EXPECT_EQ(test, figure(test, mount, "ports/2/hw_counters/port"), 2);
	KUNIT_EXPECT_EQ(test, figure(test, mount, "ports/2/hw_counters/readings"), 2);
	KUNIT_EXPECT_EQ(test, figure(test, mount, "ports/1/hw_counters/lifespan"), 10);
	fake_advance(b->fake, 9);
	KUNIT_EXPECT_EQ(test, figure(test, mount, "hw_counters/readings"), 1);
	fake_advance(b->fake, 1);
	KUNIT_EXPECT_EQ(test, figure(test, mount, "hw_counters/readings"), 3);
	slurp(test, mount, "hw_counters/readings", buf, sizeof(buf), &mode);
	KUNIT_EXPECT_EQ(test, mode, 0444);
	slurp(test, mount, "hw_counters/lifespan", buf, sizeof(buf), &mode);
	KUNIT_EXPECT_EQ(test, mode, 0644);
}

static void lifespan_of_statistics_is_set(struct kunit *test)
{
	struct vfsmount *mount = sysfs_mount(test);
	struct bench *b = bench_create(test, "lr-sysfs");

	b->vf.stats = true;
	bench_bind(b);
	KUNIT_EXPECT_EQ(test, spit(mount, "hw_counters/lifespan", "10000\n"), 6);
	KUNIT_EXPECT_EQ(test, spit(mount, "hw_counters/lifespan", "10001\n"), -EINVAL);
	KUNIT_EXPECT_EQ(test, spit(mount, "hw_counters/lifespan", "-1\n"), -EINVAL);
	KUNIT_EXPECT_EQ(test, figure(test, mount, "hw_counters/lifespan"), 10000);
	KUNIT_EXPECT_EQ(test, figure(test, mount, "ports/1/hw_counters/lifespan"), 10);
	KUNIT_EXPECT_EQ(test, figure(test, mount, "hw_counters/readings"), 1);
	fake_advance(b->fake, 9999);
	KUNIT_EXPECT_EQ(test, figure(test, mount, "hw_counters/readings"), 1);
	KUNIT_EXPECT_EQ(test, spit(mount, "hw_counters/lifespan", "0"), 1);
	KUNIT_EXPECT_EQ(test, figure(test, mount, "hw_counters/readings"), 2);
	KUNIT_EXPECT_EQ(test, figure(test, mount, "hw_counters/readings"), 3);
}

/* A reading that fails shows nothing old; when the HCA is gone nobody is asked. */
static void statistics_that_cannot_be_read(struct kunit *test)
{
	struct vfsmount *mount = sysfs_mount(test);
	struct bench *b = bench_create(test, "lr-sysfs");

	b->vf.stats = true;
	bench_bind(b);
	KUNIT_EXPECT_EQ(test, spit(mount, "hw_counters/lifespan", "10000"), 5);
	b->vf.fails[VFAKE_READ_STATS] = -EBUSY;
	KUNIT_EXPECT_EQ(test, figure(test, mount, "hw_counters/readings"), -EBUSY);
	b->vf.fails[VFAKE_READ_STATS] = 0;
	KUNIT_EXPECT_EQ(test, figure(test, mount, "hw_counters/readings"), 2);
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->fake), 0);
	KUNIT_EXPECT_EQ(test, figure(test, mount, "hw_counters/readings"), -ENOENT);
}

static void node_description_is_written_raw(struct kunit *test)
{
	static const char long_name[] =
		"0123456789012345678901234567890123456789012345678901234567890123 too long";
	struct vfsmount *mount = sysfs_mount(test);
	struct bench *b = bench_up(test, "lr-sysfs");
	struct file *file;
	char buf[128];
	loff_t pos = 0;

	file = file_open_root_mnt(mount, ROOT "node_desc", O_WRONLY, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_EXPECT_EQ(test, kernel_write(file, long_name, strlen(long_name), &pos),
			(ssize_t)strlen(long_name));
	KUNIT_EXPECT_EQ(test, slurp(test, mount, "node_desc", buf, sizeof(buf), NULL), 65);
	KUNIT_EXPECT_EQ(test, memcmp(buf, long_name, 64), 0);
	KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, VFAKE_MODIFY_NODE), 1);
	b->vf.fails[VFAKE_MODIFY_NODE] = -EBUSY;
	pos = 0;
	KUNIT_EXPECT_EQ(test, kernel_write(file, "x", 1, &pos), -EBUSY);
	slurp(test, mount, "node_desc", buf, sizeof(buf), NULL);
	KUNIT_EXPECT_EQ(test, memcmp(buf, long_name, 64), 0);
	fput(file);
}

/* A file that is open when the device goes holds nobody up, and reads nothing any more. */
static void open_file_outlives_the_device(struct kunit *test)
{
	struct vfsmount *mount = sysfs_mount(test);
	struct bench *b = bench_up(test, "lr-sysfs");
	struct file *file;
	char buf[64];
	loff_t pos = 0;

	file = file_open_root_mnt(mount, ROOT "ports/1/state", O_RDONLY, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_EXPECT_EQ(test, fake_hca_remove(b->fake), 0);
	KUNIT_EXPECT_EQ(test, kernel_read(file, buf, sizeof(buf), &pos), -ENODEV);
	fput(file);
	KUNIT_EXPECT_EQ(test, slurp(test, mount, "node_guid", buf, sizeof(buf), NULL), -ENOENT);
}

static void rename_moves_the_directory(struct kunit *test)
{
	struct vfsmount *mount = sysfs_mount(test);
	struct bench *b = bench_up(test, "lr-sysfs");
	char buf[64];

	KUNIT_EXPECT_EQ(test, ib_device_rename(bench_device(b), "ibp0s5"), 0);
	KUNIT_EXPECT_EQ(test, slurp(test, mount, "ports/1/lid", buf, sizeof(buf), NULL), -ENOENT);
	KUNIT_EXPECT_EQ(test, ib_device_rename(bench_device(b), "vfake_0"), 0);
	KUNIT_EXPECT_GT(test, slurp(test, mount, "ports/1/lid", buf, sizeof(buf), NULL), 0);
}

static struct kunit_case sysfs_cases[] = {
	KUNIT_CASE(every_file_byte_for_byte),
	KUNIT_CASE(states_have_words),
	KUNIT_CASE(rates_have_words),
	KUNIT_CASE(counters_follow_the_agents_capabilities),
	KUNIT_CASE(statistics_are_good_for_a_while),
	KUNIT_CASE(lifespan_of_statistics_is_set),
	KUNIT_CASE(statistics_that_cannot_be_read),
	KUNIT_CASE(node_description_is_written_raw),
	KUNIT_CASE(open_file_outlives_the_device),
	KUNIT_CASE(rename_moves_the_directory),
	{}
};

static struct kunit_suite sysfs_suite = {
	.name = "sysfs",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = sysfs_cases,
};

kunit_test_suite(sysfs_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of the class infiniband in sysfs");
