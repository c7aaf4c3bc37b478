/* SPDX-License-Identifier: GPL-2.0 */
/* The network namespace the process is in, and sockets in it. */
#include <errno.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/net/here.h"
#include "lib/net/iface.h"
#include "lib/util/shortage.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71	/* Linux 5.14 */
#endif

static struct {
	__u32 inode;		/* 0: not known yet */
	__u64 cookie;		/* the same */
	bool has_socket;
	int socket;
	struct mnl_socket *netlink[MAX_LINKS];	/* by bus */
} here;

void here_netlink_drop(int bus)
{
	mnl_socket_close(here.netlink[bus]);
	here.netlink[bus] = NULL;
}

static void forget(void)
{
	if (here.has_socket)
		close(here.socket);
	for (int bus = 0; bus < MAX_LINKS; bus++)
		if (here.netlink[bus])
			here_netlink_drop(bus);
	memset(&here, 0, sizeof(here));
}

/* Of one socket, parent and child would take each other's answers. */
static void forget_in_children(void)
{
	static bool asked;

	if (!asked)
		pthread_atfork(NULL, NULL, forget);
	asked = true;
}

int netns_go(int netns)
{
	if (setns(netns, CLONE_NEWNET))
		return -errno;
	forget();
	return 0;
}

__u32 netns_inode(void)
{
	struct stat st;

	if (!here.inode)
		here.inode = stat(NETNS_OURS, &st) ? 0 : st.st_ino;
	return here.inode;
}

__u64 netns_cookie(void)
{
	socklen_t len = sizeof(here.cookie);
	int sock = here.cookie ? -1 : here_socket();

	if (sock >= 0 && getsockopt(sock, SOL_SOCKET, SO_NETNS_COOKIE, &here.cookie, &len))
		here.cookie = 0;
	return here.cookie;
}

int here_socket(void)
{
	int fd;

	if (here.has_socket)
		return here.socket;
	forget_in_children();
	fd = link_socket();
	if (fd < 0) {
		fd = -errno;
		short_of(-fd, "open a socket");
		return fd;
	}
	here.has_socket = true;
	return here.socket = fd;
}

struct mnl_socket *here_netlink(int bus)
{
	struct mnl_socket *sock = here.netlink[bus];

	if (sock)
		return sock;
	forget_in_children();
	sock = mnl_socket_open2(bus, SOCK_CLOEXEC);
	if (sock && mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID)) {
		int err = errno;

		mnl_socket_close(sock);
		errno = err;
		return NULL;
	}
	return here.netlink[bus] = sock;
}

bool iface_name_of(unsigned ifindex, char name[IFNAMSIZ])
{
	struct ifreq ifr = { .ifr_ifindex = ifindex };
	int sock = here_socket();

	if (sock < 0 || ioctl(sock, SIOCGIFNAME, &ifr))
		return false;
	snprintf(name, IFNAMSIZ, "%.*s", IFNAMSIZ - 1, ifr.ifr_name);
	return true;
}

unsigned iface_index_of(const char *name)
{
	struct ifreq ifr = {};
	int sock = strlen(name) < IFNAMSIZ ? here_socket() : -1;

	if (sock < 0)
		return 0;
	strcpy(ifr.ifr_name, name);
	return ioctl(sock, SIOCGIFINDEX, &ifr) ? 0 : ifr.ifr_ifindex;
}
