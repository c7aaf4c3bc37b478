/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about buffers of the host's sockets that are full. */
#include <inttypes.h>
#include <netinet/in.h>

#include "bpf/sockmem/sockmem.h"
#include "findings/dropping.h"
#include "findings/subjects.h"
#include "lib/util/log.h"

enum { UDP_FULL };

static const struct limit few = { 10, "10 datagrams or more" };
static const struct limit share = { 1e-4, "one in 10000 of those that came" };

static const struct finding_kind kinds[] = {
	[UDP_FULL] = {
		.id = "udp-buffer-full", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(sockmem), 0),
		.title = "The receive buffer of a UDP socket is full",
		.means = "The program has not read earlier datagrams, so further ones are dropped, "
			 "and UDP does not send them again. By which interface they came does not "
			 "matter: the host counts all; socket-full speaks of those of one "
			 "interface.",
		.when = "{1}, and {2}, found a receive buffer full",
		.remedy = "Make the program read faster, with more threads and SO_REUSEPORT. "
			  "Against bursts a larger buffer: SO_RCVBUF up to net.core.rmem_max, or "
			  "net.core.rmem_default for sockets opened later. The finding names the "
			  "socket that lost most.",
		.symptom = "A program misses datagrams",
		.limits = { &few, &share },
	},
};

/* What the namespace counts of a protocol; NULL: nothing. */
static const struct sockmem *everything(struct evidence *e, unsigned protocol, unsigned of)
{
	for_each_row(r, e, METER_sockmem) {
		const struct sockmem_key *key = r.key;

		if (key->protocol == protocol && key->of == of && !key->local_port)
			return (const void *)r.words;
	}
	return NULL;
}

static void judge_udp(struct evidence *e)
{
	const struct sockmem *udp = everything(e, IPPROTO_UDP, SOCKMEM_RECEIVE);
	uint64_t lost = udp ? udp->dropped[SOCKMEM_BUFFER] : 0;
	uint64_t came = udp ? udp->packets + lost : 0;
	struct finding *f;

	if (!worth(e, lost, few.value) || lost < share.value * came)
		return;
	f = finding_add(e->f, &kinds[UDP_FULL], -1, "%" PRIu64 " of %" PRIu64 " datagrams found "
			"the receive buffer of their socket full", lost, came);
	finding_counted(e, f, lost, "lost", "packets");
	finding_fact(f, "share", (double)lost / came, "ratio");
	loss_advise(e, f, "socket-full", (double)lost / came);
}

static void judge(struct evidence *e)
{
	judge_udp(e);
}

DEFINE_SUBJECT(buffers, "Buffers of the host's sockets", .host = true)
