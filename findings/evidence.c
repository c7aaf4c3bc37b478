/* SPDX-License-Identifier: GPL-2.0 */
/* What findings rest on: figures of a window, CPU load, setup of the interface. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/counters/counters.h"
#include "bpf/drop/drop.h"
#include "lib/kernel/reasons.h"
#include "bpf/hwstat/hwstat.h"
#include "bpf/napi/napi.h"
#include "bpf/txlat/txlat.h"
#include "findings/evidence.h"
#include "lib/core/nic_driver.h"
#include "lib/hw/hw.h"
#include "lib/net/full_socket.h"
#include "lib/net/here.h"
#include "lib/net/neighbours.h"
#include "lib/read/thinned.h"
#include "lib/util/log.h"
#include "xdp/pktsize.h"
#include "xdp/rxcpu.h"

#define FREE	.5	/* of its time idle: can take over work */
#define FULL	.05	/* of its time idle, at most, and… */
#define BUSY	.25	/* of its time idle: below this, the CPU has no reserve */
#define NETWORK	.5	/* …at least so much spent on networking: a full CPU */

int evidence_enter(const struct evidence *e, bool *there)
{
	int home = -1;

	if (e->s->meta.netns != netns_inode())
		home = open(NETNS_OURS, O_RDONLY | O_CLOEXEC);
	*there = (home >= 0 || e->s->meta.netns == netns_inode()) &&
		 !netns_enter_same(e->s->meta.netns, e->s->meta.cookie, NULL);
	return home;
}

void evidence_leave(int home)
{
	if (home < 0)
		return;
	netns_go(home);
	close(home);
}

const struct hw *setup(struct evidence *e)
{
	char name[IF_NAMESIZE];
	bool there;
	int home;

	if (e->hw || e->asked || !*e->s->meta.iface)
		return e->hw;
	e->asked = true;
	e->own = calloc(1, sizeof(*e->own));
	home = evidence_enter(e, &there);
	if (e->own && there && iface_name_of(e->s->meta.ifindex, name) &&
	    !hw_read(name, e->own, NULL))
		e->hw = e->own;
	evidence_leave(home);
	return e->hw;
}

unsigned silent_neighbours(const struct evidence *e, char *one, size_t size)
{
	bool there;
	int home = evidence_enter(e, &there);
	unsigned nr = there ? neighbours_silent(e->s->meta.ifindex, one, size) : 0;

	evidence_leave(home);
	if (!nr)
		*one = '\0';
	return nr;
}

bool fullest_socket(const struct evidence *e, struct full_socket *s)
{
	bool there, found;
	int home = evidence_enter(e, &there);

	found = there && full_socket_find(s);
	evidence_leave(home);
	return found;
}

bool has(const struct evidence *e, enum meter_id id)
{
	return e->s->meta.on >> id & 1 && e->s->tables[id].cells;
}

bool row_next(const struct evidence *e, struct meter_row *r)
{
	const struct table *t = &e->s->tables[r->id];

	if (!has(e, r->id) || r->next >= t->rows)
		return false;
	r->key = t->keys + r->next * meters[r->id]->key.size;
	r->words = row_words(t, r->next++, 0);
	return true;
}

struct place row_place(const struct evidence *e, const struct meter_row *r)
{
	return place_of(e->s, meters[r->id], r->next - 1);
}

double rate(const struct evidence *e, double n)
{
	return e->s->seconds > 0 ? n / e->s->seconds : 0;
}

void finding_counted(const struct evidence *e, struct finding *f, uint64_t n, const char *name,
		     const char *unit)
{
	finding_harm(f, rate(e, n));
	finding_fact(f, name, n, unit);
}

void finding_packets(const struct evidence *e, struct finding *f, uint64_t n)
{
	finding_counted(e, f, n, "packets", "packets");
}

bool worth(const struct evidence *e, uint64_t n, uint64_t least)
{
	return n >= least && n * 3600 >= least * e->s->seconds;
}

const char *packets(uint64_t n, const char *what)
{
	if (n != 1)
		return text("%" PRIu64 " packets %s", n, what);
	return strncmp(what, "were ", 5) ? text("1 packet %s", what) :
					   text("1 packet was %s", what + 5);
}

const struct metric *metric_of(const struct meter *m, const char *name)
{
	const struct metric *k = m->metrics;

	while (strcmp(k->name, name))
		k++;
	return k;
}

/* "QDISC_*" matches as a prefix. */
static bool fits(const char *pattern, const char *name)
{
	size_t len = strlen(pattern);

	if (len && pattern[len - 1] == '*')
		return !strncmp(pattern, name, len - 1);
	return !strcmp(pattern, name);
}

const char *with_iface(const struct evidence *e, const char *template)
{
	const char *all = "";

	for (const char *at; (at = strstr(template, "{if}")); template = at + strlen("{if}"))
		all = text("%s%.*s%s", all, (int)(at - template), template, e->s->meta.iface);
	return text("%s%s", all, template);
}

uint64_t dropped_for(const struct evidence *e, const char *reason)
{
	uint64_t n = 0;

	for_each_row(r, e, METER_drop) {
		const struct drop_key *key = r.key;

		if (*r.words && key->direction != DROP_UNSURE &&
		    fits(reason, drop_reason_name(key->reason)))
			n += *r.words;
	}
	return n;
}

uint64_t dropped_by(const struct evidence *e, const char *who, uint64_t *buffers)
{
	uint64_t n = 0, more = 0;

	for_each_row(r, e, METER_drop) {
		const struct drop_key *key = r.key;
		const struct drop *drop = (const void *)r.words;

		if (!drop->packets || key->direction == DROP_UNSURE || strcmp(drop_who(key), who))
			continue;
		n += drop->packets;
		more += drop->more;
	}
	if (buffers)
		*buffers = n - more;
	return n;
}

