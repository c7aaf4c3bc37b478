/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the bench share; bench/run.py drives them. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

/* Says why, and ends it all. */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *fmt, ...);

/* Until we end: a wait for RCU is 0.1 ms instead of 10 to 90. */
void rcu_expedite(void);

/*
 * `bench packet [--rounds N] [NAME=rx.bpf.o …]`: XDP and tc programs by BPF_PROG_TEST_RUN, meters
 * alone and together, interleaved with an empty program; other builds of rx.bpf.c beside. JSON.
 */
int packet_main(int argc, char **argv);

/*
 * `bench trace`: turns run-time statistics on, then answers lines by JSON: "empty btf|raw HOOK…"
 * attaches empty programs there, "empty tp" those of the old tracepoints, "empty off" none; "pins
 * DIR" finds the programs of the links pinned there, "maps DIR" the maps and their bytes, "read
 * ID…" tells the statistics of programs.
 */
int trace_main(int argc, char **argv);

/*
 * `bench live [--size N] [--ecn 0..3] [--mac ADDRESS] [--sources N] [--cpu N] IFACE [OUT]`: XDP
 * live frames, as if IFACE had received them, that go up the stack; or out through OUT.
 * On "go MS" or "send FRAMES" it tells how many, and how long it took: {"packets", "bytes",
 * "seconds", "cpu"}. "program ID": from now on that XDP program is run on them.
 */
int live_main(int argc, char **argv);

/* `bench far IFACE`: a socket that nobody reads; "xdp on" and "xdp off": an empty program. */
int far_main(int argc, char **argv);

/*
 * `bench nothing IFACE HOOK…`: empty programs at these tracepoints, and "tcx" on the interface;
 * says "{}", and they are there until its input ends.
 */
int nothing_main(int argc, char **argv);

/* A program that does nothing, for a tracepoint, typed or raw: its descriptor, or -errno. */
int empty_load(const char *hook, bool typed);

/*
 * `bench sockets [--size N] [--wire TAP] [--cpu N] FROM TO ADDRESS`: sockets in the namespace FROM
 * send to some at ADDRESS in TO, in turns and in one thread: nothing is lost. With --wire there is
 * a tap in each, and what one is given the other receives; "{}" says they are there, and a line
 * that they have addresses. Then "udp MS" and "tcp MS" are answered as `live` does.
 */
int sockets_main(int argc, char **argv);

/* Two taps of this name, in two namespaces. */
void wire_open(const char *name, const char *from, const char *to);
/* Carries what either was given to the other; whether there was something. */
bool wire_carry(void);

/* An empty XDP program, loaded: its file descriptor. */
int empty_xdp_load(void);

#define BENCH_PORT 9		/* where live frames go: discard */

struct span {		/* since some moment, in ns */
	uint64_t wall, cpu;	/* cpu: of this process */
};

struct span span_begin(void);
unsigned int span_ms(const struct span *);
void span_print(const struct span *, uint64_t packets, uint64_t bytes);
void cpu_pin(int cpu);
/* The network namespace of this name, for good. */
void enter(const char *netns);

#endif
