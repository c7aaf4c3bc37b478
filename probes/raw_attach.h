/* SPDX-License-Identifier: GPL-2.0 */
/* Attaches to the functions and tracepoints of a question. */
#ifndef NICPROBE_PROBES_RAW_ATTACH_H
#define NICPROBE_PROBES_RAW_ATTACH_H

#include "probes/tracing.h"

/* Before the programs are loaded: tells them of the spots, and chooses how they are attached. */
int raw_prepare(struct tracing *, struct error *);
/* Is this program one of those that were chosen? */
bool raw_wanted(const struct bpf_program *);
/* Attaches it to its spots, by copies or with cookies. */
int raw_attach(struct tracing *, struct bpf_program *, enum source, struct error *);

#endif
