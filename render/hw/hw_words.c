/* SPDX-License-Identifier: GPL-2.0 */
/* Text for the section "hw": names of link settings, and runs of queues, numbers and CPUs. */
#include <linux/ethtool.h>
#include <stdio.h>
#include <string.h>

#include "render/hw/hw.h"

const char *hw_duplex(const struct hw *h)
{
	switch (setting_of(&group_link, &h->link, "duplex")) {
	case DUPLEX_HALF:
		return "half";
	case DUPLEX_FULL:
		return "full";
	}
	return "";
}

/* The names of ethtool(8). */
const char *hw_port(const struct hw *h)
{
	static const char *const names[] = {
		[PORT_TP] = "twisted pair", [PORT_AUI] = "AUI", [PORT_MII] = "MII",
		[PORT_FIBRE] = "fibre", [PORT_BNC] = "BNC", [PORT_DA] = "direct attach copper",
	};
	long long port = setting_of(&group_port, &h->port, "port");

	return port < 0 || port > PORT_DA ? "" : names[port];
}

/* "active" is the bit number of a link mode. */
const char *hw_fec(const struct hw *h)
{
	switch (setting_of(&group_fec, &h->fec, "active")) {
	case ETHTOOL_LINK_MODE_FEC_NONE_BIT:
		return "off";
	case ETHTOOL_LINK_MODE_FEC_RS_BIT:
		return "RS";
	case ETHTOOL_LINK_MODE_FEC_BASER_BIT:
		return "BaseR";
	case ETHTOOL_LINK_MODE_FEC_LLRS_BIT:
		return "LLRS";
	}
	return "";
}

void hw_numbers(char cell[HW_CELL], unsigned first, unsigned step, unsigned nr)
{
	unsigned last = first + step * (nr - 1);

	if (nr == 1 || !step)
		snprintf(cell, HW_CELL, "%u", first);
	else if (step == 1)
		snprintf(cell, HW_CELL, "%u..%u", first, last);
	else
		snprintf(cell, HW_CELL, nr == 2 ? "%u,%u" : "%u,%u..%u", first,
			 nr == 2 ? last : first + step, last);
}

/* The same with a step that may be negative: "2,0", "6,4..0". */
static void cpu_numbers(char cell[HW_CELL], int first, int step, unsigned nr)
{
	int last = first + step * ((int)nr - 1);

	if (step > 0)
		hw_numbers(cell, first, step, nr);
	else if (step == -1 && nr > 2)
		snprintf(cell, HW_CELL, "%d..%d", first, last);
	else
		snprintf(cell, HW_CELL, nr == 2 ? "%d,%d" : "%d,%d..%d", first,
			 nr == 2 ? last : first + step, last);
}

static const struct cpus *cpus_of(const struct hw *h, unsigned line, size_t at)
{
	return (const void *)((const char *)&h->lines[line] + at);
}

/* "0..63": one per line; "0,2..126"; "0-3..60-63"; "0..1 in turn": repeating from the first. */
void hw_cpus(char cell[HW_CELL], const struct hw *h, const struct hw_span *s, size_t at,
	     const struct hw_follow *f)
{
	unsigned nr = f->run == RUN_CYCLE ? f->period : s->nr;
	const char *again = f->run == RUN_CYCLE ? " in turn" : "";
	const struct cpus *first = cpus_of(h, s->first, at);
	char a[CPUS_TEXT], b[CPUS_TEXT];

	if (f->run == RUN_SAME) {
		cpus_text(first, cell, CPUS_TEXT);
	} else if (cpus_count(first) == 1) {
		cpu_numbers(cell, cpus_next(first, -1), f->step, nr);
		snprintf(cell + strlen(cell), HW_CELL - strlen(cell), "%s", again);
	} else {
		cpus_text(first, a, 40);
		cpus_text(cpus_of(h, s->first + nr - 1, at), b, 40);
		snprintf(cell, HW_CELL, "%.40s..%.40s%s", a, b, again);
	}
}

void hw_vector(char cell[HW_CELL], const struct hw *h, const struct hw_span *s)
{
	const struct hw_line *l = &h->lines[s->first], *last = l + s->nr - 1;

	if (s->nr == 1 || !l->len)
		snprintf(cell, HW_CELL, "%s", *l->vector ? l->vector : "(not requested)");
	else
		snprintf(cell, HW_CELL, "%.*s..%s", (int)(l->at + l->len), l->vector,
			 last->vector + l->at);
}

void hw_queues(char cell[HW_CELL], const struct hw *h, const struct hw_span *s)
{
	const struct hw_line *l = &h->lines[s->first];
	char rx[HW_CELL], tx[HW_CELL];

	hw_numbers(rx, l->rx, 1, s->nr);
	hw_numbers(tx, l->tx, 1, s->nr);
	if (l->rx < 0 && l->tx < 0)
		snprintf(cell, HW_CELL, "-");
	else if (l->rx == l->tx)
		snprintf(cell, HW_CELL, "rx+tx %.40s", rx);
	else if (l->rx >= 0 && l->tx >= 0)
		snprintf(cell, HW_CELL, "rx %.40s, tx %.40s", rx, tx);
	else
		snprintf(cell, HW_CELL, "%s %.40s", l->rx >= 0 ? "rx" : "tx", l->rx >= 0 ? rx : tx);
}
