/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about TCP of the host: connections that fail, segments sent again. */
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>

#include "bpf/connect/connect.h"
#include "bpf/tcp/tcp.h"
#include "findings/buffers.h"
#include "findings/subjects.h"
#include "lib/util/log.h"

enum { NO_PORT, UNANSWERED, REFUSED, SYN_LOST, AGAIN };

static const struct limit one = { 1, "one attempt or more" };
static const struct limit some = { 3, "3 attempts or more" };
static const struct limit half = { .5, "half of the attempts of a process to an address and port" };
static const struct limit few = { 10, "10 SYNs or more" };
static const struct limit share = { .05, "a twentieth of the attempts" };
static const struct limit segments = { 20, "20 segments or more" };
static const struct limit lossy = { .02, "2% of the segments with data" };

static const struct finding_kind kinds[] = {
	[NO_PORT] = {
		.id = "connect-no-port", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(connect), 0),
		.title = "No local port is free for a connection",
		.means = "A connection needs a local port that no other connection to the same "
			 "address and port has, and those in TIME_WAIT keep theirs for a minute. "
			 "The attempt fails with EADDRNOTAVAIL.",
		.when = "{1} found no free port",
		.remedy = "A wider range of ports: sysctl net.ipv4.ip_local_port_range. Better: "
			  "keep connections open and use them again, or connect to several "
			  "addresses.",
		.symptom = "Cannot assign requested address",
		.limits = { &one },
	},
	[UNANSWERED] = {
		.id = "connect-unanswered", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(connect), 0),
		.title = "A host does not answer connections",
		.means = "No answer came to a SYN and its repetitions, or a router or the silent "
			 "neighbour was reported instead: the host is down, or a firewall drops "
			 "the SYN or its answer.",
		.when = "{1} ended without an answer, and they are {2}",
		.remedy = "Is the host up, and the way to it: ip route get ADDRESS, ping ADDRESS. "
			  "Firewalls on the way should reject rather than drop.",
		.symptom = "Programs hang for minutes before they fail",
		.limits = { &some, &half },
	},
	[REFUSED] = {
		.id = "connect-refused", RATED(WARNING, LOSS),
		RESTS(ALWAYS, ON(connect), 0),
		.title = "A host refuses connections",
		.means = "It answers the SYN with a reset: nothing listens at this port, or a "
			 "firewall rejects it.",
		.when = "{1} were refused, and they are {2}",
		.remedy = "At that host: ss -ltn shows what listens, and at which address.",
		.symptom = "Connection refused",
		.limits = { &some, &half },
	},
	[SYN_LOST] = {
		.id = "connect-syn-lost", RATED(WARNING, LOSS),
		RESTS(ALWAYS, ON(connect), 0),
		.title = "SYNs are lost on the way to a host",
		.means = "A SYN is sent again after one second, as nothing is known of the way "
			 "yet: each loss makes a connection a second late. Where the queue of the "
			 "listener is full, the listener drops them.",
		.when = "{1} were sent again, more than {2}, and connections were established",
		.remedy = "At the listener: nstat -az TcpExtListenDrops TcpExtListenOverflows; if "
			  "they grow, a larger backlog (net.core.somaxconn, and that of the "
			  "program). Else look for losses on the way: nicprobe doctor.",
		.symptom = "Some connections take one or three seconds longer than others",
		.limits = { &few, &share },
	},
	[AGAIN] = {
		.id = "tcp-retransmits", RATED(WARNING, LOSS),
		RESTS(ALWAYS, ON(tcp), 0),
		.title = "Many segments to a host are sent again",
		.means = "They, or their acknowledgements, were lost on the way. Each loss halves "
			 "the rate of its connection, or stops it until a timer expires.",
		.when = "{1} were sent again to one host, and they are at least {2}",
		.remedy = "Where they are lost: nicprobe doctor at both ends shows whether it is "
			  "in a card or a host; else on the way between.",
		.symptom = "Transfers to some hosts are slow",
		.limits = { &segments, &lossy },
	},
};

/* "192.0.2.1 port 443" */
static const char *whom(const struct connect_key *key)
{
	char remote[64];

	remote_text(&key->remote, remote, sizeof(remote));
	return key->port ? text("%s port %u", remote, key->port) : "others";
}

static const char *who(const struct connect_key *key)
{
	char comm[COMM_SIZE + 1];

	comm_text(key->comm, comm, sizeof(comm));
	return text("%s", comm);
}

/* The row with the most of what `of` counts. */
struct worst {
	const struct connect_key *key;
	uint64_t n, attempts;
};

static struct worst worst_of(struct evidence *e, uint64_t (*of)(const struct connect *))
{
	struct worst w = {};

	for_each_row(r, e, METER_connect) {
		const struct connect *row = (const void *)r.words;

		if (of(row) > w.n)
			w = (struct worst){ r.key, of(row), row->attempts };
	}
	return w;
}

static uint64_t portless(const struct connect *c)
{
	return c->ends[CONNECT_NO_PORT];
}

static uint64_t unanswered(const struct connect *c)
{
	return c->ends[CONNECT_UNANSWERED] + c->ends[CONNECT_UNREACHABLE];
}

