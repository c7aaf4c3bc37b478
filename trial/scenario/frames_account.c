/* SPDX-License-Identifier: GPL-2.0 */
/* Counts the packets of a scenario and accounts for every one of them. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/nic_driver.h"
#include "trial/scenario/frames.h"

void tally_take(const struct run *r, struct counts *t)
{
	memset(t, 0, sizeof(*t));
	if (r->sockets) {
		tcp_count(&r->tcp, &t->written, &t->read, &t->retransmits);
	} else if (r->from) {
		t->sent = generator_sent(&r->g, t->by_cpu);
		t->refused = generator_refused(&r->g);
	}
	if (r->at_port.bpf)
		sink_read(&r->at_port, &t->port);
	if (r->at_peer.bpf)
		sink_read(&r->at_peer, &t->peer);
	if (r->out)
		redirects_read(r->out, &t->out);
	if (r->back)
		redirects_read(r->back, &t->back);
	port_statistics(&r->b->port, &t->port_link, NULL);
	if (r->b->has_peer)
		port_statistics(&r->b->peer, &t->peer_link, NULL);
}

void tally_since(struct run *r, const struct counts *before)
{
	const uint64_t *from = (const void *)before, *to = (const void *)&r->after;
	uint64_t *counted = (void *)&r->counted;

	for (size_t i = 0; i < sizeof(*before) / sizeof(*from); i++)
		counted[i] = to[i] - from[i];
}

/* Packets received by the port. */
static uint64_t received(const struct run *r)
{
	return r->at_port.bpf ? r->counted.port.packets : r->counted.port_link.rx_packets;
}

/* Packets accepted by the sending driver; by its statistics if skbs pass through a qdisc. */
static uint64_t handed(const struct run *r)
{
	const struct counts *c = &r->counted;

	if (r->g.how != HOW_PACKET)
		return c->out.sent;
	return r->transmit ? c->port_link.tx_packets : c->peer_link.tx_packets;
}

uint64_t headline(const struct run *r)
{
	if (r->sockets && r->transmit)
		return r->counted.port_link.tx_packets;
	if (r->transmit)
		return handed(r);
	return r->redirect ? r->counted.back.sent : received(r);
}

static void where_fill(const struct run *r)
{
	const struct traffic *seen = r->transmit ? &r->counted.peer : &r->counted.port;
	const uint64_t *cpus = r->transmit ? r->counted.by_cpu : seen->cpu;
	struct outcome *o = r->o;

	if (r->transmit ? r->at_peer.bpf : r->at_port.bpf)
		snprintf(o->queues_of, sizeof(o->queues_of), "%s", r->transmit ?
			 r->b->peer.label : r->b->port.label);
	for (int i = 0; i < 64; i++)
		if (seen->cpu[i] > o->packets / 100)
			o->receiving |= 1ull << i;
	memcpy(o->where.queue, seen->queue, sizeof(seen->queue));
	memcpy(o->where.cpu, cpus, sizeof(seen->cpu));
}

void bare_fill(const struct run *r)
{
	const struct counts *c = &r->counted;
	struct outcome *o = r->o;

	o->packets = headline(r);
	if (r->sockets) {
		o->sockets = true;
		o->bytes = c->read;
		o->retransmits = c->retransmits;
		return;
	}
	o->sent = r->from ? c->sent + c->refused : 0;
	if (r->from)
		o->bytes = o->packets * r->b->load.frame.size;
	else
		o->bytes = r->at_port.bpf ? c->port.bytes : c->port_link.rx_bytes;
	where_fill(r);
}

void account_add(struct outcome *o, enum account_kind kind, int64_t packets, const char *what, ...)
{
	struct account *a = &o->account[o->lines];
	va_list args;

	if (o->lines == ACCOUNT_MAX)
		return;
	o->lines++;
	va_start(args, what);
	vsnprintf(a->what, sizeof(a->what), what, args);
	va_end(args);
	a->kind = kind;
	a->packets = packets;
	/* each ACCOUNT_SENT begins a stage */
	a->stage = o->lines > 1 ? a[-1].stage + (kind == ACCOUNT_SENT) : 0;
}

