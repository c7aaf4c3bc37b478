/* SPDX-License-Identifier: GPL-2.0 */
/* Looks among the UDP sockets for those that lose packets. */
#include <netinet/in.h>

#include "lib/net/full_socket.h"
#include "lib/net/inet_sockets.h"

#define FULL(held, room) ((uint64_t)(held) * 10 >= (uint64_t)(room) * 9)

/* Is the second socket worse off than the first? */
static bool is_worse(const struct full_socket *a, const struct full_socket *b)
{
	bool full_a = FULL(a->held, a->room), full_b = FULL(b->held, b->room);

	return full_a != full_b ? full_b : b->drops > a->drops;
}

static int look(const struct socket_facts *s, void *arg)
{
	struct full_socket *worst = arg, one = {
		.port = s->local_port, .inode = s->inode,
		.held = s->mem[SK_MEMINFO_RMEM_ALLOC], .room = s->mem[SK_MEMINFO_RCVBUF],
		.drops = s->mem[SK_MEMINFO_DROPS],
	};

	if (one.drops && (!worst->drops || is_worse(worst, &one)))
		*worst = one;
	return 0;
}

bool full_socket_find(struct full_socket *s)
{
	*s = (struct full_socket){};
	sockets_each(IPPROTO_UDP, SOCKETS_ALL, look, s);
	if (!s->drops)
		return false;
	holder_find(s->inode, &s->by);
	return true;
}
