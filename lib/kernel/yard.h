/* SPDX-License-Identifier: GPL-2.0 */
/* How fast this machine runs what it takes to follow a packet: a measure of a made-up packet. */
#ifndef NICPROBE_YARD_H
#define NICPROBE_YARD_H

#define YARD_NS		57	/* one yard where the meters' own costs were measured */

/*
 * A yard is what a BPF program takes for a made-up packet: two looks at the clock, an entry written
 * and found again in a table of 1 MB, a slot of a histogram. In ns; takes about 5 ms. 0 or -errno.
 */
int yard_measure(double *ns);

#endif
