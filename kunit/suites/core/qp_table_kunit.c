// SPDX-License-Identifier: GPL-2.0-only
/*
 * The QP state table, all of it, against a second reading of the specification.
 *
 * This one is text, a paragraph for each kind of QP, as chapter 11.2.5.2 goes through the
 * transitions: "FROM>TO required: ... optional: ...". Every combination of kind, two states and
 * each single attribute is compared; transitions that are not in the text must not exist.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include <ib/verbs.h>
#include <lastref/kunit.h>

struct paragraph {
	enum ib_qp_type type;
	const char *text;
};

static const struct paragraph paragraphs[] = {
	{ IB_QPT_UD,
	  "RESET>INIT required: pkey port qkey;"
	  "INIT>INIT optional: pkey port qkey;"
	  "INIT>RTR optional: pkey qkey;"
	  "RTR>RTS required: sqpsn optional: cur qkey;"
	  "RTS>RTS optional: cur qkey;"
	  "RTS>SQD optional: notify;"
	  "SQD>RTS optional: cur qkey;"
	  "SQD>SQD optional: pkey qkey;"
	  "SQE>RTS optional: cur qkey;" },
	{ IB_QPT_UC,
	  "RESET>INIT required: pkey port access;"
	  "INIT>INIT optional: pkey port access;"
	  "INIT>RTR required: av mtu dqpn rqpsn optional: alt access pkey;"
	  "RTR>RTS required: sqpsn optional: cur alt access mig rate;"
	  "RTS>RTS optional: cur alt access mig rate;"
	  "RTS>SQD optional: notify;"
	  "SQD>RTS optional: cur alt access mig;"
	  "SQD>SQD optional: av alt access pkey mig;"
	  "SQE>RTS optional: cur access;" },
	{ IB_QPT_RC,
	  "RESET>INIT required: pkey port access;"
	  "INIT>INIT optional: pkey port access;"
	  "INIT>RTR required: av mtu dqpn rqpsn destrd rnrtimer optional: alt access pkey;"
	  "RTR>RTS required: sqpsn timeout retry rnr rd optional: cur alt access rnrtimer mig rate;"
	  "RTS>RTS optional: cur alt access rnrtimer mig rate;"
	  "RTS>SQD optional: notify;"
	  "SQD>RTS optional: cur alt access rnrtimer mig;"
	  "SQD>SQD optional: port av timeout retry rnr rd destrd alt access pkey rnrtimer mig;" },
	{ IB_QPT_XRC_INI,
	  "RESET>INIT required: pkey port access;"
	  "INIT>INIT optional: pkey port access;"
	  "INIT>RTR required: av mtu dqpn rqpsn optional: alt access pkey;"
	  "RTR>RTS required: sqpsn timeout retry rnr rd optional: cur alt access mig;"
	  "RTS>RTS optional: cur alt access mig;"
	  "RTS>SQD optional: notify;"
	  "SQD>RTS optional: cur alt access mig;"
	  "SQD>SQD optional: port av timeout retry rnr rd alt access pkey mig;" },
	{ IB_QPT_XRC_TGT,
	  "RESET>INIT required: pkey port access;"
	  "INIT>INIT optional: pkey port access;"
	  "INIT>RTR required: av mtu dqpn rqpsn destrd rnrtimer optional: alt access pkey;"
	  "RTR>RTS required: sqpsn timeout optional: cur alt access rnrtimer mig;"
	  "RTS>RTS optional: cur alt access rnrtimer mig;"
	  "RTS>SQD optional: notify;"
	  "SQD>RTS optional: cur alt access rnrtimer mig;"
	  "SQD>SQD optional: port av timeout destrd alt access pkey rnrtimer mig;" },
	{ IB_QPT_SMI,
	  "RESET>INIT required: pkey qkey;"
	  "INIT>INIT optional: pkey qkey;"
	  "INIT>RTR optional: pkey qkey;"
	  "RTR>RTS required: sqpsn optional: cur qkey;"
	  "RTS>RTS optional: cur qkey;"
	  "RTS>SQD optional: notify;"
	  "SQD>RTS optional: cur qkey;"
	  "SQD>SQD optional: pkey qkey;"
	  "SQE>RTS optional: cur qkey;" },
	{ IB_QPT_GSI,
	  "RESET>INIT required: pkey qkey;"
	  "INIT>INIT optional: pkey qkey;"
	  "INIT>RTR optional: pkey qkey;"
	  "RTR>RTS required: sqpsn optional: cur qkey;"
	  "RTS>RTS optional: cur qkey;"
	  "RTS>SQD optional: notify;"
	  "SQD>RTS optional: cur qkey;"
	  "SQD>SQD optional: pkey qkey;"
	  "SQE>RTS optional: cur qkey;" },
	{ IB_QPT_RAW_PACKET,
	  "RESET>INIT required: port;"
	  "INIT>INIT optional: port;"
	  "INIT>RTR;"
	  "RTR>RTS optional: rate;"
	  "RTS>RTS optional: rate;"
	  "RTS>SQD optional: notify;"
	  "SQD>RTS;"
	  "SQE>RTS;" },
};

static const struct {
	const char *word;
	u32 bit;
} words[] = {
	{ "cur", 1 }, { "notify", 2 }, { "access", 3 }, { "pkey", 4 }, { "port", 5 },
	{ "qkey", 6 }, { "av", 7 }, { "mtu", 8 }, { "timeout", 9 }, { "retry", 10 },
	{ "rnr", 11 }, { "rqpsn", 12 }, { "rd", 13 }, { "alt", 14 }, { "rnrtimer", 15 },
	{ "sqpsn", 16 }, { "destrd", 17 }, { "mig", 18 }, { "dqpn", 20 }, { "rate", 25 },
};

static const char *const states[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

static u32 word_bit(struct kunit *test, const char *word)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i].word, word))
			return BIT(words[i].bit);
	KUNIT_FAIL(test, "no attribute is called '%s'", word);
	return 0;
}

/* The sentence of a transition; false if there is none. */
static bool read_sentence(struct kunit *test, const char *text, const char *transition,
			  u32 *required, u32 *optional)
{
	char *copy = kunit_kzalloc(test, strlen(text) + 1, GFP_KERNEL);
	char *rest = copy, *sentence, *word;
	size_t len = strlen(transition);
	u32 *into = NULL;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, text, strlen(text) + 1);
	*required = 0;
	*optional = 0;
	while ((sentence = strsep(&rest, ";"))) {
		if (strncmp(sentence, transition, len) || (sentence[len] && sentence[len] != ' '))
			continue;
		sentence += len;
		while ((word = strsep(&sentence, " "))) {
			if (!strcmp(word, "required:"))
				into = required;
			else if (!strcmp(word, "optional:"))
				into = optional;
			else if (*word)
				*into |= word_bit(test, word);
		}
		return true;
	}
	return false;
}

