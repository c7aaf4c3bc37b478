/* SPDX-License-Identifier: GPL-2.0 */
/* Which packets are followed: all, 1 in N, or as many as a limit allows; what one may ask for. */
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/fuzz/stub/bpf/bpf_helpers.h"	/* instead of libbpf's, which is for BPF only */

static __u64 ticks;			/* of the clock that programs see */
static __u32 drawn(void)
{
	return (__u32)random() << 1 ^ (__u32)random();
}

static __u64 bpf_jiffies64(void)
{
	return ticks;
}
#define bpf_get_prandom_u32 drawn
#include "bpf/common/sampled.bpf.h"
#include "lib/attach/pacing.h"
#include "lib/core/meter.h"
#include "lib/kernel/yard.h"
#include "lib/util/amount.h"

#define SUBJECT "pace "
#include "check.h"

#define TICK	4000000			/* ns: 250 in a second */
#define METER	METER_txlat

static struct config *settings;		/* writable alias of the programs' `config` */
static struct pace here;
static struct pace_plan planned;

void *stub_lookup(const struct stub_map *map, const void *key)
{
	(void)key;
	return map->map == &pace ? (void *)&here : (void *)&planned;
}

static void begin(unsigned one_in, struct pace_plan plan, bool adapt)
{
	settings->adapts = adapt ? 1ull << METER : 0;
	settings->one_in[METER] = one_in;
	planned = plan;
	here = (struct pace){};
	ticks = 4294967000;		/* its lower half begins anew soon */
}

/* So many packets a second, evenly, for a time. The number of them. */
static uint64_t offer(double rate, double seconds)
{
	uint64_t n = rate * seconds, first = ticks;

	for (uint64_t i = 0; i < n; i++) {
		ticks = first + i / rate * 1e9 / TICK;
		sampled(METER);
	}
	ticks = first + seconds * 1e9 / TICK;
	return n;
}

static void between(const char *name, double got, double least, double most)
{
	check(got >= least && got <= most, name,
	      text("%.4g, not from %.4g to %.4g", got, least, most));
}

static void gaps(void)
{
	static const unsigned ns[] = { 1, 2, 3, 16, 1000, 1 << 16, 1000000 };

	for (unsigned i = 0; i < sizeof(ns) / sizeof(*ns); i++) {
		double sum = 0;
		__u32 most = 0;

		for (int n = 0; n < 200000; n++) {
			__u32 gap = pace_gap(ns[i], drawn());

			most = gap > most ? gap : most;
			sum += gap;
		}
		must(most <= 2 * ns[i] - 2, "gaps", text("1 in %u: %u passed by", ns[i], most));
		between(text("1 in %u: the mean of what is passed by", ns[i]), sum / 200000,
			.98 * (ns[i] - 1), 1.02 * (ns[i] - 1));
	}
	same("the least random number", pace_gap(16, 0), 0);
	same("the greatest", pace_gap(16, ~0u), 30);
}

static void fixed(void)
{
	uint64_t n;

	begin(1, planned, false);
	offer(1e6, .1);
	same("1 in 1: nothing is counted", here.taken + here.passed, 0);
	begin(16, planned, false);
	n = offer(1e6, .5);
	same("1 in 16: every packet is counted", here.taken + here.passed, n);
	between("1 in 16: of 500000", here.taken, 30000, 32500);
	same("1 in 16: never paused", here.paused, 0);
}

static void shifts(void)
{
	const struct pace_plan p = { .room = 1000, .ticks = 4, .take = 10, .pass = 2 };

	same("no packets", pace_shift(&p, 1000, 0), 0);
	same("as many as there is room for", pace_shift(&p, 1000, 83), 0);
	same("one more", pace_shift(&p, 1000, 84), 1);
	same("room for 1 in 4", pace_shift(&p, 1000, 220), 2);
	same("no room but to pass by", pace_shift(&p, 1000, 500), PACE_PAUSED);
	same("less than 1 in 65536", pace_shift(&(struct pace_plan){ .take = 1 << 20 }, 1, 1 << 20),
	     PACE_PAUSED);
	same("no room at all", pace_shift(&p, 0, 1), PACE_PAUSED);
	same("the most packets that a slice can have", pace_shift(&p, 1ull << 40, ~0u), 0);
}

