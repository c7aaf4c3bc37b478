/* SPDX-License-Identifier: GPL-2.0 */
/* The list of hooks. */
#include "lib/core/hook.h"

const struct hook *const hooks[] = {
#define H(name) &hook_##name,
	HOOKS(H)
#undef H
	NULL
};
