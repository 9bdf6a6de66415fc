/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The teardown protocol of LastRef, for spin.  docs/teardown.md explains it; model/run checks it.
 *
 * One HCA is: a lifecycle thread (the only writer of state[]), a work item per attachment, a gate in
 * front of the hardware, two services (MAD, and multicast on top of it), and an environment which
 * does what it likes: driver unbind and probe, client and service modules that come and go,
 * recovery, PCI errors, suspend, shutdown, GONE at any moment, users with open files and mappings.
 *
 * Client 0 ("uverbs") is honest: it has user files, posts work requests and waits for them.
 * Client 1 ("ulp") is not: it forgets its agent and its group, has work it forgot to stop which
 * creates agents, destroys handles late, fails add_one, and may come back late or never.
 *
 * An atomic block is what the code does under the state lock of the HCA, or with one atomic
 * instruction.  Memory is sequentially consistent.  A deadline is a free choice, at any moment.
 *
 * What takes part is chosen with -D; model/run has the sets:
 *   NDEV=1|2  number of HCAs              STUCK    client 1 comes back late, or never
 *   DATA      client 0, files, DMA        LEAK     a device reference is never put
 *   CTRL      client 1, callbacks         UNQUIET  bus mastering off may remain unconfirmed
 *   RECV      callbacks of client 1       HANG     firmware stops answering
 *   LOOKUP    named references            HOG      somebody keeps the device lock for ever
 *   RMMODC    module of client 1          PATIENT  a deadline passes only where something is
 *   RMMODS    module of multicast                  late that will never end by itself
 *   PM        suspend, resume
 *   SHUT      shutdown
 *   ERR       recovery, PCI and fatal errors
 * Each M_xxx=1 takes one rule out of the protocol; model/run says what must then be found.
 */
#include "mutants.h"

#ifndef NDEV
#define NDEV 1
#endif

/* States, in the order of life.  A device that has ended is RELEASED or QUARANTINED. */
#define RELEASED	0
#define QUARANTINED	1
#define RESETTING	2	/* bring-up: function reset */
#define POWERING	3	/* bring-up: bus mastering on */
#define OPENING		4	/* bring-up: gate opens, services start */
#define REGISTERING	5
#define LIVE		6
#define CLOSING		7
#define DRAINING_MC	8	/* DRAINING: multicast closes */
#define DRAINING_MAD	9	/* DRAINING: MAD closes */
#define STOPPING	10	/* gate closed, hardware being made quiet */
#define STOPPED		11

/* Goals.  SHUTDOWN is a bit beside them: as a goal above REMOVE it would hide a REMOVE. */
#define NONE		0
#define RESET		1
#define SUSPEND		2
#define REMOVE		3

/* The hardware as the thread has left it. */
#define ON		0
#define OFF		1	/* bus mastering off, confirmed or not */
#define DRAINED		2	/* and nobody is inside the gate */
#define FLUSHED		3	/* and posted work completed by software, mappings gone */

/* Attachments. */
#define ABSENT		0
#define ADDQ		1	/* work item queued for add_one */
#define ADDING		2
#define ADDED		3
#define REMQ		4	/* work item queued for remove_one: claimed, once */
#define REMOVING	5
#define HELD		6	/* mutant M_SEQUENCE only */

#define ARMED		1	/* agent */
#define TOMB		2
#define VALID		1	/* file */
#define REVOKED		2
#define DEAD		3	/* its device is STOPPED */
#define BY_THREAD	1	/* who closes a service */
#define BY_RMMOD	2

#define UVERBS(d)	(d)
#define ULP(d)		(NDEV + (d))

/* --- HCA and device ---------------------------------------------------------------------------- */
byte state[NDEV];
byte goal[NDEV];
byte hw[NDEV];
bool busy[NDEV];	/* the thread has not finished with the HCA, though the device has ended */
bool gone[NDEV];
bool gate[NDEV];	/* open */
bool shut[NDEV];	/* SHUTDOWN; for ever */
bool errhold[NDEV];	/* bring-up not permitted before resume, reset_done */
bool pmhold[NDEV];	/* bring-up not permitted before PM_POST_xxx */

/* --- The function, as seen from the bus ------------------------------------------------------- */
bool bm[NDEV];		/* bus mastering */
bool quiet[NDEV];	/* read back as off */
bool hung[NDEV];	/* firmware answers nothing */
bool hwcmd[NDEV];	/* a command is with the firmware */
bool mbox[NDEV];	/* its mailbox is not given back */
bool hwq[NDEV];		/* a work request is with the hardware */
bool cqe[NDEV];		/* its completion is in the CQ */
bool swq[NDEV];		/* a completion is owed to the client */
bool mem[NDEV];		/* the buffer is not given back */

