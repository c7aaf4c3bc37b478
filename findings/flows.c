/* SPDX-License-Identifier: GPL-2.0 */
/* The flows of a receive queue, estimated from the samples of the meter flow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "findings/flows.h"
#include "lib/util/log.h"
#include "xdp/flow.h"

#define ONE	.8	/* of the packets: a single flow from this share on… */
#define SURE	.65	/* …if the lower bound of its share is at least this */
#define FEW	4	/* flows that carry four fifths of a queue */
#define LEAST	8	/* samples: fewer prove nothing */

#define TENTH	.1

#define TCP	6
#define UDP	17
#define NORMAL	1.96	/* standard deviations of a two-sided 95 % interval */

/* Lower end of Wilson's interval for a share: valid for few samples, too. */
static double lower_bound(uint64_t of, uint64_t n)
{
	double z2 = NORMAL * NORMAL, p = n ? (double)of / n : 0;

	return n ? (p + z2 / (2 * n) - NORMAL * sqrt(p * (1 - p) / n + z2 / (4.0 * n * n))) /
		   (1 + z2 / n) : 0;
}

static int larger(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x == y ? 0 : x < y ? 1 : -1;
}

static void name_of(const struct flow_key *key, char *name, size_t size)
{
	const char *const *labels = meter_flow.key.labels;
	unsigned nr = 0;

	while (strcmp(labels[nr], "flow"))
		nr++;
	meter_flow.key.text(key, nr, name, size);
}

/* Fragments are keyed without ports, and no other packet has port 0 (flow.h). */
static bool is_fragment(const struct flow_key *key)
{
	return (key->proto == TCP || key->proto == UDP) && !key->port[0] && !key->port[1];
}

void flows_of(const struct evidence *e, int queue, struct flows *f)
{
	uint64_t *sizes = calloc(e->s->tables[METER_flow].rows + 1, sizeof(*sizes));
	uint64_t all = 0, tcp = 0, split = 0, pieces = 0, sum = 0, top = 0;
	unsigned nr = 0;

	*f = (struct flows){};
	for_each_row(r, e, METER_flow) {
		const struct flow_key *key = r.key;
		const struct flow *flow = (const void *)r.words;

		if (!sizes || !flow->packets || (queue >= 0 && key->queue != queue))
			continue;
		if (nr < 2)	/* rows are sorted by size */
			name_of(key, f->name[nr], sizeof(f->name[nr]));
		if (!nr)
			top = flow->samples;
		sizes[nr++] = flow->packets;
		all += flow->packets;
		f->samples += flow->samples;
		tcp += key->proto == TCP ? flow->packets : 0;
		if (is_fragment(key)) {
			split += flow->packets;
			pieces += flow->samples;
		}
	}
	qsort(sizes, nr, sizeof(*sizes), larger);
	f->nr = nr;
	for (unsigned i = 0; i < nr && sum < .8 * all; i++) {
		sum += sizes[i];
		f->most = i + 1;
	}
	for (unsigned i = 0; i < 2 && i < nr; i++)
		f->share[i] = (double)sizes[i] / all;
	f->least = lower_bound(top, f->samples);
	f->tcp = 2 * tcp > all;
	if (pieces > 1 && lower_bound(pieces, f->samples) >= TENTH)
		f->fragments = (double)split / all;
	free(sizes);
}

bool flows_unknown(const struct flows *f)
{
	return f->samples < LEAST;
}

bool flows_one(const struct flows *f)
{
	return !flows_unknown(f) && f->share[0] >= ONE && f->least >= SURE;
}

bool flows_alone(const struct evidence *e)
{
	struct flows all;

	flows_of(e, -1, &all);
	return flows_one(&all);
}

bool flows_unsure(const struct flows *f)
{
	return flows_unknown(f) || (f->share[0] >= ONE && !flows_one(f));
}

bool flows_few(const struct flows *f)
{
	return !flows_unsure(f) && !flows_one(f) && f->most <= FEW;
}

/* If every packet is sampled already, only a longer window helps. */
void flows_advise(const struct evidence *e, struct finding *one)
{
	const char *more = text("measure longer: nicprobe show %s -w 10", e->s->name);

	if (!has(e, METER_flow))
		more = "attach the meter flow as well, with --sample 1";
	else if (e->s->meta.sample != 1)
		more = text("attach with --sample 1, or %s", more);
	finding_advise(one, "the number of flows is not known yet, and a single flow cannot be "
		       "spread: %s",
		       more);
}
