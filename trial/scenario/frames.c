/* SPDX-License-Identifier: GPL-2.0 */
/* The scenarios that send frames: rx-drop, rx-pass, tx, redirect. */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/log.h"
#include "trial/scenario/frames.h"
#include "trial/scenario/suite.h"

/* Attaches the counting program to a port; it counts only our frames if we send. */
static int sink_put(struct run *r, struct sink *s, const struct port *p, __u32 action)
{
	const struct frame_spec *f = &r->b->load.frame;

	return sink_open(s, p, action, r->from ? f->size : 0, f->vlan);
}

static int cannot(struct outcome *o, const char *why)
{
	snprintf(o->cannot, sizeof(o->cannot), "%s", why);
	complaints_forget();
	return 1;
}

/* Attaches the port's program; rx-pass can do without, using the driver's statistics. */
static int port_prepare(struct run *r, __u32 action)
{
	int err = -EBUSY;

	if (r->b->mine[0])
		err = sink_put(r, &r->at_port, &r->b->port, action);
	else
		complain(err, NULL, "%s has another XDP program", r->b->port.label);
	if (!err && r->at_port.generic && action == XDP_PASS)
		sink_close(&r->at_port);	/* statistics count the same at no cost */
	if (!err && r->at_port.generic)
		snprintf(r->o->remark[0], sizeof(r->o->remark[0]), "the driver of %s rejects XDP "
			 "programs (%s): generic XDP is used, after allocation of the skb",
			 r->b->port.label, strerror(r->at_port.generic));
	if (!err || action != XDP_PASS)
		return err ? cannot(r->o, complaint()) : 0;
	complaints_forget();
	return 0;
}

/* The peer's program drops frames on arrival; a veth peer needs one to be polled. Optional. */
static void peer_prepare(struct run *r, __u32 action)
{
	if (!r->b->has_peer || !r->b->mine[1] ||
	    sink_put(r, &r->at_peer, &r->b->peer, action))
		r->at_peer.bpf = NULL;
	complaints_forget();
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
	snprintf(r->o->cannot, sizeof(r->o->cannot), "%s has forwarding enabled, and would forward "
		 "these packets: sysctl -w net.ipv%d.conf.%s.forwarding=0, or --force", p->label,
		 ipv6 ? 6 : 4, p->iface.name);
	return 1;
}

static void run_close(struct run *r)
{
	generator_close(&r->g);
	if (r->out.bpf)
		redirects_close(&r->out);
	if (r->back.bpf)
		redirects_close(&r->back);
	if (r->at_port.bpf)
		sink_close(&r->at_port);
	if (r->at_peer.bpf)
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
	err = redirects_open(&r->out, r->from) ?: generator_choose(r);
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

static int frames_run(struct bench *b, struct outcome *o, bool transmit, __u32 action)
{
	struct run *r = calloc(1, sizeof(*r));
	int err = 0;

	if (!r)
		return -ENOMEM;
	r->b = b;
	r->o = o;
	r->transmit = transmit;
	r->redirect = action == XDP_REDIRECT;
	r->from = transmit ? &b->port : b->has_peer ? &b->peer : NULL;
	r->to = transmit ? b->has_peer ? &b->peer : NULL : &b->port;
	r->at_port.link = r->at_peer.link = -1;
	if (r->redirect && xmit_harm(&b->port)) {
		snprintf(o->cannot, sizeof(o->cannot), "cannot redirect frames: %s",
			 xmit_harm(&b->port));
		err = 1;
	}
	if (!err && !transmit)
		err = port_prepare(r, action);
	if (!err && (transmit || r->redirect))
		peer_prepare(r, XDP_DROP);
	if (!err && !transmit)
		err = stack_keeps(r, &b->port, &r->at_port, action);
	if (!err && b->has_peer && (transmit || r->redirect))
		err = stack_keeps(r, &b->peer, &r->at_peer, XDP_DROP);
	carrier_await(&b->port);
	if (b->has_peer)
		carrier_await(&b->peer);
	if (!err && r->redirect)
		err = redirects_open(&r->back, &b->port);
	if (!err)
		err = generator_prepare(r);
	if (!err)
		err = parts_run(r);
	run_close(r);
	free(r);
	return err;
}

static int rx_drop(struct bench *b, struct outcome *o)
{
	return frames_run(b, o, false, XDP_DROP);
}

static int rx_pass(struct bench *b, struct outcome *o)
{
	return frames_run(b, o, false, XDP_PASS);
}

static int tx(struct bench *b, struct outcome *o)
{
	return frames_run(b, o, true, XDP_DROP);
}

static int redirect(struct bench *b, struct outcome *o)
{
	return frames_run(b, o, false, XDP_REDIRECT);
}

const struct scenario scenario_rx_drop = {
	.name = "rx-drop",
	.help = "receive and drop by XDP: the driver's receive rate",
	.run = rx_drop,
	.needs_peer = true,
};

const struct scenario scenario_rx_pass = {
	.name = "rx-pass",
	.help = "receive into the network stack, which drops the packets",
	.run = rx_pass,
	.needs_peer = true,
};

const struct scenario scenario_tx = {
	.name = "tx",
	.help = "send: the driver's transmit rate",
	.run = tx,
	.transmits = true,
};

const struct scenario scenario_redirect = {
	.name = "redirect",
	.help = "receive and send back by XDP_REDIRECT",
	.run = redirect,
	.needs_peer = true,
};
