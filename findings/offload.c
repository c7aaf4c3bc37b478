/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about work on sent packets that the kernel does although the card could. */
#include <string.h>

#include "findings/settings.h"
#include "findings/subjects.h"
#include "lib/util/log.h"
#include "xdp/gso.h"
#include "xdp/offload.h"

enum { SEGMENTED, CHECKSUMMED, COPIED, SPLIT_EARLY };

static const struct limit many = { 10000, "10000 packets per second" };
static const struct limit tenth = { .1, "a tenth of those in large buffers" };

static const struct finding_kind kinds[] = {
	[SEGMENTED] = {
		.id = "tso-off", RATED(WARNING, WORK),
		RESTS(SENT, ON(offload), 0),
		.title = "The kernel segments large buffers although the card could",
		.means = "TCP passes down buffers of up to 64 KB. The card could cut them into "
			 "packets (TSO and related features), but the feature is off, so the "
			 "kernel builds every packet itself: headers, checksums and a transmit "
			 "descriptor each.",
		.when = "at least {1} were segmented in software because a feature is off that the "
			"card supports",
		.silent = "Features that the card or its driver does not support.",
		.remedy = "ethtool -K IFACE tso on; or the feature that the meter offload names",
		.symptom = "Sending takes much CPU time",
		.limits = { &many },
	},
	[CHECKSUMMED] = {
		.id = "tx-checksum-off", RATED(WARNING, WORK),
		RESTS(SENT, ON(offload), 0),
		.title = "The kernel computes checksums although the card could",
		.means = "The CPU computes the checksum of each packet, for which it reads every "
			 "byte. Hardware segmentation requires hardware checksums, and is off as "
			 "well.",
		.when = "at least {1} were checksummed in software while the card's checksum "
			"offload is off",
		.remedy = "ethtool -K IFACE tx on",
		.symptom = "Sending takes much CPU time",
		.limits = { &many },
	},
	[COPIED] = {
		.id = "tx-copied", RATED(WARNING, WORK),
		RESTS(SENT, ON(offload), 0),
		.title = "The kernel linearizes packets although the card could gather them",
		.means = "The data of a buffer lies in several pages. Without scatter-gather the "
			 "kernel copies it into one piece before the driver gets it; hardware "
			 "segmentation is off as well.",
		.when = "at least {1} were copied while the card's scatter-gather is off",
		.remedy = "ethtool -K IFACE sg on",
		.symptom = "Sending takes much CPU time",
		.limits = { &many },
	},
	[SPLIT_EARLY] = {
		.id = "gso-split-early", RATED(WARNING, WORK),
		RESTS(SENT, ON(gso) | ON(offload), 0),
		.title = "Large buffers are segmented above the driver although the card could do "
			 "it",
		.means = "No feature is off, and yet the driver gets single packets: the qdisc "
			 "split the buffers (tbf with a burst below 64 KB, cake), or the driver "
			 "rejected them (ndo_features_check).",
		.when = "at least {1} and {2} were segmented in software, and no feature explains "
			"it",
		.remedy = "tbf with a larger burst; cake with no-split-gso, if its latency is not "
			  "needed.",
		.symptom = "Sending takes much CPU time",
		.limits = { &many, &tenth },
	},
};

/* The option of `ethtool -K`, the kernel's name, and what software does instead. */
struct remedy {
	const char *option, *feature, *what;
	unsigned kind;
};

static struct remedy remedy_of(const char *name, unsigned feature, unsigned why)
{
	const char *what = feature == FEATURE_SG ? "copied into one piece" :
			   feature == FEATURE_CHECKSUM ? "checksummed" : "segmented";

	if (why == WHY_NO_SG || feature == FEATURE_SG)
		return (struct remedy){ "sg", "tx-scatter-gather", what, COPIED };
	if (why == WHY_NO_CHECKSUM || feature == FEATURE_CHECKSUM)
		return (struct remedy){ "tx", "tx-checksum", what, CHECKSUMMED };
	return (struct remedy){ strstr(name, "tx-tcp") ? "tso" : name, name, what, SEGMENTED };
}

