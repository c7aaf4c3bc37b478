/* SPDX-License-Identifier: GPL-2.0 */
/* What this kernel takes to run BPF programs at a tracepoint, and to time them. */
#ifndef NICPROBE_CALLING_H
#define NICPROBE_CALLING_H

struct error;

/* All in ns for each run, by the clock, of an empty program. */
struct calling {
	double first;		/* of the only program at a tracepoint */
	double further;		/* of a second one there */
	double timed;		/* run-time statistics (bpf_enable_stats()) take so much more… */
	double inside;		/* …and count as much of that as time of the program */
};

/*
 * Measures them on the CPU it runs on, in about 20 ms, by renaming the calling thread to its own
 * name over and over. 0; -errno and an error.
 */
int calling_measure(struct calling *, struct error *);

#endif
