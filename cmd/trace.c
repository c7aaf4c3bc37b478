/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe trace: counts, measures or prints the events of stable probes. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/child.h"
#include "cmd/cmd.h"
#include "cmd/tracing_told.h"
#include "cmd/views.h"
#include "lib/kernel/permits.h"
#include "lib/net/here.h"
#include "lib/net/iface.h"
#include "lib/util/clock.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "probes/raw.h"
#include "probes/reading.h"
#include "probes/stacks.h"
#include "render/pcapng.h"
#include "render/trace.h"

#define SNAPLEN	256

struct trace {
	struct posed asked;
	const char *clause;		/* of D */
	const char *dev, *netns, *pcap;
	double interval, duration;	/* 0: none */
	unsigned limit, top, keys;	/* 0: none */
	/* not of the command line: */
	struct question question;
	struct tracing *tracing;
	double begun, shown;		/* CLOCK_MONOTONIC, in seconds */
	struct tracing_reading before;		/* at the last interval */
	unsigned events;
	struct page page;
	struct pcapng *packets;	/* of --pcap; NULL: events are printed */
};

static bool json(void)
{
	return json_wanted || format_wanted == &renderer_json;
}

static bool is_metrics(void)
{
	return format_wanted && format_wanted != &renderer_table && !json();
}

static void result_print(struct trace *t, struct trace_result *r)
{
	if (json())
		trace_json(stdout, r);
	else if (is_metrics())
		trace_metrics(stdout, r, format_wanted == &renderer_prometheus);
	else
		trace_table(&t->page, r);
}

/* Shows what was gathered: in the last interval, or since the beginning, as counters need it. */
static int show(struct trace *t, struct error *e)
{
	__u64 losses[NR_LOSSES + 1];
	struct gathered *now = NULL;
	bool interval = t->interval > 0 && !is_metrics();
	double end = seconds_now();
	struct trace_result r = {
		.question = &t->question, .losses = losses, .interval = interval,
		.seconds = end - (interval ? t->shown : t->begun),
	};
	int nr = tracing_read(t->tracing, &now);

	if (nr < 0)
		return error_set(e, nr, NULL, "cannot read what was counted: %s", strerror(-nr));
	tracing_losses(t->tracing, losses);
	r.nr = interval ? reading_grown(&t->question, now, nr, &t->before) : nr;
	if (r.nr < 0) {
		gathered_free(now, nr);
		return error_set(e, r.nr, NULL, "cannot keep what was counted: %s",
				 strerror(-r.nr));
	}
	if (t->top && r.nr > (int)t->top) {
		r.left_out = r.nr - t->top;
		r.nr = t->top;
	}
	r.rows = now;
	result_print(t, &r);
	t->shown = end;
	gathered_free(now, nr);
	return 0;
}

static void on_event(const struct probe_event *e, void *arg)
{
	struct trace *t = arg;

	if (t->limit && t->events >= t->limit)
		return;
	t->events++;
	if (t->packets)
		pcapng_packet(t->packets, (const struct captured *)e);
	else if (json())
		trace_event_json(stdout, &t->question, e);
	else
		trace_line(&t->page, &t->question, e);
}

static bool ended(const struct trace *t, bool commanded, bool *running, int *status)
{
	if (commanded && child_ended(status)) {
		*running = false;
		return true;
	}
	if (!commanded && child_signal()) {
		*status = child_signal() == SIGINT ? EXIT_SUCCESS : 128 + child_signal();
		return true;
	}
	if (t->limit && t->events >= t->limit)
		return true;
	return t->duration > 0 && seconds_now() - t->begun >= t->duration;
}

#define TURN_MS	50

/* Until the end: prints events, or what was gathered in each interval. The exit status. */
static int gather(struct trace *t, bool commanded, struct error *e)
{
	bool prints = t->question.query.aggregation == AGG_PRINT, running = commanded;
	int status = EXIT_SUCCESS, err = 0;

	if (prints && !json() && !t->packets)
		trace_heads(&t->page, &t->question);
	while (!err && !ended(t, commanded, &running, &status)) {
		if (prints) {
			err = tracing_poll(t->tracing, TURN_MS, on_event, t);
			err = err == -EINTR ? 0 : err;
			if (t->packets && pcapng_flush(t->packets))
				break;
		} else {
			tracing_wait(t->tracing, TURN_MS);
			stacks_see(t->tracing);
		}
		if (!prints && t->interval > 0 && seconds_now() - t->shown >= t->interval)
			err = show(t, e);
		if (prints && output_flush())
			break;		/* its reader is gone */
	}
	tracing_detach(t->tracing);
	if (prints && !err)
		tracing_poll(t->tracing, 0, on_event, t);
	else if (!err && !(t->interval > 0 && seconds_now() - t->shown < TURN_MS * 2e-3))
		err = show(t, e);
	if (err)
		failed(e);
	if (running) {
		output_flush();
		status = child_end();	/* its command goes on without being traced */
	}
	return err ? EXIT_FAILURE : status;
}