static void adapting(void)
{
	struct pace_plan plan = pacing_plan(&meter_txlat, 1, 0, TICK, YARD_NS);
	uint64_t n;
	struct pace before;

	same("a slice is 16 ms", plan.ticks, 4);
	begin(0, plan, true);
	n = offer(9000, 3);
	same("below the limit: every packet is counted", here.taken + here.passed, n);
	same("below the limit: none is passed by", here.passed, 0);

	n += offer(3e6, 2);
	before = here;
	same("a burst: every packet is counted", here.taken + here.passed, n);
	between("a burst: as many as the limit allows, and what it had in credit",
		here.taken - 27000, 9000, 20000 + 10000 + 10000 * .016 * 3);
	check(1u << here.shift >= 256, "a burst: N is large", text("shift %u", here.shift));
	n = offer(9000, .1);
	same("the burst has ended: soon all are followed again", here.shift, 0);
	between("…from the second slice on", here.passed - before.passed, 0, 300);
	before = here;
	n = offer(9000, 1);
	same("…and then every one", here.taken - before.taken, n);
	ticks += 250;
	before = here;
	n = offer(3e6, .003);
	same("a burst of less than a second's packets, after a second: all are followed",
	     here.taken - before.taken, n);
	ticks += 3600ull * 250;
	before = here;
	offer(3e6, .02);
	between("a burst after an hour: those of a second, and N grows at once",
		here.taken - before.taken, 10000, 10000 + 10000 * .016 * 3);
}

static void budgets(void)
{
	struct pace_plan plan = pacing_plan(&meter_txlat, 1, 20000, TICK, YARD_NS);
	const struct thins t = meter_txlat.thins;
	uint64_t n;
	double ns;

	same("2%: to follow a packet", plan.take, 1000 * t.take);
	same("2%: of a tick", plan.room, TICK * 1000ull / 50);
	same("2% of two meters: half of it",
	     pacing_plan(&meter_txlat, 2, 20000, TICK, YARD_NS).room, plan.room / 2);
	same("a machine half as fast", pacing_plan(&meter_txlat, 1, 20000, TICK, 2 * YARD_NS).take,
	     2 * plan.take);
	begin(0, plan, true);
	offer(20000, 2);
	same("2%: 20000 packets a second are all followed", here.passed, 0);
	begin(0, plan, true);
	ticks += 3600ull * 250;
	offer(3e6, .004);
	between("2%: it has no credit for a burst, however long it was quiet", here.taken, 1,
		3 * plan.room * plan.ticks / plan.take);
	begin(0, plan, true);
	n = offer(5e5, 2);
	ns = here.taken * (double)t.take + n * (double)t.pass;
	between("2%: at 500000 it holds", ns / 2e9, .007, .0201);
	same("2%: nothing is paused", here.paused, 0);
	begin(0, plan, true);
	n = offer(.03e9 / t.pass, 2);
	same("passing by takes 3%: every packet is counted", here.taken + here.passed, n);
	between("…and after the first slice none is followed", here.taken, 1, 6000);
	check(here.paused > .95 * n, "…which is counted", text("%llu", here.paused));
	offer(1000, .5);
	same("…until few packets come", here.shift, 0);
	between("a budget of 0.01% on a slow machine: a slice has room for 16 packets",
		pacing_plan(&meter_txlat, 1, 100, TICK, 4 * YARD_NS).ticks,
		16 * 4 * t.take / 400. - 1, 16 * 4 * t.take / 400. + 1);
}

static void asked(void)
{
	static const char *const bad[] = {
		"", "0", "0.009", "100.1", "-1", "2%%", "2 %", "%", "nan", "inf", "1e1", "2.5.1",
		".", "two", "0x2", "2x"
	};
	unsigned n = 7;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		must(!percent_parse(bad[i], &n) && n == 7, "a budget",
		     text("\"%s\" is one", bad[i]));
	check(percent_parse("2", &n) && n == 20000, "a budget: 2", text("%u", n));
	check(percent_parse("0.5%", &n) && n == 5000, "a budget: 0.5%", text("%u", n));
	check(percent_parse("100%", &n) && n == 1000000, "a budget: 100%", text("%u", n));
	check(percent_parse("0.01", &n) && n == 100, "a budget: 0.01", text("%u", n));
	n = 7;
	holds(!count_parse("", 1, 100, &n) && !count_parse("0", 1, 100, &n) &&
	      !count_parse("101", 1, 100, &n) && !count_parse("-1", 1, 100, &n) &&
	      !count_parse("1.5", 1, 100, &n) && !count_parse(" 1", 1, 100, &n) &&
	      !count_parse("99999999999999999999", 1, 100, &n) && n == 7, "no counts");
	holds(count_parse("1", 1, 100, &n) && n == 1, "the least count");
	holds(count_parse("100", 1, 100, &n) && n == 100, "the greatest");
}

int main(void)
{
	__u64 page = (__u64)&config & ~4095ull;

	if (mprotect((void *)page, (__u64)(&config + 1) - page, PROT_READ | PROT_WRITE))
		return !check(false, "config", "cannot be written");
	settings = (struct config *)&config;
	asm volatile("" : "+r"(settings) : : "memory");
	srandom(1);
	gaps();
	fixed();
	shifts();
	adapting();
	budgets();
	asked();
	return failed > 0;
}