/* --- Services ---------------------------------------------------------------------------------- */
bool mad_up[NDEV], mad_open[NDEV];
bool mc_up[NDEV], mc_open[NDEV];
byte mc_claim[NDEV];
bool mc_loaded = true, mc_text = true;
bool group[NDEV];	/* membership of client 1 */
byte agent[NDEV];	/* agent of client 1 */
bool handle[NDEV];	/* client 1 has a pointer to it */
bool r_in[NDEV];	/* receive path is inside the services */
bool r_old[NDEV];	/* ... which have given it up, and their device with them */
byte r_cb[NDEV];	/* ... and inside a callback of client 1: 1 of its agent, 2 of one destroyed since */
bool r_hw[NDEV];	/* ... inside the gate */
bool r_late[NDEV];	/* ... and client 1 does not return from its callback */

/* --- Clients, references, files ---------------------------------------------------------------- */
byte att[2 * NDEV];
byte late[2 * NDEV];	/* abandoned: 1 in this incarnation of the device, 2 in an older one */
bool aopen[2 * NDEV];	/* attachment accepts new objects */
bool ctx[2 * NDEV];	/* context of the client exists */
bool listed = true, ctext = true;	/* client 1: registered, module text in memory */
bool keep[NDEV];	/* reason of this teardown is RESET */
bool parked[NDEV];	/* client 1 has kept its netdev */
bool stuck[NDEV];	/* client 1 does not return from add_one or remove_one */
bool leak[NDEV];
bool h_ref[NDEV], h_old[NDEV];	/* a named reference: to this device, to an older one */
byte file[NDEV];
bool mapped[NDEV];	/* the user has the UAR in a page table */
bool u_in[NDEV];	/* user call is inside the gate */
bool ucall[NDEV];	/* ... and has passed the check for revocation */

/* --- Flows -------------------------------------------------------------------------------------- */
bool devlock[NDEV];
bool asked[NDEV];	/* remove() was called and has not returned */
bool removed[NDEV];	/* remove() has returned: the function is not ours */
bool frozen[NDEV];	/* between error_detected and resume */
bool pm_asked, suspended, shut_asked, shut_over;
bool queue;		/* mutant M_ONEQUEUE only: the one queue is taken */

#define UP(d)		(state[d] == REGISTERING || state[d] == LIVE)
#define ENDED(d)	(state[d] <= QUARANTINED)
#define RISING(d)	(state[d] >= RESETTING && state[d] <= OPENING)
#define TEARING(d)	(state[d] >= CLOSING && state[d] <= STOPPING)
#define HAS_HW(d)	(state[d] >= RESETTING && state[d] <= STOPPING)
#define STOP_NOW(d)	(gone[d] || shut[d])
#define NOBODY(d)	(!u_in[d] && !r_hw[d])
#define RECEIVING(d)	(r_in[d] && !r_old[d])
#define SETTLED(a)	(att[a] == ABSENT || late[a] == 2)
#define ALL_SETTLED(d)	(SETTLED(UVERBS(d)) && SETTLED(ULP(d)))
#define NO_REFS(d)	(ALL_SETTLED(d) && !mad_up[d] && !mc_up[d] && !h_ref[d])
#define CLAIMABLE(a)	(att[a] == ADDQ || att[a] == ADDED || (M_DOUBLE && att[a] == REMOVING))
#if NDEV == 2
#define EACH(x)		x(0); x(1)
#define ALL(x)		(x(0) && x(1))
#define ANY(x)		(x(0) || x(1))
#else
#define EACH(x)		x(0)
#define ALL(x)		(x(0))
#define ANY(x)		(x(0))
#endif
#define ULP_LATE(d)	(late[ULP(d)] != 0)
#define ULP_GONE(d)	(att[ULP(d)] == ABSENT || (M_NOPIN && late[ULP(d)]) || \
			 (M_CLAIMED && att[ULP(d)] >= REMQ))
#define NO_CTX(d)	(!ctx[ULP(d)] || M_NOPIN || M_CLAIMED)
/* Somebody reads the CQ; after the flush, nobody does. */
#define LIVE_CQ(d)	(ctx[UVERBS(d)] && late[UVERBS(d)] != 2 && (hw[d] != FLUSHED || M_NOPOLL))
/* Who touches the hardware must find this true. */
#define MAY_TOUCH(d)	(state[d] >= REGISTERING && state[d] <= STOPPING && !suspended && \
			 !shut_over && !removed[d])

