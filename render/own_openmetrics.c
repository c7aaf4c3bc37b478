/* SPDX-License-Identifier: GPL-2.0 */
/* OpenMetrics of nicprobe itself, the state of the links, and the findings. */
#include <inttypes.h>

#include "lib/util/log.h"
#include "render/openmetrics.h"
#include "render/sampled.h"
#include "render/shown.h"

static void gauge(const struct metrics_out *o, const char *name, const struct snapshot *s,
		  double value)
{
	openmetrics_labels(o->out, name, s);
	fprintf(o->out, "} %.12g\n", value);
}

static void labelled(const struct metrics_out *o, const char *sample, const struct snapshot *s,
		     const char *label, const char *name, uint64_t nr)
{
	openmetrics_labels(o->out, sample, s);
	fprintf(o->out, ",%s=\"%s\"} %" PRIu64 "\n", label, name, nr);
}

static void sampled(const struct metrics_out *o, const char *sample, const struct snapshot *s,
		    unsigned id, const char *how, uint64_t nr)
{
	openmetrics_labels(o->out, sample, s);
	fprintf(o->out, ",meter=\"%s\",how=\"%s\"} %" PRIu64 "\n", meters[id]->name, how, nr);
}

static void interfaces(const struct metrics_out *o, const struct snapshot *const *list, unsigned nr)
{
	openmetrics_head(o, "nicprobe_interface_info", "info", "",
			 "Driver, queues, hooks and state of an attached interface.");
	for (unsigned i = 0; i < nr; i++) {
		const struct meta *meta = &list[i]->meta;

		openmetrics_labels(o->out, "nicprobe_interface_info", list[i]);
		openmetrics_label(o->out, "driver", meta->driver);
		openmetrics_label(o->out, "rx_queues", text("%u", meta->rx_queues));
		openmetrics_label(o->out, "tx_queues", text("%u", meta->tx_queues));
		openmetrics_label(o->out, "rx_nic", meta->hook[RX_NIC]);
		openmetrics_label(o->out, "rx_stack", meta->hook[RX_STACK]);
		openmetrics_label(o->out, "tx_stack", meta->hook[TX_STACK]);
		openmetrics_label(o->out, "tx_nic", meta->hook[TX_NIC]);
		openmetrics_label(o->out, "state", list[i]->state);
		fputs("} 1\n", o->out);
	}
}

/* Rounded to seconds, so that repeated reads agree although two clocks are read in turn. */
static void attached(const struct metrics_out *o, const struct snapshot *const *list, unsigned nr)
{
	openmetrics_head(o, "nicprobe_attach_time_seconds", "gauge", "seconds",
			 "Time of attach, in seconds since 1970.");
	for (unsigned i = 0; i < nr; i++) {
		const struct snapshot *s = list[i];
		double at = s->when.tv_sec + s->when.tv_nsec * 1e-9 -
			    (s->boot_ns - s->meta.since) * 1e-9;

		gauge(o, "nicprobe_attach_time_seconds", s, (long long)(at + .5));
	}
}

static void links(const struct metrics_out *o, const struct snapshot *const *list, unsigned nr)
{
	bool any = false;

	for (unsigned i = 0; i < nr; i++) {
		if (!list[i]->link.known)
			continue;
		if (!any)
			openmetrics_head(o, "nicprobe_link_up", "gauge", "",
					 "1 if the link is up and has a carrier.");
		any = true;
		gauge(o, "nicprobe_link_up", list[i], list[i]->link.up);
	}
	any = false;
	for (unsigned i = 0; i < nr; i++) {
		if (!list[i]->link.mbit)
			continue;
		if (!any)
			openmetrics_head(o, "nicprobe_link_speed_bytes", "gauge", "bytes",
					 "Speed of the link in bytes per second, if known.");
		any = true;
		gauge(o, "nicprobe_link_speed_bytes", list[i], list[i]->link.mbit * 125000.);
	}
}

/* The number of affected queues, or 1 without a queue. One sample per id and severity. */
static void finding(const struct metrics_out *o, const struct snapshot *s, unsigned at)
{
	const struct findings *all = &s->findings;
	const struct finding *f = &all->list[at];
	unsigned n = 0;

	for (unsigned i = 0; i < all->nr; i++) {
		const struct finding *other = &all->list[i];

		if (other->kind != f->kind || other->severity != f->severity)
			continue;
		if (i < at)
			return;
		n += 1 + other->others;
	}
	openmetrics_labels(o->out, "nicprobe_finding", s);
	openmetrics_label(o->out, "id", f->kind->id);
	openmetrics_label(o->out, "severity", severity_names[f->severity]);
	fprintf(o->out, "} %u\n", n);
}

