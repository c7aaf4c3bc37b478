/* SPDX-License-Identifier: GPL-2.0 */
/* System calls of processes to sockets: how many, how large, and how they fail. */
#ifndef NICPROBE_SOCK_H
#define NICPROBE_SOCK_H

#include "bpf/host/remote.h"

/* Calls that do the same have one name: sock.bpf.h has which. */
#define SOCK_CALLS(C)							\
	C(socket) C(socketpair) C(bind) C(listen) C(connect) C(accept)	\
	C(send) C(recv) C(shutdown) C(setsockopt) C(getsockopt)		\
	C(getsockname) C(getpeername)

enum sock_call {
	SOCK_NO_CALL,
#define C(name) SOCK_CALL_##name,
	SOCK_CALLS(C)
#undef C
	NR_SOCK_CALLS
};

/* Errors that have a word of their own; the first four say that it is not time yet. */
#define SOCK_ERRORS(E)							\
	E(EAGAIN) E(EINPROGRESS) E(EALREADY) E(EINTR)			\
	E(EPERM) E(ENOENT) E(EBADF) E(ENOMEM) E(EACCES) E(EFAULT)	\
	E(EINVAL) E(ENFILE) E(EMFILE) E(EPIPE) E(EDESTADDRREQ)		\
	E(EMSGSIZE) E(EPROTOTYPE) E(ENOPROTOOPT) E(EPROTONOSUPPORT)	\
	E(ESOCKTNOSUPPORT)						\
	E(EOPNOTSUPP) E(EAFNOSUPPORT) E(EADDRINUSE) E(EADDRNOTAVAIL)	\
	E(ENETDOWN) E(ENETUNREACH) E(ECONNABORTED) E(ECONNRESET)	\
	E(ENOBUFS) E(EISCONN) E(ENOTCONN) E(ETOOMANYREFS) E(ETIMEDOUT)	\
	E(ECONNREFUSED) E(EHOSTUNREACH)
#define NR_SOCK_PENDING 4

enum sock_error {
#define E(name) SOCK_##name,
	SOCK_ERRORS(E)
#undef E
	SOCK_EOTHER,
	NR_SOCK_ERRORS
};

#define SOCK_ROWS	2048	/* keys, and one more for those that find no room */

/* `call` 0: any, of those for which the map has no room any more. */
struct sock_key {
	__u16 call;		/* enum sock_call */
	__u16 family, type;	/* AF_INET, SOCK_STREAM */
	__u16 protocol;
	char comm[COMM_SIZE];	/* of the thread */
};
KEY_BYTES(struct sock_key, 24);

struct sock_row {		/* struct sock is the kernel's */
	__u64 calls;
	__u64 failed;		/* of these, without those whose time has not come yet */
	__u64 errors[NR_SOCK_ERRORS];
	__u64 bytes;
	__u64 unread;		/* calls of several messages whose sizes could not be read */
	HIST(size, COUNTS_SLOTS);	/* bytes of a message sent or received */
};

#endif
