/* SPDX-License-Identifier: GPL-2.0 */
/* Netlink requests in the network namespace the process is in. */
#ifndef NICPROBE_NETLINK_H
#define NICPROBE_NETLINK_H

#include <libmnl/libmnl.h>
#include <stddef.h>
#include <stdint.h>

struct rtnl_link_stats64;

/*
 * Sends the request, collects the whole answer, then passes each message to `cb`. Retries after
 * signals, and dumps that changed meanwhile. 0 or -errno.
 */
int netlink_ask(int bus, struct nlmsghdr *request, mnl_cb_t cb, void *arg);
/*
 * Does a message carry NLM_F_DUMP_INTR (a dump changed meanwhile)? Clears the flag. -EBADMSG: bad
 * message lengths.
 */
int netlink_changed(void *answer, size_t size);

/* The first attribute of a type behind a header of that size, or in a nest; NULL: there is none. */
const struct nlattr *attr_of(const struct nlmsghdr *nlh, size_t header, unsigned type);
const struct nlattr *attr_in(const struct nlattr *nest, unsigned type);
/* The same of a message of a generic family. */
const struct nlattr *genl_attr(const struct nlmsghdr *nlh, unsigned type);
/* An integer of any width; `none` if there is no such attribute, or it is no integer. */
uint64_t attr_number(const struct nlattr *attr, uint64_t none);
/* Copies a text, cut to `size`, or `size` bytes; without the attribute, or with fewer: nothing. */
void attr_text(const struct nlattr *attr, char *to, size_t size);
void attr_bytes(const struct nlattr *attr, void *to, size_t size);

/* The number of a generic netlink family, for nlmsg_type. -ENOENT: no such family. */
int netlink_family(const char *name);
/* Begins a request in `buf` with `size` zeros behind its header; returns these. */
void *netlink_begin(char *buf, unsigned type, unsigned flags, size_t size);
/* Begins a request to a family in `buf`; append attributes to it. */
struct nlmsghdr *netlink_request(char *buf, int family, unsigned flags, unsigned command);

/* Begins a request about an interface in `buf`; append IFLA_ attributes to it. */
struct nlmsghdr *link_request(char *buf, unsigned flags, unsigned ifindex);
/* Dumps qdiscs or filters (RTM_GETQDISC, RTM_GETTFILTER) of an interface. 0 or -errno. */
int tc_dump(unsigned ifindex, unsigned type, unsigned parent, mnl_cb_t cb, void *arg);
/* The counters of `ip -s link`; those not reported are 0. 0 or -errno. */
int link_statistics(unsigned ifindex, struct rtnl_link_stats64 *);

#endif