/* What a deadline is for: in the patient sets it passes for nothing else. */
#ifdef PATIENT
#define LATE_ITEM(d)	((stuck[d] || r_late[d]) && SETTLED(UVERBS(d)))
#define LATE_RECV(d)	(r_late[d])
#define LATE_REF(d)	((leak[d] && h_ref[d]) || late[ULP(d)] == 1 || r_in[d])
#else
#define LATE_ITEM(d)	true
#define LATE_RECV(d)	true
#define LATE_REF(d)	true
#endif

#define RAISE(d, g)	goal[d] = ((goal[d] < g || M_LOWER) -> g : goal[d])
#define WANT_DOWN(d)	((goal[d] == REMOVE && !M_SWALLOW) || (goal[d] > NONE && !shut[d]))
#define MAY_UP(d)	((goal[d] == RESET || goal[d] == SUSPEND) && (!errhold[d] || M_PERMIT) && \
			 (!pmhold[d] || M_PMHOLD) && (!shut[d] || M_SHUTUP))
#define MAY_ADD(d)	(UP(d) && goal[d] == NONE && !shut[d])

/* ib_hca_gone(): never waits; from anywhere, the gate and interrupts included; any number of times. */
inline hca_gone(d)
{
	gone[d] = !ENDED(d) || busy[d];
	gate[d] = false;
	RAISE(d, RESET)
}

inline bus_master_off(d)
{
	if
	:: bm[d] = false; quiet[d] = true
#ifdef UNQUIET
	:: skip
#endif
	fi;
	hw[d] = OFF
}

/* Software completes what the hardware will not: first what the hardware did, then the rest, once. */
inline flush(d)
{
	if
	:: cqe[d] && !M_NOPOLL ->
		assert(swq[d]);
		cqe[d] = false; swq[d] = false; mem[d] = false
	:: else
	fi;
	if
	:: swq[d] && !M_NOFLUSH -> swq[d] = false
	:: else
	fi;
	mem[d] = mem[d] && (swq[d] || !(quiet[d] || M_GIVEBACK || M_FLUSHFIRST))
}

/* A membership ends with a leave that went out, or when nobody could have sent one. */
inline leave_group(d)
{
	if
	:: group[d] && !M_WAITGROUP ->
		assert(mad_open[d] || STOP_NOW(d));
		group[d] = false
	:: else
	fi
}

/* Stop the callbacks of what the client left behind; a tombstone remains for its late destroy. */
inline disarm(d)
{
	agent[d] = (agent[d] == ARMED -> (M_NOTOMB -> 0 : TOMB) : agent[d])
}

/* A removal is claimed by taking the attachment from ADDED to REMQ, by whoever comes first. */
inline claim(a)
{
	att[a] = (att[a] == ADDQ -> ABSENT : REMQ)
}

/* What has not come back is abandoned; what has not begun will not begin. */
inline abandon(a)
{
	if
	:: att[a] == ADDQ -> att[a] = ABSENT
	:: att[a] != ADDQ && att[a] != ABSENT && late[a] == 0 ->
		att[a] = (att[a] == ADDED -> REMQ : att[a]);
		late[a] = 1
	:: else
	fi
}

/* A new incarnation begins: what is left of the last one is no more its own. */
inline bring_up(d)
{
	assert(!removed[d]);
	goal[d] = NONE;
	gone[d] = false;
	quiet[d] = false;
	hw[d] = (M_STALEQUIET -> FLUSHED : ON);
	late[UVERBS(d)] = (late[UVERBS(d)] -> 2 : 0);
	late[ULP(d)] = (late[ULP(d)] -> 2 : 0);
	h_old[d] = h_old[d] || h_ref[d];
	h_ref[d] = false;
	mad_up[d] = false;
	mc_up[d] = false;
	mc_claim[d] = 0;
	state[d] = RESETTING
}

/*
 * The lifecycle thread: the move table.  One move at a time, and whatever it waits for, the moves of
 * the hardware and of the clock stay possible: they are not tied to a state of the device.
 */
