/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Links that come and go: no program sees that, but the kernel counts it, and tells of it by
 * rtnetlink. What was told goes to a program, which asks the question of it as of any event.
 */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/net/netlink.h"
#include "lib/util/error.h"
#include "lib/util/grow.h"
#include "probes/told.h"
#include "probes/tracing.h"

#define ANSWER		65536
#define DUMP_MS		1000	/* most time until the next part of an answer */

struct link_seen {
	int ifindex;
	__u32 ups, downs;	/* as the kernel counts them, since the interface is there */
	bool up;
};

struct carriers {
	struct mnl_socket *sock;
	struct link_seen *seen;
	unsigned nr;
	char answer[ANSWER];
};

static void change_tell(struct tracing *t, const struct ifinfomsg *info, const char *name, bool up)
{
	struct link_change change = {
		.ifindex = info->ifi_index, .up = up,
		.loopback = !!(info->ifi_flags & IFF_LOOPBACK),
	};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &change, .ctx_size_in = sizeof(change));

	memcpy(change.name, name, sizeof(change.name));
	bpf_prog_test_run_opts(bpf_program__fd(t->skel->progs.rtnetlink), &opts);
}

static struct link_seen *seen_find(struct carriers *l, int ifindex)
{
	for (unsigned i = 0; i < l->nr; i++)
		if (l->seen[i].ifindex == ifindex)
			return &l->seen[i];
	return NULL;
}

/* A change is never followed by one of the same kind. */
static void changes_tell(struct tracing *t, const struct ifinfomsg *info, const char *name,
			 struct link_seen *seen, const struct link_seen *now)
{
	__u32 ups = now->ups - seen->ups, downs = now->downs - seen->downs;

	while (ups || downs) {
		bool up = seen->up ? !downs : ups;

		change_tell(t, info, name, up);
		if (up)
			ups--;
		else
			downs--;
		seen->up = up;
	}
	*seen = *now;
}

static int link_read(const struct nlmsghdr *nlh, void *arg)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(nlh);
	struct tracing *t = arg;
	struct carriers *l = t->links;
	struct link_seen *seen, now;
	char name[IFNAMSIZ] = "";
	size_t head = sizeof(*info);

	if (nlh->nlmsg_type != RTM_NEWLINK && nlh->nlmsg_type != RTM_DELLINK)
		return MNL_CB_OK;
	now = (struct link_seen){
		.ifindex = info->ifi_index,
		.ups = attr_number(attr_of(nlh, head, IFLA_CARRIER_UP_COUNT), 0),
		.downs = attr_number(attr_of(nlh, head, IFLA_CARRIER_DOWN_COUNT), 0),
		.up = attr_number(attr_of(nlh, head, IFLA_CARRIER), 0),
	};
	attr_text(attr_of(nlh, head, IFLA_IFNAME), name, sizeof(name));
	seen = seen_find(l, info->ifi_index);
	if (seen && nlh->nlmsg_type == RTM_DELLINK) {
		*seen = l->seen[--l->nr];
	} else if (seen) {
		changes_tell(t, info, name, seen, &now);
	} else if (nlh->nlmsg_type == RTM_NEWLINK) {
		/* what was before it came here is not ours */
		seen = grow(l->seen, l->nr, sizeof(*seen));
		if (!seen)
			return MNL_CB_OK;
		l->seen = seen;
		l->seen[l->nr++] = now;
	}
	return MNL_CB_OK;
}

/* Asks for all interfaces: what was not told, or lost for lack of room, shows by the counts. */
static int dump_ask(struct carriers *l)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *request = link_request(buf, NLM_F_DUMP, 0);

	request->nlmsg_seq = 1;
	return mnl_socket_sendto(l->sock, request, request->nlmsg_len) < 0 ? -errno : 0;
}

/* One message; 0 at the end of a dump, 1 else. -EAGAIN: nothing has come. */
static int message_take(struct tracing *t)
{
	struct carriers *l = t->links;
	ssize_t got = mnl_socket_recvfrom(l->sock, l->answer, sizeof(l->answer));

	if (got < 0)
		return errno == ENOBUFS ? dump_ask(l) ?: 1 : -errno;
	return mnl_cb_run(l->answer, got, 0, 0, link_read, t) == MNL_CB_STOP ? 0 : 1;
}

void links_read(struct tracing *t)
{
	while (message_take(t) >= 0)
		;
}

static int dump_take(struct tracing *t)
{
	struct pollfd fd = { .fd = links_fd(t), .events = POLLIN };
	int err = dump_ask(t->links);

	while (!err) {
		err = message_take(t);
		if (!err)
			return 0;
		if (err == -EAGAIN && poll(&fd, 1, DUMP_MS) == 0)
			return -ETIMEDOUT;
		err = err > 0 || err == -EAGAIN || err == -EINTR ? 0 : err;
	}
	return err;
}

int links_open(struct tracing *t)
{
	struct carriers *l = calloc(1, sizeof(*l));

	t->links = l;
	if (!l)
		return -ENOMEM;
	l->sock = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!l->sock || mnl_socket_bind(l->sock, RTMGRP_LINK, MNL_SOCKET_AUTOPID))
		return -errno;
	return dump_take(t);
}

int links_fd(const struct tracing *t)
{
	return mnl_socket_get_fd(t->links->sock);
}

void links_close(struct tracing *t)
{
	struct carriers *l = t->links;

	if (!l)
		return;
	if (l->sock) {
		links_read(t);
		dump_take(t);
		mnl_socket_close(l->sock);
	}
	free(l->seen);
	free(l);
	t->links = NULL;
}
