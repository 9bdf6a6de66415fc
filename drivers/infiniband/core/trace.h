/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events of the teardown protocol, in design words: state changes, goals, waits, references,
 * attachments, services, agents, escalations.  One event for each thing a test or a person wants to
 * put in order afterwards.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ib_teardown

#if !defined(IB_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define IB_TRACE_H

#include <linux/tracepoint.h>

#include <ib/device.h>
#include <ib/hca.h>

DECLARE_EVENT_CLASS(ib_teardown_device,
		    TP_PROTO(const struct ib_device *device, const char *what, int value),
		    TP_ARGS(device, what, value),
		    TP_STRUCT__entry(__string(hca, dev_name(device->hca->parent))
				     __string(device, device->name)
				     __string(what, what)
				     __field(int, value)),
		    TP_fast_assign(ib_assign_str(hca, dev_name(device->hca->parent));
				   ib_assign_str(device, device->name);
				   ib_assign_str(what, what);
				   __entry->value = value;),
		    TP_printk("hca=%s device=%s %s value=%d", __get_str(hca), __get_str(device),
			      __get_str(what), __entry->value)
);

#define IB_DEVICE_EVENT(name)								\
	DEFINE_EVENT(ib_teardown_device, ib_teardown_##name,				\
		     TP_PROTO(const struct ib_device *device, const char *what,	\
			      int value),						\
		     TP_ARGS(device, what, value))

/* Value: the new state. */
IB_DEVICE_EVENT(state);

/* A device reference, by name; value: the count afterwards. */
IB_DEVICE_EVENT(hold);
IB_DEVICE_EVENT(drop);

/* Begin and end of a client's add_one (value: its error) and remove_one (value: the reason). */
IB_DEVICE_EVENT(add_begin);
IB_DEVICE_EVENT(add_end);
IB_DEVICE_EVENT(remove_begin);
IB_DEVICE_EVENT(remove_end);

/* A service instance changed; value: enum ib_service_state. */
IB_DEVICE_EVENT(service);

/* Something forgotten was reaped; what: owner; value: how many. */
IB_DEVICE_EVENT(reap);

DECLARE_EVENT_CLASS(ib_teardown_hca,
		    TP_PROTO(const struct ib_hca *hca, const char *what, int value),
		    TP_ARGS(hca, what, value),
		    TP_STRUCT__entry(__string(hca, dev_name(hca->parent))
				     __string(what, what)
				     __field(int, value)),
		    TP_fast_assign(ib_assign_str(hca, dev_name(hca->parent));
				   ib_assign_str(what, what);
				   __entry->value = value;),
		    TP_printk("hca=%s %s value=%d", __get_str(hca), __get_str(what),
			      __entry->value)
);

#define IB_HCA_EVENT(name)								\
	DEFINE_EVENT(ib_teardown_hca, ib_teardown_##name,				\
		     TP_PROTO(const struct ib_hca *hca, const char *what, int value),	\
		     TP_ARGS(hca, what, value))

/* The goal rose, or fell back to RUN when the thread decided to come up; value: the goal. */
IB_HCA_EVENT(goal);

/* The thread begins to wait, and has waited; value: 0 or why it gave up. */
IB_HCA_EVENT(wait_begin);
IB_HCA_EVENT(wait_end);

/* A threshold was passed, or GONE was dealt with; value: see the word. */
IB_HCA_EVENT(escalate);

/* start, stop, quiet, reset, release of the hardware; value: the result. */
IB_HCA_EVENT(hardware);

#endif /* IB_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
