/* SPDX-License-Identifier: GPL-2.0-only */
/* Queries and memberships that count what they are told, for suites of removal. */
#ifndef ITEMS_H
#define ITEMS_H

#include <ib/multicast.h>

#define ITEMS 64

/**
 * struct item - a query or a member
 * @query: the query
 * @member: the member
 * @calls: how often the query was answered
 * @ins: how often the member was told that it is in
 * @losses: how often that it is out
 * @error: of the last
 * @over: remove_one has returned: no call may come, one is a breach (core/fake.h)
 */
struct item {
	struct ib_sa_query *query;
	struct ib_mcast_member *member;
	int calls;
	int ins;
	int losses;
	int error;
	bool over;
};

extern struct item items[ITEMS];

int item_ask(struct ib_attachment *attachment, struct item *item);
int item_join(struct ib_attachment *attachment, struct item *item, unsigned int n);
void items_end(void);

#endif
