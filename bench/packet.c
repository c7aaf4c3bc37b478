/* SPDX-License-Identifier: GPL-2.0 */
/* Runs XDP and tc programs by BPF_PROG_TEST_RUN: each meter and all, against an empty program. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>

#include "xdp/ecn.h"
#include "object.h"

#define REPEAT		20000	/* shorter than a time slice, so most runs are not preempted */
#define MAX_ROUNDS	1001
#define MAX_CASES	200

static const struct shape {
	unsigned int size, segs;	/* segs: wire packets; always 1 for XDP */
} shapes[] = { { 64, 1 }, { 512, 1 }, { 1500, 1 }, { 42 + 2 * 1448, 2 } };
static const char *const marks[] = { [ECN_ECT0] = "ect0", [ECN_CE] = "ce" };

struct test {			/* an object with a kind of packet */
	struct object *o;
	const struct shape *shape;
	unsigned int mark;
	struct test *empty;	/* the empty program with the same hook and packet */
	struct pair {
		double empty, ns;	/* measured one after the other */
	} pairs[MAX_ROUNDS];
};

static struct test tests[MAX_CASES];
static unsigned int nr_tests, rounds = 101;
static const char *only;		/* --only and --size: limit the tests */
static unsigned int only_size;

static void add_test(struct object *o, const struct shape *shape, unsigned int mark)
{
	struct test *t = &tests[nr_tests];

	if ((only_size && only_size != shape->size) || (shape->segs > 1 && !strcmp(o->hook, "xdp")))
		return;
	if (++nr_tests > MAX_CASES)
		die("too many tests");
	*t = (struct test){ .o = o, .shape = shape, .mark = mark, .empty = t };
	/* the empty object of a hook precedes its other objects */
	while (strcmp(t->empty->o->build, "empty") || strcmp(t->empty->o->hook, o->hook))
		t->empty--;
}

static void add_tests(void)
{
	for (unsigned int s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
		for (unsigned int mark = ECN_ECT0; mark <= ECN_CE; mark++)
			for (unsigned int i = 0; i < nr_objects; i++)
				add_test(&objects[i], &shapes[s], mark);
}

/* An Ethernet frame with a UDP packet from 10.0.0.7, without valid checksums. */
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

/* CPU time of this thread, as the machine may be shared. */
static __u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* ns per run, by our clock: the kernel's result has no fractions. The call is negligible. */
static double run(struct test *t, unsigned int repeat)
{
	const struct shape *shape = t->shape;
	__u8 frame[shape->size];
	struct __sk_buff skb = { .gso_segs = shape->segs, .gso_size = 1448 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = shape->size,
		    .repeat = repeat);
	__u64 start;

	if (shape->segs > 1) {
		opts.ctx_in = &skb;
		opts.ctx_size_in = sizeof(skb);
	}
	frame_make(frame, shape->size, t->mark);
	start = now();
	if (bpf_prog_test_run_opts(t->o->prog, &opts))
		die("cannot run %s %s: %s", t->o->hook, t->o->meters, strerror(errno));
	start = now() - start;
	t->o->buffers += repeat;
	t->o->packets += (__u64)repeat * shape->segs;
	t->o->bytes += (__u64)repeat * shape->size;
	if (t->mark == ECN_CE)
		t->o->marked += (__u64)repeat * shape->segs;
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
		/* each round starts with another test, which varies the order */
		for (unsigned int i = 0; i < nr_tests; i++) {
			struct test *t = &tests[(i + r * 7) % nr_tests];

			t->pairs[r].empty = run(t->empty, REPEAT);
			t->pairs[r].ns = run(t, REPEAT);
		}
		if (tell)
			progress(r);
	}
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

/* Uses only the quietest third of the pairs, as caches and core may be shared with others. */
static void print(struct test *t)
{
	static double above[MAX_ROUNDS], ns[MAX_ROUNDS];
	unsigned int n = (rounds + 2) / 3;

	qsort(t->pairs, rounds, sizeof(*t->pairs), by_time);
	for (unsigned int r = 0; r < n; r++) {
		ns[r] = t->pairs[r].ns;
		above[r] = t->pairs[r].ns - t->pairs[r].empty;
	}
	printf("{\"build\":\"%s\",\"hook\":\"%s\",\"meters\":\"%s\",\"size\":%u,\"segs\":%u,"
	       "\"ecn\":\"%s\",\"jited\":%u,", t->o->build, t->o->hook, t->o->meters,
	       t->shape->size, t->shape->segs, marks[t->mark], t->o->jited);
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
		die("--rounds takes a number from 1 to %d", MAX_ROUNDS);
	add_empty("xdp", "empty_xdp");
	add_tap("nicprobe", "xdp", &hook_xdp, "nicprobe_rx", NULL, only);
	for (; optind < argc; optind++) {
		char *file = strchr(argv[optind], '=');

		if (!file)
			die("%s is not NAME=rx.bpf.o", argv[optind]);
		*file++ = 0;
		add_tap(argv[optind], "xdp", &hook_xdp, "nicprobe_rx", file, only);
	}
	add_empty("tc", "empty_tc");
	add_tap("nicprobe", "tc", &hook_tc, "nicprobe_tc", NULL, only);
	add_tests();
	measure(tell);
	for (unsigned int i = 0; i < nr_objects; i++)
		verify(&objects[i]);
	putchar('[');
	for (unsigned int i = 0; i < nr_tests; i++)
		print(&tests[i]);
	return 0;
}
