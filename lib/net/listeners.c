/* SPDX-License-Identifier: GPL-2.0 */
/* Queries sock_diag for TCP sockets that listen. */
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <string.h>

#include "lib/net/listeners.h"
#include "lib/net/netlink.h"

#define STATE_LISTEN	10	/* include/net/tcp_states.h */

struct listing {
	int (*fn)(const struct listener *, void *arg);
	void *arg;
	int err;
};

static int answer(const struct nlmsghdr *nlh, void *arg)
{
	const struct inet_diag_msg *msg = mnl_nlmsg_get_payload(nlh);
	uint32_t mem[SK_MEMINFO_DROPS + 1] = {};
	struct listing *a = arg;
	struct listener l = {
		.port = ntohs(msg->id.idiag_sport), .inode = msg->idiag_inode,
		.waiting = msg->idiag_rqueue, .limit = msg->idiag_wqueue,
	};

	if (msg->idiag_family == AF_INET) {
		l.address[10] = l.address[11] = 0xff;
		memcpy(l.address + 12, msg->id.idiag_src, 4);
	} else {
		memcpy(l.address, msg->id.idiag_src, 16);
	}
	attr_bytes(attr_of(nlh, sizeof(*msg), INET_DIAG_SKMEMINFO), mem, sizeof(mem));
	l.drops = mem[SK_MEMINFO_DROPS];
	a->err = a->err ?: a->fn(&l, a->arg);
	return MNL_CB_OK;
}

static int ask(int family, struct listing *a)
{
	char buf[256];
	struct inet_diag_req_v2 *req = netlink_begin(buf, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP,
						     sizeof(*req));

	req->sdiag_family = family;
	req->sdiag_protocol = IPPROTO_TCP;
	req->idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1);
	req->idiag_states = 1 << STATE_LISTEN;
	return netlink_ask(NETLINK_SOCK_DIAG, (void *)buf, answer, a);
}

int listeners_each(int (*fn)(const struct listener *, void *), void *arg)
{
	struct listing a = { .fn = fn, .arg = arg };
	int err = ask(AF_INET, &a) ?: a.err ?: ask(AF_INET6, &a);

	return err ?: a.err;
}
