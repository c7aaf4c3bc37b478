/* SPDX-License-Identifier: GPL-2.0 */
/* Figures of a benchmark: they fit, have unique names, and its limit is the right one. */
#include <string.h>

#include "trial/scenario/suite.h"

#define SUBJECT "bench "
#include "check.h"

static struct bench bench = { .load.threads = 2, .port.label = "eth0", .peer.label = "eth1",
			      .has_peer = true };
static struct outcome outcome;

/* A second in which two CPUs sent a thousand packets. */
static struct outcome *fresh(const struct scenario *s)
{
	memset(&outcome, 0, sizeof(outcome));
	outcome = (struct outcome){
		.scenario = s, .seconds = 1, .packets = 1000, .bytes = 64000, .sent = 1000,
		.effort = { .cpus = 4, .all = { 1000000000, 1000000000, 1000000000, 1000000000 } },
	};
	return &outcome;
}

static double value(const struct result *r, const char *name)
{
	for (int i = 0; i < r->nr; i++)
		if (!strcmp(r->figure[i].name, name))
			return r->figure[i].value;
	return -1;
}

static void test_figures(void)
{
	static struct result r;
	bool whole = true, own = true;

	for (const struct scenario *const *s = scenarios; *s; s++) {
		struct outcome *o = fresh(*s);

		o->sockets = true;	/* has the most */
		for (int i = 0; i < TRAFFIC_QUEUES; i++)
			o->where.queue[i] = i + 1;
		for (int i = 0; i < TRAFFIC_CPUS; i++)
			o->where.cpu[i] = i + 1;
		outcome_figures(&bench, o, &r);
	}
	check(r.nr < FIGURES_MAX, "figures: those of all scenarios on a large machine fit",
	      "too many");
	for (int i = 0; i < r.nr; i++) {
		whole &= strlen(r.figure[i].name) < sizeof(r.figure[i].name) - 1;
		whole &= !!r.figure[i].unit;
		for (int j = 0; j < i; j++)
			own &= strcmp(r.figure[i].name, r.figure[j].name) != 0;
	}
	check(whole, "figures: their names are whole", "one is cut");
	check(own, "figures: their names are their own", "two are called the same");
}

static void test_values(void)
{
	struct outcome *o = fresh(&scenario_rx_drop);
	static struct result r;

	r.nr = 0;
	o->effort.busy[0] = o->effort.busy[1] = 500000000;
	o->others = .2;
	outcome_figures(&bench, o, &r);
	holds(value(&r, "rx-drop packets_per_second") == 1000, "figures: packets");
	holds(value(&r, "rx-drop bits_per_second") == 512000, "figures: bits");
	holds(value(&r, "rx-drop ns_per_packet") == 800000,
	      "figures: CPU time, less what others had");
	holds(isnan(value(&r, "rx-drop cycles_per_packet")), "figures: no PMU, no cycles");
	o->metered = true;
	o->seen.polls = 10;	/* and no packet of ours */
	r.nr = 0;
	outcome_figures(&bench, o, &r);
	holds(isnan(value(&r, "rx-drop polls_per_packet")),
	      "figures: no packet, no polls a packet");
}

static void limit_is(const char *name, struct outcome *o, const char *words)
{
	limit_find(&bench, o, 3);
	check(strstr(o->limit, words), name, o->limit);
}

static void test_limits(void)
{
	struct outcome *o = fresh(&scenario_rx_drop);

	limit_is("limit: idle CPUs", o, "not the CPUs");
	o->effort.busy[0] = o->effort.busy[1] = 980000000;
	limit_is("limit: the generator", o, "the generator: CPUs 0, 1");
	o->receiving = 4;
	o->effort.busy[2] = 990000000;
	limit_is("limit: who receives", o, "CPU 2: fully busy with receiving");
	o->receiving = 2;
	limit_is("limit: both", o, "CPU 1: fully busy with both");
	o->others = .3;
	limit_is("limit: others, too", o, "other work took 15%");
	o->others = 1;
	limit_is("limit: others", o, "other work, which took 50%");
	account_add(o, ACCOUNT_SENT, 1000, "sent");
	account_add(o, ACCOUNT_LOST, 5, "a few of eth0");
	account_add(o, ACCOUNT_LOST, 300, "no room in eth0");
	account_add(o, ACCOUNT_ARRIVED, 690, "arrived");
	same("account: what is left", account_rest(o, 0), 5);
	limit_is("limit: what is lost", o, "no room in eth0 (30%)");
	o = fresh(&scenario_rx_drop);
	o->packets = 0;
	limit_is("limit: nothing arrives", o, "is eth1 connected to eth0");
	o->sent = 0;
	limit_is("limit: nobody sends", o, "other hosts send none");
	o = fresh(&scenario_rx_drop);
	o->sent = 0;
	limit_is("limit: what comes", o, "the incoming rate");
	account_add(o, ACCOUNT_ARRIVED, 750, "arrived");
	account_add(o, ACCOUNT_LOST, 250, "rx_missed_errors of eth0");
	limit_is("limit: what came and was lost", o, "rx_missed_errors of eth0 (25%)");
	o = fresh(&scenario_rx_drop);
	bench.load.rate = 1000;
	limit_is("limit: the rate", o, "the requested rate");
	bench.load.rate = 0;
}

static void test_stages(void)
{
	struct outcome *o = fresh(&scenario_redirect);

	account_add(o, ACCOUNT_SENT, 10, "there");
	account_add(o, ACCOUNT_ARRIVED, 9, "there");
	account_add(o, ACCOUNT_SENT, 9, "back");
	account_add(o, ACCOUNT_ARRIVED, 11, "back");
	holds(account_rest(o, 0) == 1 && account_rest(o, 1) == -2, "account: there and back");
	for (int i = 0; i < 2 * ACCOUNT_MAX; i++)
		account_add(o, ACCOUNT_LOST, 1, "of %s", "too many");
	same("account: no more than there is room for", o->lines, ACCOUNT_MAX);
}

/*
 * Drivers that live frames would harm are not used; one that is down because of a program reports
 * so.
 */
static void test_harm(void)
{
	const struct driver *virtio = driver_find("virtio_net");

	check(live_harms(virtio, KERNEL(6, 1)) && !live_harms(virtio, KERNEL(6, 12)) &&
	      !live_harms(virtio, 0), "harm: virtio_net leaks before 6.12", "it is not so");
	holds(!live_harms(driver_find("veth"), KERNEL(6, 1)), "harm: veth does not");
	holds(xmit_harms(virtio, 4, 4, 2) && xmit_harms(virtio, 4, 5, 2) &&
	      xmit_harms(virtio, 3, 4, 2), "harm: more queues than CPUs, and none to spare");
	holds(!xmit_harms(virtio, 2, 4, 2) && !xmit_harms(virtio, 4, 4, 4) &&
	      !xmit_harms(virtio, 4, 6, 2) && !xmit_harms(driver_find("veth"), 4, 4, 2),
	      "harm: as many queues as CPUs, or enough to spare, or another driver");
	strcpy(bench.port.iface.driver, "veth");
	holds(!bench_disturbs(&bench, &bench.port), "disturbs: no hardware, nothing");
}

int main(void)
{
	test_harm();
	test_figures();
	test_values();
	test_limits();
	test_stages();
	return failed > 0;
}
