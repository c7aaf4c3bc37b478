/* SPDX-License-Identifier: GPL-2.0 */
/* Opens the ports of a benchmark, rejects harmful requests, runs the scenarios in turn. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "lib/core/nic_driver.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "trial/load/tcp_load.h"
#include "trial/scenario/suite.h"

#define CARRIER	5	/* seconds to wait for a link to come back */

const struct scenario *const scenarios[] = {
#define S(name) &scenario_##name,
	SCENARIOS(S)
#undef S
	NULL
};

/* Rejects ports where the trial would harm others: their default route or XDP program. */
static int port_refuse(const struct bench *b, const struct port *p)
{
	if (watch_attached(p))
		return error_set(b->error, -EBUSY, text("nicprobe detach %s", p->label),
				 "cannot benchmark %s: nicprobe is attached, which costs CPU time",
				 p->label);
	if (!b->force && port_is_needed(p))
		return error_set(b->error, -EPERM,
				 "--force, or an interface without a default route",
				 "%s carries the default route: its traffic would suffer",
				 p->label);
	if (!b->force && p->iface.xdp_id)
		return error_set(b->error, -EBUSY,
				 text("--force, to keep it and measure without our own; or "
				      "ip link set %s xdp off", p->iface.name),
				 "%s has another XDP program (id %u)", p->label, p->iface.xdp_id);
	return 0;
}

static int port_ready(const struct port *p, struct error *e)
{
	if (!p->iface.up)
		return error_set(e, -ENETDOWN, text("ip link set %s up", p->iface.name),
				 "%s is down", p->label);
	if (!port_has_carrier(p))
		return error_set(e, -ENETDOWN, text("ethtool %s", p->iface.name),
				 "%s has no carrier", p->label);
	return 0;
}

const char *bench_disturbs(const struct bench *b, const struct port *p)
{
	if (p->iface.xdp_id || (p == &b->peer && !b->has_peer) ||
	    !driver_devices(p->iface.driver))
		return NULL;
	return driver_find(p->iface.driver)->xdp;
}

static int port_check(const struct bench *b, const struct port *p)
{
	const struct frame_spec *f = &b->load.frame;
	int err;

	if (p->iface.loopback)
		return error_set(b->error, -EINVAL,
				 "two veths: ip link add v0 type veth peer name v1",
				 "cannot benchmark %s: the loopback has no driver", p->label);
	if (p->iface.mac[7] != 6)
		return error_set(b->error, -EINVAL, NULL,
				 "cannot benchmark %s: not an Ethernet interface", p->label);
	if (p->iface.up && bench_disturbs(b, p))	/* the link may be about to come back */
		carrier_await(p);
	err = port_ready(p, b->error);
	if (err)
		return err;
	if (f->size > p->iface.mtu + 14 + (f->vlan ? 4 : 0))
		return error_set(b->error, -EMSGSIZE, text("--size %u", p->iface.mtu + 14),
				 "frames of %u bytes exceed the MTU of %s, %u plus 14 for Ethernet",
				 f->size, p->label, p->iface.mtu);
	return port_refuse(b, p);
}

static int peer_open(struct bench *b, const char *label)
{
	int err;

	if (label) {
		err = port_open(label, &b->peer, b->error);
		b->has_peer = !err;
		if (!err && b->peer.iface.netns == b->port.iface.netns &&
		    b->peer.iface.ifindex == b->port.iface.ifindex)
			err = error_set(b->error, -EINVAL, NULL, "%s is its own peer",
					b->port.label);
		return err;
	}
	err = port_peer(&b->port, &b->peer, b->error);
	b->has_peer = b->peer_found = !err;
	return err == -ENOENT ? 0 : err;
}

static unsigned cpus_ours(void)
{
	cpu_set_t may;

	CPU_ZERO(&may);
	return sched_getaffinity(0, sizeof(may), &may) ? 1 : CPU_COUNT(&may);
}

