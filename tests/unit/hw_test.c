/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of CPUs are parsed and written; queues are folded only without loss; findings on the setup.
 */
#include <linux/ethtool.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "render/hw/hw.h"

#define SUBJECT "hw "
#include "judge.h"

static const char *listed(const struct cpus *c)
{
	static char list[8 * MAX_CPUS];

	return cpus_text(c, list, sizeof(list));
}

static void check_sets(void)
{
	static const struct {
		bool mask;
		const char *from, *list;	/* list NULL: must be rejected */
	} sets[] = {
		{ false, "0-3,8\n", "0-3,8" }, { false, "5", "5" }, { false, "\n", "" },
		{ false, "", "" }, { false, "8191", "8191" }, { false, "0,1,2", "0-2" },
		{ false, "8192", NULL }, { false, "3-1", NULL }, { false, "1;2", NULL },
		{ false, "all", NULL }, { false, "1-", NULL }, { false, "-1", NULL },
		{ true, "3\n", "0-1" }, { true, "00000000,00000003", "0-1" },
		{ true, "1,00000000\n", "32" }, { true, "80000000,00000000,00000001", "0,95" },
		{ true, "00", "" }, { true, "ff0f", "0-3,8-15" }, { true, "", "" },
		{ true, "xyz", NULL }, { true, "f f", NULL },
	};

	for (unsigned i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
		struct cpus c;
		bool good = sets[i].mask ? cpus_from_mask(&c, sets[i].from) :
					   cpus_from_list(&c, sets[i].from);

		check(good == !!sets[i].list && !strcmp(listed(&c), sets[i].list ?: ""),
		      text("%s %.*s", sets[i].mask ? "mask" : "list",
			   (int)strcspn(sets[i].from, "\n"), sets[i].from), listed(&c));
	}
}

static void check_text(void)
{
	struct cpus all = {}, odd = {};
	char list[12];

	for (int i = 0; i < MAX_CPUS; i++) {
		cpus_add(&all, i);
		if (i % 2)
			cpus_add(&odd, i);
	}
	cpus_add(&all, MAX_CPUS);	/* no such CPU */
	check(!strcmp(listed(&all), "0-8191") && cpus_count(&all) == MAX_CPUS, "all CPUs",
	      listed(&all));
	cpus_text(&odd, list, sizeof(list));
	same_text("what has no room", list, "1,3,5,7,…");
	holds(strlen(listed(&odd)) < 8 * MAX_CPUS - 16 && !strstr(listed(&odd), "…"),
	      "every second CPU has room");
	holds(cpus_common(&all, &odd) == MAX_CPUS / 2 && cpus_next(&odd, 1) == 3 &&
	      cpus_next(&odd, 8191) == -1 && cpus_next(&odd, -1) == 1, "in both, and the next");
}

/* A card with `nr` queues: CPUs by `does`, from queue and step. */
static struct hw card(unsigned nr)
{
	struct hw h = {
		.nr = nr, .lines = calloc(nr, sizeof(*h.lines)), .driver = &driver_generic
	};

	for (unsigned i = 0; i < nr; i++) {
		struct hw_line *l = &h.lines[i];

		*l = (struct hw_line){ .rx = i, .tx = i, .irq = 120 + i, .napi = 8193 + i };
		l->at = snprintf(l->vector, sizeof(l->vector), "eth0-TxRx-");
		l->len = sprintf(l->vector + l->at, "%u", i);
		cpus_from_list(&l->may, text("0-%u", nr - 1));
		cpus_add(&l->does, i);
	}
	return h;
}

static const char *cell_does(const struct hw *h, const struct hw_span *s)
{
	static char cell[HW_CELL];

	hw_cpus(cell, h, s, offsetof(struct hw_line, does), &s->does);
	return cell;
}

static void check_fold(void)
{
	struct hw h = card(64);
	struct hw_span s = hw_fold(&h, 0);
	char queues[HW_CELL], name[HW_CELL], irq[HW_CELL];

	hw_queues(queues, &h, &s);
	hw_vector(name, &h, &s);
	hw_numbers(irq, 120, s.irq_step, s.nr);
	check(s.nr == 64 && !strcmp(queues, "rx+tx 0..63") && !strcmp(name, "eth0-TxRx-0..63") &&
	      !strcmp(irq, "120..183") && !strcmp(cell_does(&h, &s), "0..63"),
	      "64 queues, one line",
	      text("%u lines: %s %s %s %s", s.nr, queues, name, irq, cell_does(&h, &s)));

	cpus_from_list(&h.lines[40].does, "7");
	s = hw_fold(&h, 0);
	check(s.nr == 40 && hw_fold(&h, 40).nr == 1 && hw_fold(&h, 41).nr == 23,
	      "one is elsewhere: it stands alone", text("%u, %u", s.nr, hw_fold(&h, 40).nr));
	h.lines[41].irq = 999;
	same("an interrupt out of order breaks off", hw_fold(&h, 41).nr, 1);
	h.lines[10].rps_flows = 32;
	same("what differs breaks off", hw_fold(&h, 0).nr, 10);
	hw_free(&h);
}

