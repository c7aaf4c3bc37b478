/* SPDX-License-Identifier: GPL-2.0 */
/* The scenarios that use sockets: rx-tcp, tx-tcp. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/util/log.h"
#include "trial/scenario/frames.h"

static const char *why_not(const struct bench *b)
{
	if (!b->has_peer)
		return "TCP connections need a --peer";
	if (b->peer.iface.netns == b->port.iface.netns)
		return text("%s and %s are in the same network namespace, where TCP uses the "
			    "loopback: ip netns add N; ip link set %s netns N", b->port.label,
			    b->peer.label, b->peer.iface.name);
	return NULL;
}

static void how_say(const struct run *r)
{
	const struct load *l = &r->b->load;

	snprintf(r->o->how, sizeof(r->o->how), "%u TCP connection%s from %s, %u thread%s at each "
		 "end%s", r->tcp.connections, r->tcp.connections > 1 ? "s" : "", r->from->label,
		 r->tcp.threads, r->tcp.threads > 1 ? "s" : "", l->frame.ipv6 ? ", IPv6" : "");
	if (l->frame.vlan || l->frame.ecn || l->rate)
		snprintf(r->o->remark[2], sizeof(r->o->remark[2]),
			 "--vlan, --ecn and --rate do not apply to sockets");
	snprintf(r->o->remark[0], sizeof(r->o->remark[0]), "packets are counted as the driver of "
		 "%s does, possibly one per GSO buffer; by queue and CPU they are wire packets",
		 r->b->port.label);
}

static int sockets_run(struct bench *b, struct outcome *o)
{
	bool transmit = o->scenario->transmits;
	const char *no = why_not(b);
	struct run *r;
	int err;

	if (no)
		return scenario_cannot(o, no);
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	*r = (struct run){
		.b = b, .o = o, .transmit = transmit, .sockets = true,
		.from = transmit ? &b->port : &b->peer,
		.to = transmit ? &b->peer : &b->port,
		.tcp = { .connections = b->connections < CONNECTIONS_MAX ? b->connections :
					CONNECTIONS_MAX, .threads = b->load.threads },
	};
	how_say(r);
	err = tcp_open(&r->tcp, r->from, r->to, b->load.frame.ipv6, b->seconds, b->error) ?:
	      parts_run(r);
	tcp_close(&r->tcp);
	free(r);
	return err;
}

const struct scenario scenario_rx_tcp = {
	.name = "rx-tcp",
	.help = "receive TCP streams from the peer",
	.run = sockets_run,
	.needs_peer = true,
};

const struct scenario scenario_tx_tcp = {
	.name = "tx-tcp",
	.help = "send TCP streams to the peer",
	.run = sockets_run,
	.transmits = true,
	.needs_peer = true,
};
