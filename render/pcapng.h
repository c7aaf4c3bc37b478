/* SPDX-License-Identifier: GPL-2.0 */
/* A file of packets, with what their events tell: pcapng, as tcpdump and Wireshark read it. */
#ifndef NICPROBE_RENDER_PCAPNG_H
#define NICPROBE_RENDER_PCAPNG_H

#include "probes/packets.h"
#include "probes/question.h"

struct error;
struct pcapng;

/* "-": stdout. NULL and an error: it cannot be written. */
struct pcapng *pcapng_open(const char *path, const struct question *, struct error *);
/* Adds a packet; its comment has the probe, and the fields that were asked for. */
int pcapng_packet(struct pcapng *, const struct captured *);
/*
 * Writes what was added. 0, or -errno, then and from then on: the file ends with the last packet
 * that is there as a whole.
 */
int pcapng_flush(struct pcapng *);
/* The same, and frees it. */
int pcapng_close(struct pcapng *);

#endif
