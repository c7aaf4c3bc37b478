/* SPDX-License-Identifier: GPL-2.0 */
/* The hardware that the tests drive: the far end of a tap, or raw sockets on an interface. */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "nic.h"

#define MAX_WORDS	32

static struct nic nic;
static atomic_flag finishing = ATOMIC_FLAG_INIT;

static const char usage[] =
	"usage: nic tap NAME [--queues N] [--napi] [--napi-frags] [--vnet-hdr] [--steer]\n"
	"                    [--no-cpu-pin]\n"
	"       nic packet IFNAME [--queues N] [--vnet-hdr] [--no-cpu-pin]\n"
	"\n"
	"Reads commands from stdin and answers each with a line of JSON:\n"
	"  send QUEUE COUNT SIZE [v4|v6|arp|raw] [udp|tcp|icmp] [seq] [ecn=0..3] [vlan=ID]\n"
	"       [qinq=OUTER,INNER] [src=ADDR] [dst=ADDR] [sport=N] [dport=N] [flows=N]\n"
	"       [gso=MSS] [dmac=MAC] [smac=MAC] [pps=N]\n"
	"  go [interleave]\n"
	"  read on|off [QUEUE]    delay MS [QUEUE]    take N [QUEUE]    wait FRAMES [MS]\n"
	"  count    seqcheck    reset    quit\n";

uint64_t time_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

void time_sleep_until(uint64_t ns)
{
	const struct timespec t = { .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

void answer_error(const char *fmt, ...)
{
	char text[256];
	va_list args;
	char *c;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	for (c = text; *c; c++)
		if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
			*c = '?';
	printf("{\"error\":\"%s\"}\n", text);
}

bool number_parse(const char *word, uint64_t max, uint64_t *out)
{
	char *end;

	if (*word < '0' || *word > '9')
		return false;
	errno = 0;
	*out = strtoull(word, &end, 10);
	return !errno && !*end && *out <= max;
}

int thread_start(struct nic_queue *q, void *(*run)(void *), void *arg, pthread_t *thread)
{
	pthread_attr_t attr;
	cpu_set_t cpus;
	int err;

	pthread_attr_init(&attr);
	if (q->cpu >= 0) {
		CPU_ZERO(&cpus);
		CPU_SET(q->cpu, &cpus);
		pthread_attr_setaffinity_np(&attr, sizeof(cpus), &cpus);
	}
	err = pthread_create(thread, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return -err;
}

/* Whichever thread comes first ends the process; the others need no cleanup. */
static void finish(int status)
{
	if (atomic_flag_test_and_set(&finishing))
		for (;;)
			pause();
	nic.backend->close(&nic);
	_exit(status);
}

static void give_up(const char *why)
{
	answer_error("%s", why);
	fflush(stdout);
	finish(1);
}

static void *signals_run(void *arg)
{
	int number;

	sigwait(arg, &number);
	finish(0);
	return NULL;
}

/* SIGPIPE is ignored: the writing thread sees the error anyway. */
static int signals_start(void)
{
	static sigset_t set;
	pthread_t thread;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	return -pthread_create(&thread, NULL, signals_run, &set);
}

/* The nth CPU of our affinity, wrapping around. */
static int cpu_choose(unsigned int n)
{
	cpu_set_t cpus;
	int cpu;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return -1;
	n %= CPU_COUNT(&cpus);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &cpus) && !n--)
			return cpu;
	return -1;
}

static void reset_command(struct nic *n, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	send_reset(n);
	count_reset(n);
	printf("{\"reset\":true}\n");
}

static void quit_command(struct nic *n, int argc, char **argv)
{
	(void)n;
	(void)argc;
	(void)argv;
	printf("{\"quit\":true}\n");
	fflush(stdout);
	finish(0);
}

static void line_run(char *line)
{
	static const struct {
		const char	*name;
		void		(*run)(struct nic *nic, int argc, char **argv);
	} commands[] = {
		{ "send", send_command },	{ "go", go_command },
		{ "read", read_command },	{ "delay", delay_command },
		{ "take", take_command },	{ "wait", wait_command },
		{ "count", count_command },	{ "seqcheck", seqcheck_command },
		{ "reset", reset_command },	{ "quit", quit_command },
	};
	char *argv[MAX_WORDS], *save = NULL, *word;
	int argc = 0;
	size_t i;

	for (word = strtok_r(line, " \t\r\n", &save); word && argc < MAX_WORDS;
	     word = strtok_r(NULL, " \t\r\n", &save))
		argv[argc++] = word;
	if (word) {
		answer_error("too many words");
		return;
	}
	for (i = 0; argc && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!strcmp(argv[0], commands[i].name)) {
			commands[i].run(&nic, argc, argv);
			return;
		}
	}
	answer_error("no such command: %s", argc ? argv[0] : "(empty line)");
}

