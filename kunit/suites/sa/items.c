// SPDX-License-Identifier: GPL-2.0-only
/* The items of items.h. */
#include <linux/module.h>

#include "../core/fake.h"
#include "items.h"

struct item items[ITEMS];
EXPORT_SYMBOL_GPL(items);

static enum ib_cb_result item_answered(struct ib_sa_query *query,
				       const struct ib_sa_result *result, void *context)
{
	struct item *item = context;

	if (READ_ONCE(item->over))
		fake_breach("a query was answered after remove_one");
	item->calls++;
	item->error = result->error;
	return IB_CB_DONE;
}

static enum ib_cb_result item_told(struct ib_mcast_member *member,
				   const struct ib_mcast_report *report, void *context)
{
	struct item *item = context;

	if (READ_ONCE(item->over))
		fake_breach("a member was told something after remove_one");
	if (report->news == IB_MCAST_JOINED)
		item->ins++;
	if (report->news == IB_MCAST_LOST)
		item->losses++;
	item->error = report->error;
	return IB_CB_DONE;
}

/* A query for a path, asked once. */
int item_ask(struct ib_attachment *attachment, struct item *item)
{
	struct ib_sa_request request = {
		.port = 1,
		.method = IB_SA_GET,
		.attr = IB_SA_PATH,
		.timeout_ms = 30000,
		.done = item_answered,
		.context = item,
	};

	return ib_sa_query_start(attachment, &request, &item->query);
}
EXPORT_SYMBOL_GPL(item_ask);

/* A membership of group number @n, asked for once. */
int item_join(struct ib_attachment *attachment, struct item *item, unsigned int n)
{
	struct ib_mcast_request request = {
		.port = 1,
		.mask = IB_SA_MCMEMBER_MGID | IB_SA_MCMEMBER_PKEY | IB_SA_MCMEMBER_JOIN_STATE,
		.record = {
			.mgid.raw = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [15] = n },
			.pkey = 0xffff,
			.join_state = IB_SA_JOIN_FULL,
		},
		.timeout_ms = 30000,
		.callback = item_told,
		.context = item,
	};

	return ib_mcast_join(attachment, &request, &item->member);
}
EXPORT_SYMBOL_GPL(item_join);

/* End them all; whoever is told something from now on breaks a promise. */
void items_end(void)
{
	int i;

	for (i = 0; i < ITEMS; i++) {
		if (items[i].query)
			ib_sa_query_cancel(items[i].query);
		if (items[i].member)
			ib_mcast_leave(items[i].member);
		items[i].query = NULL;
		items[i].member = NULL;
		WRITE_ONCE(items[i].over, true);
	}
}
EXPORT_SYMBOL_GPL(items_end);
