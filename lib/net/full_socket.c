/* SPDX-License-Identifier: GPL-2.0 */
/* Queries sock_diag for UDP sockets that lose packets. */
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>

#include "lib/net/full_socket.h"
#include "lib/net/netlink.h"

#define FULL(held, room) ((uint64_t)(held) * 10 >= (uint64_t)(room) * 9)

/* Is the second socket worse off than the first? */
static bool is_worse(const struct full_socket *a, const struct full_socket *b)
{
	bool full_a = FULL(a->held, a->room), full_b = FULL(b->held, b->room);

	return full_a != full_b ? full_b : b->drops > a->drops;
}

static int answer(const struct nlmsghdr *nlh, void *arg)
{
	const struct inet_diag_msg *msg = mnl_nlmsg_get_payload(nlh);
	struct full_socket *worst = arg, one = {
		.port = ntohs(msg->id.idiag_sport), .inode = msg->idiag_inode,
	};
	uint32_t mem[SK_MEMINFO_DROPS + 1] = {};

	attr_bytes(attr_of(nlh, sizeof(*msg), INET_DIAG_SKMEMINFO), mem, sizeof(mem));
	one.held = mem[SK_MEMINFO_RMEM_ALLOC];
	one.room = mem[SK_MEMINFO_RCVBUF];
	one.drops = mem[SK_MEMINFO_DROPS];
	if (one.drops && (!worst->drops || is_worse(worst, &one)))
		*worst = one;
	return MNL_CB_OK;
}

static int ask(int family, struct full_socket *worst)
{
	char buf[256];
	struct inet_diag_req_v2 *req = netlink_begin(buf, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP,
						     sizeof(*req));

	req->sdiag_family = family;
	req->sdiag_protocol = IPPROTO_UDP;
	req->idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1);
	req->idiag_states = ~0u;
	return netlink_ask(NETLINK_SOCK_DIAG, (void *)buf, answer, worst);
}

bool full_socket_find(struct full_socket *s)
{
	*s = (struct full_socket){};
	ask(AF_INET, s);
	ask(AF_INET6, s);
	if (!s->drops)
		return false;
	holder_find(s->inode, &s->by);
	return true;
}
