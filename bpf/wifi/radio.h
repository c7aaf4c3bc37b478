/* SPDX-License-Identifier: GPL-2.0 */
/* Radios: which one an interface has, what this kernel reports on its scans, and live listening. */
#ifndef NICPROBE_WIFI_H
#define NICPROBE_WIFI_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/wifi/scan.bpf.h"

struct bpf_object;

/* The radio of an interface in the current network namespace: "phy0". False: it has none. */
bool wifi_radio(const char *iface, unsigned ifindex, char radio[WIFI_RADIO]);

/* Why scans cannot be followed on this kernel; NULL: they can. */
const char *wifi_cannot(void);
/* What is not known about scans on this kernel, and why; NULL: everything is. */
const char *wifi_without(void);

/* "software"; see enum wifi_kind. */
const char *wifi_kind(unsigned kind);
/* "2.4 GHz"; "?" if it is in no band of 802.11. */
const char *wifi_band(unsigned khz);
/* The number of a channel within its band: "36"; "3700 MHz" if it has none. */
const char *wifi_channel(unsigned khz);
unsigned wifi_number(unsigned khz);	/* 0: none */

/* Configures a BPF object before it is loaded. 0 or -errno. */
int wifi_prepare(struct bpf_object *, const char *radio, bool live);

/*
 * Reports scans of all radios in every namespace, as they begin and end, until wifi_deaf(). Nothing
 * is left behind, however the process ends. NULL: failed, with an error message.
 */
struct error;
struct wifi_ear;
struct wifi_ear *wifi_listen(void (*tell)(const struct wifi_scan *, void *arg), void *arg,
			     struct error *);
int wifi_fd(const struct wifi_ear *);		/* readable: events are waiting */
int wifi_take(struct wifi_ear *);		/* calls tell() for each of them. 0 or -errno */
unsigned long long wifi_lost(const struct wifi_ear *);	/* events not read in time */
void wifi_deaf(struct wifi_ear *);

#endif
