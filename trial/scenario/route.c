/* SPDX-License-Identifier: GPL-2.0 */
/* Finds out whether a default route of this machine depends on the port. */
#include <linux/rtnetlink.h>
#include <string.h>

#include "lib/net/netlink.h"
#include "trial/scenario/port.h"

#define LINKS_MAX	4096
#define ROUTES_MAX	64
#define DEPTH		8	/* a VLAN on a bond in a bridge … */

struct links {
	unsigned nr;
	struct { unsigned ifindex, master, lower; } list[LINKS_MAX];
	unsigned routes;
	unsigned route[ROUTES_MAX];	/* ifindexes of default routes */
};

static int links_read(const struct nlmsghdr *nlh, void *arg)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(nlh);
	struct links *l = arg;
	const struct nlattr *attr;
	bool elsewhere = false;

	if (l->nr == LINKS_MAX)
		return MNL_CB_OK;
	l->list[l->nr].ifindex = info->ifi_index;
	mnl_attr_for_each(attr, nlh, sizeof(*info)) {
		if (mnl_attr_get_type(attr) == IFLA_MASTER)
			l->list[l->nr].master = mnl_attr_get_u32(attr);
		if (mnl_attr_get_type(attr) == IFLA_LINK)
			l->list[l->nr].lower = mnl_attr_get_u32(attr);
		elsewhere |= mnl_attr_get_type(attr) == IFLA_LINK_NETNSID;
	}
	if (elsewhere)
		l->list[l->nr].lower = 0;
	l->nr++;
	return MNL_CB_OK;
}

static void route_add(struct links *l, unsigned ifindex)
{
	if (l->routes < ROUTES_MAX)
		l->route[l->routes++] = ifindex;
}

static int routes_read(const struct nlmsghdr *nlh, void *arg)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;
	struct links *l = arg;

	if (rtm->rtm_dst_len || rtm->rtm_type != RTN_UNICAST)
		return MNL_CB_OK;
	mnl_attr_for_each(attr, nlh, sizeof(*rtm)) {
		const struct rtnexthop *hop = mnl_attr_get_payload(attr);
		int len = mnl_attr_get_payload_len(attr);

		if (mnl_attr_get_type(attr) == RTA_OIF)
			route_add(l, mnl_attr_get_u32(attr));
		if (mnl_attr_get_type(attr) == RTA_MULTIPATH)
			for (; RTNH_OK(hop, len); len -= RTNH_ALIGN(hop->rtnh_len),
			     hop = RTNH_NEXT(hop))
				route_add(l, hop->rtnh_ifindex);
	}
	return MNL_CB_OK;
}

static void dump(unsigned type, unsigned family, mnl_cb_t cb, struct links *l)
{
	char buf[256];
	struct rtgenmsg *gen = netlink_begin(buf, type, NLM_F_DUMP, type == RTM_GETLINK ?
					     sizeof(struct ifinfomsg) : sizeof(struct rtmsg));

	gen->rtgen_family = family;
	netlink_ask(NETLINK_ROUTE, (void *)buf, cb, l);
}

/* Is `ifindex` `upper` or below it? Limited in depth: veths are each other's lower device. */
static bool below(const struct links *l, unsigned ifindex, unsigned upper, unsigned depth)
{
	if (ifindex == upper)
		return true;
	for (unsigned i = 0; depth && i < l->nr; i++) {
		if (l->list[i].ifindex == ifindex && l->list[i].master &&
		    below(l, l->list[i].master, upper, depth - 1))
			return true;
		if (l->list[i].lower == ifindex && l->list[i].ifindex != ifindex &&
		    below(l, l->list[i].ifindex, upper, depth - 1))
			return true;
	}
	return false;
}

bool port_is_needed(const struct port *p)
{
	static struct links l;
	bool needed = false;

	memset(&l, 0, sizeof(l));
	if (port_enter(p, NULL))
		return true;
	dump(RTM_GETLINK, AF_UNSPEC, links_read, &l);
	dump(RTM_GETROUTE, AF_INET, routes_read, &l);
	dump(RTM_GETROUTE, AF_INET6, routes_read, &l);
	for (unsigned i = 0; i < l.routes && !needed; i++)
		needed = below(&l, p->iface.ifindex, l.route[i], DEPTH);
	port_home();
	return needed;
}