static void check_cycle(void)
{
	struct hw h = card(8);
	struct hw_span s;

	for (int i = 0; i < 8; i++) {
		cpus_from_list(&h.lines[i].does, i % 2 ? "1" : "0");
		h.lines[i].irq = 30 + 2 * i;
		cpus_from_list(&h.lines[i].xps, text("%d,%d", i, i + 8));
	}
	s = hw_fold(&h, 0);
	check(s.nr == 8 && !strcmp(cell_does(&h, &s), "0..1 in turn") && s.irq_step == 2,
	      "in turn", text("%u: %s", s.nr, cell_does(&h, &s)));
	{
		char cell[HW_CELL], irq[HW_CELL];

		hw_cpus(cell, &h, &s, offsetof(struct hw_line, xps), &s.xps);
		hw_numbers(irq, 30, s.irq_step, s.nr);
		check(!strcmp(cell, "0,8..7,15") && !strcmp(irq, "30,32..44"), "pairs of CPUs",
		      text("%s %s", cell, irq));
	}
	cpus_from_list(&h.lines[5].does, "0");	/* 0 1 0 1 0 0 0 1 */
	check(hw_fold(&h, 0).nr == 5 && hw_fold(&h, 5).nr == 2, "out of turn",
	      text("%u, %u", hw_fold(&h, 0).nr, hw_fold(&h, 5).nr));
	for (int i = 0; i < 8; i++)
		cpus_from_list(&h.lines[i].does, text("%d", 7 - i));
	s = hw_fold(&h, 0);
	check(s.nr == 8 && !strcmp(cell_does(&h, &s), "7..0"), "downwards", cell_does(&h, &s));
	for (int i = 0; i < 8; i++)
		cpus_from_list(&h.lines[i].does, text("%d", i % 2 ? 0 : 2));
	s = hw_fold(&h, 0);
	check(s.nr == 8 && !strcmp(cell_does(&h, &s), "2,0 in turn"), "downwards in turn",
	      cell_does(&h, &s));
	for (int i = 0; i < 8; i++)
		cpus_from_list(&h.lines[i].does, text("%d", 14 - 2 * i));
	s = hw_fold(&h, 0);
	check(s.nr == 8 && !strcmp(cell_does(&h, &s), "14,12..0"), "downwards by two",
	      cell_does(&h, &s));
	hw_free(&h);
}

/* Lines without queues stand alone, and runs of different length are not mixed. */
static void check_kinds(void)
{
	struct hw h = card(6);

	h.lines[2].tx = h.lines[3].tx = QUEUE_NONE;
	h.lines[4].rx = h.lines[5].rx = h.lines[4].tx = h.lines[5].tx = QUEUE_NONE;
	holds(hw_fold(&h, 0).nr == 2 && hw_fold(&h, 2).nr == 2 && hw_fold(&h, 4).nr == 2,
	      "both, rx alone, none");
	h.lines[5].len = h.lines[4].len = 0;
	same("of no queue and without a number", hw_fold(&h, 4).nr, 1);
	strcpy(h.lines[1].vector, "eth1-TxRx-1");
	same("another name breaks off", hw_fold(&h, 0).nr, 1);
	hw_free(&h);
}

static void says(const struct hw *h, const char *name, unsigned nr, const char *what)
{
	static struct snapshot s;

	s = (struct snapshot){ .hw = h };
	findings_judge(&s, h);
	check(s.findings.nr == nr && (!nr || finding_says(&s.findings, what)), name,
	      text("%u findings: %s", s.findings.nr, s.findings.list[0].what));
}

/* Four queues on four CPUs of one node, on a card that has no more: no findings. */
static struct hw good_card(void)
{
	struct hw h = card(4);

