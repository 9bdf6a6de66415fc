// SPDX-License-Identifier: GPL-2.0-only
/*
 * Third report: "hung at shutdown because multicast was removed before IPoIB, which was initialised
 * earlier". Whatever the order in which clients register and services arrive, every client finds
 * its services usable from its remove_one, groups that were forgotten are found and ended, and
 * nothing waits for ever.
 *
 * The ten names: the services MAD, SA, multicast and CM (with RDMA CM upon it left out: it is a
 * service of the same kind), and the clients umad, uverbs, IPoIB, RDMA CM's user interface, SRP and
 * iSER.
 */
#include <linux/module.h>
#include <linux/random.h>

#include "fake.h"

#define SERVICES 4
#define CLIENTS 6

static unsigned int seed;
module_param(seed, uint, 0400);
MODULE_PARM_DESC(seed, "repeat the random orders of an earlier run");

static unsigned int rounds = 2000;
module_param(rounds, uint, 0400);
MODULE_PARM_DESC(rounds, "how many random orders");

static unsigned int every = 1;
module_param(every, uint, 0400);
MODULE_PARM_DESC(every, "of the 720 orders of clients, try each of so many (1: all)");

/**
 * struct world - four services, six clients, an HCA
 * @fs: mad, sa, multicast, cm
 * @fc: the clients
 * @hca: the HCA
 */
struct world {
	struct fake_service *fs[SERVICES];
	struct fake_client *fc[CLIENTS];
	struct fake_hca *hca;
};

/* Which services each client needs, as bits. */
static const struct {
	const char *name;
	unsigned int needs;
} clients[CLIENTS] = {
	{ "umad", 0x1 },
	{ "uverbs", 0x0 },
	{ "ipoib", 0xf },
	{ "rdma_ucm", 0xa },
	{ "srp", 0xb },
	{ "iser", 0x8 },
};

static struct world *world_create(struct kunit *test)
{
	struct world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	int i, j;

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->fs[0] = fake_service_create(test, "mad", NULL, NULL);
	w->fs[1] = fake_service_create(test, "sa", w->fs[0], NULL);
	w->fs[2] = fake_service_create(test, "multicast", w->fs[1], NULL);
	w->fs[3] = fake_service_create(test, "cm", w->fs[0], w->fs[1]);
	for (i = 0; i < CLIENTS; i++) {
		w->fc[i] = fake_client_create(test, clients[i].name);
		for (j = 0; j < SERVICES; j++)
			if (clients[i].needs & BIT(j))
				fake_client_needs(w->fc[i], w->fs[j]);
	}
	w->hca = fake_hca_create(test, "lr-order");
	return w;
}

static int join(struct world *w, unsigned int who)
{
	if (who < SERVICES)
		return fake_service_register(w->fs[who]);
	if (who < SERVICES + CLIENTS)
		return fake_client_register(w->fc[who - SERVICES]);
	return fake_hca_bind(w->hca);
}

static void leave(struct world *w)
{
	int i;

	/* Modules go in the order that their symbols allow: clients, then services from the top. */
	for (i = 0; i < CLIENTS; i++)
		fake_client_unregister(w->fc[i]);
	for (i = SERVICES - 1; i >= 0; i--)
		fake_service_unregister(w->fs[i]);
}

static bool all_added(struct world *w, int count)
{
	int i;

	for (i = 0; i < CLIENTS; i++)
		if (atomic_read(&w->fc[i]->adds) != count)
			return false;
	return true;
}

/* After everybody has come, in whatever order: one add each, every service started once. */
static void expect_complete(struct kunit *test, struct world *w, int before)
{
	int i;

	/* Clients that a late service lets in are added beside its registration. */
	LR_WAIT(all_added(w, before + 1), 5000);
	for (i = 0; i < CLIENTS; i++)
		KUNIT_EXPECT_EQ_MSG(test, atomic_read(&w->fc[i]->adds), before + 1, "%s",
				    clients[i].name);
	for (i = 0; i < SERVICES; i++)
		KUNIT_EXPECT_EQ(test, atomic_read(&w->fs[i]->up), 1);
}

/* After the device has gone: one remove each, no service ever refused, nothing left. */
static void expect_gone(struct kunit *test, struct world *w)
{
	int i;

	for (i = 0; i < CLIENTS; i++) {
		struct fake_client *fc = w->fc[i];

		KUNIT_EXPECT_EQ(test, atomic_read(&fc->adds), atomic_read(&fc->removes));
		KUNIT_EXPECT_EQ(test, atomic_read(&fc->adds), atomic_read(&fc->frees));
		KUNIT_EXPECT_EQ(test, atomic_read(&fc->adds), atomic_read(&fc->closings));
		KUNIT_EXPECT_EQ_MSG(test, atomic_read(&fc->refused), 0, "%s", clients[i].name);
	}
	for (i = 0; i < SERVICES; i++) {
		KUNIT_EXPECT_EQ(test, atomic_read(&w->fs[i]->up), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&w->fs[i]->ports), 0);
	}
}

