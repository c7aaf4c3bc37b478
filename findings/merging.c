/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about received packets that could be merged but are not, and about fragments. */
#include "bpf/gro/gro.h"
#include "findings/flows.h"
#include "findings/settings.h"
#include "findings/subjects.h"
#include "lib/core/nic_driver.h"

enum { GRO_IS_OFF, GRO_NOT_USED, GENERIC_XDP, FRAGMENTS, REORDERED };

static const struct limit many = { 10000, "10000 packets per second" };
static const struct limit most = { .5, "half of the received packets" };
static const struct limit fragments = { 1000, "1000 fragments per second" };
static const struct limit segments = { 1000, "1000 segments per second" };
static const struct limit tenth = { .1, "a tenth of the received packets" };

static const struct finding_kind kinds[] = {
	[GRO_IS_OFF] = {
		.id = "gro-off", RATED(WARNING, WORK),
		RESTS(RECEIVED, ON(gro) | ON(flow), 0),
		.title = "GRO is off, so TCP traverses the stack packet by packet",
		.means = "Generic Receive Offload merges packets of a TCP stream into buffers of "
			 "up to 64 KB, so that the stack processes one buffer instead of dozens of "
			 "packets. It is off, and every packet traverses the stack alone.",
		.when = "at least {2} and {1} are delivered singly because GRO was off when they "
			"arrived, most of them TCP with data, and GRO is still off",
		.silent = "UDP and small packets, which GRO would not merge.",
		.remedy = "ethtool -K IFACE gro on",
		.symptom = "TCP receives slowly, and a CPU is busy with softirqs",
		.limits = { &many, &most },
	},
	[GRO_NOT_USED] = {
		.id = "gro-not-used", RATED(WARNING, WORK),
		RESTS(RECEIVED, ON(gro) | ON(flow), 0),
		.title = "The driver bypasses GRO",
		.means = "This driver uses GRO only if it was switched on explicitly (veth). The "
			 "sender does not pass large buffers either, so every TCP packet traverses "
			 "the stack alone.",
		.when = "at least {2} and {1} bypass GRO singly, most of them TCP with data",
		.silent = "Buffers that were never segmented, as between containers: they need no "
			  "merging.",
		.remedy = "ethtool -K IFACE gro on; or keep TSO on at the sender",
		.symptom = "TCP between containers is slow",
		.limits = { &many, &most },
	},
	[GENERIC_XDP] = {
		.id = "gro-generic-xdp", RATED(WARNING, WORK),
		RESTS(RECEIVED, ON(gro) | ON(flow), 0),
		.title = "A generic XDP program disables GRO",
		.means = "While a program is attached in generic (skb) mode, the kernel merges "
			 "nothing and copies buffers for the program.",
		.when = "at least {2} and {1} are delivered singly because of generic XDP, most of "
			"them TCP with data",
		.remedy = "Native XDP if the driver supports it: ip link set dev IFACE xdpgeneric "
			  "off, then xdpdrv; or tc.",
		.symptom = "TCP receives slowly since an XDP program was attached",
		.limits = { &many, &most },
	},
	[FRAGMENTS] = {
		.id = "rx-fragments", RATED(WARNING, WORK),
		RESTS(RECEIVED, ON(gro), ON(flow)),
		.title = "Datagrams arrive in fragments",
		.means = "The sender's datagrams exceed the MTU of a link on their path, so IP "
			 "fragments them. Only the first fragment has ports: RSS and RPS hash "
			 "addresses alone, GRO merges nothing, each datagram waits for its last "
			 "fragment, and the loss of one fragment loses the whole datagram.",
		.when = "at least {2} and {1} are IP fragments",
		.silent = "A few fragments, as from DNS.",
		.remedy = "Smaller datagrams at the sender, below its path MTU; or a larger MTU "
			  "along the whole path. Neither GRO nor TSO helps.",
		.symptom = "Large datagrams are lost or slow, small ones are not",
		.limits = { &fragments, &tenth },
	},
	[REORDERED] = {
		.id = "rx-out-of-order", RATED(WARNING, WORK),
		RESTS(RECEIVED, ON(gro), 0),
		.title = "TCP segments arrive out of order or with gaps",
		.means = "GRO could not merge these segments because they were not the next of "
			 "their connection: segments before them are missing or late. The receiver "
			 "sends duplicate acknowledgements, and the sender slows down.",
		.when = "at least {2} and {1} could not be merged because of their sequence number",
		.remedy = "Look for losses (nicprobe show IFACE counters) and for paths of unequal "
			  "length (bonding in round-robin mode, ECMP per packet).",
		.symptom = "TCP is slow, with many duplicate acknowledgements",
		.limits = { &segments, &tenth },
		.follows = { "rx-ring-full", "backlog-full", "xdp-drops", "tc-ingress-drops" },
	},
};

