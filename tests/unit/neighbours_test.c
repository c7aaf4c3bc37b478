/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about neighbours that do not tell their address, from made-up rows. */
#include <stdio.h>
#include <sys/socket.h>

#include "bpf/neigh/neigh.h"

#define SUBJECT "neighbours "
#include "judge.h"
#include "host.h"
#include "render/render.h"

/* Resolutions that were answered and that failed, and packets dropped as these did. */
static struct neigh *resolved(struct snapshot *s, const char *dev, int family, unsigned answered,
			      unsigned failing, unsigned dropped)
{
	struct neigh_key key = { .family = family };
	struct neigh *n;

	snprintf(key.device, sizeof(key.device), "%s", dev);
	n = row(s, METER_neigh, &key);
	n->ends[NEIGH_ANSWERED] = answered;
	n->ends[NEIGH_FAILED] = failing;
	n->drops[NEIGH_DROP_FAILED] = dropped;
	n->waited = answered + dropped;
	return n;
}

static void unanswered(const char *name, unsigned answered, unsigned failing, unsigned dropped,
		       const char *what)
{
	struct snapshot *s = window();

	resolved(s, "eth0", AF_INET, answered, failing, dropped);
	finds(s, NULL, name, what ? "neighbours-silent" : NULL, what,
	      what ? "ip neigh show dev eth0 nud failed nud incomplete" : NULL);
	if (what && s->findings.nr)
		same(text("%s: packets lost per second", name), s->findings.list[0].harm,
		     dropped / 2.);
	forget(s);
}

static void test_unanswered(void)
{
	struct snapshot *s = window();
	struct neigh *n;

	unanswered("a neighbour is silent", 0, 1, 10, "1 of 1 resolutions of IPv4 neighbours on "
		   "eth0 failed: 10 packets that waited for an answer were dropped");
	unanswered("some of many are", 18, 2, 40, "2 of 20 resolutions");
	unanswered("not for a smaller part", 19, 2, 40, NULL);
	unanswered("not for less than 10 packets", 0, 1, 9, NULL);
	unanswered("not for a ping: four packets each", 0, 20, 80, NULL);
	unanswered("nor for a scan", 40, 200, 400, NULL);
	unanswered("not where all answer", 40, 0, 0, NULL);
	resolved(s, "eth0", AF_INET, 0, 1, 50);
	resolved(s, "eth2", AF_INET, 0, 30, 90);
	resolved(s, "", AF_INET, 0, 2, 100);
	n = resolved(s, "eth1", AF_INET6, 1, 2, 60);
	n->drops[NEIGH_DROP_OVERFLOW] = 400;
	finds(s, NULL, "that with most, which has a name", "neighbours-silent",
	      "2 of 3 resolutions of IPv6 neighbours on eth1 failed: 60 packets that waited for an "
	      "answer were dropped, and 400 more found no room to wait", "show dev eth1");
	same("those without room are lost, too", s->findings.list[0].harm, 230.);
	n->ends[NEIGH_ANSWERED] = 2;
	finds(s, NULL, "others may have had no room", "neighbours-silent",
	      "60 packets that waited for an answer were dropped", NULL);
	same("which are not taken for lost", s->findings.list[0].harm, 30.);
	forget(s);
}

/* What the table of a window says on a page of this width; to be freed. */
static char *printed(struct snapshot *s, unsigned width)
{
	struct look look = { .width = width };
	char *said = NULL;
	size_t size;
	FILE *out = open_memstream(&said, &size);

	if (!out)
		abort();
	snprintf(s->meta.iface, sizeof(s->meta.iface), "host");
	s->meta.on = s->wanted = 1ull << METER_neigh;
	renderer_table.one(out, s, &look);
	fclose(out);
	return said;
}

/* Drops stay when others have to go; of two columns named alike it is said which has gone. */
static void test_narrow(void)
{
	struct snapshot *s = window();
	struct neigh *n = resolved(s, "eth0", AF_INET, 30, 20, 4321);
	char *said;

	n->solicits = 90;
	n->confirms[NEIGH_CONFIRMED] = 30;
	n->latency.sum = 30000000;
	n->latency.slot[40] = 30;
	n->confirming.sum = 30000000;
	n->confirming.slot[40] = 30;
	said = printed(s, 80);
	check(strstr(said, "2160"), "80 columns have room for what was dropped", said);
	check(strstr(said, "answered, resolutions failed, "), "and say which they have none for",
	      said);
	free(said);
	said = printed(s, 40);
	check(strstr(said, "waited/s, dropped\n"), "40 columns say which they have none for", said);
	free(said);
	forget(s);
}

int main(void)
{
	test_narrow();
	test_unanswered();
	return failed > 0;
}
