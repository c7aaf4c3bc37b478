/* SPDX-License-Identifier: GPL-2.0 */
/* Calls of the C library that look up names of hosts, by who calls and what comes of it. */
#ifndef NICPROBE_LOOKUP_H
#define NICPROBE_LOOKUP_H

#include "bpf/host/remote.h"

/* The numbers of EAI_*, without their sign: glibc and musl have the same. */
#define LOOKUP_ERRORS(E)						\
	E(BADFLAGS, 1) E(NONAME, 2) E(AGAIN, 3) E(FAIL, 4)		\
	E(NODATA, 5) E(FAMILY, 6) E(SOCKTYPE, 7) E(SERVICE, 8)		\
	E(ADDRFAMILY, 9) E(MEMORY, 10) E(SYSTEM, 11) E(OVERFLOW, 12)

enum lookup_result {
	LOOKUP_ANY,		/* of those for which the map has no room any more */
	LOOKUP_OK,
	LOOKUP_LEFT,		/* it did not return: siglongjmp() from a handler, exec() */
	LOOKUP_OTHER,		/* an error that is not known */
	LOOKUP_EAI,		/* and the number of the error */
#define E(name, nr) LOOKUP_##name = LOOKUP_EAI + (nr),
	LOOKUP_ERRORS(E)
#undef E
	NR_LOOKUP_RESULTS
};

struct lookup_key {
	char comm[COMM_SIZE];	/* of the thread */
	__u32 result;		/* enum lookup_result */
};
KEY_BYTES(struct lookup_key, 20);

struct lookup {
	__u64 calls;
	HIST(latency, LOGLIN_SLOTS);	/* ns, of those that returned */
};

/* The functions, and which of their arguments point to where the result and h_errno are put. */
#define LOOKUP_FUNCTIONS(F)						\
	F(getaddrinfo, 0, 0)						\
	F(gethostbyname, 0, 0)						\
	F(gethostbyname2, 0, 0)						\
	F(gethostbyname_r, 5, 6)					\
	F(gethostbyname2_r, 6, 7)

enum lookup_function {
#define F(name, result, error) LOOKUP_##name,
	LOOKUP_FUNCTIONS(F)
#undef F
	NR_LOOKUP_FUNCTIONS
};

/* The cookie of a probe: the function, and above it the number of the file. */
#define LOOKUP_FILE(file) ((__u64)(file) << 8)
#define LOOKUP_FUNCTION(cookie) ((cookie) & 0xff)

#endif
