/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about what holds TCP connections of the host back. */
#include <stdio.h>

#include "bpf/tcp/tcp.h"
#include "findings/subjects.h"
#include "lib/util/log.h"

enum { WINDOW };

static const struct limit second = { 1, "one second or more" };
static const struct limit share = { .3, "30% of the time in which they had data to send" };
static const struct limit far = { .01, "10 ms or more" };

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
};

static void judge_row(struct evidence *e, const struct tcp_key *key, const struct tcp *t)
{
	double scale = metric_of(&meter_tcp, "busy")->scale;	/* that of by_receiver, too */
	double busy = t->busy.sum * scale, held = t->by_receiver.sum * scale;
	double rtt = hist_percentile(metric_of(&meter_tcp, "rtt"), words_at(&t->rtt), .5);
	struct finding *f;
	char remote[64];

	if (held < second.value || held < share.value * busy || !(rtt >= far.value))
		return;
	remote_text(&key->remote, remote, sizeof(remote));
	f = finding_add(e->f, &kinds[WINDOW], -1, "the receive window of %s held connections to "
			"it back for %s, %.0f%% of the time in which they had data to send; a "
			"round trip takes %s", remote, finding_time(held), 100 * held / busy,
			finding_time(rtt));
	finding_harm(f, rtt);
	finding_strikes(f, rate(e, t->segments));
	finding_fact(f, "held", held, "seconds");
	finding_fact(f, "busy", busy, "seconds");
	finding_advise(f, "at %s: a larger receive buffer (SO_RCVBUF of the program, "
		       "net.ipv4.tcp_rmem), or does it read too slowly: ss -tmi", remote);
}

static void judge(struct evidence *e)
{
	for_each_row(r, e, METER_tcp)
		judge_row(e, r.key, (const void *)r.words);
}

DEFINE_SUBJECT(windows, "Windows of the host", .host = true)
