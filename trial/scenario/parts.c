/* SPDX-License-Identifier: GPL-2.0 */
/* The two parts of a scenario: the first measures throughput, the second attaches meters. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "lib/util/error.h"
#include "trial/scenario/frames.h"

#define METERED		(1 / 3.)	/* share of the time for the second part */

/* Sends or waits for `seconds`. The generator may still be sending: send_end() waits for it. */
static int send_begin(struct run *r, double seconds)
{
	double until = seconds_now() + seconds;
	int err = 0;

	if (r->sockets)
		return tcp_send(&r->tcp, seconds, r->b->error);
	if (r->from)
		err = generator_start(&r->g, r->from, seconds, r->b->error);
	if (!err)
		sleep_until(until, &trial_stop);
	return err;
}

static int send_end(struct run *r, int err)
{
	if (r->from && !r->sockets && !err)
		err = generator_wait(&r->g, r->b->error);
	return err ?: trial_stop ? error_set(r->b->error, -EINTR, NULL, "stopped") : 0;
}

/* Waits for packets in flight: until the counts stay the same, for one second at most. */
static void drain(const struct run *r, struct counts *t)
{
	double until = seconds_now() + 1;
	unsigned still = 0;
	uint64_t last = 0;

	do {
		struct timespec nap = { .tv_nsec = 10000000 };
		uint64_t now;

		nanosleep(&nap, NULL);
		tally_take(r, t);
		now = t->port.packets + t->peer.packets + t->port_link.rx_packets +
		      t->peer_link.rx_packets + t->back.sent + t->port_link.tx_packets +
		      t->peer_link.tx_packets;
		still = now == last ? still + 1 : 0;
		last = now;
	} while (still < 3 && seconds_now() < until);
}

/*
 * Seconds that other work took of the sending CPUs: the time that the sending threads waited for
 * their CPU, except for ksoftirqd, which receives packets.
 */
static double others_had(const struct run *r)
{
	double had = 0;

	for (unsigned i = 0; r->from && !r->sockets && i < r->b->load.threads; i++) {
		const struct worker *w = &r->g.worker[i];
		double softirqs = w->cpu < EFFORT_CPUS ? r->o->effort.softirqd[w->cpu] * 1e-9 : 0;

		had += w->waited > softirqs ? w->waited - softirqs : 0;
	}
	return had;
}

static int part_bare(struct run *r)
{
	struct effort start;
	double began = seconds_now();
	int err;

	effort_read(&r->b->pmus, &start);
	err = send_begin(r, r->b->seconds * (1 - METERED));
	r->o->seconds = seconds_now() - began;
	effort_read(&r->b->pmus, &r->o->effort);
	effort_diff(&r->o->effort, &start);
	tally_take(r, &r->after);	/* now, as the threads may take a while to end */
	err = send_end(r, err);
	tally_since(r, &r->before);
	if (!err)
		bare_fill(r);
	r->o->others = others_had(r);
	return err;
}

/* If meters cannot be attached, the other figures are still valid. */
static int part_metered(struct run *r)
{
	enum watch_by by = r->transmit ? r->sockets ? WATCH_TX : WATCH_NONE :
			   r->at_port.bpf ? WATCH_NONE : WATCH_RX;
	struct outcome *o = r->o;
	struct error e = {};
	double began;
	int err;

	if (*r->b->no_meters) {
		snprintf(o->remark[1], sizeof(o->remark[1]), "no meters: %.200s", r->b->no_meters);
		return 0;
	}
	if (watch_attach(&r->b->port, by, &r->meta, &e)) {
		snprintf(o->remark[1], sizeof(o->remark[1]), "no meters: %.228s", e.what);
		return send_end(r, send_begin(r, r->b->seconds * METERED));
	}
	began = seconds_now();
	tally_take(r, &r->middle);
	err = send_end(r, send_begin(r, r->b->seconds * METERED));
	o->metered_seconds = seconds_now() - began;
	drain(r, &r->after);
	o->places = by != WATCH_NONE;
	o->metered = !watch_detach(&r->b->port, &r->meta, &o->seen);
	tally_since(r, &r->middle);
	o->metered_packets = headline(r);
	return err;
}

int parts_run(struct run *r)
{
	int err = losses_read(&r->b->port, &r->losses[0], r->b->error);

	if (!err && r->b->has_peer)
		err = losses_read(&r->b->peer, &r->losses[1], r->b->error);
	if (!err) {
		drain(r, &r->before);
		err = part_bare(r);
	}
	if (!err) {
		drain(r, &r->after);
		err = part_metered(r);
	}
	if (!err) {
		drain(r, &r->after);
		tally_since(r, &r->before);
		account_fill(r);
		limit_find(r->b, r->o, r->from ? generator_cpus(&r->g) : 0);
	}
	losses_free(&r->losses[0]);
	losses_free(&r->losses[1]);
	return err;
}