int64_t account_sum(const struct outcome *o, unsigned stage, enum account_kind kind)
{
	int64_t sum = 0;

	for (unsigned i = 0; i < o->lines; i++)
		if (o->account[i].stage == stage && o->account[i].kind == kind)
			sum += o->account[i].packets;
	return sum;
}

int64_t account_rest(const struct outcome *o, unsigned stage)
{
	return account_sum(o, stage, ACCOUNT_SENT) - account_sum(o, stage, ACCOUNT_LOST) -
	       account_sum(o, stage, ACCOUNT_ARRIVED);
}

/* Why ndo_xdp_xmit, or the redirect to it, rejects a frame (Linux 6.1 to 6.18). */
static const char *xmit_why(int err)
{
	switch (err) {
	case 0:
	case ENOSPC:
		return "no room in the ring";
	case ENXIO:
		return "no receiver for XDP frames: a veth's other end needs XDP or GRO";
	case ENETDOWN:
		return "the interface is down";
	case EOPNOTSUPP:
		return "unsupported by the driver at present: a veth's other end needs XDP or GRO";
	case EMSGSIZE:
		return "longer than the MTU";
	default:
		return strerror(err);
	}
}

static void redirects_fill(struct outcome *o, const struct redirects *r, const char *label)
{
	for (int err = 0; err < REDIRECT_ERRORS; err++) {
		if (r->dropped[err])
			account_add(o, ACCOUNT_LOST, r->dropped[err], "not accepted by %s: %s",
				    label, xmit_why(err));
		if (r->refused[err])
			account_add(o, ACCOUNT_LOST, r->refused[err], "not redirected to %s: %s",
				    label, xmit_why(err));
	}
}

#define GROWN_MAX 256

static int by_packets(const void *a, const void *b)
{
	const struct grown *x = a, *y = b;

	return x->packets == y->packets ? 0 : x->packets < y->packets ? 1 : -1;
}

/*
 * How much of `rest` the counters of one source explain, largest first; adds lines to the account
 * of `o`. Skips counters of XDP: our own counts include these packets.
 */
static int64_t grown_explain(const struct grown *list, unsigned nr, const char *source,
			     int64_t rest, const struct port *p, struct outcome *o)
{
	int64_t left = rest;

	for (unsigned i = 0; i < nr; i++) {
		const struct grown *l = &list[i];

		if (strcmp(l->source, source) || strcasestr(l->counter, "xdp") ||
		    (int64_t)l->packets > left)
			continue;
		left -= l->packets;
		if (o)
			account_add(o, ACCOUNT_LOST, l->packets, "%s of %s (%s)", l->counter,
				    p->label, source);
	}
	return rest - left;
}

/* Several sources often count the same loss: use the one that explains most. */
static void losses_explain(struct outcome *o, const struct port *p, const struct table *before)
{
	static const char *const sources[] = { "ethtool -S", "ip -s link", "tc -s", "softnet" };
	int64_t rest = o->account[0].kind == ACCOUNT_SENT ? account_rest(o, 0) : INT64_MAX;
	int64_t most = 0, explained;
	struct grown list[GROWN_MAX];
	const char *best = NULL;
	struct table now;
	unsigned nr;

	if (rest <= 0 || losses_read(p, &now, NULL))
		return;
	nr = losses_grown(before, &now, list, GROWN_MAX);
	qsort(list, nr, sizeof(*list), by_packets);
	for (unsigned i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		explained = grown_explain(list, nr, sources[i], rest, p, NULL);
		if (explained > most) {
			most = explained;
			best = sources[i];
		}
	}
	if (best)
		grown_explain(list, nr, best, rest, p, o);
	losses_free(&now);
}