static void findings(const struct metrics_out *o, const struct snapshot *const *list, unsigned nr)
{
	bool any = false;

	openmetrics_head(o, "nicprobe_findings", "gauge", "",
			 "Findings of the window, without those that follow from others.");
	for (unsigned i = 0; i < nr; i++)
		for (unsigned of = 0; of < NR_SEVERITIES; of++)
			labelled(o, "nicprobe_findings", list[i], "severity", severity_names[of],
				 findings_count(&list[i]->findings, of) -
				 findings_count(&list[i]->findings, of + 1));
	for (unsigned i = 0; i < nr; i++)
		for (unsigned at = 0; at < list[i]->findings.nr; at++) {
			if (!any)
				openmetrics_head(o, "nicprobe_finding", "gauge", "",
						 "A finding of the window: number of affected "
						 "queues, or 1.");
			any = true;
			finding(o, list[i], at);
		}
}

/* What meters that may pass packets by have followed. */
static void sampling(const struct metrics_out *o, const struct snapshot *const *list, unsigned nr)
{
	static const char packets[] = "nicprobe_sampling_packets_total";
	bool any = false;

	for (unsigned id = 0; id < NR_METERS; id++)
		for (unsigned i = 0; i < nr; i++) {
			struct thinned t = thinned_of(list[i], id);

			if (!meter_shown(list[i], id) || !meter_thins(list[i], id))
				continue;
			if (!any)
				openmetrics_head(o, "nicprobe_sampling_packets", "counter",
						 "packets", "Packets that a meter could follow, by "
						 "what it did with them.");
			any = true;
			sampled(o, packets, list[i], id, "followed", t.taken);
			sampled(o, packets, list[i], id, "passed-by", t.passed - t.paused);
			sampled(o, packets, list[i], id, "paused", t.paused);
		}
	any = false;
	for (unsigned i = 0; i < nr; i++) {
		if (!list[i]->meta.budget)
			continue;
		if (!any)
			openmetrics_head(o, "nicprobe_budget_ratio", "gauge", "ratio",
					 "Part of each CPU that following packets may take.");
		any = true;
		gauge(o, "nicprobe_budget_ratio", list[i], list[i]->meta.budget * 1e-6);
	}
}

/* Lost counts, missed events, and hooks that do not see all packets. */
static void trust(const struct metrics_out *o, const struct snapshot *const *list, unsigned nr)
{
	static const char missed[] = "nicprobe_missed_events_total";

	openmetrics_head(o, "nicprobe_lost", "counter", "",
			 "Counts lost because their map was full.");
	for (unsigned i = 0; i < nr; i++)
		for (unsigned id = 0; id < NR_METERS; id++)
			if (meter_loses(list[i], id))
				labelled(o, "nicprobe_lost_total", list[i], "meter",
					 meters[id]->name, list[i]->lost[id]);
	openmetrics_head(o, "nicprobe_missed_events", "counter", "events",
			 "Kernel events that nicprobe's programs missed.");
	for (unsigned i = 0; i < nr; i++) {
		const struct snapshot *s = list[i];

		if (s->missed_hidden)
			continue;
		for (unsigned id = 0; id < NR_METERS; id++)
			if (meter_shown(s, id) && meters[id]->type == EVENT_METER)
				labelled(o, missed, s, "meter", meters[id]->name,
					 s->missed_meter[id]);
		for (unsigned p = 0; p < NR_POINTS; p++)
			if (*s->meta.hook[p])
				labelled(o, missed, s, "point", point_names[p],
					 s->missed_point[p]);
	}
	openmetrics_head(o, "nicprobe_hook_blind", "gauge", "",
			 "1 if the hook of this point no longer sees all packets.");
	for (unsigned i = 0; i < nr; i++)
		for (unsigned p = 0; p < NR_POINTS; p++)
			if (*list[i]->meta.hook[p])
				labelled(o, "nicprobe_hook_blind", list[i], "point",
					 point_names[p], !!*list[i]->blind[p]);
}

void own_openmetrics(const struct metrics_out *o, const struct snapshot *const *list, unsigned nr,
		     unsigned unread)
{
	openmetrics_head(o, "nicprobe_info", "info", "", "Version of nicprobe.");
	fprintf(o->out, "nicprobe_info{version=\"%s\"} 1\n", NICPROBE_VERSION);
	openmetrics_head(o, "nicprobe_scrape_errors", "gauge", "",
			 "Attached interfaces that could not be read and are missing here.");
	fprintf(o->out, "nicprobe_scrape_errors %u\n", unread);
	openmetrics_head(o, "nicprobe_interfaces", "gauge", "",
			 "Attached interfaces of this output; 0: nothing is attached.");
	fprintf(o->out, "nicprobe_interfaces %u\n", nr);
	if (!nr)
		return;
	interfaces(o, list, nr);
	attached(o, list, nr);
	links(o, list, nr);
	findings(o, list, nr);
	trust(o, list, nr);
	sampling(o, list, nr);
}
