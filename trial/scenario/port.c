/* SPDX-License-Identifier: GPL-2.0 */
/* Opens a port and queries the kernel about it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/net/here.h"
#include "lib/net/netdev.h"
#include "lib/net/netlink.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "trial/scenario/port.h"

static int home = -1;

static void home_know(void)
{
	if (home < 0)
		home = open(NETNS_OURS, O_RDONLY | O_CLOEXEC);
}

void port_home(void)
{
	if (home >= 0)
		netns_go(home);
}

int port_enter(const struct port *p, struct error *e)
{
	int err = netns_go(p->netns);

	return err ? error_set(e, err, "run it as root",
			       "cannot enter the network namespace of %s: %s", p->label,
			       strerror(-err)) : 0;
}

int port_open(const char *label, struct port *p, struct error *e)
{
	const char *slash = strchr(label, '/');
	int err = 0;

	home_know();
	p->netns = -1;
	snprintf(p->label, sizeof(p->label), "%s", label);
	if (slash)
		err = netns_enter(text("%.*s", (int)(slash - label), label), e);
	if (!err)
		err = iface_read(slash ? slash + 1 : label, &p->iface, e);
	if (!err)
		p->netns = open(NETNS_OURS, O_RDONLY | O_CLOEXEC);
	if (!err && p->netns < 0)
		err = error_set(e, -errno, NULL, "cannot open the network namespace of %s: %s",
				label, strerror(errno));
	port_home();
	return err;
}

void port_close(struct port *p)
{
	if (p->netns >= 0)
		close(p->netns);
	p->netns = -1;
}

struct end {			/* the other end of a veth */
	unsigned link;		/* its ifindex; 0: not a veth */
	int nsid;		/* its namespace, by the id in the port's namespace; -1: the same */
	bool veth;
};

static int end_read(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attr, *inner;
	struct end *e = arg;

	mnl_attr_for_each(attr, nlh, sizeof(struct ifinfomsg)) {
		if (mnl_attr_get_type(attr) == IFLA_LINK)
			e->link = mnl_attr_get_u32(attr);
		if (mnl_attr_get_type(attr) == IFLA_LINK_NETNSID)
			e->nsid = mnl_attr_get_u32(attr);
		if (mnl_attr_get_type(attr) != IFLA_LINKINFO)
			continue;
		mnl_attr_for_each_nested(inner, attr)
			if (mnl_attr_get_type(inner) == IFLA_INFO_KIND)
				e->veth = !strcmp(mnl_attr_get_str(inner), "veth");
	}
	return MNL_CB_OK;
}

static int nsid_read(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct rtgenmsg))
		if (mnl_attr_get_type(attr) == 1)	/* NETNSA_NSID */
			*(int *)arg = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

/* The id of another namespace in the present one; -1: none. */
static int nsid_of(int netns)
{
	char buf[256];
	int id = -1;

	netlink_begin(buf, RTM_GETNSID, NLM_F_ACK, sizeof(struct rtgenmsg));
	mnl_attr_put_u32((void *)buf, 3, netns);	/* NETNSA_FD */
	netlink_ask(NETLINK_ROUTE, (void *)buf, nsid_read, &id);
	return id;
}

struct end_search {
	const struct port *port;
	struct end end;
	char label[96];
};

/* Called in each namespace: is this the namespace of the peer? Then sets s->label. */
static bool peer_here(const char *name, void *arg)
{
	struct end_search *s = arg;
	char iface[IF_NAMESIZE];
	int here = open(NETNS_OURS, O_RDONLY | O_CLOEXEC);
	bool found = false;

	if (here < 0 || port_enter(s->port, NULL))
		goto out;
	found = s->end.nsid < 0 ? netns_inode() == s->port->iface.netns :
		nsid_of(here) == s->end.nsid;
	netns_go(s->end.nsid < 0 ? s->port->netns : here);
	found = found && iface_name_of(s->end.link, iface);
	if (found && s->end.nsid < 0) {
		const char *slash = strchr(s->port->label, '/');

		snprintf(s->label, sizeof(s->label), "%.*s%s", slash ?
			 (int)(slash + 1 - s->port->label) : 0, s->port->label, iface);
	} else if (found) {
		snprintf(s->label, sizeof(s->label), "%.70s%s%s", name, *name ? "/" : "", iface);
	}
	netns_go(here);
out:
	if (here >= 0)
		close(here);
	return found;
}

int port_peer(const struct port *p, struct port *peer, struct error *e)
{
	struct end_search s = { .port = p, .end.nsid = -1 };
	char buf[256];
	int err = port_enter(p, e);

	if (!err)
		err = netlink_ask(NETLINK_ROUTE, link_request(buf, NLM_F_ACK, p->iface.ifindex),
				  end_read, &s.end);
	port_home();
	if (err || !s.end.veth || !s.end.link)
		return err ?: -ENOENT;
	netns_each(peer_here, &s, NULL);
	port_home();
	if (!*s.label)
		return error_set(e, -ENODEV, "ip netns attach NAME PID, with a process in it; or "
				 "--peer NETNS/IFACE", "cannot open the other end of %s: its "
				 "network namespace has no name", p->label);
	return port_open(s.label, peer, e);
}

static int features_read(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == NETDEV_A_DEV_XDP_FEATURES)
			*(int *)arg = mnl_attr_get_u64(attr) & 0xffff;
	return MNL_CB_OK;
}

int port_features(const struct port *p)
{
	int features = -1, family = port_enter(p, NULL) ?: netlink_family("netdev");
	char buf[256];

	if (family > 0) {
		struct nlmsghdr *nlh = netlink_request(buf, family, NLM_F_ACK, NETDEV_CMD_DEV_GET);

		mnl_attr_put_u32(nlh, NETDEV_A_DEV_IFINDEX, p->iface.ifindex);
		netlink_ask(NETLINK_GENERIC, nlh, features_read, &features);
	}
	port_home();
	return features;
}

bool port_has_carrier(const struct port *p)
{
	int sock = port_enter(p, NULL) ? -1 : link_socket();
	int flags = link_flags(sock, p->iface.name);

	if (sock >= 0)
		close(sock);
	port_home();
	return flags < 0 || flags & IFF_RUNNING;
}

bool port_forwards(const struct port *p, bool ipv6)
{
	FILE *f = port_enter(p, NULL) ? NULL :	/* /proc/sys/net follows the thread's namespace */
		  fopen(text("/proc/sys/net/ipv%d/conf/%s/forwarding", ipv6 ? 6 : 4,
			     p->iface.name), "re");
	bool forwards = f && fgetc(f) == '1';

	if (f)
		fclose(f);
	port_home();
	return forwards;
}

int port_statistics(const struct port *p, struct rtnl_link_stats64 *s, struct error *e)
{
	int err = port_enter(p, e) ?: link_statistics(p->iface.ifindex, s);

	port_home();
	if (err)
		return error_set(e, err, NULL, "cannot read the statistics of %s: %s", p->label,
				 strerror(-err));
	return 0;
}