static uint64_t refused(const struct connect *c)
{
	return c->ends[CONNECT_REFUSED];
}

/* SYNs of connections that came about all the same. */
static uint64_t syns_lost(const struct connect *c)
{
	return c->ends[CONNECT_ESTABLISHED] && !unanswered(c) ? c->syns_again : 0;
}

/* Does the range begin above the privileged ports? Its first number is the first port. */
static bool ports_can_grow(const struct evidence *e)
{
	bool host;

	return sysctl_value(e, "net/ipv4/ip_local_port_range", &host) > 1024;
}

static void judge_ports(struct evidence *e)
{
	const struct sockmem *waiting = sockets_all(e, IPPROTO_TCP, SOCKMEM_TIME_WAIT);
	struct worst w = worst_of(e, portless);
	struct finding *f;

	if (!worth(e, w.n, one.value))
		return;
	f = finding_add(e->f, &kinds[NO_PORT], -1, "%" PRIu64 " connection%s of %s to %s found no "
			"free local port%s", w.n, w.n == 1 ? "" : "s", who(w.key), whom(w.key),
			waiting && waiting->sockets[0] ? text("; %" PRIu64 " of this host are in "
			"TIME_WAIT", (uint64_t)waiting->sockets[0]) : "");
	finding_counted(e, f, w.n, "without_port", "attempts");
	if (waiting)
		finding_fact(f, "time_wait", waiting->sockets[0], "connections");
	finding_advise(f, "let %s keep its connections and use them again", who(w.key));
	if (ports_can_grow(e)) {
		finding_changes(f, "the range of local ports to 1024 to 65535");
		finding_fix(f, "sysctl", "-w", "net.ipv4.ip_local_port_range=1024 65535");
	}
}

static void judge_end(struct evidence *e, unsigned kind, uint64_t (*of)(const struct connect *),
		      const char *what)
{
	struct worst w = worst_of(e, of);
	struct finding *f;

	if (!worth(e, w.n, some.value) || w.n < half.value * w.attempts)
		return;
	f = finding_add(e->f, &kinds[kind], -1, "%s %s %" PRIu64 " of %" PRIu64 " connections of "
			"%s", whom(w.key), what, w.n, w.attempts, who(w.key));
	finding_counted(e, f, w.n, "failed", "attempts");
	finding_fact(f, "attempts", w.attempts, "attempts");
	if (kind == REFUSED)
		finding_advise(f, "at that host, what listens there: ss -ltn sport = :%u",
			       w.key->port);
	else
		finding_advise(f, "is there a way to it, and does it answer otherwise: ping, "
			       "ip route get");
}

static void judge_syns(struct evidence *e)
{
	struct worst w = worst_of(e, syns_lost);
	struct finding *f;

	if (!worth(e, w.n, few.value) || w.n < share.value * w.attempts)
		return;
	f = finding_add(e->f, &kinds[SYN_LOST], -1, "%" PRIu64 " SYNs of %s to %s were sent again, "
			"in %" PRIu64 " attempts", w.n, who(w.key), whom(w.key), w.attempts);
	finding_counted(e, f, w.n, "syns_again", "segments");
	finding_fact(f, "attempts", w.attempts, "attempts");
	finding_advise(f, "if the listener drops them, nstat -az TcpExtListenDrops grows there; a "
		       "larger backlog helps");
}

static uint64_t sent_again(const struct tcp *t)
{
	return t->again[TCP_AGAIN_TIMEOUT] + t->again[TCP_AGAIN_FAST] + t->again[TCP_AGAIN_PROBE];
}

static void judge_again(struct evidence *e)
{
	const struct tcp_key *key = NULL;
	const struct tcp *most = NULL;
	struct finding *f;
	char remote[64];

	for_each_row(r, e, METER_tcp) {
		const struct tcp *t = (const void *)r.words;

		if (sent_again(t) < lossy.value * t->segments ||
		    (most && sent_again(t) <= sent_again(most)))
			continue;
		most = t;
		key = r.key;
	}
	if (!most || !worth(e, sent_again(most), segments.value))
		return;
	remote_text(&key->remote, remote, sizeof(remote));
	f = finding_add(e->f, &kinds[AGAIN], -1, "%" PRIu64 " of %" PRIu64 " segments to %s were "
			"sent again, %" PRIu64 " of them after a timeout", sent_again(most),
			(uint64_t)most->segments, remote, (uint64_t)most->again[TCP_AGAIN_TIMEOUT]);
	finding_counted(e, f, sent_again(most), "again", "segments");
	finding_fact(f, "segments", most->segments, "segments");
	finding_advise(f, "nicprobe doctor shows whether this host loses them; else look at the "
		       "way to %s", remote);
}

static void judge(struct evidence *e)
{
	judge_ports(e);
	judge_end(e, UNANSWERED, unanswered, "did not answer");
	judge_end(e, REFUSED, refused, "refused");
	judge_syns(e);
	judge_again(e);
}

DEFINE_SUBJECT(connecting, "TCP of the host", .host = true)
