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
#include "lib/kernel/permits.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lib/util/near.h"

enum { PEER = 256, SECONDS, SIZE, FLOWS, THREADS, IPV6, VLAN, ECN, RATE, FORCE, GENERATOR, AB,
	SAVE, AGAINST, TOLERANCE, ROUNDS, MINUTES, PAUSE, FIGURE };

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

static bool number(const char *option, double least, double most, double *to)
{
	char *end;
	double x = strtod(optarg, &end);

	if (*end || end == optarg || !(x >= least && x <= most)) {
		usage_error("nicprobe bench --help", "%s takes a number from %.10g to %.10g, not "
			    "\"%s\"", option, least, most, optarg);
		return false;
	}
	*to = x;
	return true;
}

static bool whole(const char *option, unsigned least, unsigned most, unsigned *to)
{
	double x;

	if (!number(option, least, most, &x))
		return false;
	*to = x;
	if (*to == x)
		return true;
	usage_error("nicprobe bench --help", "%s takes a whole number, not \"%s\"", option, optarg);
	return false;
}

/* The index of `word` in a NULL-terminated list; -1 after printing an error. */
static int one_of(const char *option, const char *word, const char *const *list)
{
	struct near near = near_to(word);

	for (int i = 0; list[i]; i++) {
		if (!strcmp(list[i], word))
			return i;
		near_try(&near, list[i]);
	}
	usage_error(*near.name ? text("%s %s", option, near.name) : "nicprobe bench --help",
		    "%s does not take \"%s\"", option, word);
	return -1;
}

static bool option_take(struct bench *b, const char **peer, int o)
{
	static const char *const ecn[] = { "not-ect", "ect1", "ect0", "ce", NULL };
	static const char *const how[] = { "auto", "live", "packet", NULL };
	struct frame_spec *f = &b->load.frame;
	int i;

	switch (o) {
	case PEER:
		*peer = optarg;
		return true;
	case SECONDS:
		return number("--seconds", .1, 86400, &b->seconds);
	case SIZE:
		return whole("--size", 60, FRAME_MAX, &f->size);
	case FLOWS:
		return whole("--flows", 1, FLOWS_MAX, &b->load.flows);
	case THREADS:
		return whole("--threads", 1, THREADS_MAX, &b->load.threads);
	case VLAN:
		return whole("--vlan", 1, 4094, &f->vlan);
	case RATE:
		return number("--rate", 1, 1e9, &b->load.rate);
	case IPV6:
		return f->ipv6 = true;
	case FORCE:
		return b->force = true;
	case ECN:
		i = one_of("--ecn", optarg, ecn);
		f->ecn = i;
		return i >= 0;
	case GENERATOR:
		i = one_of("--generator", optarg, how);
		b->how = i;
		return i >= 0;
	}
	return true;
}

/* --ab takes two arguments; getopt only handles the first. */
static bool commands_take(struct versus *v, int argc, char **argv)
{
	if (optind == argc || argv[optind][0] == '-') {
		usage_error("--ab \"ethtool -K eth0 gro on\" \"ethtool -K eth0 gro off\"",
			    "--ab needs two commands, A and B");
		return false;
	}
	v->ab[0] = optarg;
	v->ab[1] = argv[optind++];
	return true;
}

static bool versus_take(struct versus *v, int o, int argc, char **argv)
{
	switch (o) {
	case AB:
		return commands_take(v, argc, argv);
	case SAVE:
		v->save = optarg;
		return true;
	case AGAINST:
		v->against = optarg;
		return true;
	case FIGURE:
		v->figure = optarg;
		return true;
	case TOLERANCE:
		return number("--tolerance", 0, 1000, &v->tolerance);
	case ROUNDS:
		return whole("--rounds", 1, ROUNDS_MAX, &v->rounds);
	case MINUTES:
		return number("--minutes", .01, 10000, &v->minutes);
	case PAUSE:
		return number("--pause", 0, 600, &v->pause);
	}
	return true;
}

