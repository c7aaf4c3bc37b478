/* SPDX-License-Identifier: GPL-2.0 */
/* Questions to the kernel over netlink. They concern the network namespace the process is in. */
#ifndef NICPROBE_NETLINK_H
#define NICPROBE_NETLINK_H

#include <libmnl/libmnl.h>
#include <stddef.h>

struct rtnl_link_stats64;

/*
 * Sends the request and shows every answer to `cb`, once all are there: signals do not cut them
 * short, and what changed while it was listed is asked for again. 0 or -errno.
 */
int netlink_ask(int bus, struct nlmsghdr *request, mnl_cb_t cb, void *arg);
/*
 * Does a message say that what is listed changed meanwhile? It does not any more then.
 * -EBADMSG: they are not as long as they say.
 */
int netlink_changed(void *answer, size_t size);

/* The number of a generic netlink family: what nlmsg_type must be. -ENOENT: there is none such. */
int netlink_family(const char *name);
/* Begins a request to one in `buf`; the attributes are put behind it. */
struct nlmsghdr *netlink_request(char *buf, int family, unsigned flags, unsigned command);

/* Begins a question about one interface, in `buf`; what IFLA_ attributes it has follow. */
struct nlmsghdr *link_request(char *buf, unsigned flags, unsigned ifindex);
/* What `ip -s link` shows; what the kernel does not tell is 0. 0 or -errno. */
int link_statistics(unsigned ifindex, struct rtnl_link_stats64 *);

#endif
