/* SPDX-License-Identifier: GPL-2.0 */
/* Queries sock_diag for sockets of TCP and UDP. */
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <string.h>

#include "lib/net/netlink.h"
#include "lib/net/inet_sockets.h"

struct listing {
	int (*fn)(const struct socket_facts *, void *arg);
	void *arg;
	int err;
};

static void address_take(__u8 to[16], int family, const __be32 *from)
{
	if (family == AF_INET) {
		to[10] = to[11] = 0xff;
		memcpy(to + 12, from, 4);
	} else {
		memcpy(to, from, 16);
	}
}

static int answer(const struct nlmsghdr *nlh, void *arg)
{
	const struct inet_diag_msg *msg = mnl_nlmsg_get_payload(nlh);
	struct listing *a = arg;
	struct socket_facts s = {
		.local_port = ntohs(msg->id.idiag_sport), .remote_port = ntohs(msg->id.idiag_dport),
		.inode = msg->idiag_inode,
	};

	address_take(s.local, msg->idiag_family, msg->id.idiag_src);
	address_take(s.remote, msg->idiag_family, msg->id.idiag_dst);
	attr_bytes(attr_of(nlh, sizeof(*msg), INET_DIAG_SKMEMINFO), s.mem, sizeof(s.mem));
	a->err = a->err ?: a->fn(&s, a->arg);
	return MNL_CB_OK;
}

static int ask(int family, int protocol, unsigned states, struct listing *a)
{
	char buf[256];
	struct inet_diag_req_v2 *req = netlink_begin(buf, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP,
						     sizeof(*req));

	req->sdiag_family = family;
	req->sdiag_protocol = protocol;
	req->idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1);
	req->idiag_states = states;
	return netlink_ask(NETLINK_SOCK_DIAG, (void *)buf, answer, a);
}

int sockets_each(int protocol, unsigned states, int (*fn)(const struct socket_facts *, void *),
		 void *arg)
{
	struct listing a = { .fn = fn, .arg = arg };
	int err = ask(AF_INET, protocol, states, &a) ?: a.err ?:
		  ask(AF_INET6, protocol, states, &a);

	return err ?: a.err;
}
