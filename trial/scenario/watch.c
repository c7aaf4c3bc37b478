/* SPDX-License-Identifier: GPL-2.0 */
/* Attaches meters to a port during a trial, reads them once, detaches them. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "lib/attach/attach.h"
#include "lib/attach/pins.h"
#include "lib/core/hook.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "trial/scenario/watch.h"

#define BPFFS "/sys/fs/bpf"

bool watch_attached(const struct port *p)
{
	int lock = pins_lock(false, NULL);
	char dir[256];
	bool is = lock >= 0 && pins_find(p->iface.netns, p->iface.ifindex, dir, sizeof(dir));

	pins_unlock(lock);
	return is;
}

static int outside = -1;

/* setns() to a mount namespace changes the working directory to its root: change back. */
int watch_outside(void)
{
	int here = open(".", O_PATH | O_CLOEXEC), err = 0;

	if (outside >= 0 && (here < 0 || setns(outside, CLONE_NEWNS) || fchdir(here)))
		err = -errno;
	if (here >= 0)
		close(here);
	return err;
}

/* MS_SLAVE: mounts propagate from outside to us, but not from us to outside. */
int watch_begin(struct error *e)
{
	outside = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (unshare(CLONE_NEWNS) || mount("", "/", NULL, MS_REC | MS_SLAVE, NULL) ||
	    mount("bpf", BPFFS, "bpf", 0, "mode=0700"))
		return error_set(e, -errno, "run it as root, outside of containers",
				 "cannot mount a private BPF file system: %s",
				 strerror(errno));
	return 0;
}

#define BIT(name) (1ull << METER_##name)

/* Never with --rx xdp: attaching XDP can disable the driver's TSO or GRO. */
int watch_attach(const struct port *p, enum watch_by by, struct meta *meta, struct error *e)
{
	struct request req = {
		.meters = BIT(napi) | BIT(irq) | BIT(txlat) | BIT(drop) |
			  (by == WATCH_RX ? BIT(rxcpu) : by == WATCH_TX ? BIT(gso) : 0),
		.rx = by == WATCH_RX ? hook_driver_rx.name : NULL,
		.label = p->label,
		.idle = true,	/* what is compared may be a setting that gives it NAPI */
	};
	int err = port_enter(p, e);

	if (!err)
		err = attach_iface(p->iface.name, &req, meta, e);
	if (err && by == WATCH_RX) {
		error_forget(e);
		req.meters &= ~BIT(rxcpu);
		req.rx = NULL;
		err = attach_iface(p->iface.name, &req, meta, e);
	}
	port_home();
	return err;
}

static const struct metric *metric_of(enum meter_id id, const char *name)
{
	for_each_metric(k, meters[id])
		if (!strcmp(k->name, name))
			return k;
	return NULL;
}

static bool measured(const struct snapshot *s, enum meter_id id)
{
	return s->meta.on >> id & 1 && s->tables[id].cells;
}

/* The same; otherwise tells why not. */
static bool measured_or(const struct snapshot *s, enum meter_id id, char *why, size_t size)
{
	if (measured(s, id))
		return true;
	snprintf(why, size, "%s", s->meta.absent[id]);
	return false;
}

/* The words of a metric, summed over all rows and CPUs. */
static void summed(const struct snapshot *s, enum meter_id id, const char *name, uint64_t *sum)
{
	const struct metric *k = metric_of(id, name);
	const struct table *t = &s->tables[id];

	for (unsigned row = 0; k && row < t->rows; row++)
		for (unsigned cpu = 0; cpu < t->cpus; cpu++)
			for (unsigned i = 0; i < k->words; i++)
				sum[i] += cell(t, row, cpu, k)[i];
}

/* The most words that a metric has: a histogram. */
#define WORDS_MAX (LOGLIN_SLOTS + 1)
_Static_assert(COUNTS_SLOTS <= LOGLIN_SLOTS, "room for either histogram");

static uint64_t total(const struct snapshot *s, enum meter_id id, const char *name)
{
	uint64_t words[WORDS_MAX] = {}, n = 0;

	summed(s, id, name, words);
	for (unsigned i = 0; i < WORDS_MAX; i++)
		n += words[i];
	return n;
}

static void polls_see(const struct snapshot *s, struct seen *seen)
{
	uint64_t work[WORDS_MAX] = {}, time[WORDS_MAX] = {};

	if (!measured_or(s, METER_napi, seen->no_polls, sizeof(seen->no_polls)))
		return;
	summed(s, METER_napi, "work", work);
	summed(s, METER_napi, "poll", time);
	seen->polls = total(s, METER_napi, "polls");
	seen->polled = work[0];
	seen->poll_seconds = time[0] ? time[0] * 1e-9 : NAN;
}

static void interrupts_see(const struct snapshot *s, struct seen *seen)
{
	if (measured_or(s, METER_irq, seen->no_interrupts, sizeof(seen->no_interrupts)))
		seen->interrupts = total(s, METER_irq, "interrupts");
}

