/* SPDX-License-Identifier: GPL-2.0 */
/* The line `cost:` of nicprobe show: what measuring takes, and whether a budget holds. */
#include <math.h>

#include "cmd/cmd.h"
#include "cmd/show.h"
#include "lib/read/thinned.h"
#include "lib/util/log.h"
#include "render/shown.h"
#include "render/units.h"

/* A meter of the host that looks at packets is attached on request. */
static const char *host_text(const struct snapshot *s)
{
	const char *each = "";

	for (int id = 0; id < NR_METERS; id++)
		if (s->meta.on >> id & 1 && meters[id]->on_request)
			each = text("%s%s%s: %s", each, *each ? "; " : "", meters[id]->name,
				    meters[id]->on_request);
	return *each ? each :
	       "none per packet: programs run when connections begin, end or fail, and "
	       "while packets wait for the address of a neighbour";
}

/* `nicprobe cost` finds out what measuring takes of the interface's packets. */
static const char *measured_text(const struct snapshot *s)
{
	char each[UNITS_SIZE], ago[UNITS_SIZE];
	const char *line;

	if (s->meta.host)
		return host_text(s);
	if (!s->meta.cost_ns)
		return text("not measured yet: nicprobe cost %s", s->name);
	units_seconds(each, s->meta.cost_ns * 1e-9);
	units_duration(ago, (s->boot_ns - s->meta.cost_when) * 1e-9);
	line = text("%s per packet, as nicprobe cost measured %s ago", each, ago);
	return isnan(cost_share(s)) ? line :
	       text("%s: %.2f%% of a CPU at this rate", line, cost_share(s));
}

/* "txlat,qdisc", or "-napi,-gro": meters with programs, those that adapt or the others. */
static const char *list(const struct snapshot *s, bool adapt, const char *sign)
{
	const char *names = "";

	for (int id = 0; id < NR_METERS; id++)
		if (s->meta.on >> id & 1 && meters[id]->type == EVENT_METER &&
		    meter_adapts(meters[id], &s->meta) == adapt)
			names = text("%s%s%s%s", names, *names ? "," : "", sign, meters[id]->name);
	return names;
}

static const char *budget_text(const struct snapshot *s)
{
	double budget = s->meta.budget / 1e4, share = 100 * thinned_share(s), all = cost_share(s);
	const char *line = text("budget: %.4g%% of each CPU for %s", budget, list(s, true, ""));
	const char *others = list(s, false, "-");

	if (!*list(s, true, ""))
		return text("budget: no meter is attached that could follow fewer packets");
	line = text("%s: they take %.2f%%, it %s", line, share,
		    thinned_holds(s) ? "holds" : "does not hold");
	if (!thinned_holds(s))
		line = text("%s: to pass packets by takes more; leave out -m %s", line,
			    list(s, true, "-"));
	if (all > budget && *others)
		line = text("%s. The other meters count every packet, whatever the budget; to take "
			    "less, leave out of them: -m %s", line, others);
	return line;
}

void show_cost(const struct snapshot *s)
{
	struct page page = terminal_page(stdout, 40);

	page_line(&page, 0, "cost:", 6, measured_text(s));
	if (s->meta.budget)
		page_line(&page, 0, "", 6, budget_text(s));
}
