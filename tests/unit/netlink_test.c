/* SPDX-License-Identifier: GPL-2.0 */
/* Netlink messages with wrong lengths, or from dumps that changed meanwhile; what they tell. */
#include <errno.h>
#include <net/if.h>
#include <linux/if_link.h>
#include <signal.h>
#include <sys/time.h>

#include "lib/net/inet_sockets.h"
#include "lib/net/netlink.h"

#define SUBJECT "netlink "
#include "check.h"

struct two {
	struct nlmsghdr first;
	__u32 number;
	struct nlmsghdr second;
};

static struct two made(unsigned first, unsigned second, unsigned flags)
{
	return (struct two){ { .nlmsg_len = first, .nlmsg_type = 16 }, 1,
			     { .nlmsg_len = second, .nlmsg_type = 16, .nlmsg_flags = flags } };
}

static void lengths(void)
{
	static const unsigned wrong[] = { 0, 15, 17, 1 << 16, 1u << 31, ~0u, ~0u - 2 };
	struct two m = made(20, 16, NLM_F_MULTI);

	same("two messages", netlink_changed(&m, sizeof(m)), 0);
	m = made(18, 16, NLM_F_MULTI | NLM_F_DUMP_INTR);
	same("what changed meanwhile, after an odd length", netlink_changed(&m, sizeof(m)), 1);
	same("is said once", m.second.nlmsg_flags, NLM_F_MULTI);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		m = made(20, wrong[i], 0);
		same(text("the length %u", wrong[i]), netlink_changed(&m, sizeof(m)), -EBADMSG);
	}
	m = made(20, 16, 0);
	same("half a head", netlink_changed(&m, sizeof(m) - 8), -EBADMSG);
	same("nothing", netlink_changed(&m, 0), 0);
}

static void nothing(int number)
{
	(void)number;
}

/* About lo, thousands of times, while signal handlers interrupt the system calls. */
static void signals(void)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = {};
	struct sigaction action = { .sa_handler = nothing };
	struct rtnl_link_stats64 stats;
	int err = 0, nr = 0;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (; !err && nr < 5000; nr++)
		err = link_statistics(if_nametoindex("lo"), &stats);
	setitimer(ITIMER_REAL, &never, NULL);
	check(!err, "answers come despite signals", text("%s at %d", strerror(-err), nr));
}

static void probes(void)
{
	same("a window is not asked for yet", tcp_probed(300, 0), 0);
	same("as late as other segments are sent again", tcp_probed(300, 1), 300);
	same("each time after twice as long", tcp_probed(300, 3), 300 + 600 + 1200);
	same("first after 200 ms, where that is later", tcp_probed(5, 3), 200 + 400 + 800);
	same("at last every two minutes", tcp_probed(200, 15), 200 * 1023 + 5 * 120000);
	same("however large the count, and the first wait", tcp_probed(120000, 255), 255 * 120000);
}

int main(void)
{
	probes();
	lengths();
	signals();
	return failed > 0;
}