static bool options_parse(int argc, char **argv)
{
	enum { QUEUES, NAPI, FRAGS, VNET, STEER, PIN, NO_PIN };
	static const struct option options[] = {
		{ "queues", required_argument, NULL, QUEUES },
		{ "napi", no_argument, NULL, NAPI },
		{ "napi-frags", no_argument, NULL, FRAGS },
		{ "vnet-hdr", no_argument, NULL, VNET },
		{ "steer", no_argument, NULL, STEER },
		{ "cpu-pin", no_argument, NULL, PIN },
		{ "no-cpu-pin", no_argument, NULL, NO_PIN },
		{},
	};
	uint64_t queues = 1;
	int c;

	nic.pin = true;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case QUEUES:
			if (!number_parse(optarg, NIC_MAX_QUEUES, &queues) || !queues)
				return false;
			break;
		case FRAGS:
			nic.frags = true;	/* has no effect without NAPI */
			nic.napi = true;
			break;
		case NAPI:
			nic.napi = true;
			break;
		case VNET:
			nic.vnet = true;
			break;
		case STEER:
			nic.steer = true;
			break;
		case PIN:
		case NO_PIN:
			nic.pin = c == PIN;
			break;
		default:
			return false;
		}
	}
	nic.nr_queues = queues;
	if (argc - optind != 2 || strlen(argv[optind + 1]) >= sizeof(nic.name))
		return false;
	strcpy(nic.name, argv[optind + 1]);
	if (!strcmp(argv[optind], "tap"))
		nic.backend = &nic_tap;
	else if (!strcmp(argv[optind], "packet"))
		nic.backend = &nic_packet;
	return nic.backend && (nic.backend == &nic_tap || !(nic.napi || nic.steer));
}

static void queues_init(void)
{
	unsigned int i;

	for (i = 0; i < nic.nr_queues; i++) {
		nic.queue[i] = (struct nic_queue){
			.nic = &nic,
			.index = i,
			.cpu = nic.pin ? cpu_choose(i) : -1,
			.tx = -1,
			.rx = -1,
			.lock = PTHREAD_MUTEX_INITIALIZER,
			.wake = PTHREAD_COND_INITIALIZER,
		};
	}
}

int main(int argc, char **argv)
{
	char *line = NULL;
	size_t size = 0;
	int err;

	if (!options_parse(argc, argv)) {
		fputs(usage, stderr);
		return 2;
	}
	prctl(PR_SET_TIMERSLACK, 1);	/* ns; the threads inherit it */
	queues_init();
	err = signals_start();
	if (!err && nic.backend->open(&nic))
		give_up(nic.why);
	if (!err)
		err = reader_start(&nic);
	if (err)
		give_up(strerror(-err));
	printf("{\"ready\":true,\"name\":\"%s\",\"ifindex\":%u,\"queues\":%u}\n", nic.name,
	       nic.ifindex, nic.nr_queues);
	while (!fflush(stdout) && getline(&line, &size, stdin) > 0)
		line_run(line);
	finish(0);
}
