/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the bench share; bench/run.py drives them. */
#ifndef BENCH_H
#define BENCH_H

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
 * DIR" finds the programs of the links pinned there, "read ID…" tells their statistics.
 */
int trace_main(int argc, char **argv);

#endif
