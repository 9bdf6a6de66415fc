// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who wants which unsolicited MAD: one agent at most for each class version, class, OUI (classes
 * of several vendors) and method.  A sparse array with those four for an index.
 */
#include "mad.h"

static unsigned long ib_mad_match_index(u8 version, u8 class, u32 oui, u8 method)
{
	BUILD_BUG_ON(sizeof(unsigned long) < sizeof(u64));
	return (u64)version << 39 | (u64)class << 31 | (u64)oui << 7 | (method & 0x7f);
}

/** ib_mad_match_init() - nobody wants anything */
void ib_mad_match_init(struct ib_mad_match *match)
{
	xa_init_flags(&match->table, XA_FLAGS_LOCK_BH);
}

/** ib_mad_match_exit() - its mirror */
void ib_mad_match_exit(struct ib_mad_match *match)
{
	WARN_ON_ONCE(!xa_empty(&match->table));
	xa_destroy(&match->table);
}

static unsigned long ib_mad_match_wish(const struct ib_mad_owner *owner, unsigned int method)
{
	const struct ib_mad_agent_init *init = &owner->mad.init;

	return ib_mad_match_index(init->class_version, init->class,
				  ib_class_has_oui(init->class) ? init->oui : 0, method);
}

static void ib_mad_match_erase(struct ib_mad_match *match, struct ib_mad_owner *owner,
			       unsigned int end)
{
	unsigned int method;

	for_each_set_bit(method, owner->mad.init.methods, end)
		xa_erase_bh(&match->table, ib_mad_match_wish(owner, method));
}

/**
 * ib_mad_match_add() - an agent wants what its init says
 * @match: the table; one caller at a time
 * @owner: the agent
 *
 * Return: 0; -EEXIST: somebody else wants one of them, nothing was done; -ENOMEM.
 */
int ib_mad_match_add(struct ib_mad_match *match, struct ib_mad_owner *owner)
{
	const struct ib_mad_agent_init *init = &owner->mad.init;
	unsigned int method;
	int err;

	for_each_set_bit(method, init->methods, IB_METHODS)
		if (xa_load(&match->table, ib_mad_match_wish(owner, method)))
			return -EEXIST;
	for_each_set_bit(method, init->methods, IB_METHODS) {
		err = xa_err(xa_store_bh(&match->table, ib_mad_match_wish(owner, method), owner,
					 GFP_KERNEL));
		if (err) {
			ib_mad_match_erase(match, owner, method);
			return err;
		}
	}
	return 0;
}

/** ib_mad_match_del() - it does no longer */
void ib_mad_match_del(struct ib_mad_match *match, struct ib_mad_owner *owner)
{
	ib_mad_match_erase(match, owner, IB_METHODS);
}

/**
 * ib_mad_match_find() - who wants a MAD?
 * @match: the table
 * @mad: at least IB_VENDOR2_DATA bytes; not a response
 *
 * Context: the port's lock keeps the agent.
 * Return: the agent or NULL.
 */
struct ib_mad_owner *ib_mad_match_find(struct ib_mad_match *match, const u8 *mad)
{
	u8 class = ib_get(mad, IB_MAD_CLASS);
	u32 oui = ib_class_has_oui(class) ? ib_get(mad, IB_VENDOR2_OUI) : 0;

	return xa_load(&match->table,
		       ib_mad_match_index(ib_get(mad, IB_MAD_CLASS_VERSION), class, oui,
					  ib_get(mad, IB_MAD_METHOD)));
}