/* Fills in defaults for size, flows, threads and connections. */
static int load_fill(struct bench *b)
{
	unsigned queues = b->port.iface.rx_queues, cpus = cpus_ours(), least;
	struct load *l = &b->load;

	least = frame_least(&l->frame);
	l->frame.size = l->frame.size ?: least < 64 ? 64 : least;
	if (l->frame.size < least)
		return error_set(b->error, -EINVAL, text("--size %u", least),
				 "frames of this kind have at least %u bytes, not %u", least,
				 l->frame.size);
	if (l->threads > cpus || l->threads > THREADS_MAX)
		return error_set(b->error, -EINVAL, NULL,
				 "at most %u threads can send here, one per CPU, not %u",
				 cpus < THREADS_MAX ? cpus : THREADS_MAX, l->threads);
	b->connections = l->flows ?: queues < CONNECTIONS_MAX ? queues : CONNECTIONS_MAX;
	l->threads = l->threads ?: queues < cpus ? queues : cpus;
	l->threads = l->threads < THREADS_MAX ? l->threads : THREADS_MAX;
	l->flows = l->flows ?: 16 * queues < FLOWS_MAX ? 16 * queues : FLOWS_MAX;
	return 0;
}

int bench_open(struct bench *b, const char *port, const char *peer, struct error *e)
{
	struct error no_meters = {};
	int err;

	b->error = e;
	b->port.netns = b->peer.netns = -1;
	err = port_open(port, &b->port, e) ?: peer_open(b, peer) ?: load_fill(b) ?:
	      port_check(b, &b->port);
	if (!err && b->has_peer)
		err = port_check(b, &b->peer);
	if (err)
		return err;
	b->mine[0] = !b->port.iface.xdp_id;
	b->mine[1] = b->has_peer && !b->peer.iface.xdp_id;
	pmus_open(&b->pmus);
	if (watch_begin(&no_meters))
		snprintf(b->no_meters, sizeof(b->no_meters), "%.239s", no_meters.what);
	return 0;
}

void bench_close(struct bench *b)
{
	/* leave the links up, as we found them */
	if (b->mine[0] && bench_disturbs(b, &b->port))
		carrier_await(&b->port);
	if (b->mine[1] && bench_disturbs(b, &b->peer))
		carrier_await(&b->peer);
	pmus_close(&b->pmus);
	port_close(&b->port);
	port_close(&b->peer);
}

/* Without a peer, frames are addressed to their sender: switches drop them. */
static void address(struct bench *b, bool transmit)
{
	const struct port *from = transmit || !b->has_peer ? &b->port : &b->peer;
	const struct port *to = transmit && b->has_peer ? &b->peer : &b->port;

	memcpy(b->load.frame.src, from->iface.mac, 6);
	memcpy(b->load.frame.dst, to->iface.mac, 6);
}

void carrier_await(const struct port *p)
{
	double until = seconds_now() + CARRIER;

	while (!port_has_carrier(p) && seconds_now() < until &&
	       !sleep_until(seconds_now() + .05, &trial_stop))
		;
}

/* Rereads the port before a round: commands may have changed it, or taken its link down. */
static int port_again(struct port *p, struct error *e)
{
	int err = port_enter(p, e) ?: iface_read_index(p->iface.ifindex, &p->iface, e);

	port_home();
	if (err)
		return error_set(e, err, NULL, "%s is gone", p->label);
	carrier_await(p);
	return port_ready(p, e);
}

int bench_round(void *ctx, struct result *result, struct error *e)
{
	struct bench *b = ctx;
	int cannot = 0;

	b->error = e;
	b->outcomes = result->nr = 0;
	if (port_again(&b->port, e) || (b->has_peer && port_again(&b->peer, e)))
		return -ENODEV;
	for (const struct scenario *const *s = b->wanted; *s; s++) {
		struct outcome *o = &b->outcome[b->outcomes];
		int err;

		memset(o, 0, sizeof(*o));
		o->scenario = *s;
		address(b, (*s)->transmits);
		if (b->starts)
			b->starts(b, *s);
		err = (*s)->run(b, o);
		if (err < 0)
			return error_set(e, err, NULL, "%s: %s", (*s)->name, strerror(-err));
		if (err && b->asked)
			cannot = error_set(e, -EOPNOTSUPP, NULL, "cannot do %s: %s", (*s)->name,
					   o->cannot);
		b->outcomes++;
		if (!err)
			outcome_figures(b, o, result);
	}
	return cannot;
}