/* One round: everybody comes in the order given, the device goes, everybody goes. */
static void round_trip(struct kunit *test, struct world *w, const u8 *order, unsigned int n)
{
	int before = atomic_read(&w->fc[0]->adds);
	unsigned int i;

	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, join(w, order[i]), 0);
	expect_complete(test, w, before);
	KUNIT_ASSERT_EQ(test, fake_hca_unbind(w->hca), 0);
	expect_gone(test, w);
	leave(w);
}

/* Heap's way through all permutations, without recursion. */
struct permutation {
	u8 order[SERVICES + CLIENTS + 1];
	u8 count[SERVICES + CLIENTS + 1];
	unsigned int n;
	unsigned int i;
};

static void permutation_first(struct permutation *p, unsigned int n)
{
	unsigned int i;

	memset(p, 0, sizeof(*p));
	p->n = n;
	for (i = 0; i < n; i++)
		p->order[i] = i;
}

static bool permutation_next(struct permutation *p)
{
	while (p->i < p->n) {
		if (p->count[p->i] < p->i) {
			swap(p->order[p->i & 1 ? p->count[p->i] : 0], p->order[p->i]);
			p->count[p->i]++;
			p->i = 0;
			return true;
		}
		p->count[p->i++] = 0;
	}
	return false;
}

/* All 720 orders of the clients, services and device there before. */
static void order_clients_all(struct kunit *test)
{
	struct world *w = world_create(test);
	struct permutation p;
	u8 order[SERVICES + CLIENTS + 1];
	unsigned int i, seen = 0, done = 0;

	KUNIT_ASSERT_EQ(test, fake_hca_add(w->hca), 0);
	permutation_first(&p, CLIENTS);
	do {
		if (seen++ % max(every, 1u))
			continue;
		for (i = 0; i < SERVICES; i++)
			order[i] = i;
		order[SERVICES] = SERVICES + CLIENTS;
		for (i = 0; i < CLIENTS; i++)
			order[SERVICES + 1 + i] = SERVICES + p.order[i];
		round_trip(test, w, order, SERVICES + CLIENTS + 1);
		done++;
	} while (permutation_next(&p));
	KUNIT_EXPECT_EQ(test, seen, 720U);
	KUNIT_EXPECT_EQ(test, done, DIV_ROUND_UP(720U, max(every, 1u)));
	kunit_info(test, "%u orders\n", done);
}

/* All 24 orders in which the services arrive, at a device that is LIVE and has clients waiting. */
static void order_services_late(struct kunit *test)
{
	struct world *w = world_create(test);
	struct permutation p;
	u8 order[SERVICES + CLIENTS + 1];
	unsigned int i, done = 0;

	KUNIT_ASSERT_EQ(test, fake_hca_add(w->hca), 0);
	permutation_first(&p, SERVICES);
	do {
		order[0] = SERVICES + CLIENTS;
		for (i = 0; i < CLIENTS; i++)
			order[1 + i] = SERVICES + i;
		for (i = 0; i < SERVICES; i++)
			order[1 + CLIENTS + i] = p.order[i];
		round_trip(test, w, order, SERVICES + CLIENTS + 1);
		done++;
	} while (permutation_next(&p));
	KUNIT_EXPECT_EQ(test, done, 24U);
}

/* Everybody and the device in any order: too many to enumerate. */
static void order_random(struct kunit *test)
{
	struct world *w = world_create(test);
	u8 order[SERVICES + CLIENTS + 1];
	struct rnd_state rnd;
	unsigned int i, n = ARRAY_SIZE(order), round;

	if (!seed)
		seed = get_random_u32();
	kunit_info(test, "seed=%u, %u orders\n", seed, rounds);
	prandom_seed_state(&rnd, seed);
	KUNIT_ASSERT_EQ(test, fake_hca_add(w->hca), 0);
	for (round = 0; round < rounds; round++) {
		for (i = 0; i < n; i++)
			order[i] = i;
		for (i = n - 1; i; i--) {
			unsigned int j = prandom_u32_state(&rnd) % (i + 1);

			swap(order[i], order[j]);
		}
		round_trip(test, w, order, n);
	}
}

/* The report itself: IPoIB first, then multicast; the device goes; the groups were forgotten. */
static void order_ipoib_before_multicast(struct kunit *test)
{
	static const u8 order[] = { SERVICES + CLIENTS, SERVICES + 2, 0, 1, 3, 2 };
	struct world *w = world_create(test);
	unsigned int i;

	w->fc[2]->forgets = true;
	KUNIT_ASSERT_EQ(test, fake_hca_add(w->hca), 0);
	for (i = 0; i < ARRAY_SIZE(order); i++)
		KUNIT_ASSERT_EQ(test, join(w, order[i]), 0);
	KUNIT_ASSERT_TRUE(test, LR_WAIT(atomic_read(&w->fc[2]->adds) == 1, 5000));
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(w->hca), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->fc[2]->refused), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->fs[2]->destroyed), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->fs[2]->stops), 1);
	leave(w);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->fs[2]->freed), 1);
}

static struct kunit_case order_cases[] = {
	KUNIT_CASE(order_ipoib_before_multicast),
	KUNIT_CASE(order_services_late),
	KUNIT_CASE(order_clients_all),
	KUNIT_CASE(order_random),
	{}
};

static struct kunit_suite order_suite = {
	.name = "ib_any_registration_order_works",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = order_cases,
};

kunit_test_suite(order_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Any order of registration and arrival tears down alike");
