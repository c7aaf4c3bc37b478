/* SPDX-License-Identifier: GPL-2.0 */
/* XDP and tc programs by BPF_PROG_TEST_RUN: meters alone and together against an empty program. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "../lib/meter.h"
#include "../lib/tap.h"
#include "../xdp/ecn.h"
#include "../xdp/ecn_source.h"
#include "../xdp/pktsize.h"
#include "bench.h"
#include "empty.skel.h"

#define REPEAT		20000	/* a fraction of a time slice: most runs are never interrupted */
#define MAX_ROUNDS	1001
#define MAX_CASES	200
#define QUEUES		4

#define M(name) | 1ull << METER_##name
static const __u64 all_meters = 0 PACKET_METERS(M);
#undef M

static const unsigned int sizes[] = { 64, 512, 1500 };
static const char *const marks[] = { [ECN_ECT0] = "ect0", [ECN_CE] = "ce" };

struct object {			/* one build of a program, one choice of meters */
	char build[32];		/* "nicprobe", or what the command line calls it */
	const char *hook;	/* "xdp", "tc" */
	const char *meters;	/* "empty", a meter, "all" */
	__u64 on;
	struct bpf_object *obj;
	int prog;
	unsigned int jited;	/* bytes */
	__u64 packets, bytes, marked;	/* that were put through */
};

struct test {			/* an object and a packet */
	struct object *o;
	unsigned int size, mark;
	struct test *empty;	/* of the same hook and packet */
	struct pair {
		double empty, ns;	/* one after the other */
	} pairs[MAX_ROUNDS];
};

static struct object objects[64];
static struct test tests[MAX_CASES];
static unsigned int nr_objects, nr_tests, rounds = 101;
static const char *only;		/* these meters, and this size: for trying things out */
static unsigned int only_size;

static const struct config config = {
	.ifindex = 1,
	.rows = QUEUES + 1,
	.rx_queues = QUEUES,
	.rx_queue = RX_QUEUE_RAW,	/* tc: what test_run cannot set is 0 */
	.sample = 1,
	.l2 = 14,
	.flight_shift = 26,
	.flow_sample = FLOW_SAMPLE,
};

static void map_prepare(struct bpf_map *map, __u64 on)
{
	const char *name = bpf_map__name(map);
	const struct meter *m = meter_find(name);
	struct config c = config;
	int err = 0;

	c.on = on;
	if (!strcmp(name, ".rodata.config"))
		err = bpf_map__set_initial_value(map, &c, sizeof(c));
	if (m && !(m->by & BY_KEY))
		err = bpf_map__set_max_entries(map, meter_rows(m, config.rows) * meter_lanes(m));
	if (err)
		die("cannot prepare the map %s: %s", name, strerror(-err));
}

static void add_object(const char *build, const char *hook, const char *meters, __u64 on,
		       struct bpf_object *obj, const char *program)
{
	struct object *o = &objects[nr_objects++];
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	struct bpf_map *map;

	if (!obj)
		die("cannot open the programs of %s: %s", build, strerror(errno));
	*o = (struct object){ .hook = hook, .meters = meters, .on = on, .obj = obj };
	snprintf(o->build, sizeof(o->build), "%s", build);
	bpf_object__for_each_map(map, obj)
		map_prepare(map, on);
	if (bpf_object__load(obj))
		die("cannot load the programs of %s: %s", build, strerror(errno));
	o->prog = bpf_program__fd(bpf_object__find_program_by_name(obj, program));
	bpf_obj_get_info_by_fd(o->prog, &info, &len);
	o->jited = info.jited_prog_len;
}

static void add_empty(const char *hook, const char *program)
{
	struct empty_bpf *e = empty_bpf__open();
	struct bpf_program *prog;

	if (!e)
		die("cannot open the empty programs: %s", strerror(errno));
	bpf_object__for_each_program(prog, e->obj)
		bpf_program__set_autoload(prog, !strcmp(bpf_program__name(prog), program));
	add_object("empty", hook, "empty", 0, e->obj, program);
}