static void completions_see(const struct snapshot *s, struct seen *seen)
{
	uint64_t words[WORDS_MAX] = {};
	const struct metric *k = metric_of(METER_txlat, "completion");

	if (!measured_or(s, METER_txlat, seen->no_completions, sizeof(seen->no_completions)))
		return;
	summed(s, METER_txlat, "completion", words);
	seen->p50 = hist_percentile(k, words, .5);
	seen->p99 = hist_percentile(k, words, .99);
	if (isnan(seen->p50))
		snprintf(seen->no_completions, sizeof(seen->no_completions),
			 "no skbs were sent: frames of ndo_xdp_xmit are not followed");
}

static void drops_see(const struct snapshot *s, struct seen *seen)
{
	const struct table *t = &s->tables[METER_drop];
	const struct meter *m = meters[METER_drop];

	for (unsigned row = 0; measured(s, METER_drop) && row < t->rows; row++) {
		const unsigned char *key = t->keys + row * m->key.size;
		unsigned i = seen->drops;

		if (i == DROPS_MAX)
			return;
		m->key.text(key, 0, seen->drop[i].reason, sizeof(seen->drop[i].reason));
		m->key.text(key, 1, seen->drop[i].where, sizeof(seen->drop[i].where));
		seen->drop[i].packets = t->cells[(size_t)row * t->words];
		for (unsigned j = 0; j < i; j++)	/* merge rows of other queues */
			if (!strcmp(seen->drop[i].reason, seen->drop[j].reason) &&
			    !strcmp(seen->drop[i].where, seen->drop[j].where)) {
				seen->drop[j].packets += seen->drop[i].packets;
				seen->drops--;
				break;
			}
		seen->drops++;
	}
}

static void received_see(const struct snapshot *s, struct seen *seen)
{
	const struct metric *k = metric_of(METER_rxcpu, "packets");
	const struct table *t = &s->tables[METER_rxcpu];

	for (unsigned row = 0; measured(s, METER_rxcpu) && row < t->rows; row++)
		for (unsigned cpu = 0; cpu < t->cpus; cpu++) {
			uint64_t packets = *cell(t, row, cpu, k);
			int queue = place_of(s, meters[METER_rxcpu], row).queue;

			seen->cpu[traffic_at(cpu, TRAFFIC_CPUS)] += packets;
			if (queue >= 0)
				seen->queue[traffic_at(queue, TRAFFIC_QUEUES)] += packets;
		}
}

/* Wire packets, like the received ones. */
static void sent_see(const struct snapshot *s, struct seen *seen)
{
	const struct metric *k = metric_of(METER_gso, "buffer_size");
	const struct table *t = &s->tables[METER_gso];

	for (unsigned row = 0; measured(s, METER_gso) && row < t->rows; row++) {
		struct place at = place_of(s, meters[METER_gso], row);

		if (at.point == TX_NIC && at.queue >= 0)
			seen->queue[traffic_at(at.queue, TRAFFIC_QUEUES)] +=
				*cell(t, row, 0, k);	/* the histogram's sum */
	}
}

int watch_detach(const struct port *p, const struct meta *meta, struct seen *seen)
{
	struct snapshot s = {};
	char dir[256];
	int err;

	*seen = (struct seen){ .polls = NAN, .interrupts = NAN, .polled = NAN, .poll_seconds = NAN,
			       .p50 = NAN, .p99 = NAN };
	pins_dir(dir, sizeof(dir), meta->netns, meta->iface);
	err = port_enter(p, NULL) ?: snapshot_read(&s, dir, NULL);
	if (!err) {
		polls_see(&s, seen);
		interrupts_see(&s, seen);
		completions_see(&s, seen);
		drops_see(&s, seen);
		received_see(&s, seen);
		sent_see(&s, seen);
	}
	snapshot_free(&s);
	if (!port_enter(p, NULL))
		detach_iface(meta->netns, meta->iface, false, NULL);
	port_home();
	return err;
}

int losses_read(const struct port *p, struct table *t, struct error *e)
{
	struct meta meta = { .ifindex = p->iface.ifindex, .netns = p->iface.netns };
	const struct meter *m = meters[METER_counters];
	int err = port_enter(p, e);

	*t = (struct table){ .words = m->row_size / 8, .cpus = 1 };
	snprintf(meta.iface, sizeof(meta.iface), "%s", p->iface.name);
	if (!err)
		err = m->read(&meta, t, e);
	port_home();
	if (err)
		return error_set(e, err, NULL, "cannot read the counters of %s: %s", p->label,
				 strerror(-err));
	return 0;
}

unsigned losses_grown(const struct table *before, const struct table *now, struct grown *list,
		      unsigned most)
{
	const struct meter *m = meters[METER_counters];
	unsigned nr = 0;

	for (unsigned row = 0; nr < most && row < now->rows; row++) {
		const unsigned char *key = now->keys + row * m->key.size;
		struct grown *l = &list[nr];

		l->packets = now->cells[(size_t)row * now->words];
		for (unsigned old = 0; old < before->rows; old++)
			if (!memcmp(key, before->keys + old * m->key.size, m->key.size))
				l->packets -= before->cells[(size_t)old * before->words];
		m->key.text(key, 0, l->counter, sizeof(l->counter));
		m->key.text(key, 2, l->source, sizeof(l->source));
		nr += (int64_t)l->packets > 0;
	}
	return nr;
}

void losses_free(struct table *t)
{
	free(t->cells);
	free(t->keys);
	*t = (struct table){};
}