static void compare(struct kunit *test, const struct paragraph *p, int from, int to, int *valid)
{
	struct ib_qp_rule rule = ib_qp_rule(p->type, from, to);
	u32 required, optional;
	char transition[16];
	bool exists;
	int bit;

	snprintf(transition, sizeof(transition), "%s>%s", states[from], states[to]);
	exists = read_sentence(test, p->text, transition, &required, &optional);
	if (to == 0 || (to == 6 && from != 0))
		exists = true;
	KUNIT_EXPECT_EQ_MSG(test, rule.valid, exists, "%s of type %d", transition, p->type);
	*valid += exists;
	KUNIT_EXPECT_EQ_MSG(test, ib_qp_may(p->type, from, to, required), exists, "%s of %d",
			    transition, p->type);
	for (bit = 1; bit < 32; bit++) {
		bool allowed = exists && ((required | optional) & BIT(bit));
		bool needed = exists && (required & BIT(bit));

		KUNIT_EXPECT_EQ_MSG(test, ib_qp_may(p->type, from, to, required | BIT(bit)),
				    allowed, "%s of type %d with bit %d", transition, p->type, bit);
		if (needed)
			KUNIT_EXPECT_FALSE_MSG(test,
					       ib_qp_may(p->type, from, to, required & ~BIT(bit)),
					       "%s of type %d without bit %d", transition, p->type,
					       bit);
	}
}

static void table_is_what_the_specification_says(struct kunit *test)
{
	int i, from, to, valid = 0;

	for (i = 0; i < ARRAY_SIZE(paragraphs); i++)
		for (from = 0; from < ARRAY_SIZE(states); from++)
			for (to = 0; to < ARRAY_SIZE(states); to++)
				compare(test, &paragraphs[i], from, to, &valid);
	/* 13 that need no sentence for each of 8 kinds, 9 sentences of 4, 8 of 4 kinds. */
	KUNIT_EXPECT_EQ(test, valid, 8 * 13 + 4 * 9 + 4 * 8);
}

static void kinds_that_do_not_exist_have_no_transitions(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, ib_qp_rule(5, 0, 0).valid);
	KUNIT_EXPECT_FALSE(test, ib_qp_rule(7, 0, 0).valid);
	KUNIT_EXPECT_FALSE(test, ib_qp_rule(IB_QPT_COUNT, 0, 0).valid);
	KUNIT_EXPECT_FALSE(test, ib_qp_rule(IB_QPT_RC, IB_QP_STATES, 0).valid);
	KUNIT_EXPECT_FALSE(test, ib_qp_rule(IB_QPT_RC, 0, IB_QP_STATES).valid);
}

static void states_have_names(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(states); i++)
		KUNIT_EXPECT_STREQ(test, ib_qp_state_name(i), states[i]);
	KUNIT_EXPECT_STREQ(test, ib_qp_state_name(7), "?");
}

static struct kunit_case qp_table_cases[] = {
	KUNIT_CASE(table_is_what_the_specification_says),
	KUNIT_CASE(kinds_that_do_not_exist_have_no_transitions),
	KUNIT_CASE(states_have_names),
	{}
};

static struct kunit_suite qp_table_suite = {
	.name = "qp_table",
	LR_SUITE_HOOKS,
	.test_cases = qp_table_cases,
};

kunit_test_suite(qp_table_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of the QP state table");