static int scope_set(const struct trace *t, struct tracing_scope *scope, struct error *e)
{
	bool inside = t->netns && strcmp(t->netns, "all") && t->dev && !strchr(t->dev, '/');
	const char *dev = t->dev;

	if (t->netns && strcmp(t->netns, "all") && raw_has(t->question.probes))
		return error_set(e, -EOPNOTSUPP, "--netns all", "--netns: functions and "
				 "tracepoints belong to no network namespace: all count");
	if (t->netns && strcmp(t->netns, "all") && netns_enter(t->netns, e))
		return -ENOENT;
	if (dev)
		dev = iface_enter(dev, NULL, e);
	if (t->dev && !dev)
		return -ENODEV;
	scope->netns = t->netns && !strcmp(t->netns, "all") ? 0 : netns_cookie();
	scope->ifindex = dev ? iface_index_of(dev) : 0;
	scope->keys = t->keys;
	if (dev && !scope->ifindex)
		return error_set(e, -ENODEV, inside ? text("ip -n %s link", t->netns) : "ip link",
				 "no interface \"%s\" here", dev);
	return 0;
}

/* How many packets the file has, or why it has not all. The exit status. */
static int packets_end(struct trace *t, int status)
{
	int err = pcapng_close(t->packets);
	struct error e = {};

	if (err == -EPIPE)		/* its reader has enough */
		return status;
	if (!err) {
		tell(text("%u packet%s", t->events, t->events == 1 ? "" : "s"));
		return status;
	}
	error_set(&e, err, NULL, "cannot write more to %s: %s", t->pcap, strerror(-err));
	return failed(&e);
}

static int trace(struct trace *t, char **command)
{
	struct tracing_scope scope = {};
	struct error e = {};
	int status;

	if (kernel_permits(&e) || scope_set(t, &scope, &e))
		return iface_failed(t->dev ?: "", &e);
	measured_netns = t->netns && strcmp(t->netns, "all") ? netns_inode() : 0;
	signals_ready();
	t->tracing = tracing_begin(&t->question, &scope, &e);
	if (!t->tracing)
		return failed(&e);
	netns_go_home();
	if (t->pcap) {
		t->packets = pcapng_open(t->pcap, &t->question, &e);
		if (!t->packets) {
			tracing_end(t->tracing);
			return failed(&e);
		}
	}
	t->begun = t->shown = seconds_now();
	stopped_tell(&t->question);
	begun_tell(t->tracing);
	status = command ? child_start(command) : 0;
	if (!status)
		status = gather(t, command, &e);
	if (t->question.query.aggregation == AGG_PRINT)
		losses_tell(t->tracing, &t->page);
	gathered_free(t->before.rows, t->before.nr);
	tracing_end(t->tracing);
	return t->packets ? packets_end(t, status) : status;
}

static const struct option_spec options[] = {
	{ 0, "where", "CONDITION", "only events for which this holds: FIELD OP VALUE, with\n"
				   "== != < <= > >= & in, joined by && and ||", OPTION_STRING,
	  INTO(struct trace, asked.where) },
	{ 0, "by", "FIELD,…", "aggregate by these fields", OPTION_STRING,
	  INTO(struct trace, asked.by) },
	{ 0, "count", NULL, "count events (the default with --by)", OPTION_FLAG,
	  INTO(struct trace, asked.count) },
	{ 0, "sum", "FIELD", "add up a field", OPTION_STRING, INTO(struct trace, asked.sum) },
	{ 0, "min", "FIELD", "its least value", OPTION_STRING, INTO(struct trace, asked.min) },
	{ 0, "max", "FIELD", "its greatest value", OPTION_STRING, INTO(struct trace, asked.max) },
	{ 0, "avg", "FIELD", "its mean", OPTION_STRING, INTO(struct trace, asked.avg) },
	{ 0, "quantize", "FIELD", "its distribution, by powers of two", OPTION_STRING,
	  INTO(struct trace, asked.quantize) },
	{ 0, "lquantize", "F:LO:HI:STEP", "its distribution from LO to HI by steps",
	  OPTION_STRING,
	  INTO(struct trace, asked.lquantize) },
	{ 0, "print", "FIELD,…", "a line for each event", OPTION_STRING,
	  INTO(struct trace, asked.print) },
	{ 0, "since", "PROBE", "set delta_ns: the time since this probe, with the\n"
			       "same --on", OPTION_STRING, INTO(struct trace, asked.since),
	  .words = "@probes" },
	{ 0, "on", "FIELD", "what both events of a time have in common:\n"
			   "cs_cid, tid, …",
	  OPTION_STRING, INTO(struct trace, asked.on) },
	{ 0, "delta", "FIELD", "set delta_ns: the time since the last event with the\n"
	  "same FIELD",
	  OPTION_STRING, INTO(struct trace, asked.delta) },
	{ 'n', "clause", "CLAUSE", "a clause of D instead of PROBE and these options",
	  OPTION_STRING, INTO(struct trace, clause) },
	{ 0, "dev", "IFACE", "only events of this interface, [NETNS/]IFACE", OPTION_STRING,
	  INTO(struct trace, dev), .words = "@interfaces" },
	{ 0, "netns", "NETNS", "only events of this network namespace (default:\n"
			       "this one), or of all", OPTION_STRING, INTO(struct trace, netns) },
	{ 0, "source", "KIND", "see events only by tp, nf, cgroup, netlink or\n"
				"function: list -v PROBE",
	  OPTION_STRING, INTO(struct trace, asked.source),
	  .words = "tp nf cgroup netlink function" },
	{ 0, "pcap", "FILE", "write the packets of the events as pcapng, - to stdout",
	  OPTION_STRING, INTO(struct trace, pcap) },
	{ 0, "snaplen", "BYTES", "of each packet, at most (default: 256)", OPTION_COUNT,
	  INTO(struct trace, asked.snaplen), SNAPLEN_LEAST, SNAPLEN_MOST, .example = "128" },
	{ 'i', "interval", "SECONDS", "print what was gathered, time and again", OPTION_NUMBER,
	  INTO(struct trace, interval), SECONDS },
	{ 'd', "duration", "SECONDS", "end after this long", OPTION_NUMBER,
	  INTO(struct trace, duration), SECONDS },
	{ 0, "limit", "N", "end after N printed events", OPTION_COUNT, INTO(struct trace, limit),
	  1, 1e9, .example = "10" },
	{ 0, "top", "N", "print the N keys with the greatest figures", OPTION_COUNT,
	  INTO(struct trace, top), 1, 1e9, .example = "10" },
	{ 0, "keys", "N", "make room for N keys (default: 16384)", OPTION_COUNT,
	  INTO(struct trace, keys), 1, 1 << 24, .example = "100000" },
	{}
};