proctype Thread(byte d)
{
end:	do
	/* GONE, shutdown: off first, waiting for nobody */
	:: atomic { HAS_HW(d) && STOP_NOW(d) && hw[d] == ON && (!M_DEAF || state[d] == STOPPING) ->
		bus_master_off(d)
	   }
#if M_FLUSHFIRST
	:: atomic { HAS_HW(d) && STOP_NOW(d) && hw[d] == ON && swq[d] -> flush(d) }
#endif
	/* politely: those inside the gate finish, then off */
	:: atomic { state[d] == STOPPING && !STOP_NOW(d) && hw[d] == ON && (NOBODY(d) || M_NODRAIN) ->
		bus_master_off(d)
	   }
	:: atomic { HAS_HW(d) && hw[d] == OFF && (NOBODY(d) || M_NODRAIN) ->
		hw[d] = DRAINED;
		mbox[d] = mbox[d] && !quiet[d]
	   }
	:: atomic { TEARING(d) && hw[d] == DRAINED ->
		flush(d);
		mapped[d] = mapped[d] && M_NOZAP;
		hw[d] = FLUSHED
	   }
	/* the clock, 10 s */
	:: atomic { TEARING(d) && !gone[d] && !M_NOCLOCK -> hca_gone(d) }

	/* down */
	:: atomic { UP(d) && WANT_DOWN(d) ->
		state[d] = CLOSING;
		busy[d] = true;
#ifdef FORGET
		keep[d] = (goal[d] != REMOVE)
#endif
	   }
	:: atomic { state[d] == CLOSING && CLAIMABLE(UVERBS(d)) -> claim(UVERBS(d)) }
	:: atomic { state[d] == CLOSING && CLAIMABLE(ULP(d)) -> claim(ULP(d)) }
	:: atomic { state[d] == CLOSING && ALL_SETTLED(d) && (!M_DEVLOCK || !devlock[d]) ->
		state[d] = DRAINING_MC
	   }
	/* the clock, 15 s */
	:: atomic { state[d] == CLOSING && gone[d] && hw[d] == FLUSHED && !ALL_SETTLED(d) &&
		    LATE_ITEM(d) && !M_INLINE ->
		abandon(UVERBS(d));
		abandon(ULP(d));
		state[d] = DRAINING_MC
	   }
	/* the drain barrier, from the top */
	:: atomic { state[d] == DRAINING_MC && mc_up[d] && !mc_claim[d] ->
		mc_claim[d] = BY_THREAD;
		mc_open[d] = false;
		mad_open[d] = mad_open[d] && !M_ATONCE;
		leave_group(d)
	   }
	:: atomic { state[d] == DRAINING_MC && mc_claim[d] == BY_THREAD && !group[d] &&
		    (!RECEIVING(d) || M_NOSVCGATE) ->
		mc_up[d] = false;
		mc_claim[d] = 0
	   }
	:: atomic { state[d] == DRAINING_MC && !mc_up[d] ->
		state[d] = DRAINING_MAD;
		mad_open[d] = false;
		disarm(d)
	   }
	:: atomic { state[d] == DRAINING_MAD && (!RECEIVING(d) || M_NOSVCGATE) ->
		mad_up[d] = false;
		gate[d] = false;
		state[d] = STOPPING
	   }
	/* the clock, 15 s: somebody is still inside a service, whose memory is therefore kept */
	:: atomic { (state[d] == DRAINING_MC || state[d] == DRAINING_MAD) && RECEIVING(d) &&
		    gone[d] && hw[d] == FLUSHED && LATE_RECV(d) ->
		r_old[d] = true;
		mc_open[d] = false;
		leave_group(d);
		mad_open[d] = false;
		disarm(d);
		state[d] = STOPPING
	   }
	:: atomic { state[d] == STOPPING && hw[d] == FLUSHED ->
		file[d] = (file[d] -> DEAD : 0);
		state[d] = STOPPED
	   }
	/* ... and who came back late is still in time */
	:: atomic { state[d] == STOPPED && (mad_up[d] || mc_up[d]) && !r_in[d] ->
		mad_up[d] = false;
		mc_up[d] = false
	   }
	:: atomic { state[d] == STOPPED && NO_REFS(d) ->
		assert(!swq[d]);				/* no completion is owed */
		assert(!quiet[d] || (!mem[d] && !mbox[d]));	/* nothing leaked without need */
		state[d] = RELEASED
	   }
#if M_LASTPUT
	:: atomic { state[d] == STOPPED && !NO_REFS(d) && LATE_REF(d) };
	   atomic { assert(state[d] != RELEASED); state[d] = QUARANTINED }
#else
	:: atomic { state[d] == STOPPED && !NO_REFS(d) && LATE_REF(d) && !M_KREF ->
		mem[d] = mem[d] && !M_FREEQUAR;
		mbox[d] = mbox[d] && !M_FREEQUAR;
		state[d] = QUARANTINED
	   }
#endif
	/* the last touch of the HCA's own resources */
	:: atomic { ENDED(d) && busy[d] ->
		assert(!removed[d]);
		busy[d] = false;
		gone[d] = false;
		keep[d] = false
	   }

	/* up */
#if M_DECIDE
	:: atomic { ENDED(d) && !busy[d] && MAY_UP(d) };
	   atomic { bring_up(d) }
#else
	:: atomic { ENDED(d) && !busy[d] && MAY_UP(d) -> bring_up(d) }
#endif
	:: atomic { state[d] == RESETTING && (hw[d] == ON || M_STALEQUIET) ->
		if
		:: hung[d] = false;
		   if
		   :: M_NORESET
		   :: else ->
			hwcmd[d] = false; hwq[d] = false; cqe[d] = false;
			mbox[d] = false; mem[d] = false
		   fi;
		   state[d] = POWERING
		:: hw[d] = ON; state[d] = STOPPING	/* no answer: it stays down */
		fi
	   }
	:: atomic { state[d] == POWERING && (hw[d] == ON || M_STALEQUIET) ->
		assert(!suspended && !shut_over && !removed[d]);
		bm[d] = true;
		hw[d] = ON;
		state[d] = OPENING
	   }
	:: atomic { state[d] == OPENING && hw[d] == ON && (!STOP_NOW(d) || M_REOPEN) ->
		assert(!frozen[d] && !gate[d] && NOBODY(d));
		gate[d] = true;
		mad_up[d] = true;
		mad_open[d] = true;
		state[d] = REGISTERING
	   }
	:: atomic { RISING(d) && hw[d] == DRAINED -> state[d] = STOPPING }
	:: atomic { MAY_ADD(d) && mc_loaded && !mc_up[d] ->
		mc_up[d] = true;
		mc_open[d] = true
	   }
#ifdef DATA
	:: atomic { MAY_ADD(d) && att[UVERBS(d)] == ABSENT -> att[UVERBS(d)] = ADDQ }
#endif
#ifdef CTRL
	:: atomic { MAY_ADD(d) && att[ULP(d)] == ABSENT && listed && mc_loaded && mc_up[d] &&
		    !ANY(ULP_LATE) -> att[ULP(d)] = ADDQ }
#endif
	:: atomic { state[d] == REGISTERING && att[UVERBS(d)] != ADDQ && att[UVERBS(d)] != ADDING &&
		    att[ULP(d)] != ADDQ && att[ULP(d)] != ADDING -> state[d] = LIVE }
	od
}

