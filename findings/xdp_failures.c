/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about XDP programs whose actions fail. */
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>

#include "bpf/xdp/xdp.h"
#include "findings/subjects.h"
#include "lib/util/log.h"

enum { ABORTED, BAD_ACTION, TX_FAILED, REDIRECT_FAILED, SEND_FAILED, CPUMAP_FULL };

static const struct limit few = { 10, "10 packets" };

static const struct finding_kind kinds[] = {
	[ABORTED] = {
		.id = "xdp-aborted", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(xdp), 0),
		.title = "An XDP program aborts",
		.means = "The program returned XDP_ABORTED: it hit a case that it does not handle, "
			 "such as an empty slot of the map through which it redirects. The packet "
			 "is dropped.",
		.when = "at least {1} were aborted in the window (xdp_exception)",
		.remedy = "bpftool map dump shows whether the slot is empty; otherwise fix the "
			  "program.",
		.symptom = "Packets are lost since an XDP program was attached",
		.limits = { &few },
	},
	[BAD_ACTION] = {
		.id = "xdp-bad-action", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(xdp), 0),
		.title = "An XDP program returns an invalid action",
		.means = "The kernel drops the packet.",
		.when = "at least {1} got an invalid action in the window (xdp_exception)",
		.remedy = "Fix the program.",
		.symptom = "Packets are lost since an XDP program was attached",
		.limits = { &few },
	},
	[TX_FAILED] = {
		.id = "xdp-tx-failed", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(xdp), 0),
		.title = "The driver drops packets returned with XDP_TX",
		.means = "XDP_TX queues the packet on a transmit ring. The ring was full, or the "
			 "driver could not map the packet.",
		.when = "at least {1} were dropped in the window (xdp_exception, xdp_bulk_tx)",
		.remedy = "A longer transmit ring: ethtool -G IFACE tx N.",
		.symptom = "A load balancer or reflector in XDP loses packets",
		.limits = { &few },
	},
	[REDIRECT_FAILED] = {
		.id = "xdp-redirect-failed", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(xdp), 0),
		.title = "Redirects of an XDP program fail",
		.means = "The program redirected packets to a device, CPU or socket that does not "
			 "accept them.",
		.when = "at least {1} failed to be redirected in the window (xdp_redirect_err)",
		.remedy = "The finding names the target and the error.",
		.symptom = "Packets are lost since an XDP program was attached",
		.limits = { &few }, .follows = { "xsk-fill-empty", "xsk-rx-full" },
	},
	[SEND_FAILED] = {
		.id = "xdp-send-failed", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(xdp), 0),
		.title = "A device drops packets that XDP redirects to it",
		.means = "The redirect succeeded, but the driver of the target rejected the batch: "
			 "its ring was full, or it has no XDP transmit ring (a veth whose peer has "
			 "no NAPI).",
		.when = "at least {1} were dropped in the window (xdp_devmap_xmit)",
		.remedy = "A longer transmit ring at the target; for a veth: ethtool -K PEER gro "
			  "on.",
		.symptom = "An XDP router loses packets",
		.limits = { &few },
	},
	[CPUMAP_FULL] = {
		.id = "xdp-cpumap-full", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(xdp), 0),
		.title = "The queue of a cpumap is full",
		.means = "A program spreads packets over CPUs through a cpumap, and the thread on "
			 "one of them is slower than the incoming rate.",
		.when = "at least {1} were dropped in the window (xdp_cpumap_enqueue)",
		.remedy = "More CPUs in the map, or a longer queue: the value of its slot.",
		.symptom = "Packets are lost since an XDP program spreads them",
		.limits = { &few },
	},
};

/* The parts of a key of the meter xdp: event, program, where, result. */
enum { EVENT, PROGRAM, WHERE, RESULT };

static const char *part(const struct xdp_key *key, unsigned nr)
{
	char words[120];

	meter_xdp.key.text(key, nr, words, sizeof(words));
	return text("%s", words);
}

static struct finding *judge_exception(struct evidence *e, const struct xdp_key *key, uint64_t n)
{
	const char *program = part(key, PROGRAM), *look = text("bpftool prog dump xlated id %u",
							       key->prog);
	struct finding *f = NULL;

