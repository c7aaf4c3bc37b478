/* SPDX-License-Identifier: GPL-2.0 */
/* After a change of settings: waits until the link is back, and a little longer. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include "lib/util/clock.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "trial/stats/settle.h"

#define STEP 0.02

int link_socket(void)
{
	return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

bool link_running(int sock, const char *iface)
{
	struct ifreq ifr = {};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", iface);
	return !ioctl(sock, SIOCGIFFLAGS, &ifr) && ifr.ifr_flags & IFF_UP &&
	       ifr.ifr_flags & IFF_RUNNING;
}

/* Sleeps despite signals, unless *stop is set. */
static int rest(double seconds, const volatile sig_atomic_t *stop)
{
	double until = seconds_now() + seconds, left;

	for (;;) {
		struct timespec step;

		if (stop && *stop)
			return -EINTR;
		left = until - seconds_now();
		if (left <= 0)
			return 0;
		step = (struct timespec){ .tv_nsec = (left < STEP ? left : STEP) * 1e9 };
		nanosleep(&step, NULL);
	}
}

int settle(int sock, const char *iface, double pause, double most,
	   const volatile sig_atomic_t *stop, struct error *e)
{
	int err = rest(pause, stop);
	double waited = 0;

	if (err || sock < 0 || link_running(sock, iface))
		return err;
	for (; !err && !link_running(sock, iface); waited += STEP) {
		if (waited > most)
			return error_set(e, -ENETDOWN, text("ip link show %s", iface),
					 "%s has had no carrier for %g s", iface, most);
		err = rest(STEP, stop);
	}
	return err ?: rest(pause, stop);
}
