/* SPDX-License-Identifier: GPL-2.0 */
/* After a change of settings: waits until the link is back, and a little longer. */
#ifndef NICPROBE_TRIAL_SETTLE_H
#define NICPROBE_TRIAL_SETTLE_H

#include <signal.h>
#include <stdbool.h>

#include "lib/net/iface.h"

struct error;

/* Is it up, with a carrier? */
bool link_running(int sock, const char *iface);

/*
 * Wait for `pause` seconds; if the link then has no carrier, wait for up to `most` seconds, and
 * another pause. `sock` -1: only the pause. 0; -EINTR: *stop was set; -ENETDOWN with an error
 * message: still no carrier.
 */
int settle(int sock, const char *iface, double pause, double most,
	   const volatile sig_atomic_t *stop, struct error *);

#endif
