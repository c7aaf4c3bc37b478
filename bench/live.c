/* SPDX-License-Identifier: GPL-2.0 */
/* Sends XDP live frames, UDP packets made in the kernel, at the full speed of one CPU. */
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "frames.skel.h"

#define LIVE_FRAMES	2	/* BPF_F_TEST_XDP_LIVE_FRAMES, since 5.18 */
#define BATCH		64	/* the budget of a NAPI poll */
#define CHUNK		16384	/* frames per call; a call costs as much as a few hundred frames */

struct live {
	__u8 frame[1514];
	unsigned int size, ingress;
	int own, prog;		/* our program, and the program to run */
};

static __u16 checksum(const __u8 *data, unsigned int size)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < size; i += 2)
		sum += data[i] << 8 | data[i + 1];
	sum = (sum >> 16) + (sum & 0xffff);
	return ~(sum + (sum >> 16));
}

/* From 10.9.0.0 (frames.bpf.c counts up the last two bytes) to 10.0.0.1. */
static void frame_make(struct live *l, const char *mac, unsigned int ecn)
{
	static const __u8 head[] = {
		2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0,
		0x45, 0, 0, 0, 0xff, 0xff, 0, 0, 64, 17, 0, 0, 10, 9, 0, 0, 10, 0, 0, 1,
		4, 0, BENCH_PORT >> 8, BENCH_PORT & 255, 0, 0, 0, 0,
	};
	__u8 *f = l->frame;
	__u16 sum;

	memcpy(f, head, sizeof(head));
	if (mac && sscanf(mac, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", f, f + 1, f + 2, f + 3, f + 4,
			  f + 5) != 6)
		die("%s is not a MAC address", mac);
	f[15] = ecn;
	f[16] = (l->size - 14) >> 8;
	f[17] = (l->size - 14) & 255;
	sum = checksum(f + 14, 20);
	f[24] = sum >> 8;
	f[25] = sum & 255;
	f[38] = (l->size - 34) >> 8;
	f[39] = (l->size - 34) & 255;
}

static int load_redirecting(const char *out, unsigned int sources)
{
	struct frames_bpf *f = frames_bpf__open();

	if (!f)
		die("cannot open the generator program: %s", strerror(errno));
	f->rodata->out = if_nametoindex(out);
	if (!f->rodata->out)
		die("cannot find %s: %s", out, strerror(errno));
	f->rodata->sources = sources;
	if (frames_bpf__load(f))
		die("cannot load the generator program: %s", strerror(errno));
	return bpf_program__fd(f->progs.frames);
}

static void run(struct live *l, unsigned int frames)
{
	struct xdp_md ctx = { .data_end = l->size, .ingress_ifindex = l->ingress };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = l->frame, .data_size_in = l->size,
		    .ctx_in = &ctx, .ctx_size_in = sizeof(ctx), .repeat = frames,
		    .flags = LIVE_FRAMES, .batch_size = BATCH);
	int err;

	do
		err = bpf_prog_test_run_opts(l->prog, &opts);
	while (err == -EINTR || err == -EAGAIN);
	if (err)
		die("cannot send live frames: %s", strerror(-err));
}

/* "go MS", "send FRAMES", or "program ID": the program to run; 0: our own. */
static void command(struct live *l, char *line)
{
	struct laps laps;
	__u64 frames = 0;
	unsigned int n;

	laps_begin(&laps, sscanf(line, "go %u", &n) == 1 ? n : 0);
	if (!strncmp(line, "go ", 3)) {
		do {
			run(l, CHUNK);
			frames += CHUNK;
		} while (laps_more(&laps, frames, frames * l->size));
	} else if (sscanf(line, "send %u", &n) == 1) {
		run(l, n);
		frames = n;
	} else if (sscanf(line, "program %u", &n) == 1) {
		if (l->prog != l->own)
			close(l->prog);
		l->prog = n ? bpf_prog_get_fd_by_id(n) : l->own;
		if (l->prog < 0)
			die("cannot open program %u: %s", n, strerror(errno));
	} else {
		die("unknown command: %s", line);
	}
	laps_print(&laps, frames, frames * l->size);
}

int live_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "size", required_argument, NULL, 's' }, { "ecn", required_argument, NULL, 'e' },
		{ "mac", required_argument, NULL, 'm' }, { "cpu", required_argument, NULL, 'c' },
		{ "sources", required_argument, NULL, 'n' }, {}
	};
	struct live l = { .size = 64 };
	unsigned int sources = 1, ecn = 2;
	const char *mac = NULL;
	char line[128];
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's')
			l.size = atoi(optarg);
		else if (c == 'e')
			ecn = atoi(optarg);
		else if (c == 'n')
			sources = atoi(optarg);
		else if (c == 'm')
			mac = optarg;
		else if (c == 'c')
			cpu_pin(atoi(optarg));
		else
			return 2;
	}
	if (argc - optind < 1 || l.size < 42 || l.size > sizeof(l.frame) || !sources)
		return 2;
	l.ingress = if_nametoindex(argv[optind]);
	if (!l.ingress)
		die("cannot find %s: %s", argv[optind], strerror(errno));
	frame_make(&l, mac, ecn);
	l.own = argc - optind > 1 ? load_redirecting(argv[optind + 1], sources) : empty_xdp_load();
	l.prog = l.own;
	while (fgets(line, sizeof(line), stdin))
		command(&l, line);
	return 0;
}
