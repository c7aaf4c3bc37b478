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

/* Is there a feature whose name begins so and that has these flags? */
static bool has_feature(struct evidence *e, const char *name, unsigned mask, unsigned want)
{
	const struct hw *h = setup(e);

	for (unsigned i = 0; h && i < h->features.nr; i++)
		if (!strncmp(h->features.list[i].name, name, strlen(name)) &&
		    (h->features.list[i].is & mask) == want)
			return true;
	return false;
}

bool feature_on(struct evidence *e, const char *name)
{
	return has_feature(e, name, FEATURE_ON, FEATURE_ON);
}

bool feature_missing(struct evidence *e, const char *name)
{
	return has_feature(e, name, FEATURE_ON | FEATURE_CAN | FEATURE_FIXED, FEATURE_CAN);
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
