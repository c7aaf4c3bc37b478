/* SPDX-License-Identifier: GPL-2.0 */
/* Temporary addresses: the kernel expires them even if the process can no longer remove them. */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/net/netlink.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "trial/load/tcp_load.h"

static int address_ask(const struct address *a, unsigned type, unsigned flags, unsigned seconds,
		       struct error *e)
{
	struct ifa_cacheinfo life = { .ifa_prefered = seconds, .ifa_valid = seconds };
	size_t len = a->family == AF_INET ? 4 : 16;
	char buf[256];
	struct nlmsghdr *nlh = (void *)buf;
	struct ifaddrmsg *msg = netlink_begin(buf, type, NLM_F_ACK | flags, sizeof(*msg));
	int err = port_enter(a->port, e);

	msg->ifa_family = a->family;
	msg->ifa_prefixlen = a->family == AF_INET ? 30 : 126;
	msg->ifa_flags = IFA_F_NODAD;
	msg->ifa_index = a->port->iface.ifindex;
	mnl_attr_put(nlh, IFA_LOCAL, len, a->bytes);
	mnl_attr_put(nlh, IFA_ADDRESS, len, a->bytes);
	if (type == RTM_NEWADDR)
		mnl_attr_put(nlh, IFA_CACHEINFO, sizeof(life), &life);
	if (!err)
		err = netlink_ask(NETLINK_ROUTE, nlh, NULL, NULL);
	port_home();
	return err;
}

int address_add(struct address *a, double seconds, struct error *e)
{
	const struct port *p = a->port;
	int err = address_ask(a, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, seconds + 1, e);

	if (!err)
		return 0;
	a->port = NULL;
	if (err == -EACCES && a->family == AF_INET6)
		return error_set(e, err, text("sysctl -w net.ipv6.conf.%s.disable_ipv6=0",
					      p->iface.name), "IPv6 is disabled on %s", p->label);
	return error_set(e, err, NULL, "cannot add a temporary address to %s: %s", p->label,
			 strerror(-err));
}

void address_remove(struct address *a)
{
	if (a->port)
		address_ask(a, RTM_DELADDR, 0, 0, NULL);
	a->port = NULL;
}