/* A build of a tap: nothing on, each meter alone, and all. `file`: instead of our own bytes. */
static void add_tap(const char *build, const char *hook, const struct tap *tap, const char *program,
		    const char *file)
{
	for (int id = -1; id <= NR_METERS; id++) {
		__u64 on = id < 0 ? 0 : id == NR_METERS ? all_meters : 1ull << id;
		size_t size;
		const void *elf = tap->elf(&size);

		const char *name = id < 0 ? "none" : id == NR_METERS ? "all" : meters[id]->name;

		if (on & ~all_meters || (only && strcmp(only, name)))
			continue;
		add_object(build, hook, name, on,
			   file ? bpf_object__open(file) : bpf_object__open_mem(elf, size, NULL),
			   program);
	}
}

static void add_tests(void)
{
	for (unsigned int s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (unsigned int mark = ECN_ECT0; mark <= ECN_CE; mark++)
			for (unsigned int i = 0; i < nr_objects; i++) {
				struct test *t = &tests[nr_tests];

				if (only_size && only_size != sizes[s])
					continue;
				if (++nr_tests > MAX_CASES)
					die("too many builds");
				*t = (struct test){
					.o = &objects[i], .size = sizes[s], .mark = mark
				};
				t->empty = t;
				/* the empty one of a hook stands before all others of it */
				while (strcmp(t->empty->o->build, "empty") ||
				       strcmp(t->empty->o->hook, t->o->hook))
					t->empty--;
			}
}

/* An Ethernet frame with a UDP packet from 10.0.0.7; the checksums are nobody's business. */
static void frame_make(__u8 *frame, unsigned int size, unsigned int mark)
{
	static const __u8 head[] = {
		2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0,
		0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 7, 10, 0, 0, 1,
		4, 0, 4, 1, 0, 0, 0, 0,
	};

	memset(frame, 0, size);
	memcpy(frame, head, sizeof(head));
	frame[15] = mark;
	frame[16] = (size - 14) >> 8;
	frame[17] = (size - 14) & 255;
}

/* Time that this thread had a CPU: others may be busy here. */
static __u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* ns a run. The kernel tells whole ones: the clock is ours, and the call itself lost among many. */
static double run(struct test *t, unsigned int repeat)
{
	__u8 frame[1500];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = t->size,
		    .repeat = repeat);
	__u64 start;

	frame_make(frame, t->size, t->mark);
	start = now();
	if (bpf_prog_test_run_opts(t->o->prog, &opts))
		die("cannot run %s %s: %s", t->o->hook, t->o->meters, strerror(errno));
	start = now() - start;
	t->o->packets += repeat;
	t->o->bytes += (__u64)repeat * t->size;
	if (t->mark == ECN_CE)
		t->o->marked += repeat;
	return (double)start / repeat;
}

static void progress(unsigned int round)
{
	if (round + 1 == rounds)
		fputs("\r\33[K", stderr);
	else if (round % 20 == 0)
		fprintf(stderr, "\rpackets: round %u of %u", round, rounds);
}

static void measure(bool tell)
{
	rcu_expedite();
	for (unsigned int i = 0; i < nr_tests; i++)
		run(&tests[i], REPEAT);	/* warm */
	for (unsigned int r = 0; r < rounds; r++) {
		/* each round begins elsewhere: nobody always runs after the same one */
		for (unsigned int i = 0; i < nr_tests; i++) {
			struct test *t = &tests[(i + r * 7) % nr_tests];

			t->pairs[r].empty = run(t->empty, REPEAT);
			t->pairs[r].ns = run(t, REPEAT);
		}
		if (tell)
			progress(r);
	}
}

/* The sum of one word over all rows of a map and CPUs. */
static __u64 sum(struct bpf_object *obj, const char *name, unsigned int from, unsigned int words)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, name);
	int fd = bpf_map__fd(map), cpus = libbpf_num_possible_cpus();
	size_t row_size = bpf_map__value_size(map);
	__u64 *row = calloc(cpus, row_size), total = 0;
	__u8 key[64], next[64];
	void *prev = NULL;

	while (!bpf_map_get_next_key(fd, prev, next)) {
		memcpy(key, next, sizeof(key));
		prev = key;
		if (bpf_map_lookup_elem(fd, key, row))
			continue;
		for (int cpu = 0; cpu < cpus; cpu++)
			for (unsigned int w = from; w < from + words; w++)
				total += row[cpu * row_size / 8 + w];
	}
	free(row);
	return total;
}

