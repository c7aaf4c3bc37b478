/* SPDX-License-Identifier: GPL-2.0 */
/* The UDP socket whose buffer is full, and the program that has it. */
#ifndef NICPROBE_FULL_SOCKET_H
#define NICPROBE_FULL_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/proc/holders.h"

struct full_socket {
	unsigned port;			/* it is bound to */
	uint32_t held, room;		/* bytes that wait to be read, and its SO_RCVBUF */
	uint32_t drops;			/* packets it lost since it was opened */
	__u32 inode;
	struct holder by;		/* a program that has it; pid 0: none that we may see */
};

/*
 * Of the UDP sockets in the namespace the process is in the one that is full now and lost most; if
 * none is full, that lost most since it was opened. False: none lost anything, or the kernel does
 * not tell (sock_diag, CONFIG_INET_UDP_DIAG).
 */
bool full_socket_find(struct full_socket *);

#endif
