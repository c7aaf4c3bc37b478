/* SPDX-License-Identifier: GPL-2.0 */
/* The UDP socket with the full buffer, and the program that owns it. */
#ifndef NICPROBE_FULL_SOCKET_H
#define NICPROBE_FULL_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/proc/holders.h"

struct full_socket {
	unsigned port;			/* local port */
	uint32_t held, room;		/* bytes waiting to be read, and SO_RCVBUF */
	uint32_t drops;			/* packets lost since it was opened */
	__u32 inode;
	struct holder by;		/* a process that owns it; pid 0: none visible */
};

/*
 * Finds the UDP socket, in the namespace the process is in, that is full now and lost most; if none
 * is full, the one that lost most since it was opened. False: no losses, or the kernel does not
 * report them (sock_diag, CONFIG_INET_UDP_DIAG).
 */
bool full_socket_find(struct full_socket *);

#endif
