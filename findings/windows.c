/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about what holds TCP connections of the host back. */
#include <stdio.h>

#include "bpf/tcp/tcp.h"
#include "findings/subjects.h"
#include "lib/util/log.h"

enum { WINDOW, SNDBUF, WMEM };

static const struct limit second = { 1, "one second or more" };
static const struct limit share = { .3, "30% of the time in which they had data to send" };
static const struct limit far = { .01, "10 ms or more" };

#define WMEM_USUAL	4194304UL	/* the third number of tcp_wmem, as the kernel sets it */

static const struct finding_kind kinds[] = {
	[WINDOW] = {
		.id = "tcp-receive-window", RATED(WARNING, WAIT),
		RESTS(ALWAYS, ON(tcp), 0),
		.title = "The receive window of a host is too small for its distance",
		.means = "A connection may have no more data under way than the receiver's window, "
			 "and so sends no more than one window in each round trip. Its receive "
			 "buffer is too small, or the program there reads too slowly.",
		.when = "connections to one host that ended were held back by its window for {1} "
			"together, and for {2}, at a round trip of {3} (median)",
		.silent = "Short round trips: there the window only passes on how fast the other "
			  "program reads.",
		.remedy = "At the receiver, a larger buffer: no SO_RCVBUF in the program, and the "
			  "third number of net.ipv4.tcp_rmem at least rate times round trip. "
			  "ss -tni there shows rcv_space.",
		.symptom = "Transfers to a far host are slow, the lines are idle",
		.limits = { &second, &share, &far },
	},
	[SNDBUF] = {
		.id = "tcp-send-buffer", RATED(WARNING, WAIT),
		RESTS(ALWAYS, ON(tcp), 0),
		.title = "A send buffer whose size was set is too small for the distance",
		.means = "What is sent stays in the send buffer until it is acknowledged, so a "
			 "connection has no more data under way than the buffer holds, and sends "
			 "no more than that in each round trip. The kernel enlarges a buffer as "
			 "the connection needs it, but not one whose size was set, as programs and "
			 "some drivers do (SO_SNDBUF).",
		.when = "connections to one host that ended had all of a full send buffer under "
			"way, of a size that was set, for {1} together, and for {2}, at a round "
			"trip of {3} (median)",
		.silent = "Short round trips, and waits for the congestion window or the "
			  "receiver's: the buffer is full then, too, and is not the reason.",
		.remedy = "In the program: do not set SO_SNDBUF. Then the third number of "
			  "net.ipv4.tcp_wmem is the limit: where the size is more than that, set "
			  "a larger one (net.core.wmem_max), or raise tcp_wmem first.",
		.symptom = "Transfers to a far host are slow, the lines are idle",
		.limits = { &second, &share, &far },
	},
	[WMEM] = {
		.id = "tcp-send-limit", RATED(WARNING, WAIT),
		RESTS(ALWAYS, ON(tcp), 0),
		.title = "The limit of send buffers is too small for the distance",
		.means = "What is sent stays in the send buffer until it is acknowledged. The "
			 "kernel has enlarged the buffers as far as the third number of "
			 "net.ipv4.tcp_wmem lets it, and connections send all of that in each "
			 "round trip, and no more.",
		.when = "connections to one host that ended had all of a full send buffer under "
			"way, as large as net.ipv4.tcp_wmem lets it grow, for {1} together, and "
			"for {2}, at a round trip of {3} (median)",
		.silent = "As tcp-send-buffer.",
		.remedy = "A larger third number of net.ipv4.tcp_wmem: twice rate times round "
			  "trip, as the overhead of the buffers counts.",
		.symptom = "Transfers to a far host are slow, the lines are idle",
		.limits = { &second, &share, &far },
	},
};

/* What held connections to one host back the longest. */
struct held_host {
	const struct tcp_key *key;
	const struct tcp *row;
	double held, busy, rtt;		/* seconds */
};

static double sum_of(const char *metric, const struct tcp *t)
{
	const struct metric *m = metric_of(&meter_tcp, metric);

	return ((const uint64_t *)t)[m->at] * m->scale;
}