/* An option without effect would let its user think that it has one. */
static int misplaced(const struct trace *t)
{
	bool prints = t->question.query.aggregation == AGG_PRINT;
	const char *name = prints ? t->top ? "--top" : t->keys ? "--keys" :
					     t->interval ? "--interval" : NULL :
			   t->limit ? "--limit" : NULL;

	if (name && prints)
		return usage_error("--limit N, or --count", "%s is for what is aggregated: this "
				   "trace takes events one by one", name);
	if (name)
		return usage_error("--top N, or --duration SECONDS", "%s is for events that are "
				   "printed: this trace aggregates them", name);
	return EXIT_SUCCESS;
}

static int ask(struct trace *t, const char *probes)
{
	struct error e = {};
	int err;

	t->asked.probes = probes;
	if (t->clause && probes)
		return usage_error("nicprobe trace --help", "a clause of D names its probes: "
				   "\"%s\" is one too many", probes);
	if (!t->clause && !probes)
		return usage_error("nicprobe trace tcp:::accept-refused --by ip_daddr",
				   "trace needs a probe");
	if (t->asked.snaplen && !t->pcap)
		return usage_error("--pcap FILE", "--snaplen needs --pcap");
	if (t->pcap && t->clause)
		return usage_error("nicprobe trace tcp:::send --pcap FILE",
				   "a clause of D aggregates: --pcap takes events one by one");
	if (t->pcap && !t->asked.snaplen)
		t->asked.snaplen = SNAPLEN;
	err = t->clause ? question_ask_d(&t->question, t->clause, &e) :
			  question_ask(&t->question, &t->asked, &e);
	if (err) {
		failed(&e);
		return err == -EOPNOTSUPP ? EXIT_FAILURE : EXIT_USAGE;
	}
	if (is_metrics() && t->question.query.aggregation == AGG_PRINT)
		return usage_error("--count, or -f json", "-f %s has aggregations only",
				   format_wanted->name);
	return misplaced(t);
}

static int run(int argc, char **argv)
{
	struct trace t = { .page = terminal_page(stdout, 40) };
	const char *probes = NULL;
	char **command = NULL;
	struct error e = {};
	int status;

	if (!options_take(&command_trace, argc, argv, &t, &status))
		return status;
	if (optind < argc && strcmp(argv[optind - 1], "--")) {
		/* more options follow: the probe is to them what the command was to the first */
		argv += optind;
		argc -= optind;
		probes = *argv;
		if (*probes == '@' && !view_take(&command_trace, probes + 1, &t, &probes, &status))
			return status;
		optind = 0;
		if (!options_take(&command_trace, argc, argv, &t, &status))
			return status;
	}
	if (optind < argc)
		command = argv + optind;
	if (command && t.pcap && !strcmp(t.pcap, "-"))
		return usage_error("--pcap FILE", "--pcap - would mix packets with what %s "
				   "prints", *command);
	status = ask(&t, probes);
	if (status)
		return status;
	if (command && child_wrong(*command)) {
		int wrong = child_wrong(*command);

		error_set(&e, -wrong, NULL, "cannot run %s: %s", *command, strerror(wrong));
		failed(&e);
		return wrong == ENOENT ? 127 : 126;
	}
	return trace(&t, command);
}

const struct command command_trace = {
	.name = "trace",
	.args = "PROBE[,PROBE…]|@VIEW [OPTION…] [-- COMMAND…]",
	.help = "count, measure or print events of stable probes",
	.options = { options, format_options },
	.wraps = true,
	.run = run,
};
