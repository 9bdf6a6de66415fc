/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For suites that are mlx4_ib's own files on no hardware: what those call of the rest of the driver
 * gets other names, since the driver may be there as well.
 *
 * Before this a suite defines BARE(name), a prefix of its own; after it come the driver's files,
 * then bare_body.h, which has memory from kmalloc() and numbers that the suite sees.  Commands are
 * the suite's.
 */
#define mlx4_cmd			BARE(cmd)
#define mlx4_ib_closed			BARE(closed)
#define mlx4_mailbox_alloc		BARE(mailbox_alloc)
#define mlx4_mailbox_free		BARE(mailbox_free)
#define mlx4_mtt_addr			BARE(mtt_addr)
#define mlx4_comp_eqn			BARE(comp_eqn)
#define mlx4_icm_get			BARE(icm_get)
#define mlx4_icm_put			BARE(icm_put)
#define mlx4_ib_buf_alloc		BARE(buf_alloc)
#define mlx4_ib_buf_free		BARE(buf_free)
#define mlx4_ib_buf_end			BARE(buf_end)
#define mlx4_ib_record_alloc		BARE(record_alloc)
#define mlx4_ib_record_free		BARE(record_free)
#define mlx4_ib_number_alloc		BARE(number_alloc)
#define mlx4_ib_number_free		BARE(number_free)
#define mlx4_ib_number_publish		BARE(number_publish)
#define mlx4_ib_number_hide		BARE(number_hide)
