/* SPDX-License-Identifier: GPL-2.0 */
/* One flow, few or many on a queue whose CPU is full: certainty of samples, and advice. */
#include <arpa/inet.h>
#include <stdlib.h>

#include "findings/flows.h"
#include "xdp/flow.h"

#define SUBJECT "flows "
#include "busy.h"

#define MOST	100

/* Queue 0 has nearly all packets, in flows with these samples, ended by 0. CPU 0 is full. */
static struct snapshot *flows(const unsigned *samples)
{
	struct snapshot *s = window((unsigned[]){ 1, 90, 95, 95 });
	struct table *t = &s->tables[METER_flow];

	took(s, 0, 0, 50000);
	took(s, 1, 1, 100);
	snprintf(s->name, sizeof(s->name), "blue/eth9");
	*t = (struct table){ .cpus = 1, .words = sizeof(struct flow) / 8 };
	for (unsigned i = 0; samples && samples[i]; i++) {
		struct flow_key key = {
			.src = { htonl(0xc0000201) }, .dst = { htonl(0xc0000202) }, .family = 4,
			.port = { htons(1000 + i), htons(80) }, .proto = 6,
		};

		struct flow *row = (struct flow *)table_add(t, &meter_flow, &key);

		if (!row)
			abort();
		*row = (struct flow){ 1024 * samples[i], 64 * 1024 * samples[i], samples[i] };
	}
	return s;
}

static void end(struct snapshot *s)
{
	free(s->tables[METER_flow].cells);
	free(s->tables[METER_flow].keys);
	forget(s);
}

/* A card whose hash table, or whose number of queues, a command can change. */
static struct hw *card(bool table)
{
	static unsigned to[2] = { 0, 1 };
	struct hw *h = setup_unknown();

	*set(&group_channels, &h->channels, "combined-max") = 4;
	strcpy(h->card.subsystem, "pci");
	if (table) {
		h->rss.table = to;
		h->rss.nr = 2;
	}
	return h;
}

/* The sentence and the advice; "…" before the advice: there is no command. */
static void says(const char *name, const unsigned *samples, const char *id, const char *what,
		 const char *advice)
{
	bool no_command = !strncmp(advice, "…", strlen("…"));
	struct snapshot *s = flows(samples);

	finds(s, card(true), name, id, what, no_command ? advice + strlen("…") : advice);
	check(s->findings.list->nr_fixes == (no_command ? 0 : 1), text("%s: its command", name),
	      text("%u", s->findings.list->nr_fixes));
	end(s);
}

/* The samples per flow decide which finding it is. */
static void test_flows(void)
{
	unsigned many[MOST + 1] = {};

	says("22 of 22", (unsigned[]){ 22, 0 }, "rx-one-flow",
	     "192.0.2.1:1000 > 192.0.2.2:80 tcp, is about 100% of receive queue 0",
	     "…one flow cannot be spread");
	says("the least that is sure", (unsigned[]){ 8, 0 }, "rx-one-flow", "100%", "…");
	says("four fifths of many", (unsigned[]){ 80, 20, 0 }, "rx-one-flow", "about 80%", "…");
	says("79 of 100", (unsigned[]){ 79, 21, 0 }, "rx-flows-collide",
	     "2 flows (79% 192.0.2.1:1000 > 192.0.2.2:80 tcp, 21% ", "echo f > ");
	says("two of 50", (unsigned[]){ 50, 50, 0 }, "rx-flows-collide",
	     "2 flows (50% 192.0.2.1:1000 > 192.0.2.2:80 tcp, 50% ", "echo f > ");
	for (unsigned i = 0; i < MOST; i++)
		many[i] = 1;
	says("many", many, "rx-queues-uneven", "in 100 flows or more", "ethtool -X eth9 equal 2");
}

#define ASK "the number of flows is not known yet, and a single flow cannot be spread: attach with "

/* While it may be a single flow, no advice is given that would not help one. */
static void test_unknown(void)
{
	struct snapshot *s;
	struct hw *h;

	says("below the least", (unsigned[]){ 7, 0 }, "rx-queues-uneven",
	     "100% of the packets, 2.0 times its share: CPU 0",
	     "…" ASK "--sample 1, or measure longer: nicprobe show blue/eth9 -w 10");
	says("four fifths of few", (unsigned[]){ 8, 2, 0 }, "rx-queues-uneven",
	     "times its share: CPU 0", "…" ASK "--sample 1");
	says("two flows in seven samples", (unsigned[]){ 4, 3, 0 }, "rx-queues-uneven",
	     "times its share: CPU 0", "…" ASK "--sample 1");
	s = flows((unsigned[]){ 7, 0 });
	s->meta.sample = 1;
	finds(s, card(true), "each packet was looked at", "rx-queues-uneven", NULL,
	      "a single flow cannot be spread: measure longer: nicprobe show blue/eth9 -w 10");
	end(s);
	s = window((unsigned[]){ 1, 90, 95, 95 });
	took(s, 0, 0, 50000);
	finds(s, card(true), "without the meter", "rx-queues-uneven", NULL,
	      "attach the meter flow as well, with --sample 1");
	forget(s);
	for (unsigned known = 0; known < 2; known++) {
		s = flows((unsigned[]){ 3, known ? 5 : 0, 4, 0 });
		s->meta.rx_queues = 1;
		h = card(false);
		finds(s, h, known ? "one queue of several flows" : "one queue of nobody knows how "
		      "many flows", "rx-one-queue", "receives through a single queue",
		      known ? "ethtool -L eth9 combined 4" : ASK);
		check(s->findings.list->nr_fixes == known, known ? "a command" : "no command",
		      text("%u", s->findings.list->nr_fixes));
		end(s);
	}
}

/* RPS sends all packets to CPU 0: more CPUs help, but not a single flow. */
static void test_rps(void)
{
	for (unsigned alone = 0; alone < 2; alone++) {
		struct snapshot *s = flows((unsigned[]){ 22, alone ? 0 : 18, 0 });
		struct hw *h = card(true);
		struct hw_line lines[QUEUES] = { { .rx = 0, .tx = -1 }, { .rx = 1, .tx = -1 } };

		h->lines = lines;
		h->nr = QUEUES;
		for (unsigned rx = 0; rx < QUEUES; rx++)
			cpus_add(&lines[rx].rps, 0);
		finds(s, h, alone ? "RPS to one CPU, of one flow" : "RPS to one CPU, of two flows",
		      alone ? "rx-one-flow" : "rps-one-cpu", NULL,
		      alone ? "one flow cannot be spread" : "echo f > ");
		end(s);
	}
}

int main(void)
{
	test_flows();
	test_unknown();
	test_rps();
	return failed > 0;
}
