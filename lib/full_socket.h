/* SPDX-License-Identifier: GPL-2.0 */
/* The UDP socket whose buffer is full, and the program that has it. */
#ifndef NICPROBE_FULL_SOCKET_H
#define NICPROBE_FULL_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

struct full_socket {
	unsigned port;			/* it is bound to */
	uint32_t held, room;		/* bytes that wait to be read, and its SO_RCVBUF */
	uint32_t drops;			/* packets it lost since it was opened */
	uint64_t inode;
	int pid;			/* of a program that has it; 0: none that we may see */
	char program[32];		/* its name; "": not known */
	bool stopped;			/* by a signal or a debugger */
};

/*
 * Of the UDP sockets in the namespace the process is in the one that is full now and lost most; if
 * none is full, that lost most since it was opened. False: none lost anything, or the kernel does
 * not tell (sock_diag, CONFIG_INET_UDP_DIAG).
 */
bool full_socket_find(struct full_socket *);

/* Who has the socket of this inode: fills pid, program and stopped, by /proc. */
void full_socket_owner(struct full_socket *);

#endif
