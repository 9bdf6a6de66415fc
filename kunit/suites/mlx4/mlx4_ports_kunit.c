// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which ports mlx4_core takes, sets to InfiniBand, or leaves alone: by what the card says of them,
 * by what the user says, and by what becomes of SET_PORT.
 *
 * The driver's file is part of this one, under other names: the driver may be there as well.
 */
#include <linux/module.h>

#include <lastref/kunit.h>

#define BARE(name) ports_##name
#include "bare.h"

#define mlx4_smp_get			ports_smp_get
#define mlx4_port_is_ours		ports_is_ours
#define mlx4_ports_start		ports_start
#define mlx4_ports_stop			ports_stop

#include "port.c"
#include "ib_qp.h"
#include "bare_body.h"

/**
 * struct ports - a card
 * @hca: HCA, as ib_core sees it
 * @core: HCA
 * @refuses: ports whose SET_PORT is refused, one bit each
 * @dumb: ports whose agent does not answer
 * @set: ports that were set to InfiniBand
 * @cap_mask: with which capability mask
 * @closed: ports that were closed
 */
struct ports {
	struct ib_hca hca;
	struct mlx4_dev core;
	u32 refuses;
	u32 dumb;
	u32 set;
	u32 cap_mask[MLX4_MAX_PORTS + 1];
	u32 closed;
};

int ports_cmd(struct mlx4_dev *dev, struct mlx4_call *call)
{
	struct ports *p = container_of(dev, struct ports, core);
	u32 port = call->in_mod;

	if (call->op == MLX4_CLOSE_PORT) {
		p->closed |= BIT(port);
		return 0;
	}
	if (p->refuses & BIT(port)) {
		call->status = 0x03;
		return -EINVAL;
	}
	p->set |= BIT(port);
	p->cap_mask[port] = mlx4_get(call->in->buf, MLX4_SETP_CAP_MASK);
	return 0;
}

int ports_smp_get(struct mlx4_dev *dev, u32 port, u16 attribute, u32 modifier, void *data)
{
	struct ports *p = container_of(dev, struct ports, core);

	if (p->dumb & BIT(port))
		return -EINVAL;
	memset(data, 0, MLX4_SMP_DATA_SIZE);
	mlx4_put(data, MLX4_PI_CAP_MASK, 0x02510868);
	return 0;
}

#define IB	MLX4_PORT_TYPE_IB
#define ETH	MLX4_PORT_TYPE_ETH
#define BOTH	(IB | ETH)
#define ONE	BIT(1)
#define TWO	BIT(2)

/* A card of two ports; @eth are those that come up as Ethernet; what is expected stands behind. */
static const struct {
	const char *what;
	u8 types[2];
	u32 eth;
	int wish[2];
	u32 refuses;
	u32 dumb;
	int err;
	u32 ours;
	u32 set;
} cards[] = {
	{ "InfiniBand", { IB, IB }, 0, { 1, 1 }, 0, 0, 0, ONE | TWO, ONE | TWO },
	{ "both kinds, InfiniBand", { BOTH, BOTH }, 0, { 1, 1 }, 0, 0, 0, ONE | TWO, ONE | TWO },
	{ "the card's own choice", { BOTH, BOTH }, TWO, { 0, 0 }, 0, 0, 0, ONE | TWO, ONE | TWO },
	{ "the second comes up as Ethernet", { BOTH, BOTH }, TWO, { 1, 1 }, 0, TWO, 0, ONE | TWO,
	  ONE | TWO },
	{ "and cannot be set", { BOTH, BOTH }, TWO, { 1, 1 }, TWO, TWO, 0, ONE, ONE },
	{ "nor the first", { BOTH, BOTH }, ONE | TWO, { 1, 1 }, ONE | TWO, ONE | TWO, -ENODEV, 0,
	  0 },
	{ "the first can only be Ethernet", { ETH, IB }, ONE, { 1, 1 }, ONE, ONE, 0, TWO, TWO },
	{ "the user wants Ethernet", { BOTH, BOTH }, 0, { 1, 2 }, 0, 0, 0, ONE, ONE },
	{ "the user wants nothing else", { BOTH, BOTH }, 0, { 2, 2 }, 0, 0, -ENODEV, 0, 0 },
	{ "an InfiniBand port that fails is an error", { IB, IB }, 0, { 1, 1 }, TWO, 0, -EINVAL,
	  ONE, ONE },
	{ "so is one without an agent", { IB, IB }, 0, { 1, 1 }, 0, ONE, -EINVAL, 0, 0 },
};

static void ports_of_cards(struct kunit *test)
{
	struct ports *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	unsigned int i, port;

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->core.dev = lr_test_device(test, "ports");
	p->core.hca = &p->hca;
	p->core.caps.ports = 2;
	for (i = 0; i < ARRAY_SIZE(cards); i++) {
		p->refuses = cards[i].refuses;
		p->dumb = cards[i].dumb;
		p->set = 0;
		p->closed = 0;
		for (port = 1; port <= 2; port++) {
			p->core.caps.port_type[port] = cards[i].types[port - 1];
			p->core.caps.port_eth[port] = !!(cards[i].eth & BIT(port));
			port_type_array[port - 1] = cards[i].wish[port - 1];
		}
		KUNIT_EXPECT_EQ_MSG(test, ports_start(&p->core), cards[i].err, "%s", cards[i].what);
		KUNIT_EXPECT_EQ_MSG(test, p->set, cards[i].set, "%s", cards[i].what);
		for (port = 1; port <= 2; port++) {
			KUNIT_EXPECT_EQ_MSG(test, ports_is_ours(&p->core, port),
					    !!(cards[i].ours & BIT(port)), "%s", cards[i].what);
			if (p->set & BIT(port))
				KUNIT_EXPECT_EQ(test, p->cap_mask[port],
						p->dumb & BIT(port) ? 0 : 0x02510868);
		}
		ports_stop(&p->core);
		KUNIT_EXPECT_EQ_MSG(test, p->closed, cards[i].ours, "%s", cards[i].what);
	}
}

static struct kunit_case ports_cases[] = {
	KUNIT_CASE(ports_of_cards),
	{}
};

static struct kunit_suite ports_suite = {
	.name = "mlx4_ports",
	LR_SUITE_HOOKS,
	.test_cases = ports_cases,
};

kunit_test_suite(ports_suite);

MODULE_DESCRIPTION("LastRef: KUnit tests of mlx4_core's ports");
MODULE_LICENSE("GPL");
