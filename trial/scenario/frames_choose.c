/* SPDX-License-Identifier: GPL-2.0 */
/* Chooses the method of sending frames from a port, by trying it. */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <bpf/libbpf.h>

#include "lib/core/nic_driver.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "trial/scenario/frames.h"

uint64_t generator_cpus(const struct generator *g)
{
	uint64_t cpus = 0;

	for (unsigned i = 0; i < g->load.threads; i++)
		if (g->worker[i].cpu < 64)
			cpus |= 1ull << g->worker[i].cpu;
	return cpus;
}

static const char *no_xmit(const struct port *p)
{
	if (!strcmp(p->iface.driver, "veth"))
		return text("%s cannot send them unless its other end has an XDP program or GRO",
			    p->label);
	return text("the driver of %s (%s) has no ndo_xdp_xmit%s", p->label, p->iface.driver,
		    port_features(p) < 0 ? " at present" : ", according to its xdp-features");
}

/* Why none of the test frames was sent. */
static const char *why_none(const struct port *p, const struct redirects *a,
			    const struct redirects *b)
{
	for (int err = 0; err < REDIRECT_ERRORS; err++) {
		if (b->refused[err] > a->refused[err])
			return err == EOPNOTSUPP ? no_xmit(p) :
			       text("frames cannot be redirected to %s: %s", p->label,
				    strerror(err));
		if (b->dropped[err] > a->dropped[err])
			return err == ENXIO ?
			       text("ndo_xdp_xmit of %s has no queue to send on: some drivers need "
				    "an XDP program there, a veth at its other end", p->label) :
			       text("ndo_xdp_xmit of %s accepts no frames: %s", p->label,
				    err ? strerror(err) : "no room in the ring");
	}
	return text("frames redirected to %s were neither sent nor dropped", p->label);
}

const char *live_harms(const struct driver *d, unsigned version)
{
	return d->live_harm && version && version < d->live_harmless ? d->live_harm : NULL;
}

bool xmit_harms(const struct driver *d, unsigned queues, unsigned most, unsigned cpus)
{
	return d->xmit_by_cpu && queues > cpus && queues + cpus > most;
}

const char *xmit_harm(const struct port *p)
{
	int cpus = libbpf_num_possible_cpus();
	struct iface i = p->iface;

	if (!port_enter(p, NULL) && iface_read_index(p->iface.ifindex, &i, NULL))
		i = p->iface;
	port_home();
	if (!xmit_harms(driver_find(i.driver), i.tx_queues, i.max_tx_queues, cpus))
		return NULL;
	return text("redirected frames would crash this kernel, as %s has %u queues in use on %d "
		    "CPUs: ethtool -L %s combined %d", p->label, i.tx_queues, cpus, i.name, cpus);
}

static const char *harm(const struct port *p)
{
	const char *why = xmit_harm(p);
	struct utsname here;

	if (why)
		return why;
	uname(&here);
	why = live_harms(driver_find(p->iface.driver), release_version(here.release));
	return why ? text("%s %s", p->iface.driver, why) : NULL;
}

/* Sends a few test frames. NULL: they were sent; or why not. */
static const char *try(struct run *r)
{
	struct redirects before, after;
	struct error e = {};
	int err;

	redirects_read(r->out, &before);
	err = port_enter(r->from, &e) ?: live_try(&r->g);
	port_home();
	redirects_read(r->out, &after);
	if (err == -EINVAL || err == -EOPNOTSUPP || err == -524)	/* ENOTSUPP */
		return "this kernel does not support XDP live frames of this size";
	if (err)
		return *e.what ? text("%s", e.what) : text("cannot send live frames: %s",
							       strerror(-err));
	return after.sent > before.sent ? NULL : why_none(r->from, &before, &after);
}

static int live_choose(struct run *r, char *why, size_t size)
{
	struct error e = {};
	int err = generator_open(&r->g, r->from, &r->b->load, HOW_LIVE, &e);
	const char *no = err ? e.what : try(r);

	if (!no)
		return 0;
	snprintf(why, size, "%.199s", no);
	generator_close(&r->g);
	return -EOPNOTSUPP;
}

int generator_choose(struct run *r)
{
	struct sink *own = r->from == &r->b->port ? &r->at_port : &r->at_peer;
	const char *harms = r->b->how != HOW_PACKET ? harm(r->from) : "";
	int err = -EOPNOTSUPP;
	char why[200] = "";

	if (harms)
		snprintf(why, sizeof(why), "%s", harms);
	else
		err = live_choose(r, why, sizeof(why));
	/* Some drivers have XDP transmit queues only while a program is attached. */
	if (err && !harms && !own->bpf && r->b->mine[r->from == &r->b->peer] &&
	    port_features(r->from)) {
		err = sink_open(own, r->from, XDP_PASS, 0, false, NULL);
		carrier_await(r->from);
		if (!err)
			err = live_choose(r, why, sizeof(why));
		if (err && own->bpf)
			sink_close(own);
	}
	if (err && r->b->how == HOW_LIVE)
		return scenario_cannot(r->o, text("no live frames: %s", why));
	if (err && *why)
		snprintf(r->o->remark[2], sizeof(r->o->remark[2]), "sent by a packet socket: %s",
			 why);
	return err ? generator_open(&r->g, r->from, &r->b->load, HOW_PACKET, r->b->error) : 0;
}
