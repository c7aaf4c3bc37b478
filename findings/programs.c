/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about packets that programs and rules drop: XDP, tc, cgroups, netfilter, IPsec. */
#include <inttypes.h>
#include <linux/bpf.h>

#include "bpf/xdp/xdp.h"
#include "findings/subjects.h"

enum {
	XDP_DROPS, TC_INGRESS_DROPS, TC_EGRESS_DROPS, CGROUP_DROPS, FIREWALL_DROPS, IPSEC_DROPS
};

static const struct limit few = { 10, "10 packets" };
static const struct limit share = { .01, "a hundredth of the packets of that direction" };

#define MEANT "The drops may be intentional. They are reported because a program that drops by " \
	"mistake looks like a faulty network."

static const struct finding_kind kinds[] = {
	[XDP_DROPS] = {
		.id = "xdp-drops", RATED(WARNING, LOSS),
		RESTS(RECEIVED, 0, ON(hwstat) | ON(drop)),
		.title = "An XDP program drops packets",
		.means = "The program returned XDP_DROP. " MEANT,
		.when = "at least {1} and {2} were dropped in the window",
		.remedy = "bpftool net show dev IFACE names it; ip link set dev IFACE xdp off "
			  "detaches it.",
		.symptom = "Packets reach the card but not the host",
		.limits = { &few, &share },
		.follows = { "xdp-aborted", "xdp-bad-action", "xdp-redirect-failed",
			     "xsk-fill-empty", "xsk-rx-full" },
	},
	[TC_INGRESS_DROPS] = {
		.id = "tc-ingress-drops", RATED(WARNING, LOSS),
		RESTS(RECEIVED, ON(drop), 0),
		.title = "tc drops received packets",
		.means = "A filter or program at tc ingress drops them. " MEANT,
		.when = "at least {1} and {2} were dropped in the window (TC_INGRESS)",
		.remedy = "tc -s filter show dev IFACE ingress; bpftool net show dev IFACE.",
		.symptom = "tcpdump sees packets that no program receives",
		.limits = { &few, &share },
	},
	[TC_EGRESS_DROPS] = {
		.id = "tc-egress-drops", RATED(WARNING, LOSS),
		RESTS(SENT, ON(drop), 0),
		.title = "tc drops packets that are sent",
		.means = "A filter or program at tc egress drops them. " MEANT,
		.when = "at least {1} and {2} were dropped in the window (TC_EGRESS)",
		.remedy = "tc -s filter show dev IFACE egress; bpftool net show dev IFACE.",
		.symptom = "Programs send, but nothing leaves",
		.limits = { &few, &share },
	},
	[CGROUP_DROPS] = {
		.id = "cgroup-drops", RATED(WARNING, LOSS),
		RESTS(SENT, ON(drop), 0),
		.title = "A BPF program of a cgroup drops sent packets",
		.means = "Systemd's IPAddressDeny=, a container runtime or a policy engine "
			 "attached a program to a cgroup, and the program drops packets of the "
			 "processes in it. " MEANT,
		.when = "at least {1} and {2} were dropped in the window (BPF_CGROUP_EGRESS)",
		.remedy = "bpftool cgroup tree",
		.symptom = "One service cannot send, others can",
		.limits = { &few, &share },
	},
	[FIREWALL_DROPS] = {
		.id = "firewall-drops", RATED(INFO, LOSS),
		RESTS(EITHER, ON(drop), 0),
		.title = "Firewall rules drop packets",
		.means = "A rule of nftables or iptables dropped them, or the connection tracking "
			 "table was full. " MEANT,
		.when = "at least {1} and {2} were dropped in the window (NETFILTER_DROP)",
		.silent = "Stray packets: most firewalls drop some all the time.",
		.remedy = "nft list ruleset; iptables -nvL",
		.symptom = "Some peers get no answer",
		.limits = { &few, &share },
	},
	[IPSEC_DROPS] = {
		.id = "ipsec-drops", RATED(WARNING, LOSS),
		RESTS(EITHER, ON(drop), 0),
		.title = "An IPsec policy rejects packets",
		.means = "A policy requires these packets to be encrypted and they were not, or "
			 "the other way round.",
		.when = "at least {1} were dropped in the window (XFRM_POLICY)",
		.remedy = "ip xfrm policy; nstat -az 'Xfrm*'",
		.symptom = "Some peers get no answer",
		.limits = { &few },
	},
};