uint64_t card_counted(const struct evidence *e, const char *stat, int *queue)
{
	uint64_t n = 0, most = 0;

	*queue = -1;
	for_each_row(r, e, METER_hwstat) {
		const struct hwstat_key *key = r.key;
		unsigned at = hwstat_queue(key);

		if (key->rank == HWSTAT_OWN || strcmp(stat, stat_names[key->rank].name))
			continue;
		n += *r.words;
		if (*r.words > most) {
			most = *r.words;
			*queue = at == HWSTAT_ALL ? -1 : (int)at;
		}
	}
	return n;
}

uint64_t kernel_counted(const struct evidence *e, const char *source, const char *counter)
{
	uint64_t n = 0;

	for_each_row(r, e, METER_counters) {
		const struct counters_key *key = r.key;

		if (*r.words && !strcmp(key->source, source) && fits(counter, key->counter))
			n += *r.words;
	}
	return n;
}

uint64_t counted_like(const struct evidence *e, const char *source, const char *const *parts)
{
	uint64_t n = 0;

	for_each_row(r, e, METER_counters) {
		const struct counters_key *key = r.key;
		unsigned i = 0;

		while (parts[i] && !strcasestr(key->counter, parts[i]))
			i++;
		if (parts[i] && !strcmp(key->source, source))
			n += *r.words;
	}
	return n;
}

uint64_t received(const struct evidence *e, int queue, int cpu)
{
	const struct table *t = &e->s->tables[METER_rxcpu];
	unsigned row = queue < 0 ? 0 : queue, rows = queue < 0 ? t->rows : row + 1;
	unsigned first = cpu < 0 ? 0 : cpu, cpus = cpu < 0 ? t->cpus : first + 1;
	uint64_t n = 0;

	for (; has(e, METER_rxcpu) && rows <= t->rows && cpus <= t->cpus && row < rows; row++)
		for (unsigned c = first; c < cpus && !(t->at && !t->at[row]); c++)
			n += ((const struct rxcpu *)row_words(t, row, c))->packets;
	return n;
}

uint64_t sent_packets(const struct evidence *e)
{
	const struct metric *k = meter_pktsize.metrics;
	uint64_t n = 0;

	for_each_row(r, e, METER_pktsize)
		if (row_place(e, &r).point == TX_NIC)
			n += hist_count(k, r.words + k->at);
	if (has(e, METER_pktsize))
		return n;
	if (has(e, METER_txlat) && meter_thins(e->s, METER_txlat))
		return thinned_of(e->s, METER_txlat).taken + thinned_of(e->s, METER_txlat).passed;
	for_each_row(r, e, METER_txlat)
		n += ((const struct txlat *)r.words)->came;
	return n;
}

uint64_t sent_buffers(const struct evidence *e, bool *larger)
{
	uint64_t n = 0;

	*larger = false;
	for_each_row(r, e, METER_pktsize) {
		const struct pktsize *p = (const void *)r.words;

		if (row_place(e, &r).point != TX_STACK)
			continue;
		n += hist_count(meter_pktsize.metrics, words_at(&p->size.sum));
		*larger |= p->more_packets;
	}
	return n;
}

int busiest_queue(const struct evidence *e)
{
	uint64_t most = 0;
	int best = -1;

	for (unsigned queue = 0; queue < e->s->meta.rx_queues; queue++)
		if (received(e, queue, -1) > most) {
			most = received(e, queue, -1);
			best = queue;
		}
	return best;
}

int cpu_of_queue(const struct evidence *e, int queue)
{
	uint64_t most = 0;
	int best = -1;

	for (unsigned cpu = 0; cpu < e->s->tables[METER_rxcpu].cpus; cpu++)
		if (received(e, queue, cpu) > most) {
			most = received(e, queue, cpu);
			best = cpu;
		}
	return best;
}

/* If threads do most polls, polling is accounted as system time, not as softirq time. */
static bool polls_in_threads(const struct evidence *e)
{
	uint64_t threads = 0, all = 0;

	for_each_row(r, e, METER_napi) {
		const struct napi *n = (const void *)r.words;

		for (unsigned by = 0; by < NR_NAPI_BY; by++)
			all += n->polls[by];
		threads += n->polls[NAPI_THREAD];
	}
	return 2 * threads > all;
}

double time_receiving(const struct evidence *e, int cpu)
{
	const struct cpu_load *l = &e->s->load;

	return load_network(l, cpu) + (polls_in_threads(e) ? load_share(l, cpu, SPENT_SYSTEM) : 0);
}

unsigned free_cpus(const struct evidence *e, int cpu, bool lost)
{
	const struct cpu_load *l = &e->s->load;
	unsigned nr = 0;

	if (!l->nr)
		return e->s->online > 1 ? e->s->online - (cpu >= 0) : 0;
	for (int other = 0; other < (int)l->nr; other++)
		nr += other != cpu && (load_idle(l, other) >= FREE ||
				       (lost && time_receiving(e, other) < NETWORK));
	return nr;
}

bool cpu_is_full(const struct evidence *e, int cpu)
{
	return cpu >= 0 && load_idle(&e->s->load, cpu) <= FULL &&
	       time_receiving(e, cpu) >= NETWORK;
}

bool cpu_is_busy(const struct evidence *e, int cpu)
{
	return cpu >= 0 && load_idle(&e->s->load, cpu) < BUSY;
}
