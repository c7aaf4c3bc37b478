/* SPDX-License-Identifier: GPL-2.0 */
/* Netlink requests, to rtnetlink and generic families. */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/kernel/feature.h"
#include "lib/net/here.h"
#include "lib/net/netlink.h"
#include "lib/util/shortage.h"

#define ANSWER	32768	/* one link: a few KiB, unless it has very many alternative names */
#define BEHIND	64	/* zeros behind a message, in case it is shorter than its header claims */
#define AGAIN	8	/* attempts at a dump that is interrupted by changes */

/* The whole answer, message after message. */
struct answers {
	char *data;
	size_t size, room;
};

static int answers_room(struct answers *a)
{
	size_t room = a->size * 2 + 2 * ANSWER;
	char *more;

	if (a->room - a->size >= ANSWER)
		return 0;
	more = realloc(a->data, room);
	if (!more)
		return -ENOMEM;
	a->data = more;
	a->room = room;
	return 0;
}

/* Checks every length: libmnl takes those above 2 GB as negative. */
int netlink_changed(void *answer, size_t size)
{
	bool changed = false;
	char *at = answer;

	for (size_t len; size; size -= len, at += len) {
		struct nlmsghdr *nlh = (void *)at;

		if (size < sizeof(*nlh) || nlh->nlmsg_len < sizeof(*nlh) || nlh->nlmsg_len > size)
			return -EBADMSG;
		changed |= !!(nlh->nlmsg_flags & NLM_F_DUMP_INTR);
		nlh->nlmsg_flags &= ~NLM_F_DUMP_INTR;
		len = NLMSG_ALIGN(nlh->nlmsg_len) < size ? NLMSG_ALIGN(nlh->nlmsg_len) : size;
	}
	return changed;
}

/*
 * Receives to the end. -EINTR: the dump was interrupted by a change, unless this is the `last` try.
 */
static int answers_take(struct answers *a, struct mnl_socket *sock, unsigned seq, bool last)
{
	unsigned port = mnl_socket_get_portid(sock);
	bool changed = false;
	int ret = 1, err;
	char *at;

	for (a->size = 0; ret > MNL_CB_STOP;) {
		ssize_t got;

		err = answers_room(a);
		if (err)
			return err;
		at = a->data + a->size;
		do	/* a signal handler without SA_RESTART */
			got = mnl_socket_recvfrom(sock, at, ANSWER);
		while (got < 0 && errno == EINTR);
		if (got < 0)
			return -errno;
		err = netlink_changed(at, got);
		if (err < 0)
			return err;
		changed |= err;
		ret = mnl_cb_run(at, got, seq, port, NULL, NULL);
		if (ret < 0)
			return -errno;
		memset(at + got, 0, NLMSG_ALIGN(got) - got);
		a->size += NLMSG_ALIGN(got);
	}
	if (changed && !last)
		return -EINTR;
	at = realloc(a->data, a->size + BEHIND);
	if (!at)
		return -ENOMEM;
	a->data = at;
	a->room = a->size + BEHIND;
	memset(at + a->size, 0, BEHIND);
	return 0;
}

static int ask(struct mnl_socket *sock, struct nlmsghdr *request, mnl_cb_t cb, void *arg)
{
	static unsigned seq;	/* a socket serves many requests: not the one of an answer before */
	struct answers a = {};
	int err = 0;

	/* `cb` sees complete dumps only, and each message once */
	for (unsigned i = 0; i < AGAIN; i++) {
		ssize_t sent;

		request->nlmsg_seq = ++seq;
		do
			sent = mnl_socket_sendto(sock, request, request->nlmsg_len);
		while (sent < 0 && errno == EINTR);
		err = sent < 0 ? -errno : answers_take(&a, sock, request->nlmsg_seq,
						       i == AGAIN - 1);
		if (err != -EINTR)
			break;
	}
	if (!err && mnl_cb_run(a.data, a.size, request->nlmsg_seq, mnl_socket_get_portid(sock),
			       cb, arg) < 0)
		err = -errno;
	free(a.data);
	return err;
}

int netlink_ask(int bus, struct nlmsghdr *request, mnl_cb_t cb, void *arg)
{
	struct mnl_socket *sock = here_netlink(bus);
	int err;

	if (!sock) {
		err = -errno;
		short_of(-err, "open a netlink socket");
		return err;
	}
	err = ask(sock, request, cb, arg);
	short_of(-err, "send a netlink request");
	if (err)
		here_netlink_drop(bus);
	return err;
}

const struct nlattr *attr_of(const struct nlmsghdr *nlh, size_t header, unsigned type)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, header)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