/* Of one host: not of those that share a row, as they find no room in the table. */
static struct held_host longest(struct evidence *e, const char *metric)
{
	const struct metric *rtt = metric_of(&meter_tcp, "rtt");
	struct held_host most = {};

	for_each_row(r, e, METER_tcp) {
		const struct tcp_key *key = r.key;
		const struct tcp *t = (const void *)r.words;
		struct held_host one = {
			key, t, sum_of(metric, t), sum_of("busy", t),
			hist_percentile(rtt, words_at(&t->rtt), .5),
		};

		if (one.held >= second.value && one.held >= share.value * one.busy &&
		    one.rtt >= far.value && one.held > most.held &&
		    !remote_is_none(&key->remote))
			most = one;
	}
	return most;
}

/* `what`: "the receive window of 192.0.2.1 held connections to it" */
static struct finding *held_by(struct evidence *e, unsigned kind, const struct held_host *h,
			       const char *what)
{
	struct finding *f;

	f = finding_add(e->f, &kinds[kind], -1, "%s back for %s, %.0f%% of the time in which they "
			"had data to send; a round trip takes %s", what, finding_time(h->held),
			100 * h->held / h->busy, finding_time(h->rtt));
	finding_harm(f, h->rtt);
	finding_strikes(f, rate(e, h->row->segments));
	finding_fact(f, "held", h->held, "seconds");
	finding_fact(f, "busy", h->busy, "seconds");
	return f;
}

static void judge_window(struct evidence *e, const struct held_host *h, const char *remote)
{
	struct finding *f = held_by(e, WINDOW, h, text("the receive window of %s held connections "
						       "to it", remote));

	finding_advise(f, "at %s: a larger receive buffer (SO_RCVBUF of the program, "
		       "net.ipv4.tcp_rmem), or does it read too slowly: ss -tmi", remote);
}

static void judge_sndbuf(struct evidence *e, const struct held_host *h, const char *remote)
{
	struct finding *f = held_by(e, SNDBUF, h, text("full send buffers, whose size was set, "
						       "held connections to %s", remote));
	const char *more = "";
	unsigned long wmem[3];
	bool host;

	/* the kernel enlarges no buffer beyond tcp_wmem, but a program may set more than that */
	if (sysctl_values(e, "net/ipv4/tcp_wmem", wmem, 3, &host))
		more = text(", or, where tb is more than %lu bytes (the third number of "
			    "net.ipv4.tcp_wmem), set more, or raise that", wmem[2]);
	finding_advise(f, "ss -tnmp dst %s names the program (tb: the size): let it not set "
		       "SO_SNDBUF%s", remote, more);
}

/* Four times as much, and no less than the kernel's own choice for a host with memory. */
static void judge_wmem(struct evidence *e, const struct held_host *h, const char *remote)
{
	struct finding *f = held_by(e, WMEM, h, text("send buffers as large as tcp_wmem allows "
						     "held connections to %s", remote));
	unsigned long now[3];
	bool host;

	if (!sysctl_values(e, "net/ipv4/tcp_wmem", now, 3, &host))
		return;
	finding_fact(f, "limit", now[2], "bytes");
	finding_changes(f, "the largest send buffer, from %lu bytes", now[2]);
	finding_fix(f, "sysctl", "-w", text("net.ipv4.tcp_wmem=%lu %lu %lu", now[0], now[1],
					    now[2] < WMEM_USUAL / 4 ? WMEM_USUAL : 4 * now[2]));
}

static void judge(struct evidence *e)
{
	static const struct {
		const char *metric;
		void (*judge)(struct evidence *, const struct held_host *, const char *remote);
	} by[] = {
		{ "limited_by_receiver", judge_window },
		{ "limited_by_sndbuf", judge_sndbuf },
		{ "limited_by_wmem", judge_wmem },
	};

	for (unsigned i = 0; i < sizeof(by) / sizeof(*by); i++) {
		struct held_host h = longest(e, by[i].metric);
		char remote[64];

		if (!h.row)
			continue;
		remote_text(&h.key->remote, remote, sizeof(remote));
		by[i].judge(e, &h, remote);
	}
}

DEFINE_SUBJECT(windows, "Windows and buffers that hold TCP of the host back", .host = true)
