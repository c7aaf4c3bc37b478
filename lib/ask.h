/* SPDX-License-Identifier: GPL-2.0 */
/* Questions to the kernel, in the network namespace the process is in. */
#ifndef NICPROBE_ASK_H
#define NICPROBE_ASK_H

#include <libmnl/libmnl.h>

/* Sends the rtnetlink request and shows every answer to `cb`. 0 or -errno. */
int netlink_ask(struct nlmsghdr *request, mnl_cb_t cb, void *arg);
/* SIOCETHTOOL: `command` begins with its number, and holds the answer. 0 or -errno. */
int ethtool_ask(const char *name, void *command);

#endif
