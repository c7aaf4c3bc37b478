/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations shared by the parts of `bench`, which bench/run.py runs. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

/* Print a message and exit. */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *fmt, ...);

/* Use expedited RCU grace periods until exit: 0.1 ms instead of 10 to 90. */
void rcu_expedite(void);

/*
 * `bench packet [--rounds N] [NAME=rx.bpf.o …]`: runs XDP and tc programs by BPF_PROG_TEST_RUN,
 * with each meter alone and with all, interleaved with an empty program; also other builds of
 * rx.bpf.c. Prints JSON.
 */
int packet_main(int argc, char **argv);

/*
 * `bench trace`: enables run-time statistics, then answers each command line with JSON.
 * "empty btf|raw HOOK…" attaches empty programs, "empty tp" those for classic tracepoints,
 * "empty off" detaches them; "pins DIR" lists the programs of the links pinned there, "maps DIR"
 * the maps and their bytes; "read ID…" prints the statistics of programs.
 */
int trace_main(int argc, char **argv);

/*
 * `bench live [--size N] [--ecn 0..3] [--mac ADDRESS] [--sources N] [--cpu N] IFACE [OUT]`: makes
 * XDP live frames as if received by IFACE; they go up the stack, or out through OUT. "go MS" and
 * "send FRAMES" are answered as by laps_print(). "program ID" selects the XDP program to run on the
 * frames.
 */
int live_main(int argc, char **argv);

/* `bench far IFACE`: opens a socket and never reads it; "xdp on|off": an empty XDP program. */
int far_main(int argc, char **argv);

/*
 * `bench nothing IFACE HOOK…`: attaches empty programs to these tracepoints, or to the interface
 * for "tcx"; prints "{}", and detaches when stdin ends.
 */
int nothing_main(int argc, char **argv);

/* Attach one empty program in this way, or this one, until the process ends; exit if that fails. */
void nothing_attach(const char *hook, const char *iface);
void hook_attach(int prog, const char *hook, const char *iface);

/*
 * `bench counting IFACE HOOK…`: the same, but where packets are counted (net_dev_queue,
 * net_dev_start_xmit, tcx, netif_receive_skb_list_entry, kfree_skb) the program counts those of the
 * interface, by queue and CPU or by reason and place, and no more. Prints {POINT: {"packets",
 * "bytes"}}, again for each line, until stdin ends.
 */
int counting_main(int argc, char **argv);

/*
 * `bench dispatch IFACE empty|count|stub|call NUMBER`: attaches so many of this program to the
 * tracepoint netif_receive_skb; "call" is the stub, to which packets of IFACE are its own. Prints
 * "{}"; "read" is answered with {"events"}, which "count" and "call" have counted.
 */
int dispatch_main(int argc, char **argv);

/* Load an empty program for a tracepoint, typed or raw. Returns its descriptor or -errno. */
int empty_load(const char *hook, bool typed);

/*
 * `bench sockets [--size N] [--wire TAP] [--cpu N] FROM TO ADDRESS`: sends from sockets in
 * namespace FROM to sockets at ADDRESS in namespace TO. A single thread alternates between both
 * ends, so that nothing is lost. --wire makes a tap in each namespace and carries frames between
 * them; "{}" is printed when they exist, and a line of input must confirm their addresses. Then
 * "udp MS" and "tcp MS" are answered like the commands of `live`.
 */
int sockets_main(int argc, char **argv);

/* Make taps of this name in two namespaces. */
void wire_open(const char *name, const char *from, const char *to);
/* Carry frames between the taps in both directions; true if there were any. */
bool wire_carry(void);

/* Load an empty XDP program and return its descriptor. */
int empty_xdp_load(void);

#define BENCH_PORT 9		/* destination port of live frames: discard */

struct span {		/* start of a measurement, or its length; ns */
	uint64_t wall, cpu;	/* cpu: time of this process */
};

struct span span_begin(void);
struct span span_so_far(const struct span *);
unsigned int span_ms(const struct span *);

#define LAPS_MOST 128
/*
 * A measurement in laps of 12 ms; the last of LAPS_MOST lasts as long as is left. `work`: ns that
 * fixed work took before or after the lap, the longer: if it is more than elsewhere, somebody else
 * used the same core.
 */
struct laps {
	struct lap {
		struct span span;
		uint64_t packets, bytes, work;
	} lap[LAPS_MOST];
	unsigned int number;
	struct span span;		/* start of the last lap */
	uint64_t packets, bytes;	/* before it */
	int64_t left;			/* ns */
};

/* `packets` and `bytes`: all since laps_begin(). laps_more(): false once `ms` are over. */
void laps_begin(struct laps *, unsigned int ms);
bool laps_more(struct laps *, uint64_t packets, uint64_t bytes);
/* {"packets", "bytes", "seconds", "cpu", "laps": [the same of each, and "work"]} */
void laps_print(struct laps *, uint64_t packets, uint64_t bytes);
void cpu_pin(int cpu);
/* Enter the network namespace of this name, permanently. */
void enter(const char *netns);

#endif