struct sums {
	uint64_t buffers, packets, bytes, frames, past;
	uint64_t alone[NR_GRO_ALONE];
};

static struct sums sum(const struct evidence *e)
{
	struct sums s = {};

	for_each_row(r, e, METER_gro) {
		const struct gro *g = (const void *)r.words;

		for (unsigned i = 0; i < SEGS_SLOTS; i++)
			s.buffers += g->size.slot[i];
		s.packets += g->size.sum;
		s.bytes += g->bytes;
		for (unsigned i = 0; i < NR_GRO_FRAMES; i++)
			s.frames += g->frames[i];
		s.past += g->frames[GRO_FRAME_PAST];
		for (unsigned i = 0; i < NR_GRO_ALONE; i++)
			s.alone[i] += g->alone[i];
	}
	return s;
}

#define DATA	256	/* bytes per packet: a lower mean is acknowledgements and the like */

/* Would merging help? Only for TCP with data that the stack received, as far as samples show. */
static bool mergeable(const struct sums *s, const struct flows *f)
{
	return s->packets && s->bytes >= DATA * s->packets && !flows_unknown(f) && f->tcp;
}

/* Does this number exceed both limits of a kind: per second, and as a share? */
static bool much(const struct evidence *e, const struct sums *s, unsigned kind, uint64_t n)
{
	const struct limit *const *limits = kinds[kind].limits;

	return rate(e, n) >= limits[0]->value && n >= limits[1]->value * s->frames;
}

/* NULL: the number is not much. */
static struct finding *tell(struct evidence *e, const struct sums *s, unsigned kind, uint64_t n,
			    const char *what)
{
	struct finding *f;

	if (!much(e, s, kind, n))
		return NULL;
	f = finding_add(e->f, &kinds[kind], -1,
			"%.0f%% of the received packets, %.0f per second, %s",
			100.0 * n / s->frames, rate(e, n), what);
	finding_packets(e, f, n);
	finding_fact(f, "share", (double)n / s->frames, "ratio");
	return f;
}

static void fix_gro(struct evidence *e, struct finding *f)
{
	finding_fix(f, "ethtool", "-K", e->s->meta.iface, "gro", "on");
	finding_changes(f, "GRO merges where it can");
}

static void judge_unmerged(struct evidence *e, const struct sums *s)
{
	uint64_t single = s->alone[GRO_XDP];	/* what the program drops traverses nothing */

	single = single < s->packets ? single : s->packets;
	if (much(e, s, GRO_IS_OFF, s->alone[GRO_OFF]) && setup(e) && !feature_on(e, "rx-gro"))
		fix_gro(e, tell(e, s, GRO_IS_OFF, s->alone[GRO_OFF],
				"traverse the stack singly: GRO is off"));
	finding_advise(tell(e, s, GENERIC_XDP, single,
			    "traverse the stack singly: generic XDP disables GRO"),
		       "attach it natively: ip link set dev %s xdpgeneric off, then xdpdrv",
		       e->s->meta.iface);
	if (driver_find(e->s->meta.driver)->gro_by_ethtool && s->packets < 1.5 * s->buffers)
		fix_gro(e, tell(e, s, GRO_NOT_USED, s->past,
				"bypass GRO singly: the driver uses it only if it is switched on"));
}

static void judge(struct evidence *e)
{
	struct flows flows;
	struct sums s;

	if (!has(e, METER_gro))
		return;
	s = sum(e);
	flows_of(e, -1, &flows);
	if (mergeable(&s, &flows))
		judge_unmerged(e, &s);
	/* fragments that GRO saw, plus the sampled share of the packets that bypassed it */
	finding_advise(tell(e, &s, FRAGMENTS, s.alone[GRO_FRAGMENT] + flows.fragments * s.past,
			    "are fragments of datagrams that exceed the MTU of their path"),
		       "send smaller datagrams, or raise the MTU along the whole path: tracepath "
		       "SENDER; who sends: tcpdump -nni %s 'ip[6:2] & 0x3fff != 0'",
		       e->s->meta.iface);
	finding_advise(tell(e, &s, REORDERED, s.alone[GRO_SEQUENCE],
			    "are not the next of their TCP connection: others are missing or late"),
		       "nicprobe show %s counters; paths of unequal length (bonding, ECMP): nstat "
		       "-az TcpExtTCPOFOQueue",
		       e->s->name);
}

DEFINE_SUBJECT(merging, "Merging: GRO and fragments")