	strcpy(h.iface.name, "eth0");
	h.iface.rx_queues = h.iface.tx_queues = 4;
	strcpy(h.card.subsystem, "pci");
	h.carrier = true;
	cpus_from_list(&h.online, "0-3");
	cpus_from_list(&h.card.local, "0-3");
	h.rss.nr = 8;
	h.rss.table = calloc(8, sizeof(*h.rss.table));
	for (unsigned i = 0; i < 8; i++)
		h.rss.table[i] = i % 4;
	for (unsigned i = 0; i < MAX_SETTINGS; i++)
		h.channels.value[i] = h.rings.value[i] = h.link.value[i] = NOT_TOLD;
	return h;
}

/* The CPUs in rps_cpus of each queue; queue N is polled on CPU N. */
static void rps(const char *name, const char *const *to, const char *online, const char *what)
{
	struct hw h = good_card();

	for (unsigned i = 0; i < 4; i++)
		cpus_from_list(&h.lines[i].rps, to[i]);
	cpus_from_list(&h.online, online);
	says(&h, name, what ? 1 : 0, what);
	hw_free(&h);
}

#define ALL(to) (const char *const []){ to, to, to, to }

static void check_rps(void)
{
	struct hw h = good_card();

	rps("RPS to one CPU", ALL("2"), "0-3",
	    "RPS of all 4 receive queues sends their packets to CPU 2; 4 CPUs could share them");
	rps("RPS to one CPU, and there is no other", ALL("0"), "0", NULL);
	rps("RPS of one queue is off", (const char *const []){ "2", "2", "", "2" }, "0-3", NULL);
	rps("RPS to two CPUs", (const char *const []){ "2", "2", "1", "2" }, "0-3", NULL);
	rps("RPS is off", ALL(""), "0-3", NULL);
	h.nr = h.iface.rx_queues = 1;
	h.rss.nr = 0;
	cpus_from_list(&h.lines[0].rps, "0");
	says(&h, "RPS to the CPU that polls anyway", 0, "");
	cpus_from_list(&h.lines[0].rps, "3");
	says(&h, "RPS of a single queue", 1, "RPS of its receive queue sends all packets to CPU 3");
	h.lines[0].irq = 0;
	says(&h, "of software", 1, "sends all packets to CPU 3; 4 CPUs could share them");
	hw_free(&h);
}

static void check_judge(void)
{
	struct hw h = good_card();

	says(&h, "nothing is wrong", 0, "");
	*set(&group_channels, &h.channels, "combined") = 2;
	*set(&group_channels, &h.channels, "combined-max") = 8;
	says(&h, "fewer queues than CPUs", 1, "it uses 2 of 8 possible queues, and 4 CPUs could");
	*set(&group_channels, &h.channels, "combined-max") = 4;
	h.driver = &driver_ena;
	h.iface.xdp_id = 1;
	says(&h, "XDP has the other queues", 0, "");
	h.iface.xdp_id = 0;
	says(&h, "no XDP has them", 1, "it uses 2 of 4 possible queues");
	cpus_from_list(&h.card.local, "0-1");
	says(&h, "as many queues as near CPUs", 0, "");
	*set(&group_channels, &h.channels, "combined") = 4;
	h.nodes = 2;
	h.card.node = 0;
	says(&h, "another node", 1, "2 of 4 queue interrupts go to CPUs of another NUMA node");
	h.nodes = 1;
	for (unsigned i = 0; i < 4; i++)
		cpus_from_list(&h.lines[i].does, "2");
	says(&h, "one CPU", 1, "the interrupts of all 4 queues go to CPU 2; 4 CPUs could");
	for (unsigned i = 0; i < 4; i++)
		cpus_from_list(&h.lines[i].does, text("%u", i));
	cpus_from_list(&h.lines[1].rps, "0-3");
	says(&h, "RPS and RSS", 1, "RPS moves packets of 1 receive queue to CPUs 0-3");
	cpus_from_list(&h.lines[1].rps, "1");
	says(&h, "RPS to its own CPU", 0, "");
	h.rss.table[3] = h.rss.table[7] = 0;
	says(&h, "RSS leaves one out", 1, "RSS sends packets to only 3 of 4 receive queues");
	h.rss.rules = 1;
	says(&h, "a rule may send packets there", 0, "");
	h.rx_missed = 12;
	*set(&group_rings, &h.rings, "rx") = 256;
	*set(&group_rings, &h.rings, "rx-max") = 4096;
	says(&h, "short ring", 1, "12 packets found no room since the interface was created");
	h.rx_missed = 0;
	says(&h, "short ring that is no trouble", 0, "");
	h.defer_hard_irqs = 2;
	says(&h, "no timeout", 1, "napi_defer_hard_irqs is 2, but has no effect");
	h.gro_flush_ns = 1;
	*set(&group_link, &h.link, "duplex") = DUPLEX_HALF;
	h.card.width = 4;
	h.card.max_width = 8;
	says(&h, "half duplex, few lanes", 2, "half duplex");
	hw_free(&h);
}

