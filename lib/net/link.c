/* SPDX-License-Identifier: GPL-2.0 */
/* Whether an interface can send now, and how fast. */
#include <linux/ethtool.h>

#include "lib/net/ethtool.h"
#include "lib/net/link.h"

void link_state(const struct iface *i, struct link *l)
{
	struct ethtool_value carrier = { .cmd = ETHTOOL_GLINK };
	struct settings settings;

	*l = (struct link){};
	if (i->ifindex && !ethtool_ask(i->name, &carrier)) {
		settings_read_old(i, &group_link, &settings);
		*l = (struct link){ .known = true, .up = i->up && carrier.data,
				    .mbit = speed_of(&settings) };
	}
}
