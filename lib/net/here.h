/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The network namespace the process is in, and sockets in it. They are opened once, and closed when
 * it is left: held longer, they would keep a namespace alive that is deleted meanwhile.
 */
#ifndef NICPROBE_HERE_H
#define NICPROBE_HERE_H

#include <libmnl/libmnl.h>
#include <net/if.h>
#include <stdbool.h>

/* setns() to a network namespace. All of nicprobe goes through here, by one thread. 0 or -errno. */
int netns_go(int netns);

/* A socket for ioctl(); not to close. -errno: it cannot be opened. */
int here_socket(void);
/* A bound socket to NETLINK_x. NULL and errno: it cannot be opened. */
struct mnl_socket *here_netlink(int bus);
/* Closes it: an answer may be left in it. */
void here_netlink_drop(int bus);

/* As if_indextoname() and if_nametoindex(), which open a socket for each call. */
bool iface_name_of(unsigned ifindex, char name[IFNAMSIZ]);
unsigned iface_index_of(const char *name);	/* 0: there is none */

#endif
