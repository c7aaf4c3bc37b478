/* SPDX-License-Identifier: GPL-2.0 */
/* Radios: whether an interface has one, what can be followed of its scans here, and to listen. */
#ifndef NICPROBE_WIFI_H
#define NICPROBE_WIFI_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/wifi/scan.bpf.h"

struct bpf_object;

#define WIFI_RADIO 16		/* of a longer name, what comes first */

/* The radio of an interface in the namespace the process is in: "phy0". False: it has none. */
bool wifi_radio(const char *iface, unsigned ifindex, char radio[WIFI_RADIO]);

/* Why no scan of any radio can be followed here; NULL: they can. */
const char *wifi_cannot(void);
/* What cannot be told of a scan here, and why; NULL: all can. */
const char *wifi_without(void);

/* "software"; see enum wifi_kind. */
const char *wifi_kind(unsigned kind);
/* "2.4 GHz", "?" for what is in no band of 802.11. */
const char *wifi_band(unsigned khz);
/* The number of a channel, which each band begins anew: "36"; "3700 MHz" where it has none. */
const char *wifi_channel(unsigned khz);
unsigned wifi_number(unsigned khz);	/* 0: none */

/* Tells an object of the programs, before it is loaded, what to do. 0 or -errno. */
int wifi_prepare(struct bpf_object *, const char *radio, bool live);

/*
 * Scans of all radios, in every namespace, as they begin and end, until wifi_deaf(): nothing is
 * left behind, whatever ends the process. NULL: a complaint.
 */
struct wifi_ear;
struct wifi_ear *wifi_listen(void (*tell)(const struct wifi_scan *, void *arg), void *arg);
int wifi_fd(const struct wifi_ear *);		/* readable: there is something */
int wifi_take(struct wifi_ear *);		/* tells what there is. 0 or -errno */
unsigned long long wifi_lost(const struct wifi_ear *);	/* events that nobody took in time */
void wifi_deaf(struct wifi_ear *);

#endif