static void expect(const struct object *o, const char *what, __u64 got, __u64 want)
{
	if (got != want)
		die("%s %s: %s is %llu, not %llu: what was measured does not work",
		    o->hook, o->meters, what, got, want);
}

/* Fast and wrong is no result. */
static void verify(const struct object *o)
{
	size_t slots = sizeof(struct pktsize) / 8 - 1;

	if (strcmp(o->build, "nicprobe"))
		return;		/* a try may count elsewhere */
	if (o->on >> METER_pktsize & 1) {
		expect(o, "pktsize", sum(o->obj, "pktsize", 1, slots),
		       o->packets);
		expect(o, "bytes", sum(o->obj, "pktsize", 0, 1), o->bytes);
	}
	if (o->on >> METER_ecn & 1) {
		expect(o, "ECT(0)", sum(o->obj, "ecn", ECN_ECT0, 1),
		       o->packets - o->marked);
		expect(o, "CE", sum(o->obj, "ecn", ECN_CE, 1), o->marked);
	}
	if (strcmp(o->hook, "xdp"))
		return;
	if (o->on >> METER_rxcpu & 1)
		expect(o, "rxcpu", sum(o->obj, "rxcpu", 0, 1), o->packets);
	if (o->on >> METER_ecn_source & 1)
		expect(o, "sources", sum(o->obj, "ecn_source", 0, 1), o->marked);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_spread(const char *name, double *values, unsigned int n)
{
	qsort(values, n, sizeof(*values), by_value);
	printf("\"%s\":{\"median\":%.3f,\"p25\":%.3f,\"p75\":%.3f}", name, values[n / 2],
	       values[n / 4], values[n * 3 / 4]);
}

static int by_time(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	double t = x->empty + x->ns, u = y->empty + y->ns;

	return (t > u) - (t < u);
}

/* Others share the caches and perhaps the core: only the quietest third of the pairs is taken. */
static void print(struct test *t)
{
	static double above[MAX_ROUNDS], ns[MAX_ROUNDS];
	unsigned int n = (rounds + 2) / 3;

	qsort(t->pairs, rounds, sizeof(*t->pairs), by_time);
	for (unsigned int r = 0; r < n; r++) {
		ns[r] = t->pairs[r].ns;
		above[r] = t->pairs[r].ns - t->pairs[r].empty;
	}
	printf("{\"build\":\"%s\",\"hook\":\"%s\",\"meters\":\"%s\",\"size\":%u,\"ecn\":\"%s\","
	       "\"jited\":%u,", t->o->build, t->o->hook, t->o->meters, t->size, marks[t->mark],
	       t->o->jited);
	print_spread("ns", ns, n);
	putchar(',');
	print_spread("above_empty", above, n);
	printf("}%s\n", t == &tests[nr_tests - 1] ? "]" : ",");
}

int packet_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "rounds", required_argument, NULL, 'r' },
		{ "only", required_argument, NULL, 'o' },
		{ "size", required_argument, NULL, 's' }, { "progress", no_argument, NULL, 'p' }, {}
	};
	bool tell = false;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'r')
			rounds = atoi(optarg);
		else if (c == 'p')
			tell = true;
		else if (c == 'o')
			only = optarg;
		else if (c == 's')
			only_size = atoi(optarg);
		else
			return 2;
	}
	if (!rounds || rounds > MAX_ROUNDS)
		die("--rounds takes 1 to %d", MAX_ROUNDS);
	add_empty("xdp", "empty_xdp");
	add_tap("nicprobe", "xdp", &tap_xdp, "nicprobe_rx", NULL);
	for (; optind < argc; optind++) {
		char *file = strchr(argv[optind], '=');

		if (!file)
			die("%s is not NAME=rx.bpf.o", argv[optind]);
		*file++ = 0;
		add_tap(argv[optind], "xdp", &tap_xdp, "nicprobe_rx", file);
	}
	add_empty("tc", "empty_tc");
	add_tap("nicprobe", "tc", &tap_tc, "nicprobe_tc", NULL);
	add_tests();
	measure(tell);
	for (unsigned int i = 0; i < nr_objects; i++)
		verify(&objects[i]);
	putchar('[');
	for (unsigned int i = 0; i < nr_tests; i++)
		print(&tests[i]);
	return 0;
}
