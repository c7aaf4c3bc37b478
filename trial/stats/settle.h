/* SPDX-License-Identifier: GPL-2.0 */
/* After a setting was changed: until the link is back, and a little longer. */
#ifndef NICPROBE_TRIAL_SETTLE_H
#define NICPROBE_TRIAL_SETTLE_H

#include <signal.h>
#include <stdbool.h>

/* What asks about the links of the network namespace we are in now, ever after; close() it. */
int link_socket(void);
/* Is it up, with a carrier? */
bool link_running(int sock, const char *iface);

/*
 * `pause` seconds; if it then has no carrier, until it has one, and another pause. `sock` -1:
 * the pause alone. 0; -EINTR: *stop was set meanwhile; -ENETDOWN and a complaint: it has had none
 * for so long.
 */
int settle(int sock, const char *iface, double pause, double most,
	   const volatile sig_atomic_t *stop);

#endif