inline added(a)
{
	ctx[a] = true;
	aopen[a] = true;
	att[a] = (late[a] -> REMQ : ADDED)	/* who gave up the add will not ask for the remove */
}

/* client->free(), and the attachment ends. */
inline free_context(a)
{
	ctx[a] = false;
	aopen[a] = false;
	att[a] = (M_DOUBLE && att[a] == REMQ -> REMQ : ABSENT);
	late[a] = 0
}

#ifdef DATA
/* The work item of client 0: add_one, remove_one, and what the framework does after it. */
proctype Uverbs(byte d)
{
end:	do
	:: atomic { att[UVERBS(d)] == ADDQ -> att[UVERBS(d)] = ADDING };
	   atomic {
		if
		:: added(UVERBS(d))
		:: att[UVERBS(d)] = ABSENT; late[UVERBS(d)] = 0
		fi
	   }
	:: atomic { att[UVERBS(d)] == REMQ ->
		assert(ctx[UVERBS(d)]);
		att[UVERBS(d)] = REMOVING;
		aopen[UVERBS(d)] = false;
		file[d] = (file[d] == VALID -> REVOKED : file[d])
	   };
	   atomic { !ucall[d] || M_NOCALLFENCE -> mapped[d] = mapped[d] && M_NOZAP };
	   atomic { !swq[d] && (!M_CROSS || SETTLED(ULP(d))) -> free_context(UVERBS(d)) }
	od
}

