// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which code of the HCA's a static rate becomes, on ports of every speed.
 *
 * The driver's file is part of this one, under other names: the driver may be there as well.
 */
#include <linux/module.h>

#include <lastref/kunit.h>

#define mlx4_ib_rate	rates_rate
#define ib_port_cached	rates_port_cached

#include "ib_rate.c"

/* What the cards of this family tell: 2.5, 10, 30, 5, 20 and 40 Gb/s. */
#define CARD	0x1f80

/* Codes of the specification. */
enum { R_PORT = 0, R_2_5 = 2, R_10, R_30, R_5, R_20, R_40, R_60, R_112 = 13, R_14 = 11, R_56 };

static const struct rate_case {
	const char *name;
	u16 mask;
	u16 speed;
	u8 width;
	u8 rate;
	u8 code;
} rate_cases[] = {
	{ "as fast as the port", CARD, IB_SPEED_FDR, IB_WIDTH_4X, R_PORT, 0 },
	{ "56 on a port of 56", CARD, IB_SPEED_FDR, IB_WIDTH_4X, R_56, 0 },
	{ "112 on a port of 56", CARD, IB_SPEED_FDR, IB_WIDTH_4X, R_112, 0 },
	{ "40 on a port of 56", CARD, IB_SPEED_FDR, IB_WIDTH_4X, R_40, 12 },
	{ "14 on a port of 56", CARD, IB_SPEED_FDR, IB_WIDTH_4X, R_14, 8 },
	{ "2.5 on a port of 56", CARD, IB_SPEED_FDR, IB_WIDTH_4X, R_2_5, 7 },
	{ "40 on a port of 40", CARD, IB_SPEED_QDR, IB_WIDTH_4X, R_40, 0 },
	{ "56 on a port of 40", CARD, IB_SPEED_FDR10, IB_WIDTH_4X, R_56, 0 },
	{ "20 on a port of 40", CARD, IB_SPEED_QDR, IB_WIDTH_4X, R_20, 11 },
	{ "10 on a port of one lane", CARD, IB_SPEED_QDR, IB_WIDTH_1X, R_10, 0 },
	{ "60 on a port of 100", CARD, IB_SPEED_EDR, IB_WIDTH_4X, R_60, 12 },
	{ "40 on a port that is not known", CARD, 0, 0, R_40, 12 },
	{ "2.5, and 5 is the slowest", BIT(10), IB_SPEED_FDR, IB_WIDTH_4X, R_2_5, 10 },
	{ "10, and the card has none", 0, IB_SPEED_FDR, IB_WIDTH_4X, R_10, 0 },
	{ "a code that there is not", CARD, IB_SPEED_FDR, IB_WIDTH_4X, 1, 0 },
};

static void rate_desc(const struct rate_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(rate, rate_cases, rate_desc);

/**
 * struct rates - a card and what ib_core knows of its port
 * @core: the card
 * @dev: its device
 * @attr: the port
 * @known: there is something about it in the cache
 */
struct rates {
	struct mlx4_dev core;
	struct mlx4_ib_dev dev;
	struct ib_port_attr attr;
	bool known;
};

int rates_port_cached(struct ib_device *device, u8 port, struct ib_port_attr *attr)
{
	struct rates *r = container_of(device, struct rates, dev.ib);

	*attr = r->attr;
	return r->known && port == 2 ? 0 : -ENODEV;
}

static void static_rate(struct kunit *test)
{
	const struct rate_case *c = test->param_value;
	struct rates *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, r);
	r->dev.core = &r->core;
	r->core.caps.rates = c->mask;
	r->attr.active_speed = c->speed;
	r->attr.active_width = c->width;
	r->known = true;
	KUNIT_EXPECT_EQ(test, rates_rate(&r->dev, 2, c->rate), c->code);
	/* Without the cache, which is closed when the device goes, the HCA's own rates. */
	r->known = false;
	KUNIT_EXPECT_EQ(test, !rates_rate(&r->dev, 2, c->rate), !c->mask || !ib_rate(c->rate));
}

static struct kunit_case rates_cases[] = {
	KUNIT_CASE_PARAM(static_rate, rate_gen_params),
	{}
};

static struct kunit_suite rates_suite = {
	.name = "mlx4_rates",
	LR_SUITE_HOOKS,
	.test_cases = rates_cases,
};

kunit_test_suite(rates_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Static rates of mlx4_ib");
