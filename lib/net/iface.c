/* SPDX-License-Identifier: GPL-2.0 */
/* Reads one interface: rtnetlink for what it is, ethtool for its driver, sysfs for its queues. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/net/here.h"
#include "lib/net/iface.h"
#include "lib/net/netlink.h"
#include "lib/net/sysfs.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lib/util/near.h"

#define LOWER_UP (1 << 16)	/* IFF_LOWER_UP of linux/if.h, which goes not with net/if.h */

#define ALTNAMSIZ	128	/* ALTIFNAMSIZ, 5.5+; a struct near holds it */
#define DEFAULT_RING	1000	/* also the kernel's default for txqueuelen */

struct link_answer {
	struct iface *iface;
	unsigned txqlen;
	char kind[32];		/* "veth"; "": a real device */
};

static void copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

/* Leaves out statistics: most of the answer, and slow with some drivers. */
static struct nlmsghdr *short_request(char *buf, unsigned flags, unsigned ifindex)
{
	struct nlmsghdr *nlh = link_request(buf, flags, ifindex);

	mnl_attr_put_u32(nlh, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	return nlh;
}

static void mac_read(const struct nlattr *attr, __u8 *mac)
{
	const __u8 *from = mnl_attr_get_payload(attr);
	unsigned len = mnl_attr_get_payload_len(attr);

	/* InfiniBand addresses have 20 bytes; the last ones identify the port */
	if (len > 7) {
		from += len - 7;
		len = 7;
	}
	memcpy(mac, from, len);
	mac[7] = len;
}

/*
 * Programs in several modes have no common IFLA_XDP_PROG_ID: take the driver's, which runs first.
 */
static __u32 xdp_read(const struct nlattr *nest)
{
	static const unsigned modes[] = {
		IFLA_XDP_DRV_PROG_ID, IFLA_XDP_PROG_ID, IFLA_XDP_SKB_PROG_ID, IFLA_XDP_HW_PROG_ID,
	};
	__u32 id = 0;

	for (unsigned i = 0; i < sizeof(modes) / sizeof(*modes) && !id; i++)
		id = attr_number(attr_in(nest, modes[i]), 0);
	return id;
}

static int link_read(const struct nlmsghdr *nlh, void *arg)
{
#define ATTR(type) attr_of(nlh, sizeof(*info), type)
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(nlh);
	struct link_answer *l = arg;
	struct iface *i = l->iface;

	i->ifindex = info->ifi_index;
	i->up = info->ifi_flags & IFF_UP;
	i->carrier = info->ifi_flags & LOWER_UP;
	i->loopback = info->ifi_type == ARPHRD_LOOPBACK;
	attr_text(ATTR(IFLA_IFNAME), i->name, sizeof(i->name));
	attr_text(ATTR(IFLA_PARENT_DEV_NAME), i->parent, sizeof(i->parent));
	attr_text(attr_in(ATTR(IFLA_LINKINFO), IFLA_INFO_KIND), l->kind, sizeof(l->kind));
	i->mtu = attr_number(ATTR(IFLA_MTU), 0);
	l->txqlen = attr_number(ATTR(IFLA_TXQLEN), 0);
	i->max_rx_queues = attr_number(ATTR(IFLA_NUM_RX_QUEUES), 0);
	i->max_tx_queues = attr_number(ATTR(IFLA_NUM_TX_QUEUES), 0);
	i->xdp_id = xdp_read(ATTR(IFLA_XDP));
	i->generic_xdp_id = attr_number(attr_in(ATTR(IFLA_XDP), IFLA_XDP_SKB_PROG_ID), 0);
	attr_text(ATTR(IFLA_QDISC), i->qdisc, sizeof(i->qdisc));
	if (ATTR(IFLA_ADDRESS))
		mac_read(ATTR(IFLA_ADDRESS), i->mac);
	return MNL_CB_OK;
#undef ATTR
}

int link_socket(void)
{
	return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

int link_flags(int sock, const char *iface)
{
	struct ifreq ifr = {};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", iface);
	return ioctl(sock, SIOCGIFFLAGS, &ifr) ? -errno : (unsigned short)ifr.ifr_flags;
}

/* By ioctl: ethtool netlink has no driver name, and no rings before 5.6. */
int ethtool_ask(const char *name, void *command)
{
	struct ifreq ifr = { .ifr_data = command };
	int sock = here_socket();

	if (sock < 0)
		return sock;
	copy(ifr.ifr_name, sizeof(ifr.ifr_name), name);
	return ioctl(sock, SIOCETHTOOL, &ifr) ? -errno : 0;
}

static void driver_read(struct iface *i, const char *kind)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };

	if (i->loopback)
		copy(i->driver, sizeof(i->driver), "loopback");
	else if (!ethtool_ask(i->name, &info) && info.driver[0])
		snprintf(i->driver, sizeof(i->driver), "%.31s", info.driver);
	else
		copy(i->driver, sizeof(i->driver), kind[0] ? kind : "unknown");
}

static void ring_read(struct iface *i, unsigned txqlen)
{
	struct ethtool_ringparam ring = { .cmd = ETHTOOL_GRINGPARAM };

	ethtool_ask(i->name, &ring);	/* stays 0 on failure */
	i->tx_ring = ring.tx_pending ?: txqlen ?: DEFAULT_RING;
	i->rx_ring = ring.rx_pending;
	i->max_rx_ring = ring.rx_max_pending;
}

/* Drivers report one frame to mean off. */
static void moderation_read(struct iface *i)
{
	struct ethtool_coalesce c = { .cmd = ETHTOOL_GCOALESCE };

	ethtool_ask(i->name, &c);	/* stays 0 on failure */
	i->tx_usecs = c.tx_coalesce_usecs;
	i->tx_frames = c.tx_max_coalesced_frames > 1 ? c.tx_max_coalesced_frames : 0;
	i->rx_adaptive = c.use_adaptive_rx_coalesce;
	i->tx_adaptive = c.use_adaptive_tx_coalesce;
}

static bool has_queue(int sys, const char *direction, unsigned queue)
{
	return !faccessat(sys, text("queues/%s-%u", direction, queue), F_OK, 0);
}

static unsigned rx_guess, tx_guess;	/* as many as there were last, of whichever interface */

void iface_expect_queues(unsigned rx, unsigned tx)
{
	rx_guess = rx;
	tx_guess = tx;
}

/*
 * They are numbered without a gap: no need to list hundreds of them. `most`: those created; 0: not
 * known.
 */
static unsigned queues_count(int sys, const char *direction, unsigned most, unsigned *guess)
{
	unsigned has = 0, lacks = most ?: MAX_QUEUES + 1;
	unsigned try = *guess && *guess <= lacks ? *guess - 1 : lacks - 1;

	for (bool first = true; has < lacks; first = false) {
		bool there = has_queue(sys, direction, try);

		if (there)
			has = try + 1;
		else
			lacks = try;
		try = first && there ? has : has + (lacks - has) / 2;
	}
	return *guess = has;
}

/*
 * IFLA_NUM_*_QUEUES is the number created. The number in use is not in netlink for every driver
 * (veth and tun have no ethtool channels, or not always), but sysfs has a directory per queue.
 */
static void queues_read(struct iface *i)
{
	int sys = sysfs_open(i->name, i->ifindex);

	if (sys >= 0) {
		i->queues_known = true;
		i->inode = sysfs_inode(sys);
		i->rx_queues = queues_count(sys, "rx", i->max_rx_queues, &rx_guess);
		i->tx_queues = queues_count(sys, "tx", i->max_tx_queues, &tx_guess);
		i->gso_frames = sysfs_number(sys, "tun_flags") & IFF_VNET_HDR;
		close(sys);
	}
	/* Kernels without RPS have no rx-N and no IFLA_NUM_RX_QUEUES. */
	i->rx_queues = i->rx_queues ?: i->max_rx_queues ?: 1;
	i->tx_queues = i->tx_queues ?: i->max_tx_queues;
	if (i->max_rx_queues < i->rx_queues)
		i->max_rx_queues = i->rx_queues;
	if (i->max_tx_queues < i->tx_queues)
		i->max_tx_queues = i->tx_queues;
}

__u64 iface_inode(unsigned ifindex)
{
	char name[IF_NAMESIZE];
	int sys = iface_name_of(ifindex, name) ? sysfs_open(name, ifindex) : -1;
	__u64 inode = sys < 0 ? 0 : sysfs_inode(sys);

	if (sys >= 0)
		close(sys);
	return inode;
}

static int queues_check(const struct iface *i, struct error *e)
{
	unsigned most = i->max_rx_queues > i->max_tx_queues ? i->max_rx_queues : i->max_tx_queues;

	if (most > MAX_QUEUES)
		return error_set(e, -ERANGE, "", "%s has %u queues; nicprobe supports at most %u",
				 i->name, most, MAX_QUEUES);
	if (!i->tx_queues)
		return error_set(e, -ERANGE, "", "%s has no transmit queue", i->name);
	return 0;
}