/* A program with an open file: commands, work requests, faults on its mapping, doorbells through it. */
proctype User(byte d)
{
end:	do
	:: atomic { file[d] == 0 && aopen[UVERBS(d)] -> file[d] = VALID }
	:: atomic { file[d] != 0 -> file[d] = 0; mapped[d] = false }
	:: atomic { mapped[d] -> assert(HAS_HW(d) && file[d] != DEAD) }
	:: if
	   :: atomic { M_RECHECK && file[d] == VALID }	/* the check comes too early */
	   :: atomic { !M_RECHECK && file[d] != 0 }
	   fi;
	   if
	   :: atomic { gate[d] -> assert(!gone[d]); u_in[d] = true };
	      if
	      :: atomic { file[d] == VALID || M_RECHECK -> ucall[d] = true };
		 if
		 :: atomic { assert(file[d] != DEAD && MAY_TOUCH(d)); hwcmd[d] = true; mbox[d] = true };
		    if
		    :: atomic { !hwcmd[d] -> mbox[d] = false }
		    :: atomic { STOP_NOW(d) -> mbox[d] = mbox[d] && !M_MBOX }	/* how it ended is not known */
		    fi
		 :: atomic { !swq[d] ->
			assert(file[d] != DEAD && MAY_TOUCH(d));
			swq[d] = true; hwq[d] = true; mem[d] = true
		    }
		 :: atomic { mapped[d] = true }
		 fi;
		 atomic { assert(ctx[UVERBS(d)]); ucall[d] = false; u_in[d] = false }
	      :: atomic { file[d] != VALID && !M_RECHECK -> u_in[d] = false }
	      fi
	   :: !gate[d]
	   fi
	od
}

/* The function: its DMA, and the interrupt that tells of it. */
proctype Function(byte d)
{
end:	do
	:: atomic { bm[d] && hwcmd[d] && !hung[d] -> assert(mbox[d]); hwcmd[d] = false }
	:: atomic { bm[d] && hwq[d] && !hung[d] -> assert(mem[d]); hwq[d] = false; cqe[d] = LIVE_CQ(d) }
	:: atomic { cqe[d] && LIVE_CQ(d) ->
		assert(swq[d]);
		cqe[d] = false; swq[d] = false; mem[d] = false
	   }
#ifdef HANG
	:: atomic { bm[d] && !hung[d] -> hung[d] = true }
#endif
	od
}
#endif

#ifdef CTRL
/* Client 1 takes long: a while, or for ever. */
inline takes_long(flag)
{
	if
	:: skip
#ifdef STUCK
	:: d == 0 ->
		flag = true;
		if
		:: skip
		:: skip -> false
		fi;
		flag = false
#endif
	fi
}

/* The work item of client 1. */
proctype Ulp(byte d)
{
end:	do
	:: atomic { att[ULP(d)] == ADDQ && (!M_ONEQUEUE || !queue) ->
		assert(ctext && !ctx[ULP(d)]);
		queue = M_ONEQUEUE;
		att[ULP(d)] = ADDING
	   };
	   takes_long(stuck[d]);
	   atomic {
		assert(ctext);
		queue = false;
		if
		:: mad_open[d] ->
			added(ULP(d));
#ifdef FORGET
			agent[d] = ARMED;
			handle[d] = true;
			group[d] = mc_open[d];
			parked[d] = false
#endif
		:: att[ULP(d)] = (M_FAILADD -> ADDED : ABSENT); late[ULP(d)] = 0
		fi
	   }
	:: atomic { att[ULP(d)] == REMQ && (!M_ONEQUEUE || !queue) ->
		assert(ctext && ctx[ULP(d)]);
		queue = M_ONEQUEUE;
		att[ULP(d)] = REMOVING
	   };
	   takes_long(stuck[d]);
#ifdef FORGET
	   if
	   :: skip						/* forgets everything */
	   :: atomic { agent[d] == ARMED ->			/* or cleans up */
		agent[d] = 0;
		handle[d] = false;
		r_cb[d] = (r_cb[d] -> 2 : 0)
	      };
	      atomic { r_cb[d] != 2 -> assert(mc_text); leave_group(d) }
	   fi;
#endif
	   atomic {
		assert(ctext);
#ifdef FORGET
		parked[d] = keep[d];
#endif
		ctx[ULP(d)] = ctx[ULP(d)] && !M_OWNFREE;
		/* remove_one has returned; here the framework begins */
		aopen[ULP(d)] = false;
		disarm(d)
	   };
	   atomic { !r_cb[d] || M_NOFENCE -> leave_group(d); free_context(ULP(d)); queue = false }
	od
}

#ifdef FORGET
/* What client 1 forgot to stop. */
proctype Stray(byte d)
{
end:	do
	:: atomic { (aopen[ULP(d)] || M_NOCLOSE) && ctext && mad_open[d] && agent[d] == 0 ->
		agent[d] = ARMED;
		handle[d] = true
	   }
	:: atomic { handle[d] && agent[d] != ARMED -> assert(agent[d] == TOMB); agent[d] = 0; handle[d] = false }
	:: atomic { parked[d] -> assert(ctext); parked[d] = false }	/* 60 s and nobody adopted it */
	od
}
#endif
#endif