static bool scenario_want(struct bench *b, const char *name)
{
	struct near near = near_to(name);
	unsigned n = 0;

	while (b->wanted[n])
		n++;
	for (const struct scenario *const *s = scenarios; *s; s++) {
		near_try(&near, (*s)->name);
		if (strcmp((*s)->name, name))
			continue;
		for (unsigned i = 0; i < n; i++)
			if (b->wanted[i] == *s)
				return true;
		b->wanted[n] = *s;
		return b->asked = true;
	}
	usage_error(*near.name ? text("nicprobe bench IFACE %s", near.name) :
		    "nicprobe bench --help", "no scenario \"%s\"", name);
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

static const struct option options[] = {
	{ "peer", required_argument, NULL, PEER },
	{ "seconds", required_argument, NULL, SECONDS },
	{ "size", required_argument, NULL, SIZE },
	{ "flows", required_argument, NULL, FLOWS },
	{ "threads", required_argument, NULL, THREADS },
	{ "ipv6", no_argument, NULL, IPV6 },
	{ "vlan", required_argument, NULL, VLAN },
	{ "ecn", required_argument, NULL, ECN },
	{ "rate", required_argument, NULL, RATE },
	{ "force", no_argument, NULL, FORCE },
	{ "generator", required_argument, NULL, GENERATOR },
	{ "ab", required_argument, NULL, AB },
	{ "save", required_argument, NULL, SAVE },
	{ "against", required_argument, NULL, AGAINST },
	{ "tolerance", required_argument, NULL, TOLERANCE },
	{ "rounds", required_argument, NULL, ROUNDS },
	{ "minutes", required_argument, NULL, MINUTES },
	{ "pause", required_argument, NULL, PAUSE },
	{ "figure", required_argument, NULL, FIGURE },
	COMMON_LONG, {}
};

static int run(int argc, char **argv)
{
	struct versus v = { .minutes = -1, .pause = -1, .tolerance = -1 };
	const char *peer = NULL;
	struct error e = {};
	static struct bench b;
	int o, err, status;

	while ((o = getopt_long(argc, argv, ":" COMMON_SHORT, options, NULL)) >= 0) {
		if (common_option(&command_bench, o, argv, &status))
			return status;
		if (!option_take(&b, &peer, o) || !versus_take(&v, o, argc, argv))
			return EXIT_USAGE;
	}
	if (optind == argc)
		return usage_error("nicprobe bench IFACE", "bench: no interface given");
	for (int i = optind + 1; i < argc; i++)
		if (!scenario_want(&b, argv[i]))
			return EXIT_USAGE;
	status = versus_check(&v);
	if (status)
		return status;
	if (!b.seconds)
		b.seconds = versus_wanted(&v) ? 1 : 3;
	if (kernel_permits_mounts(&e))
		return failed(&e);
	signals_take();
	b.starts = starts;
	err = bench_open(&b, argv[optind], peer, &e);
	if (!err) {
		scenarios_choose(&b);
		disturbs_say(&b);
		if (versus_wanted(&v))
			status = versus_run(&b, &v);
		else
			err = once(&b);
	}
	bench_close(&b);
	if (trial_stop)
		return 128 + trial_stop;
	return err ? failed(&e) : status;
}

const struct command command_bench = {
	.name = "bench",
	.args = "[NETNS/]IFACE [SCENARIO…]",
	.help = "send packets, measure a driver's throughput and CPU cost",
	.options =
	"  SCENARIO               rx-drop, rx-pass, tx, redirect, rx-tcp, tx-tcp\n"
	"                         (default: all that this setup supports)\n"
	"      --peer P           the other port, [NETNS/]IFACE (default: a veth's peer;\n"
	"                         otherwise none, and rx-* measure incoming traffic)\n"
	"      --seconds S        duration of each scenario (default 3; 1 with --ab,\n"
	"                         --save or --against)\n"
	"      --size BYTES       frame size, Ethernet header included (default 64)\n"
	"      --flows N          number of flows to generate (default 16 per queue)\n"
	"      --threads N        sending threads, one per CPU (default: one per queue)\n"
	"      --ipv6             send IPv6 instead of IPv4\n"
	"      --vlan ID          send with this VLAN tag\n"
	"      --ecn CP           not-ect (default), ect0, ect1, ce\n"
	"      --rate PPS         limit the rate (default: unlimited)\n"
	"      --generator HOW    auto (default), live (XDP live frames) or packet\n"
	"                         (packet sockets)\n"
	"      --force            allow an interface with the default route or with an\n"
	"                         XDP program, which then stays attached\n"
	"      --ab A B           run two commands in turn until it is clear whether\n"
	"                         they differ; A is run again at the end\n"
	"      --save FILE        save the rounds as a baseline\n"
	"      --against FILE     compare with a baseline; exit status 1 if worse\n"
	"      --tolerance P      ignore differences up to P percent (default 5; --ab 1)\n"
	"      --rounds N         rounds per command at most (32), or of a baseline (10)\n"
	"      --minutes M        time limit for --ab (default 10)\n"
	"      --pause S          wait between a command and its round (default 0.2)\n"
	"      --figure NAME      the figure that decides --ab (default: the first)\n",
	.run = run,
};