const struct nlattr *genl_attr(const struct nlmsghdr *nlh, unsigned type)
{
	return attr_of(nlh, sizeof(struct genlmsghdr), type);
}

const struct nlattr *attr_in(const struct nlattr *nest, unsigned type)
{
	const struct nlattr *attr;

	if (nest)
		mnl_attr_for_each_nested(attr, nest)
			if (mnl_attr_get_type(attr) == type)
				return attr;
	return NULL;
}

uint64_t attr_number(const struct nlattr *attr, uint64_t none)
{
	switch (attr ? mnl_attr_get_payload_len(attr) : 0) {
	case 1: return mnl_attr_get_u8(attr);
	case 2: return mnl_attr_get_u16(attr);
	case 4: return mnl_attr_get_u32(attr);
	case 8: return mnl_attr_get_u64(attr);
	}
	return none;
}

void attr_text(const struct nlattr *attr, char *to, size_t size)
{
	if (attr)
		snprintf(to, size, "%.*s", (int)mnl_attr_get_payload_len(attr),
			 mnl_attr_get_str(attr));
}

void attr_bytes(const struct nlattr *attr, void *to, size_t size)
{
	if (attr && mnl_attr_get_payload_len(attr) >= size)
		memcpy(to, mnl_attr_get_payload(attr), size);
}

void *netlink_begin(char *buf, unsigned type, unsigned flags, size_t size)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	return mnl_nlmsg_put_extra_header(nlh, size);
}

struct nlmsghdr *netlink_request(char *buf, int family, unsigned flags, unsigned command)
{
	struct genlmsghdr *genl = netlink_begin(buf, family, flags, sizeof(*genl));

	genl->cmd = command;
	genl->version = 1;
	return (void *)buf;
}

static int family_read(const struct nlmsghdr *nlh, void *arg)
{
	*(int *)arg = attr_number(genl_attr(nlh, CTRL_ATTR_FAMILY_ID), *(int *)arg);
	return MNL_CB_OK;
}

/* A family has the same number in all namespaces, as long as its module is loaded. */
int netlink_family(const char *name)
{
	static struct { char name[GENL_NAMSIZ]; int id; } known[8];	/* more than we use */
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *request = netlink_request(buf, GENL_ID_CTRL, NLM_F_ACK,
						   CTRL_CMD_GETFAMILY);
	const unsigned most = sizeof(known) / sizeof(*known);
	unsigned at = 0;
	int id = -ENOENT, err;

	if (denied(name))
		return -ENOENT;
	while (at < most && *known[at].name && strcmp(known[at].name, name))
		at++;
	if (at < most && *known[at].name)
		return known[at].id;
	mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, name);
	err = netlink_ask(NETLINK_GENERIC, request, family_read, &id);
	if (!err && id > 0 && at < most) {
		snprintf(known[at].name, sizeof(known[at].name), "%s", name);
		known[at].id = id;
	}
	return err ? err : id;
}

struct nlmsghdr *link_request(char *buf, unsigned flags, unsigned ifindex)
{
	struct ifinfomsg *info = netlink_begin(buf, RTM_GETLINK, flags, sizeof(*info));

	info->ifi_index = ifindex;
	return (void *)buf;
}

int tc_dump(unsigned ifindex, unsigned type, unsigned parent, mnl_cb_t cb, void *arg)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct tcmsg *tc = netlink_begin(buf, type, NLM_F_DUMP, sizeof(*tc));

	tc->tcm_ifindex = ifindex;
	tc->tcm_parent = parent;
	return netlink_ask(NETLINK_ROUTE, (void *)buf, cb, arg);
}

static int statistics_read(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *stats = attr_of(nlh, sizeof(struct if_stats_msg),
					     IFLA_STATS_LINK_64);
	size_t len = stats ? mnl_attr_get_payload_len(stats) : 0;

	/* it grows with new kernels */
	attr_bytes(stats, arg, len < sizeof(struct rtnl_link_stats64) ? len :
		   sizeof(struct rtnl_link_stats64));
	return MNL_CB_OK;
}

/* Not all of a link, of which they are a tenth. */
int link_statistics(unsigned ifindex, struct rtnl_link_stats64 *stats)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct if_stats_msg *ask = netlink_begin(buf, RTM_GETSTATS, NLM_F_ACK, sizeof(*ask));

	ask->ifindex = ifindex;
	ask->filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
	memset(stats, 0, sizeof(*stats));
	return netlink_ask(NETLINK_ROUTE, (void *)buf, statistics_read, stats);
}