static void judge_feature(struct evidence *e, const struct offload_key *key, uint64_t n)
{
	struct finding *f;
	struct remedy r;
	char name[64];

	meter_offload.key.text(key, 1, name, sizeof(name));
	r = remedy_of(name, key->feature, key->why);
	if (rate(e, n) < many.value || !feature_missing(e, r.feature))
		return;
	f = finding_add(e->f, &kinds[r.kind], -1,
			"%.0f packets per second are %s in software: %s is off, and the card "
			"supports it",
			rate(e, n), r.what, r.feature);
	finding_packets(e, f, n);
	finding_fix(f, "ethtool", "-K", e->s->meta.iface, r.option, "on");
	finding_changes(f, "the card does it");
}

/* All queues together: a feature applies to the whole interface. */
static void judge_features(struct evidence *e)
{
	uint64_t packets[FEATURE_SG + 1][NR_WHY] = {};

	for_each_row(r, e, METER_offload) {
		const struct offload_key *key = r.key;

		if (key->feature <= FEATURE_SG && key->why < NR_WHY)
			packets[key->feature][key->why] += *r.words;
	}
	for (unsigned feature = 0; feature <= FEATURE_SG; feature++)
		for (unsigned why = 0; why < NR_WHY; why++)
			if (packets[feature][why] &&
			    (why == WHY_OFF || why == WHY_NO_SG || why == WHY_NO_CHECKSUM))
				judge_feature(e, &(struct offload_key){ .feature = feature,
								       .why = why },
					      packets[feature][why]);
}

/* Wire packets at a point, and how many of them are in buffers not yet segmented. */
static void count(const struct evidence *e, enum point point, uint64_t *packets, uint64_t *large)
{
	*packets = *large = 0;
	for_each_row(r, e, METER_gso) {
		const struct gso *g = (const void *)r.words;

		if (row_place(e, &r).point != point)
			continue;
		*packets += g->size.sum;
		*large += g->left[WORK_SEGMENT];
	}
}

/* Wire packets that the kernel had to segment because of the card's features. */
static uint64_t explained(const struct evidence *e)
{
	uint64_t n = 0;

	for_each_row(r, e, METER_offload)
		if (((const struct offload_key *)r.key)->feature <= FEATURE_SIZE)
			n += *r.words;
	return n;
}

/* Drops in the qdisc lower the count, so this errs on the side of silence. */
static void judge_split(struct evidence *e)
{
	uint64_t stack, stack_large, nic, nic_large, single, known;
	struct finding *f;

	if (!*e->s->meta.hook[TX_STACK] || !*e->s->meta.hook[TX_NIC])
		return;
	count(e, TX_STACK, &stack, &stack_large);
	count(e, TX_NIC, &nic, &nic_large);
	single = nic - nic_large;
	known = stack - stack_large + explained(e);
	if (single <= known || rate(e, single - known) < many.value ||
	    single - known < tenth.value * stack_large)
		return;
	f = finding_add(e->f, &kinds[SPLIT_EARLY], -1,
			"%.0f packets per second are segmented in software, %.0f%% of those in "
			"large buffers, although the card could: the qdisc does it, or the driver "
			"rejects them",
			rate(e, single - known),
			100.0 * (single - known) / stack_large);
	finding_packets(e, f, single - known);
	finding_advise(f, "tc -s qdisc show dev %s: tbf with a burst below 64 KB segments them, "
		       "and so does cake without no-split-gso",
		       e->s->meta.iface);
}

static void judge(struct evidence *e)
{
	judge_features(e);
	if (has(e, METER_offload) && has(e, METER_gso))
		judge_split(e);
}

DEFINE_SUBJECT(offload, "Offloads of sent packets")
