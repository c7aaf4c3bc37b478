/* SPDX-License-Identifier: GPL-2.0 */
/* Loads the programs of an object abreast: each CPU verifies another one. */
#ifndef NICPROBE_ABREAST_H
#define NICPROBE_ABREAST_H

struct bpf_object;

/*
 * To be called before an object is opened whose programs are to be loaded abreast: those at typed
 * tracepoints and at the entry of functions.
 */
void abreast_init(void);
/* Spares libbpf reading all types of the kernel: to be called for an object opened since. */
void abreast_spare(struct bpf_object *);
/*
 * Makes room for descriptors, before there are threads: if a process has some, the kernel waits
 * until no CPU reads their table before it enlarges it (expand_fdtable(); 6.18), 10 ms.
 */
void abreast_room(void);
/* bpf_object__load(). If a program fails, what it did is undone, and log_last() says why. */
int abreast_load(struct bpf_object *);

#endif