/* If the driver counts at completion, packets still in its rings are not counted. */
static void waiting_explain(const struct run *r)
{
	const struct iface *i = &r->from->iface;
	const char *when = driver_find(i->driver)->bytes.when;
	int64_t rest = account_rest(r->o, 0);

	if (r->g.how == HOW_PACKET && !r->to && when && strcmp(when, "xmit") && rest > 0 &&
	    rest <= (int64_t)i->tx_ring * i->tx_queues)
		account_add(r->o, ACCOUNT_LOST, rest, "waiting in the rings of %s: its driver "
			    "counts at %s", r->from->label, when);
}

static void back_fill(const struct run *r)
{
	struct outcome *o = r->o;

	account_add(o, ACCOUNT_SENT, received(r), "redirected by %s", r->b->port.label);
	redirects_fill(o, &r->counted.back, r->b->port.label);
	if (r->at_peer.bpf)
		account_add(o, ACCOUNT_ARRIVED, r->counted.peer.packets, "arrived at %s",
			    r->b->peer.label);
	else
		account_add(o, ACCOUNT_ARRIVED, r->counted.back.sent,
			    "accepted by the driver of %s", r->b->port.label);
	account_add(o, ACCOUNT_UNEXPLAINED, account_rest(o, 1), "unexplained");
}

static void arrived_fill(const struct run *r)
{
	struct outcome *o = r->o;

	if (!r->to)
		account_add(o, ACCOUNT_ARRIVED, handed(r), "accepted by the driver of %s",
			    r->b->port.label);
	else if (!r->transmit)
		account_add(o, ACCOUNT_ARRIVED, received(r), "arrived at %s", r->to->label);
	else if (r->at_peer.bpf)
		account_add(o, ACCOUNT_ARRIVED, r->counted.peer.packets, "arrived at %s",
			    r->to->label);
	else
		account_add(o, ACCOUNT_ARRIVED, r->counted.peer_link.rx_packets,
			    "arrived at %s (ip -s link)", r->to->label);
}

static void sockets_fill(const struct run *r)
{
	account_add(r->o, ACCOUNT_SENT, r->counted.written, "written to sockets at %s",
		    r->from->label);
	account_add(r->o, ACCOUNT_ARRIVED, r->counted.read, "read from sockets at %s",
		    r->to->label);
	account_add(r->o, ACCOUNT_UNEXPLAINED, account_rest(r->o, 0), "unexplained");
}

/* If everything was lost without any counter of it, the peer is probably the wrong port. */
static void nothing_came(const struct run *r)
{
	struct outcome *o = r->o;

	if (!r->to || account_sum(o, 0, ACCOUNT_ARRIVED) || account_rest(o, 0) <= 0)
		return;
	for (int i = 0; i < REMARKS_MAX; i++) {
		if (*o->remark[i])
			continue;
		snprintf(o->remark[i], sizeof(o->remark[i]), "no packets arrived at %.48s: is it "
			 "connected to %.48s? Without --peer, only the driver's transmit rate is "
			 "measured", r->to->label, r->from->label);
		return;
	}
}

void account_fill(const struct run *r)
{
	uint64_t refused = r->counted.refused;
	struct outcome *o = r->o;

	if (r->sockets) {
		sockets_fill(r);
	} else if (r->from) {
		account_add(o, ACCOUNT_SENT, r->counted.sent + refused, "sent from %s",
			    r->from->label);
		redirects_fill(o, &r->counted.out, r->from->label);
		if (refused)
			account_add(o, ACCOUNT_LOST, refused, "not accepted by %s: its qdisc was "
				    "full (ENOBUFS)", r->from->label);
		arrived_fill(r);
		if (r->to)
			losses_explain(o, r->to, &r->losses[r->to == &r->b->peer]);
		losses_explain(o, r->from, &r->losses[r->from == &r->b->peer]);
		waiting_explain(r);
		nothing_came(r);
		account_add(o, ACCOUNT_UNEXPLAINED, account_rest(o, 0), "unexplained");
	} else {
		arrived_fill(r);
		losses_explain(o, r->to, &r->losses[0]);
	}
	if (r->redirect)
		back_fill(r);
}
