/* SPDX-License-Identifier: GPL-2.0-only */
/* A rule that is in force is 0 here; model/run takes one out at a time with -DM_xxx=1. */
#ifndef M_ATONCE
#define M_ATONCE	0
#endif
#ifndef M_CLAIMED
#define M_CLAIMED	0
#endif
#ifndef M_CROSS
#define M_CROSS		0
#endif
#ifndef M_DEAF
#define M_DEAF		0
#endif
#ifndef M_DECIDE
#define M_DECIDE	0
#endif
#ifndef M_DEVLOCK
#define M_DEVLOCK	0
#endif
#ifndef M_DOUBLE
#define M_DOUBLE	0
#endif
#ifndef M_FAILADD
#define M_FAILADD	0
#endif
#ifndef M_FLUSHFIRST
#define M_FLUSHFIRST	0
#endif
#ifndef M_FREEQUAR
#define M_FREEQUAR	0
#endif
#ifndef M_GIVEBACK
#define M_GIVEBACK	0
#endif
#ifndef M_INLINE
#define M_INLINE	0
#endif
#ifndef M_KREF
#define M_KREF		0
#endif
#ifndef M_LASTPUT
#define M_LASTPUT	0
#endif
#ifndef M_LOWER
#define M_LOWER		0
#endif
#ifndef M_MBOX
#define M_MBOX		0
#endif
#ifndef M_NEEDERS
#define M_NEEDERS	0
#endif
#ifndef M_NOCALLFENCE
#define M_NOCALLFENCE	0
#endif
#ifndef M_NOCLOCK
#define M_NOCLOCK	0
#endif
#ifndef M_NOCLOSE
#define M_NOCLOSE	0
#endif
#ifndef M_NODRAIN
#define M_NODRAIN	0
#endif
#ifndef M_NOFENCE
#define M_NOFENCE	0
#endif
#ifndef M_NOFLUSH
#define M_NOFLUSH	0
#endif
#ifndef M_NOPIN
#define M_NOPIN		0
#endif
#ifndef M_NOPOLL
#define M_NOPOLL	0
#endif
#ifndef M_NORESET
#define M_NORESET	0
#endif
#ifndef M_NOSVCGATE
#define M_NOSVCGATE	0
#endif
#ifndef M_NOTIDLE
#define M_NOTIDLE	0
#endif
#ifndef M_NOTOMB
#define M_NOTOMB	0
#endif
#ifndef M_NOUNPARK
#define M_NOUNPARK	0
#endif
#ifndef M_NOZAP
#define M_NOZAP		0
#endif
#ifndef M_ONEPERMIT
#define M_ONEPERMIT	0
#endif
#ifndef M_ONEQUEUE
#define M_ONEQUEUE	0
#endif
#ifndef M_OWNFREE
#define M_OWNFREE	0
#endif
#ifndef M_PERMIT
#define M_PERMIT	0
#endif
#ifndef M_PMHOLD
#define M_PMHOLD	0
#endif
#ifndef M_RECHECK
#define M_RECHECK	0
#endif
#ifndef M_REOPEN
#define M_REOPEN	0
#endif
#ifndef M_SEQUENCE
#define M_SEQUENCE	0
#endif
#ifndef M_SHUTGATE
#define M_SHUTGATE	0
#endif
#ifndef M_SHUTLOCK
#define M_SHUTLOCK	0
#endif
#ifndef M_SHUTUP
#define M_SHUTUP	0
#endif
#ifndef M_STALEQUIET
#define M_STALEQUIET	0
#endif
#ifndef M_SWALLOW
#define M_SWALLOW	0
#endif
#ifndef M_WAITGROUP
#define M_WAITGROUP	0
#endif