/* One request, one link. -ENODEV comes without a message. */
static int iface_get(struct nlmsghdr *request, struct iface *i, struct error *e)
{
	struct link_answer l = { .iface = i };
	int err;

	memset(i, 0, sizeof(*i));
	err = netlink_ask(NETLINK_ROUTE, request, link_read, &l);
	if (!err && !i->ifindex)
		err = -ENODEV;
	if (err == -ENODEV)
		return err;
	if (err)
		return error_set(e, err, "", "cannot list interfaces: %s",
				 strerror(-err));
	i->netns = netns_inode();
	driver_read(i, l.kind);
	ring_read(i, l.txqlen);
	moderation_read(i);
	queues_read(i);
	return queues_check(i, e);
}

/* The reason why dev_valid_name() of net/core/dev.c rejects a name; NULL: it is valid. */
static const char *name_wrong(const char *name)
{
	if (!name[0])
		return "the name is empty";
	if (strlen(name) >= ALTNAMSIZ)
		return "the name is too long";
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return "that is a directory";
	for (; *name; name++)
		if (*name == '/' || *name == ':' || isspace((unsigned char)*name))
			return "names contain no '/', ':' or blank";
	return NULL;
}

static int near_link(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attr, *alt;

	mnl_attr_for_each(attr, nlh, sizeof(struct ifinfomsg)) {
		if (mnl_attr_get_type(attr) == IFLA_IFNAME)
			near_try(arg, mnl_attr_get_str(attr));
		if (mnl_attr_get_type(attr) != IFLA_PROP_LIST)
			continue;
		mnl_attr_for_each_nested(alt, attr)
			if (mnl_attr_get_type(alt) == IFLA_ALT_IFNAME)
				near_try(arg, mnl_attr_get_str(alt));
	}
	return MNL_CB_OK;
}

static int missing(const char *name, struct error *e)
{
	struct near near = near_to(name);
	char buf[MNL_SOCKET_BUFFER_SIZE];

	netlink_ask(NETLINK_ROUTE, short_request(buf, NLM_F_DUMP, 0), near_link, &near);
	if (near.name[0])
		return error_set(e, -ENODEV, "ip link", "no interface \"%s\" here; is it \"%s\"?",
				 name, near.name);
	return error_set(e, -ENODEV, "ip link", "no interface \"%s\" here", name);
}

static int main_name(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct ifinfomsg))
		if (mnl_attr_get_type(attr) == IFLA_IFNAME)
			snprintf(arg, IFNAMSIZ, "%s", mnl_attr_get_str(attr));
	return MNL_CB_OK;
}

bool iface_main_name(const char *other, char name[IFNAMSIZ])
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *request;

	*name = 0;
	if (strlen(other) < IFNAMSIZ)
		return iface_name_of(iface_index_of(other), name);
	if (name_wrong(other))
		return false;
	request = short_request(buf, NLM_F_ACK, 0);
	mnl_attr_put_strz(request, IFLA_ALT_IFNAME, other);
	return !netlink_ask(NETLINK_ROUTE, request, main_name, name) && *name;
}

int iface_read(const char *name, struct iface *i, struct error *e)
{
	const char *wrong = name_wrong(name);
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *request;
	int err;

	if (wrong)
		return error_set(e, -ENODEV, "ip link",
				 "\"%.40s\" is not a valid interface name: %s", name, wrong);
	request = short_request(buf, NLM_F_ACK, 0);
	/* Both attributes match any name of a device, but the first must be short. */
	mnl_attr_put_strz(request, strlen(name) < IFNAMSIZ ? IFLA_IFNAME : IFLA_ALT_IFNAME, name);
	err = iface_get(request, i, e);
	return err == -ENODEV ? missing(name, e) : err;
}

int host_or_iface_read(const char *name, struct iface *i, struct error *e)
{
	if (strcmp(name, HOST_NAME) || iface_index_of(name))
		return iface_read(name, i, e);
	*i = (struct iface){
		.name = HOST_NAME, .driver = "sockets", .netns = netns_inode(),
		.up = true, .host = true,
	};
	return 0;
}

int iface_read_index(unsigned ifindex, struct iface *i, struct error *e)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	int err = -ENODEV;

	if (ifindex && ifindex <= INT_MAX)
		err = iface_get(short_request(buf, NLM_F_ACK, ifindex), i, e);
	if (err == -ENODEV)
		error_set(e, err, "ip link", "no interface with index %u here", ifindex);
	return err;
}
