/* SPDX-License-Identifier: GPL-2.0 */
/* Gives sockets that were there before their cookies, by listing them. */
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "lib/net/netlink.h"
#include "probes/cookies.h"

#define ALL_STATES	~0u

static int pass(const struct nlmsghdr *nlh, void *arg)
{
	(void)nlh, (void)arg;
	return MNL_CB_OK;
}

void cookies_make(void)
{
	static const unsigned char families[] = { AF_INET, AF_INET6 };
	static const unsigned char protocols[] = { IPPROTO_TCP, IPPROTO_UDP };
	char buf[512];

	for (unsigned i = 0; i < 4; i++) {
		struct inet_diag_req_v2 *request = netlink_begin(buf, SOCK_DIAG_BY_FAMILY,
								 NLM_F_DUMP, sizeof(*request));

		request->sdiag_family = families[i / 2];
		request->sdiag_protocol = protocols[i % 2];
		request->idiag_states = ALL_STATES;
		netlink_ask(NETLINK_SOCK_DIAG, (void *)buf, pass, NULL);
	}
}
