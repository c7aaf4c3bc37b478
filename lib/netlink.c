/* SPDX-License-Identifier: GPL-2.0 */
/* Questions to the kernel over netlink: rtnetlink and generic families alike. */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <time.h>

#include "kernel.h"
#include "netlink.h"

#define ANSWER	32768	/* one link: a few KiB, unless it has very many other names */

int netlink_ask(int bus, struct nlmsghdr *request, mnl_cb_t cb, void *arg)
{
	struct mnl_socket *sock = mnl_socket_open2(bus, SOCK_CLOEXEC);
	unsigned port, seq = time(NULL);
	char answer[ANSWER];
	ssize_t got = -1;
	int ret = -1, err = 0;

	if (!sock)
		return -errno;
	request->nlmsg_seq = seq;
	if (!mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) &&
	    mnl_socket_sendto(sock, request, request->nlmsg_len) >= 0) {
		port = mnl_socket_get_portid(sock);
		do {
			got = mnl_socket_recvfrom(sock, answer, sizeof(answer));
			ret = got < 0 ? -1 : mnl_cb_run(answer, got, seq, port, cb, arg);
		} while (ret > MNL_CB_STOP);
	}
	if (ret < 0)
		err = -errno;
	mnl_socket_close(sock);
	return err;
}

struct nlmsghdr *netlink_request(char *buf, int family, unsigned flags, unsigned command)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = family;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = command;
	genl->version = 1;
	return nlh;
}

static int family_read(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			*(int *)arg = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

int netlink_family(const char *name)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *request = netlink_request(buf, GENL_ID_CTRL, NLM_F_ACK,
						   CTRL_CMD_GETFAMILY);
	int id = -ENOENT, err;

	if (kernel_cannot(name))
		return -ENOENT;
	mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, name);
	err = netlink_ask(NETLINK_GENERIC, request, family_read, &id);
	return err ? err : id;
}

struct nlmsghdr *link_request(char *buf, unsigned flags, unsigned ifindex)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *info;

	nlh->nlmsg_type = RTM_GETLINK;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	info = mnl_nlmsg_put_extra_header(nlh, sizeof(*info));
	info->ifi_family = AF_UNSPEC;
	info->ifi_index = ifindex;
	return nlh;
}

static int statistics_read(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct ifinfomsg)) {
		size_t len = mnl_attr_get_payload_len(attr);

		if (mnl_attr_get_type(attr) == IFLA_STATS64)	/* it grows with the kernels */
			memcpy(arg, mnl_attr_get_payload(attr),
			       len < sizeof(struct rtnl_link_stats64) ? len :
			       sizeof(struct rtnl_link_stats64));
	}
	return MNL_CB_OK;
}

int link_statistics(unsigned ifindex, struct rtnl_link_stats64 *stats)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];

	memset(stats, 0, sizeof(*stats));
	return netlink_ask(NETLINK_ROUTE, link_request(buf, NLM_F_ACK, ifindex), statistics_read,
			   stats);
}
