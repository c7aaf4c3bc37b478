/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe bench: measure a driver's throughput and cost with generated packets. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/bench.h"
#include "cmd/cmd.h"
#include "cmd/words.h"
#include "lib/kernel/permits.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

static void stop(int signal)
{
	trial_stop = signal;
}

/* SA_RESETHAND: a second signal kills us at once; nothing of ours outlives the process. */
static void signals_take(void)
{
	static const int taken[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = stop, .sa_flags = SA_RESETHAND };

	for (unsigned i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		sigaction(taken[i], &action, NULL);
}

static bool scenario_want(struct bench *b, const char *name)
{
	unsigned n = 0;

	while (b->wanted[n])
		n++;
	for (const struct scenario *const *s = scenarios; *s; s++) {
		if (strcmp((*s)->name, name))
			continue;
		for (unsigned i = 0; i < n; i++)
			if (b->wanted[i] == *s)
				return true;
		b->wanted[n] = *s;
		return b->asked = true;
	}
	usage_error(did_you_mean("@scenarios", name, "nicprobe bench IFACE ",
				 "nicprobe bench --help"), "no scenario \"%s\"", name);
	return false;
}

/* By default, every scenario that this setup supports. */
static void scenarios_choose(struct bench *b)
{
	unsigned n = 0;

	for (const struct scenario *const *s = scenarios; *s && !b->asked; s++)
		if (b->has_peer || !(*s)->needs_peer)
			b->wanted[n++] = *s;
}

/* Progress, on a terminal only; progress_wipe() erases it. */
static void starts(const struct bench *b, const struct scenario *s)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%s, %.3g s …\033[K", s->name, b->seconds);
}

static void progress_wipe(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/* Warn before touching a port whose driver disturbs traffic when XDP is attached. */
static void disturbs_say(const struct bench *b)
{
	const struct port *const ports[] = { &b->port, &b->peer };

	for (int i = 0; i < 2; i++)
		if (bench_disturbs(b, ports[i]))
			tell(text("%s: each scenario attaches an XDP program and removes it "
				  "again; each time its driver, %s, %s", ports[i]->label,
				  ports[i]->iface.driver, bench_disturbs(b, ports[i])));
}

/* Runs one round and prints its outcome. */
static int once(struct bench *b)
{
	static struct result result;
	int err = bench_round(b, &result, b->error);
	bool any = false;

	progress_wipe();
	for (unsigned i = 0; i < b->outcomes; i++)
		any |= !*b->outcome[i].cannot;
	if (err && !any)	/* after an error, completed scenarios are still shown */
		return err;
	if (json_wanted)
		bench_json(stdout, b);
	else
		bench_print(stdout, b);
	return err;
}

struct bench_options {
	struct bench bench;
	struct versus versus;
	const char *peer;
};

static const struct option_spec options[] = {
	{ .arg = "SCENARIO", .help = "rx-drop, rx-pass, tx, redirect, rx-tcp, tx-tcp\n"
				     "(default: all that this setup supports)" },
	{ 0, "peer", "P", "the other port, [NETNS/]IFACE (default: a veth's peer;\n"
			  "otherwise none, and rx-* measure incoming traffic)",
	  OPTION_STRING, INTO(struct bench_options, peer), .words = "@interfaces" },
	{ 0, "seconds", "S", "duration of each scenario (default 3; 1 with --ab,\n"
			     "--save or --against)",
	  OPTION_NUMBER, INTO(struct bench_options, bench.seconds), .1, 86400 },
	{ 0, "size", "BYTES", "frame size, Ethernet header included (default 64)",
	  OPTION_WHOLE, INTO(struct bench_options, bench.load.frame.size), 60, FRAME_MAX },
	{ 0, "flows", "N", "number of flows to generate (default 16 per queue)",
	  OPTION_WHOLE, INTO(struct bench_options, bench.load.flows), 1, FLOWS_MAX },
	{ 0, "threads", "N", "sending threads, one per CPU (default: one per queue)",
	  OPTION_WHOLE, INTO(struct bench_options, bench.load.threads), 1, THREADS_MAX },
	{ 0, "ipv6", NULL, "send IPv6 instead of IPv4",
	  OPTION_FLAG, INTO(struct bench_options, bench.load.frame.ipv6) },
	{ 0, "vlan", "ID", "send with this VLAN tag",
	  OPTION_WHOLE, INTO(struct bench_options, bench.load.frame.vlan), 1, 4094 },
	/* in the order of the codepoints */
	{ 0, "ecn", "CP", "not-ect (default), ect0, ect1, ce",
	  OPTION_WORD, INTO(struct bench_options, bench.load.frame.ecn),
	  .words = "not-ect ect1 ect0 ce" },
	{ 0, "rate", "PPS", "limit the rate (default: unlimited)",
	  OPTION_NUMBER, INTO(struct bench_options, bench.load.rate), 1, 1e9 },
	/* in the order of enum how */
	{ 0, "generator", "HOW", "auto (default), live (XDP live frames) or packet\n"
				 "(packet sockets)",
	  OPTION_WORD, INTO(struct bench_options, bench.how), .words = "auto live packet" },
	{ 0, "force", NULL, "allow an interface with the default route or with an\n"
			    "XDP program, which then stays attached",
	  OPTION_FLAG, INTO(struct bench_options, bench.force) },
	{ 0, "ab", "A B", "run two commands in turn until it is clear whether\n"
			  "they differ; A is run again at the end",
	  OPTION_COMMANDS, INTO(struct bench_options, versus.ab),
	  .example = "\"ethtool -K eth0 gro on\" \"ethtool -K eth0 gro off\"" },
	{ 0, "save", "FILE", "save the rounds as a baseline",
	  OPTION_FILE, INTO(struct bench_options, versus.save) },
	{ 0, "against", "FILE", "compare with a baseline; exit status 1 if worse",
	  OPTION_FILE, INTO(struct bench_options, versus.against) },
	{ 0, "tolerance", "P", "ignore differences up to P percent (default 5; --ab 1)",
	  OPTION_NUMBER, INTO(struct bench_options, versus.tolerance), 0, 1000 },
	{ 0, "rounds", "N", "rounds per command at most (32), or of a baseline (10)",
	  OPTION_WHOLE, INTO(struct bench_options, versus.rounds), 1, ROUNDS_MAX },
	{ 0, "minutes", "M", "time limit for --ab (default 10)",
	  OPTION_NUMBER, INTO(struct bench_options, versus.minutes), .01, 10000 },
	{ 0, "pause", "S", "wait between a command and its round (default 0.2)",
	  OPTION_NUMBER, INTO(struct bench_options, versus.pause), 0, 600 },
	{ 0, "figure", "NAME", "the figure that decides --ab (default: the first)",
	  OPTION_STRING, INTO(struct bench_options, versus.figure) },
	{}
};

static int run(int argc, char **argv)
{
	struct error e = {};
	static struct bench_options wanted = {
		.versus = { .minutes = -1, .pause = -1, .tolerance = -1 },
	};
	struct bench *b = &wanted.bench;
	int err, status;

	if (!options_take(&command_bench, argc, argv, &wanted, &status))
		return status;
	if (optind == argc)
		return usage_error("nicprobe bench IFACE", "bench: no interface given");
	for (int i = optind + 1; i < argc; i++)
		if (!scenario_want(b, argv[i]))
			return EXIT_USAGE;
	status = versus_check(&wanted.versus);
	if (status)
		return status;
	if (!b->seconds)
		b->seconds = versus_wanted(&wanted.versus) ? 1 : 3;
	if (kernel_permits_all(&e))
		return failed(&e);
	signals_take();
	b->starts = starts;
	err = bench_open(b, argv[optind], wanted.peer, &e);
	if (!err) {
		scenarios_choose(b);
		disturbs_say(b);
		if (versus_wanted(&wanted.versus))
			status = versus_run(b, &wanted.versus);
		else
			err = once(b);
	}
	bench_close(b);
	if (trial_stop)
		return 128 + trial_stop;
	return err ? failed(&e) : status;
}

const struct command command_bench = {
	.name = "bench",
	.args = "[NETNS/]IFACE [SCENARIO…]",
	.help = "send packets, measure a driver's throughput and CPU cost",
	.options = { options },
	.run = run,
};
