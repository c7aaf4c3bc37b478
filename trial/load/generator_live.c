/* SPDX-License-Identifier: GPL-2.0 */
/* Sends XDP live frames: BPF_PROG_RUN makes frames, and our program redirects them to the port. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "trial/load/generator.h"
#include "trial/load/traffic.h"
#include "live.skel.h"

#define BATCH	64
#define ENDLESS	(1u << 30)

/* Each CPU starts with the first flow of its thread. */
static int states_fill(struct generator *g)
{
	int cpus = libbpf_num_possible_cpus(), err;
	struct live_state *states = calloc(cpus, sizeof(*states));
	__u32 zero = 0;

	for (unsigned i = 0; states && i < g->load.threads; i++) {
		struct live_state *s = &states[g->worker[i].cpu];

		s->first = s->next = i % g->load.flows;
	}
	err = states ? bpf_map_update_elem(bpf_map__fd(g->live->maps.state), &zero, states, 0) :
		       -ENOMEM;
	free(states);
	return err;
}

int live_open(struct generator *g, struct error *e)
{
	const struct frame_at at = frame_at(&g->load.frame);
	__u8 frame[FRAME_MAX];
	int err;

	log_forget();
	g->live = live_bpf__open();
	if (!g->live)
		return error_set(e, -errno, NULL, "cannot open the generator's program: %s",
				 strerror(errno));
	g->live->rodata->config = (struct live_config){
		.ifindex = g->ifindex, .flows = g->load.flows, .threads = g->load.threads,
		.saddr = at.saddr, .daddr = at.daddr, .port = at.port, .payload = at.payload,
		.end = at.end,
	};
	frame_build(&g->load.frame, 0, frame);
	memcpy((void *)g->live->rodata->config.macs, frame, 12);
	err = live_bpf__load(g->live);
	if (!err)
		err = states_fill(g);
	if (!err)
		return 0;
	generator_close(g);
	return error_set(e, err, NULL, "cannot load the generator's program: %s",
			 *log_last() ? log_last() : strerror(-err));
}

void generator_close(struct generator *g)
{
	live_bpf__destroy(g->live);
	g->live = NULL;
}

int live_try(struct generator *g)
{
	__u8 frame[FRAME_MAX];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame,
		    .data_size_in = g->load.frame.size, .batch_size = 1, .repeat = 8,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES);

	frame_build(&g->load.frame, 0, frame);
	return bpf_prog_test_run_opts(bpf_program__fd(g->live->progs.generate), &opts);
}

/*
 * Each call ends with an RCU grace period, tens of milliseconds on a busy machine. So without a
 * rate there is a single call, which a signal ends.
 */
int live_send(struct worker *w)
{
	const struct load *load = &w->g->load;
	double start = seconds_now(), now = start, rate = load->rate / load->threads;
	uint64_t sent = 0;
	__u8 frame[FRAME_MAX];
	int fd = bpf_program__fd(w->g->live->progs.generate), err = 0;

	frame_build(&load->frame, 0, frame);
	for (; !err && !trial_stop && now < w->g->until; now = seconds_now()) {
		double due = rate * (now - start) - sent;
		LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame,
			    .data_size_in = load->frame.size, .batch_size = BATCH,
			    .flags = BPF_F_TEST_XDP_LIVE_FRAMES);

		if (rate && due < 1) {
			sleep_until(now + (1 - due) / rate, &trial_stop);
			continue;
		}
		opts.repeat = rate && due < ENDLESS ? due : ENDLESS;
		err = bpf_prog_test_run_opts(fd, &opts);
		sent += opts.repeat;
	}
	return err == -EINTR ? 0 : err;
}

uint64_t live_sent(const struct generator *g, uint64_t *by_cpu)
{
	int cpus = libbpf_num_possible_cpus(), fd = bpf_map__fd(g->live->maps.state);
	struct live_state *states = calloc(cpus, sizeof(*states));
	uint64_t sent = 0;
	__u32 zero = 0;

	if (states && !bpf_map_lookup_elem(fd, &zero, states))
		for (int cpu = 0; cpu < cpus; cpu++) {
			sent += states[cpu].sent;
			by_cpu[traffic_at(cpu, TRAFFIC_CPUS)] += states[cpu].sent;
		}
	free(states);
	return sent;
}
