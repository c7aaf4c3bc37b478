/* SPDX-License-Identifier: GPL-2.0 */
/* Current settings of an interface, as findings need them before they advise a change. */
#include <string.h>

#include "findings/settings.h"
#include "lib/hw/hw.h"
#include "lib/util/log.h"

long long ring_longer(struct evidence *e, const char *way, long long *now)
{
	const struct hw *h = setup(e);
	long long most = h ? setting_of(&group_rings, &h->rings, text("%s-max", way)) : NOT_TOLD;

	*now = h ? setting_of(&group_rings, &h->rings, way) : NOT_TOLD;
	if (*now < 1 || most <= *now)
		return 0;
	return 4 * *now < most ? 4 * *now : most;
}

static const struct ethtool_feature *feature_next(struct evidence *e, const char *name,
						  unsigned *at)
{
	const struct hw *h = setup(e);

	for (; h && *at < h->features.nr; ++*at)
		if (!strncmp(h->features.list[*at].name, name, strlen(name)))
			return &h->features.list[(*at)++];
	return NULL;
}

bool feature_on(struct evidence *e, const char *name)
{
	const struct ethtool_feature *f;
	unsigned at = 0;

	while ((f = feature_next(e, name, &at)))
		if (f->is & FEATURE_ON)
			return true;
	return false;
}

bool feature_missing(struct evidence *e, const char *name)
{
	const struct ethtool_feature *f;
	unsigned at = 0;

	while ((f = feature_next(e, name, &at)))
		if (!(f->is & FEATURE_ON) && f->is & FEATURE_CAN && !(f->is & FEATURE_FIXED))
			return true;
	return false;
}

long long coalesce_value(struct evidence *e, const char *name)
{
	const struct hw *h = setup(e);

	return h ? setting_of(&group_coalesce, &h->coalesce, name) : NOT_TOLD;
}

long long channels_value(struct evidence *e, const char *name)
{
	const struct hw *h = setup(e);

	return h ? setting_of(&group_channels, &h->channels, name) : NOT_TOLD;
}

bool is_hardware(struct evidence *e)
{
	const struct hw *h = setup(e);

	return h && *h->card.subsystem;
}
