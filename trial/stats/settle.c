/* SPDX-License-Identifier: GPL-2.0 */
/* After a change of settings: waits until the link is back, and a little longer. */
#include <errno.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "trial/load/generator.h"
#include "trial/stats/settle.h"

#define STEP 0.02

bool link_running(int sock, const char *iface)
{
	int flags = link_flags(sock, iface);

	return flags > 0 && flags & IFF_UP && flags & IFF_RUNNING;
}

int settle(int sock, const char *iface, double pause, double most,
	   const volatile sig_atomic_t *stop, struct error *e)
{
	int err = sleep_until(seconds_now() + pause, stop);
	double until = seconds_now() + most;

	if (err || sock < 0 || link_running(sock, iface))
		return err;
	while (!err && !link_running(sock, iface)) {
		if (seconds_now() > until)
			return error_set(e, -ENETDOWN, text("ip link show %s", iface),
					 "%s has had no carrier for %g s", iface, most);
		err = sleep_until(seconds_now() + STEP, stop);
	}
	return err ?: sleep_until(seconds_now() + pause, stop);
}
