/* SPDX-License-Identifier: GPL-2.0 */
/* Queries sock_diag for sockets of TCP and UDP. */
#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

#include "lib/net/netlink.h"
#include "lib/net/inet_sockets.h"

#define TIMER_PROBE	4	/* idiag_timer: ICSK_TIME_PROBE0 */
#define PROBE_LEAST	200	/* ms: TCP_RTO_MIN… */
#define PROBE_MOST	120000	/* …and TCP_RTO_MAX */
#define OWN_WINDOW	(offsetof(struct tcp_info, tcpi_snd_wnd) + 4)	/* tcpi_rcv_wnd, 6.2 */

/* TCP_CLOSE_WAIT, TCP_LAST_ACK, TCP_CLOSING */
#define STATES_ENDED	(1 << 8 | 1 << 9 | 1 << 11)

struct listing {
	int (*fn)(const struct socket_facts *, void *arg);
	connection_fn *connection;	/* instead */
	void *arg;
	int err;
};

static void address_take(__u8 to[16], int family, const __be32 *from)
{
	if (family == AF_INET) {
		to[10] = to[11] = 0xff;
		memcpy(to + 12, from, 4);
	} else {
		memcpy(to, from, 16);
	}
}

static int connection_told(struct listing *a, const struct socket_facts *s,
			   const struct nlattr *info)
{
	struct tcp_info t = {};
	size_t has = mnl_attr_get_payload_len(info);

	memcpy(&t, mnl_attr_get_payload(info), has < sizeof(t) ? has : sizeof(t));
	return a->connection(s, &t, a->arg);
}

static int answer(const struct nlmsghdr *nlh, void *arg)
{
	const struct inet_diag_msg *msg = mnl_nlmsg_get_payload(nlh);
	struct listing *a = arg;
	struct socket_facts s = {
		.local_port = ntohs(msg->id.idiag_sport), .remote_port = ntohs(msg->id.idiag_dport),
		.inode = msg->idiag_inode, .probes = msg->idiag_timer == TIMER_PROBE,
		.ended = msg->idiag_state < 32 && 1u << msg->idiag_state & STATES_ENDED,
		.id = msg->id, .family = msg->idiag_family,
	};
	const struct nlattr *info = attr_of(nlh, sizeof(*msg), INET_DIAG_INFO);

	address_take(s.local, msg->idiag_family, msg->id.idiag_src);
	address_take(s.remote, msg->idiag_family, msg->id.idiag_dst);
	attr_bytes(attr_of(nlh, sizeof(*msg), INET_DIAG_SKMEMINFO), s.mem, sizeof(s.mem));
	if (a->fn)
		a->err = a->err ?: a->fn(&s, a->arg);
	else if (info)
		a->err = a->err ?: connection_told(a, &s, info);
	return MNL_CB_OK;
}

static int ask(int family, int protocol, unsigned states, struct listing *a)
{
	char buf[256];
	struct inet_diag_req_v2 *req = netlink_begin(buf, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP,
						     sizeof(*req));

	req->sdiag_family = family;
	req->sdiag_protocol = protocol;
	req->idiag_ext = 1 << ((a->fn ? INET_DIAG_SKMEMINFO : INET_DIAG_INFO) - 1);
	req->idiag_states = states;
	return netlink_ask(NETLINK_SOCK_DIAG, (void *)buf, answer, a);
}

static int ask_both(int protocol, unsigned states, struct listing *a)
{
	int err = ask(AF_INET, protocol, states, a) ?: a->err ?:
		  ask(AF_INET6, protocol, states, a);

	return err ?: a->err;
}

int sockets_each(int protocol, unsigned states, int (*fn)(const struct socket_facts *, void *),
		 void *arg)
{
	return ask_both(protocol, states, &(struct listing){ .fn = fn, .arg = arg });
}

int connections_each(connection_fn *fn, void *arg)
{
	return ask_both(IPPROTO_TCP, SOCKETS_ESTABLISHED,
			&(struct listing){ .connection = fn, .arg = arg });
}

/*
 * A timer asks the other end for its window: first after the retransmission timeout, but no less
 * than 200 ms (tcp_probe0_base()), then each time after twice as long as before, up to two minutes.
 * Where tcp_rto_max_ms (6.15) is less, the waits are shorter.
 */
__u64 tcp_probed(__u64 rto, unsigned times)
{
	__u64 wait = rto > PROBE_LEAST ? rto : PROBE_LEAST, all = 0;

	for (; times; times--) {
		wait = wait < PROBE_MOST ? wait : PROBE_MOST;
		all += wait;
		wait *= 2;
	}
	return all;
}

/* Where several such probes have no answer it is the host that is silent, and not its program. */
static __u64 others_closed(const struct tcp_info *t)
{
	__u64 waited = tcp_probed(t->tcpi_rto / 1000, t->tcpi_backoff);

	if (t->tcpi_probes > 1)
		return 0;
	return waited < t->tcpi_last_data_sent ? waited : t->tcpi_last_data_sent;
}

static int closed_answer(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attr = attr_of(nlh, sizeof(struct inet_diag_msg), INET_DIAG_INFO);
	const struct inet_diag_msg *msg = mnl_nlmsg_get_payload(nlh);
	struct tcp_closed *closed = arg;
	struct tcp_info t = {};
	__u32 window = -1;

	attr_bytes(attr, &t, OWN_WINDOW);
	if (attr && mnl_attr_get_payload_len(attr) >= OWN_WINDOW + sizeof(window))
		memcpy(&window, (const char *)mnl_attr_get_payload(attr) + OWN_WINDOW,
		       sizeof(window));
	if (!window)
		closed->own = t.tcpi_last_data_recv;
	if (msg->idiag_timer == TIMER_PROBE)
		closed->others = others_closed(&t);
	return MNL_CB_OK;
}

struct tcp_closed tcp_closed(const struct socket_facts *s)
{
	struct tcp_closed closed = {};
	char buf[256];
	struct inet_diag_req_v2 *req = netlink_begin(buf, SOCK_DIAG_BY_FAMILY, NLM_F_ACK,
						     sizeof(*req));

	req->sdiag_family = s->family;
	req->sdiag_protocol = IPPROTO_TCP;
	req->idiag_ext = 1 << (INET_DIAG_INFO - 1);
	req->idiag_states = -1;
	req->id = s->id;
	netlink_ask(NETLINK_SOCK_DIAG, (void *)buf, closed_answer, &closed);
	return closed;
}