/* Possibly intentional drops: the kind, the predicate of the sentence, and where to look. */
static const struct {
	unsigned kind;
	const char *reason, *what, *look;
	bool sent;
} meant[] = {
	{ TC_INGRESS_DROPS, "TC_INGRESS", "were dropped by tc ingress",
	  "tc -s filter show dev {if} ingress; bpftool net show dev {if}", false },
	{ TC_EGRESS_DROPS, "TC_EGRESS", "were dropped by tc egress",
	  "tc -s filter show dev {if} egress; bpftool net show dev {if}", true },
	{ CGROUP_DROPS, "BPF_CGROUP_EGRESS", "were dropped by a BPF program of a cgroup",
	  "bpftool cgroup tree", true },
	{ FIREWALL_DROPS, "NETFILTER_DROP",
	  "were dropped by a firewall rule, or because the connection tracking table was full",
	  "nft list ruleset; iptables -nvL; sysctl net.netfilter.nf_conntrack_count "
	  "net.netfilter.nf_conntrack_max", false },
	{ IPSEC_DROPS, "XFRM_POLICY", "were rejected by an IPsec policy",
	  "ip xfrm policy; nstat -az 'Xfrm*'", false },
};

static void judge_meant(struct evidence *e)
{
	for (unsigned i = 0; i < sizeof(meant) / sizeof(*meant); i++) {
		uint64_t n = dropped_for(e, meant[i].reason);
		struct finding *f;

		if (!worth(e, n, few.value) ||
		    n < share.value * (meant[i].sent ? sent_packets(e) : received(e, -1, -1)))
			continue;
		f = finding_add(e->f, &kinds[meant[i].kind], -1, "%" PRIu64 " packets %s", n,
				meant[i].what);
		finding_advise(f, "%s", with_iface(e, meant[i].look));
		finding_packets(e, f, n);
	}
}

/* Drops because a program failed rather than returned XDP_DROP: reported separately. */
static uint64_t failed_programs(const struct evidence *e)
{
	uint64_t n = 0;

	for_each_row(r, e, METER_xdp) {
		const struct xdp_key *key = r.key;

		if ((key->event == XDP_EXCEPTION && key->result != XDP_TX) ||
		    (key->event == XDP_REDIRECTED && key->result))
			n += *r.words;
	}
	return n;
}

static const char *const xdp_drops[] = { "xdp_drop", "xdp drop", NULL };

/* Native XDP drops are counted by the driver, generic ones by the kernel's drop events. */
static void judge_drops(struct evidence *e)
{
	int queue;
	uint64_t native = card_counted(e, "xdp_drop", &queue) ?:
			  counted_like(e, "ethtool -S", xdp_drops);
	uint64_t generic = dropped_by(e, "xdp", NULL);
	uint64_t n = native > generic ? native : generic;
	uint64_t failed = failed_programs(e);
	struct finding *f;

	n -= n < failed ? n : failed;
	if (!worth(e, n, few.value) || n < share.value * (received(e, -1, -1) + native))
		return;
	f = finding_add(e->f, &kinds[XDP_DROPS], -1,
			"%" PRIu64 " packets were dropped by an XDP program", n);
	finding_advise(f, "which: bpftool net show dev %s; to detach it: ip link set dev %s xdp "
		       "off",
		       e->s->meta.iface, e->s->meta.iface);
	finding_packets(e, f, n);
}

static void judge(struct evidence *e)
{
	judge_drops(e);
	judge_meant(e);
}

DEFINE_SUBJECT(programs, "Programs and rules that drop: XDP, tc, cgroups, firewall")
