/* SPDX-License-Identifier: GPL-2.0 */
/* The scenarios that send frames: rx-drop, rx-pass, tx, redirect. */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "trial/scenario/frames.h"
#include "trial/scenario/suite.h"

/* Attaches the counting program to a port; it counts only our frames if we send. */
static int sink_put(struct run *r, struct sink *s, const struct port *p, __u32 action,
		    struct error *e)
{
	const struct frame_spec *f = &r->b->load.frame;

	return sink_open(s, p, action, r->from ? f->size : 0, f->vlan, e);
}

int scenario_cannot(struct outcome *o, const char *why)
{
	snprintf(o->cannot, sizeof(o->cannot), "%.319s", why);
	return 1;
}

/* Attaches the port's program; rx-pass can do without, using the driver's statistics. */
static int port_prepare(struct run *r, __u32 action)
{
	struct error e = {};
	int err = -EBUSY;

	if (r->b->mine[0])
		err = sink_put(r, &r->at_port, &r->b->port, action, &e);
	else
		error_set(&e, err, NULL, "%s has another XDP program", r->b->port.label);
	if (!err && r->at_port.generic && action == XDP_PASS)
		sink_close(&r->at_port);	/* statistics count the same at no cost */
	if (!err && r->at_port.generic)
		snprintf(r->o->remark[0], sizeof(r->o->remark[0]), "the driver of %s rejects XDP "
			 "programs (%s): generic XDP is used, after allocation of the skb",
			 r->b->port.label, strerror(r->at_port.generic));
	if (!err || action != XDP_PASS)
		return err ? scenario_cannot(r->o, e.what) : 0;
	return 0;
}

/* The peer's program drops frames on arrival; a veth peer needs one to be polled. Optional. */
static void peer_prepare(struct run *r)
{
	if (r->b->has_peer && r->b->mine[1])
		sink_put(r, &r->at_peer, &r->b->peer, XDP_DROP, NULL);
}

/*
 * Refuses to deliver frames to a stack that forwards: it would send them on by its default route,
 * or answer with ICMP errors. 0; or 1 and outcome->cannot.
 */
static int stack_keeps(struct run *r, const struct port *p, const struct sink *s, __u32 action)
{
	bool ipv6 = r->b->load.frame.ipv6;

	if (r->b->force || !r->from || (s->bpf && action != XDP_PASS) || !port_forwards(p, ipv6))
		return 0;
	return scenario_cannot(r->o, text("%s has forwarding enabled, and would forward these "
					  "packets: sysctl -w net.ipv%d.conf.%s.forwarding=0, or "
					  "--force", p->label, ipv6 ? 6 : 4, p->iface.name));
}

static void run_close(struct run *r)
{
	generator_close(&r->g);
	redirects_close(r->out);
	redirects_close(r->back);
	sink_close(&r->at_port);
	sink_close(&r->at_peer);
}

/* Opens the generator and describes it in outcome->how. 0, 1 or -errno, as generator_choose(). */
static int generator_prepare(struct run *r)
{
	int err;

	if (!r->from) {
		snprintf(r->o->how, sizeof(r->o->how), "other hosts, as there is no --peer");
		return 0;
	}
	err = redirects_open(&r->out, r->from, r->b->error) ?: generator_choose(r);
	if (err)
		return err;
	snprintf(r->o->how, sizeof(r->o->how), "%s from %s, %u thread%s, %u flow%s, %u bytes%s%s%s",
		 r->g.how == HOW_LIVE ? "XDP live frames" : "a packet socket", r->from->label,
		 r->b->load.threads, r->b->load.threads > 1 ? "s" : "", r->b->load.flows,
		 r->b->load.flows > 1 ? "s" : "", r->b->load.frame.size,
		 r->b->load.frame.ipv6 ? ", IPv6" : "",
		 r->b->load.frame.vlan ? text(", VLAN %u", r->b->load.frame.vlan) : "",
		 r->b->load.rate ? text(", at most %.0f/s", r->b->load.rate) : "");
	return 0;
}

/* Attaches the programs that the scenario needs. 0, 1 or -errno, as generator_choose(). */
static int ports_prepare(struct run *r, __u32 action)
{
	const struct bench *b = r->b;
	const char *harm = r->redirect ? xmit_harm(&b->port) : NULL;
	int err = harm ? scenario_cannot(r->o, text("cannot redirect frames: %s", harm)) : 0;

	if (!err && !r->transmit)
		err = port_prepare(r, action);
	if (!err && (r->transmit || r->redirect))
		peer_prepare(r);
	if (!err && !r->transmit)
		err = stack_keeps(r, &b->port, &r->at_port, action);
	if (!err && b->has_peer && (r->transmit || r->redirect))
		err = stack_keeps(r, &b->peer, &r->at_peer, XDP_DROP);
	carrier_await(&b->port);
	if (b->has_peer)
		carrier_await(&b->peer);
	return err;
}

static int frames_run(struct bench *b, struct outcome *o)
{
	bool transmit = o->scenario->transmits;
	struct run *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->b = b;
	r->o = o;
	r->transmit = transmit;
	r->redirect = o->scenario->action == XDP_REDIRECT;
	r->from = transmit ? &b->port : b->has_peer ? &b->peer : NULL;
	r->to = transmit ? b->has_peer ? &b->peer : NULL : &b->port;
	err = ports_prepare(r, o->scenario->action);
	if (!err && r->redirect)
		err = redirects_open(&r->back, &b->port, r->b->error);
	if (!err)
		err = generator_prepare(r) ?: parts_run(r);
	run_close(r);
	free(r);
	return err;
}

const struct scenario scenario_rx_drop = {
	.name = "rx-drop",
	.help = "receive and drop by XDP: the driver's receive rate",
	.run = frames_run,
	.action = XDP_DROP,
	.needs_peer = true,
};

const struct scenario scenario_rx_pass = {
	.name = "rx-pass",
	.help = "receive into the network stack, which drops the packets",
	.run = frames_run,
	.action = XDP_PASS,
	.needs_peer = true,
};

const struct scenario scenario_tx = {
	.name = "tx",
	.help = "send: the driver's transmit rate",
	.run = frames_run,
	.transmits = true,
};

const struct scenario scenario_redirect = {
	.name = "redirect",
	.help = "receive and send back by XDP_REDIRECT",
	.run = frames_run,
	.action = XDP_REDIRECT,
	.needs_peer = true,
};
