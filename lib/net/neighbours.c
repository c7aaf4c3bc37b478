/* SPDX-License-Identifier: GPL-2.0 */
/* The neighbours of an interface, as `ip neigh` lists them. */
#include <arpa/inet.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "lib/net/neighbours.h"
#include "lib/net/netlink.h"

struct neighbour_search {
	unsigned ifindex, nr;
	char *one;
	size_t size;
};

static int answer(const struct nlmsghdr *nlh, void *arg)
{
	const struct ndmsg *ndm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *to = attr_of(nlh, sizeof(*ndm), NDA_DST);
	struct neighbour_search *a = arg;

	if (ndm->ndm_ifindex != (int)a->ifindex ||
	    !(ndm->ndm_state & (NUD_INCOMPLETE | NUD_FAILED)))
		return MNL_CB_OK;
	if (to && mnl_attr_get_payload_len(to) >= (ndm->ndm_family == AF_INET ? 4 : 16) && !a->nr++)
		inet_ntop(ndm->ndm_family, mnl_attr_get_payload(to), a->one, a->size);
	return MNL_CB_OK;
}

unsigned neighbours_silent(unsigned ifindex, char *one, size_t size)
{
	struct neighbour_search a = { .ifindex = ifindex, .one = one, .size = size };
	char buf[256];

	*one = '\0';
	netlink_begin(buf, RTM_GETNEIGH, NLM_F_DUMP, sizeof(struct ndmsg));
	if (netlink_ask(NETLINK_ROUTE, (void *)buf, answer, &a))
		a.nr = 0;
	return a.nr;
}