#ifdef RECV
/* The receive path: MAD, multicast, client 1, and back through the hardware gate to repost the buffer. */
proctype Recv(byte d)
{
end:	do
	:: atomic { mad_open[d] && mc_open[d] -> r_in[d] = true };
	   if
	   :: atomic { agent[d] == ARMED -> r_cb[d] = 1 };
	      takes_long(r_late[d]);
	      atomic { assert(ctext && ctx[ULP(d)]); r_cb[d] = 0 }
	   :: atomic { agent[d] != ARMED }
	   fi;
	   if
	   :: atomic { gate[d] -> assert(!gone[d]); r_hw[d] = true };
	      atomic {
		if
		:: !r_old[d] || M_RECHECK -> assert(!r_old[d] && MAY_TOUCH(d))
		:: else
		fi;
		r_hw[d] = false
	      }
	   :: atomic { !gate[d] }
	   fi;
	   atomic { assert(mc_text && (r_old[d] || (mad_up[d] && mc_up[d]))); r_in[d] = false; r_old[d] = false }
	od
}
#endif

#ifdef LOOKUP
/* Somebody who looks a device up, and with -DLEAK may forget that he did. */
proctype Lookup(byte d)
{
end:	do
	:: atomic { UP(d) -> h_ref[d] = true };
	   if
	   :: atomic {
		if
		:: h_old[d] -> h_old[d] = false
		:: else -> h_ref[d] = false
		fi;
#if M_LASTPUT
		if
		:: state[d] == STOPPED && NO_REFS(d) -> state[d] = RELEASED
		:: else
		fi
#endif
	      }
#ifdef LEAK
	   :: d == 0 -> leak[d] = true; false
#endif
	   fi
	od
}
#endif

/* Driver remove() and probe(), by the PCI core, under the device lock. */
#define DOWN_TO_STAY(d)	(ENDED(d) && (!busy[d] || M_NOTIDLE))
proctype Remove(byte d)
{
end:	do
	:: atomic { !devlock[d] -> devlock[d] = true; asked[d] = true; RAISE(d, REMOVE) };
	   atomic { DOWN_TO_STAY(d) ->
		assert(!bm[d] || !quiet[d]);
		asked[d] = false;
		removed[d] = true;
		devlock[d] = false
	   };
	   atomic { !devlock[d] ->
		removed[d] = false;
		errhold[d] = false;
		frozen[d] = false;
		goal[d] = RESET
	   }
	od
}

#ifdef ERR
/* Recovery wished for by a user or the driver; PCI errors and resets; fatal errors. */
proctype Errors(byte d)
{
end:	do
	:: atomic { !removed[d] && (goal[d] < RESET || M_LOWER) -> RAISE(d, RESET) }
	:: atomic { !removed[d] && !gone[d] -> hca_gone(d) }
#ifdef AER
	:: atomic { !devlock[d] && !removed[d] && !frozen[d] ->
		frozen[d] = true;
		errhold[d] = true;
		hca_gone(d)
	   }
	:: atomic { !devlock[d] && frozen[d] -> frozen[d] = false; errhold[d] = false }
#endif
	od
}
#endif

#ifdef RMMODC
/* The module of client 1 is unloaded and loaded. */
#define ULP_FREE(d)	assert(NO_CTX(d)); handle[d] = false; parked[d] = parked[d] && M_NOUNPARK; \
			agent[d] = (agent[d] == TOMB -> 0 : agent[d])
proctype RmmodClient()
{
end:	do
	:: atomic { listed -> listed = false };
end2:	   do
	   :: atomic { CLAIMABLE(ULP(0)) -> claim(ULP(0)) }
#if NDEV == 2
#if M_SEQUENCE
	   :: atomic { att[ULP(1)] == ADDED -> att[ULP(1)] = HELD }
	   :: atomic { att[ULP(1)] == HELD && att[ULP(0)] == ABSENT -> att[ULP(1)] = REMQ }
#else
	   :: atomic { CLAIMABLE(ULP(1)) -> claim(ULP(1)) }
#endif
#endif
	   :: atomic { ALL(ULP_GONE) -> EACH(ULP_FREE); ctext = false }; break
	   od;
	   atomic { ctext = true; listed = true }
	od
}
#endif

#ifdef RMMODS
/* The module of the multicast service is unloaded and loaded; those who need it go first. */
#define NOT_IN(d)	(!r_in[d])
inline close_mc(d)
{
	if
	:: atomic { mc_up[d] && !mc_claim[d] ->
		assert(!group[d] || M_NEEDERS);		/* its members are gone */
		mc_claim[d] = BY_RMMOD;
		mc_open[d] = false
	   };
	   atomic { !RECEIVING(d) -> mc_up[d] = false; mc_claim[d] = 0 }
	:: !mc_up[d]
	fi
}

