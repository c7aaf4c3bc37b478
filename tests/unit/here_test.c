/* SPDX-License-Identifier: GPL-2.0 */
/* Sockets are opened once in a network namespace, and none outlives the stay in it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/net/here.h"
#include "lib/net/iface.h"
#include "lib/net/netlink.h"

#define SUBJECT "here "
#include "check.h"

static int sockets(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *entry;
	char to[64];
	int nr = 0;

	while (d && (entry = readdir(d))) {
		ssize_t len = readlinkat(dirfd(d), entry->d_name, to, sizeof(to) - 1);

		nr += len > 7 && !strncmp(to, "socket:", 7);
	}
	if (d)
		closedir(d);
	return nr;
}

static int nothing(const struct nlmsghdr *nlh, void *arg)
{
	(void)nlh, (void)arg;
	return MNL_CB_OK;
}

static int generic_ask(void)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *request = netlink_request(buf, GENL_ID_CTRL, NLM_F_ACK,
						   CTRL_CMD_GETFAMILY);

	mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, "nlctrl");
	return netlink_ask(NETLINK_GENERIC, request, nothing, NULL);
}

/* Asks by each kind of socket; all is known of the loopback interface. */
static int ask_all(void)
{
	struct rtnl_link_stats64 stats;
	char name[IFNAMSIZ] = "";

	return link_statistics(1, &stats) ?: generic_ask() ?: !iface_name_of(1, name) ||
	       strcmp(name, "lo") || iface_index_of("lo") != 1 || !netns_cookie();
}

/* In a child: what it has of the sockets of its parent. */
static int in_child(void)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(sockets() + (ask_all() ? 100 : 0));
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_stay(int had)
{
	struct rtnl_link_stats64 stats;

	same("the first questions", ask_all(), 0);
	same("a socket for each kind", sockets(), had + 3);
	same("the same questions again", ask_all(), 0);
	same("by the same sockets", sockets(), had + 3);
	same("a child has none of them, and asks by its own", in_child(), had);
	same("the parent still has them", ask_all(), 0);
	same("of no interface", link_statistics(2147483647, &stats), -ENODEV);
	same("what failed is asked by a new one", sockets(), had + 2);
	same("which works", ask_all(), 0);
	same("no name", iface_name_of(2147483647, (char[IFNAMSIZ]){}), 0);
	same("no index", iface_index_of("no-such-iface"), 0);
	same("no index of a name that is too long", iface_index_of("no-such-interface"), 0);
}

int main(void)
{
	int home = open(NETNS_OURS, O_RDONLY | O_CLOEXEC), other, had;
	__u32 inode = netns_inode();
	__u64 cookie;

	if (unshare(CLONE_NEWNET)) {
		printf("skip here: needs root\n");
		return 0;
	}
	other = open(NETNS_OURS, O_RDONLY | O_CLOEXEC);
	same("back home", netns_go(home), 0);
	had = sockets();
	check_stay(had);
	cookie = netns_cookie();
	same("gone elsewhere", netns_go(other), 0);
	same("without a socket of home", sockets(), had);
	holds(netns_inode() && netns_inode() != inode, "it is another");
	check_stay(had);
	holds(netns_cookie() && netns_cookie() != cookie, "with another cookie");
	same("nowhere to go", netns_go(-1), -EBADF);
	same("it is still there", sockets(), had + 3);
	same("home again", netns_go(home), 0);
	same("without a socket of elsewhere", sockets(), had);
	same("home is what it was", netns_inode(), inode);
	holds(netns_cookie() == cookie, "and has its cookie");
	return failed > 0;
}