/* `nr` NAPIs, and interrupts of these queues: the NAPIs of queue 0 and 1 in each direction. */
static void ranks_from(unsigned first, const char *name, unsigned nr, unsigned vectors,
		       const int (*of)[2], const unsigned want[4])
{
	struct hw h = card(vectors ?: 2);
	struct vector list[8] = {};
	struct napi_instance napis[8];
	__u32 none[8] = {};
	struct queues q = { .nr = vectors, .vectors = list, .rx_napi = none, .tx_napi = none };
	unsigned got[4] = {};

	for (unsigned i = 0; i < nr; i++)
		napis[i] = (struct napi_instance){ .id = first ? first + i : 0 };
	for (unsigned i = 0; i < h.nr; i++) {
		h.lines[i].napi = 0;
		if (!vectors) {
			h.lines[i].irq = 0;
			continue;
		}
		list[i] = (struct vector){ .irq = h.lines[i].irq, .rx = of[i][0], .tx = of[i][1] };
		/* two of each are active */
		h.lines[i].rx = of[i][0] < 2 ? of[i][0] : QUEUE_NONE;
		h.lines[i].tx = of[i][1] < 2 ? of[i][1] : QUEUE_NONE;
	}
	h.iface.rx_queues = 2;
	h.iface.max_rx_queues = 4;
	h.napis = (struct napis){ .nr = nr, .list = napis };
	hw_napis_match(&h, &q);
	for (unsigned i = 0; i < h.nr; i++) {
		if (h.lines[i].rx >= 0)
			got[h.lines[i].rx] = h.lines[i].napi;
		if (h.lines[i].tx >= 0)
			got[2 + h.lines[i].tx] = h.lines[i].napi;
	}
	check(!memcmp(got, want, sizeof(got)) && !h.napi_by == !want[0], name,
	      text("%u %u, %u %u", got[0], got[1], got[2], got[3]));
	h.napis = (struct napis){};
	hw_free(&h);
}

#define ranks(...) ranks_from(101, __VA_ARGS__)

static void check_ranks(void)
{
	static const int both[][2] = { { 0, 0 }, { 1, 1 } };
	static const int apart[][2] = { { 0, -1 }, { 1, -1 }, { -1, 0 }, { -1, 1 } };
	static const int spare[][2] = { { 0, -1 }, { -1, 0 }, { 1, -1 }, { -1, 1 },
					{ 2, -1 }, { -1, 2 }, { 3, -1 }, { -1, 3 } };

	ranks("one NAPI for each pair", 2, 2, both, (unsigned[]){ 101, 102, 101, 102 });
	ranks("one for each interrupt", 4, 4, apart, (unsigned[]){ 101, 102, 103, 104 });
	ranks("one for each receive queue", 2, 4, apart, (unsigned[]){ 101, 102, 0, 0 });
	ranks("those of spare queues, too", 4, 8, spare, (unsigned[]){ 101, 102, 0, 0 });
	ranks("software", 4, 0, NULL, (unsigned[]){ 101, 102, 101, 102 });
	ranks_from(0, "software without ids", 4, 0, NULL, (unsigned[]){ 0, 0, 0, 0 });
	ranks("nobody knows", 3, 4, apart, (unsigned[]){ 0, 0, 0, 0 });
}

/* Any process, even a zombie, may have the name of a kernel thread. */
static void check_names(void)
{
	struct napis all = {};
	siginfo_t ended;
	pid_t child = fork();

	if (!child) {
		prctl(PR_SET_NAME, "napi/unit0-7");
		_exit(0);
	}
	waitid(P_PID, child, &ended, WEXITED | WNOWAIT);	/* it is a zombie */
	napis_by_name("unit0", 8, &all);
	check(!all.nr && !all.named, "a process called as a thread is none", "it was taken");
	napis_free(&all);
	waitpid(child, NULL, 0);
}

int main(void)
{
	check_names();
	check_sets();
	check_text();
	check_fold();
	check_cycle();
	check_kinds();
	check_judge();
	check_rps();
	check_ranks();
	return failed > 0;
}
