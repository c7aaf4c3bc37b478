/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about data that TCP itself holds back. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "bpf/tcpwait/tcpwait.h"
#include "findings/subjects.h"
#include "lib/util/log.h"

enum { NAGLE, MAX_RATE };

static const struct limit some = { 20, "20 writes or more" };
static const struct limit late = { .02, "20 ms or longer" };
static const struct limit second = { 1, "one second or more" };
static const struct limit half = { .5, "half of the time that data for it was held" };

static const struct finding_kind kinds[] = {
	[NAGLE] = {
		.id = "tcp-small-writes", RATED(WARNING, WAIT),
		RESTS(ALWAYS, ON(tcpwait), 0),
		.title = "Small writes wait for an acknowledgement",
		.means = "TCP sends less than a full segment only if none such is on its way "
			 "(Nagle's algorithm). A program that writes twice before it reads has its "
			 "second write held until the first is acknowledged, and the other end "
			 "delays that by 40 ms or more, as it has nothing to answer yet.",
		.when = "{1} to one host were held, and half of them for {2}",
		.silent = "A program that writes larger pieces, or that sets TCP_NODELAY.",
		.remedy = "In the program: write a request at once (writev), or with MSG_MORE all "
			  "but its last part; or set TCP_NODELAY.",
		.symptom = "Each request takes 40 ms longer than it should",
		.limits = { &some, &late },
	},
	[MAX_RATE] = {
		.id = "tcp-max-rate", RATED(INFO, WAIT),
		RESTS(ALWAYS, ON(tcpwait), 0),
		.title = "A program limits the rate of its connections, and data waits",
		.means = "The program has set SO_MAX_PACING_RATE, and TCP may send no faster, "
			 "though its windows and the network would let it: the congestion window "
			 "divided by the round trip is more. What the program writes waits.",
		.when = "data for one host waited for this rate for {1} together, and for {2}",
		.silent = "A rate that the program does not reach; and the pace of congestion "
			  "control, as of BBR or with fq, which follows the network.",
		.remedy = "If that is not meant, in the program: a higher SO_MAX_PACING_RATE, "
			  "which is in bytes per second, not in bits; or none.",
		.symptom = "Transfers stay far below the rate of the link, and nothing is lost",
		.limits = { &second, &half },
	},
};

static double held_seconds(const struct tcpwait *t)
{
	return t->held.sum * metric_of(&meter_tcpwait, "held")->scale;
}

/* For how long data for a host was held, whatever by. */
static double held_in_all(struct evidence *e, const struct remote *remote)
{
	double seconds = 0;

	for_each_row(r, e, METER_tcpwait)
		if (!memcmp(&((const struct tcpwait_key *)r.key)->remote, remote, sizeof(*remote)))
			seconds += held_seconds((const void *)r.words);
	return seconds;
}

static void judge_rate(struct evidence *e)
{
	const struct metric *k = metric_of(&meter_tcpwait, "held");
	const struct tcpwait_key *key = NULL;
	const struct tcpwait *most = NULL;
	double seconds = 0, p50, speed;
	struct finding *f;
	char remote[64];

	for_each_row(r, e, METER_tcpwait) {
		const struct tcpwait_key *one = r.key;
		double held = held_seconds((const void *)r.words);

		if (one->cause != TCPWAIT_MAX_RATE || remote_is_none(&one->remote) ||
		    held < second.value || held <= seconds ||
		    held < half.value * held_in_all(e, &one->remote))
			continue;
		most = (const void *)r.words;
		key = one;
		seconds = held;
	}
	if (!most)
		return;
	p50 = hist_percentile(k, words_at(&most->held), .5);
	speed = most->bytes / seconds;
	remote_text(&key->remote, remote, sizeof(remote));
	f = finding_add(e->f, &kinds[MAX_RATE], -1, "a program lets connections to %s send no more "
			"than about %.3g kB/s each (SO_MAX_PACING_RATE); data waited for that for "
			"%s together", remote, speed / 1000, finding_time(seconds));
	finding_harm(f, p50);
	finding_strikes(f, rate(e, hist_count(k, words_at(&most->held))));
	finding_fact(f, "held", seconds, "seconds");
	finding_fact(f, "rate", speed, "bytes/s");
	finding_advise(f, "ss -tnpi dst %s names the program, and has the rate (pacing_rate) in "
		       "bits; SO_MAX_PACING_RATE is in bytes: is it meant so?", remote);
}

static void judge_nagle(struct evidence *e)
{
	const struct metric *k = metric_of(&meter_tcpwait, "held");
	const struct tcpwait_key *key = NULL;
	const struct tcpwait *most = NULL;
	uint64_t n = 0, bytes;
	struct finding *f;
	char remote[64];
	double p50;

	for_each_row(r, e, METER_tcpwait) {
		const struct tcpwait_key *one = r.key;
		const struct tcpwait *row = (const void *)r.words;
		uint64_t count = hist_count(k, words_at(&row->held));

		if (one->cause != TCPWAIT_NAGLE || remote_is_none(&one->remote) || count <= n ||
		    hist_percentile(k, words_at(&row->held), .5) < late.value)
			continue;
		most = row;
		key = one;
		n = count;
	}
	if (!most || !worth(e, n, some.value))
		return;
	p50 = hist_percentile(k, words_at(&most->held), .5);
	bytes = most->bytes;
	remote_text(&key->remote, remote, sizeof(remote));
	f = finding_add(e->f, &kinds[NAGLE], -1, "%" PRIu64 " small writes to %s waited %s "
			"(median) until what was sent before was acknowledged", n, remote,
			finding_time(p50));
	finding_harm(f, p50);
	finding_strikes(f, rate(e, n));
	finding_fact(f, "held", p50, "seconds");
	finding_fact(f, "writes", n, "segments");
	finding_fact(f, "size", (double)bytes / n, "bytes");
	finding_advise(f, "ss -tnp dst %s names the program: let it write a request at once, or "
		       "set TCP_NODELAY", remote);
}

static void judge(struct evidence *e)
{
	judge_nagle(e);
	judge_rate(e);
}

DEFINE_SUBJECT(holding, "What TCP holds back", .host = true)