	if (key->result == XDP_ABORTED) {
		f = finding_add(e->f, &kinds[ABORTED], -1,
				"the XDP program %s aborted on %" PRIu64 " packets, which were "
				"dropped",
				program, n);
		finding_advise(f, "does it redirect to an empty map slot? bpftool map; %s",
			       look);
	} else if (key->result > XDP_REDIRECT) {
		f = finding_add(e->f, &kinds[BAD_ACTION], -1,
				"the XDP program %s returned the invalid action %u for %" PRIu64
				" packets, which were dropped",
				program,
				key->result, n);
		finding_advise(f, "%s", look);
	} else if (key->result == XDP_TX) {
		f = finding_add(e->f, &kinds[TX_FAILED], -1,
				"the driver dropped %" PRIu64 " packets that the XDP program %s "
				"returned with XDP_TX",
				n, program);
		finding_advise(f, "is its transmit ring full? ethtool -S %s; ethtool -G %s tx N",
			       e->s->meta.iface, e->s->meta.iface);
	}
	return f;
}

/* What a redirect lacks, by errno (net/core/filter.c, 6.1 to 6.18). */
static const char *redirect_wants(const struct xdp_key *key, const char **why)
{
	const char *target = key->map ? text("bpftool map dump id %u", key->map) : "ip link";

	*why = "";
	switch (key->result) {
	case ENETDOWN:
		*why = ": the target interface is down";
		return text("ip link set IFACE up; target: %s", target);
	case EOPNOTSUPP:	/* since 6.3; before, veth fails the batch with ENXIO */
		*why = ": the driver of the target does not accept packets from XDP";
		return text("another target, or XDP_PASS; for a veth: ethtool -K PEER gro on; "
			    "target: %s",
			    target);
	case EINVAL:
		*why = key->map ? "" : ": no interface has that index";
		return target;
	case EMSGSIZE:
		*why = ": longer than the MTU of the target";
		return text("ip link set IFACE mtu N; target: %s", target);
	case ENOSPC:
		*why = ": the target is full";
		return target;
	}
	return target;
}

static struct finding *judge_redirect(struct evidence *e, const struct xdp_key *key, uint64_t n)
{
	const char *why, *try = redirect_wants(key, &why);
	struct finding *f;

	if (!key->result)
		return NULL;
	f = finding_add(e->f, &kinds[REDIRECT_FAILED], -1,
			"%" PRIu64 " redirects of the XDP program %s to %s failed with %s%s",
			n, part(key, PROGRAM), part(key, WHERE), part(key, RESULT), why);
	finding_advise(f, "%s", try);
	return f;
}

static struct finding *judge_send(struct evidence *e, const struct xdp_key *key, uint64_t n)
{
	const char *other = text("%.16s", key->dev), *we = e->s->meta.iface;
	const char *to = key->event == XDP_SENT_TO ? other : we;
	const char *why = key->result == XDP_NOT_TAKEN ? "rejected by the driver" : part(key,
							 RESULT);
	struct finding *f;

	if (!key->result)
		return NULL;
	if (key->event == XDP_SENT_BACK)
		f = finding_add(e->f, &kinds[TX_FAILED], -1,
				"the driver dropped %" PRIu64 " packets that an XDP program "
				"returned with XDP_TX: %s",
				n, why);
	else
		f = finding_add(e->f, &kinds[SEND_FAILED], -1,
				"%" PRIu64 " packets redirected from %s to %s were dropped: %s",
				n, to == we ? other : we, to,
				why);
	if (key->result == ENXIO)
		finding_advise(f, "a veth accepts them if its peer has NAPI: ethtool -K PEER gro "
			       "on, or XDP there");
	else
		finding_advise(f, "is its transmit ring full? ethtool -S %s; ethtool -G %s tx N",
			       to, to);
	return f;
}

static struct finding *judge_cpu(struct evidence *e, const struct xdp_key *key, uint64_t n)
{
	struct finding *f;

	if (key->event != XDP_CPU_ENQUEUE || key->result != XDP_CPU_FULL)
		return NULL;
	f = finding_add(e->f, &kinds[CPUMAP_FULL], -1,
			"%" PRIu64 " packets were dropped because the queue of cpumap %u to CPU %u "
			"was full",
			n, key->map, key->index);
	finding_advise(f, "more CPUs in cpumap %u, or a longer queue: the value of its slot %u",
		       key->map,
		       key->index);
	return f;
}

static void judge(struct evidence *e)
{
	for_each_row(r, e, METER_xdp) {
		const struct xdp_key *key = r.key;
		uint64_t n = *r.words;
		struct finding *f;

		if (!worth(e, n, few.value))
			continue;
		if (key->event == XDP_EXCEPTION)
			f = judge_exception(e, key, n);
		else if (key->event == XDP_REDIRECTED)
			f = judge_redirect(e, key, n);
		else if (key->event <= XDP_SENT_BACK)
			f = judge_send(e, key, n);
		else
			f = judge_cpu(e, key, n);
		finding_packets(e, f, n);
	}
}

DEFINE_SUBJECT(xdp_failures, "XDP programs that fail")
