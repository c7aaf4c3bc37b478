/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about data that TCP itself holds back. */
#include <inttypes.h>
#include <math.h>

#include "bpf/tcpwait/tcpwait.h"
#include "findings/subjects.h"
#include "lib/util/log.h"

enum { NAGLE };

static const struct limit some = { 20, "20 writes or more" };
static const struct limit late = { .02, "20 ms or longer" };

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
};

static void judge(struct evidence *e)
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

		if (one->cause != TCPWAIT_NAGLE || count <= n ||
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

DEFINE_SUBJECT(holding, "What TCP holds back", .host = true)