proctype RmmodService()
{
end:	do
	:: atomic { mc_loaded -> mc_loaded = false };
end2:	   do
	   :: atomic { CLAIMABLE(ULP(0)) && !M_NEEDERS -> claim(ULP(0)) }
#if NDEV == 2
	   :: atomic { CLAIMABLE(ULP(1)) && !M_NEEDERS -> claim(ULP(1)) }
#endif
	   :: atomic { ALL(ULP_GONE) || M_NEEDERS }; break
	   od;
end3:	   close_mc(0);
#if NDEV == 2
end4:	   close_mc(1);
#endif
end5:	   atomic { ALL(NOT_IN) -> mc_text = false };
	   atomic { mc_text = true; mc_loaded = true }
	od
}
#endif

#ifdef PM
/* PM notifier and .suspend; tasks still run while the notifier waits. */
#define ASK_SUSPEND(d)	pmhold[d] = true; RAISE(d, SUSPEND)
#define PM_POST(d)	pmhold[d] = false; errhold[d] = errhold[d] && !M_ONEPERMIT
#define AT_REST(d)	((ENDED(d) && !busy[d]) || shut[d])
#define NO_DMA(d)	(!bm[d] || !quiet[d])
proctype Suspend()
{
end:	do
	:: atomic { EACH(ASK_SUSPEND); pm_asked = true };
	   atomic { ALL(AT_REST) || M_PMHOLD -> pm_asked = false };
	   if
	   :: atomic { !shut_asked -> assert(ALL(NO_DMA)); suspended = true };
	      atomic { suspended = false; EACH(PM_POST) }
	   :: atomic { EACH(PM_POST) }
	   fi
	od
}
#endif

#ifdef SHUT
/* Reboot notifier: all HCAs, no device lock. */
#define SHUTDOWN(d)	shut[d] = true; gate[d] = gate[d] && M_SHUTGATE
#define OFF_AND_EMPTY(d)	(hw[d] >= DRAINED || (M_SHUTGATE && hw[d] == OFF))
#define OFF_BUS(d)	(!bm[d] || !quiet[d])
proctype Shutdown()
{
#if M_SHUTLOCK
	atomic { !suspended -> shut_asked = true };
	atomic { !devlock[0] -> EACH(SHUTDOWN) };
#else
	atomic { !suspended -> shut_asked = true; EACH(SHUTDOWN) };
#endif
	atomic { ALL(OFF_AND_EMPTY) -> assert(ALL(OFF_BUS)); shut_over = true }
}
#endif

#ifdef HOG
proctype Hog()
{
	atomic { !devlock[0] -> devlock[0] = true }
}
#endif

#ifdef CLAIM
/* Time goes on: without it spin does not see that a claim fails because everything stands still. */
proctype Clock()
{
end:	do
	:: atomic { true -> skip }
	od
}
#endif

#define START(d)	goal[d] = RESET; hw[d] = FLUSHED; quiet[d] = true; run Thread(d); run Remove(d)
init
{
	atomic {
		EACH(START);
#ifdef DATA
		run Uverbs(0); run User(0); run Function(0);
#endif
#ifdef CTRL
		run Ulp(0);
#ifdef FORGET
		run Stray(0);
#endif
#if NDEV == 2
		run Ulp(1);
#endif
#endif
#ifdef RECV
		run Recv(0);
#endif
#ifdef LOOKUP
		run Lookup(0);
#endif
#ifdef ERR
		run Errors(0);
#endif
#ifdef RMMODC
		run RmmodClient();
#endif
#ifdef RMMODS
		run RmmodService();
#endif
#ifdef PM
		run Suspend();
#endif
#ifdef SHUT
		run Shutdown();
#endif
#ifdef HOG
		run Hog();
#endif
#ifdef CLAIM
		run Clock();
#endif
	}
}

#ifdef CLAIM_REMOVE
ltl remove_returns { [] (asked[0] -> <> !asked[0]) }
#endif
#ifdef CLAIM_REMOVE1
ltl other_remove_returns { [] (asked[1] -> <> !asked[1]) }
#endif
#ifdef CLAIM_SHUT
ltl shutdown_happens { [] (shut_asked -> <> shut_over) }
#endif
#ifdef CLAIM_QUIET
ltl becomes_quiet { [] ((gone[0] && hw[0] == ON) -> <> (hw[0] != ON)) }
#endif
#ifdef CLAIM_SUSPEND
ltl suspend_goes_on { [] (pm_asked -> <> !pm_asked) }
#endif
