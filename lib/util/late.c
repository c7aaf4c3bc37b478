/* SPDX-License-Identifier: GPL-2.0 */
/* Loads libraries that few commands need. */
#include <dlfcn.h>
#include <errno.h>

#include "lib/util/error.h"
#include "lib/util/late.h"
#include "lib/util/log.h"

int late_load(const struct late *l, void *to, struct error *e)
{
	void *library = dlopen(l->library, RTLD_NOW | RTLD_LOCAL);

	for (const struct late_symbol *s = l->symbols; library && s->name; s++) {
		void *symbol = dlsym(library, s->name);

		if (!symbol)
			library = NULL;
		*(void **)((char *)to + s->at) = symbol;
	}
	return library ? 0 : error_set(e, -ENOENT, text("apt-get install %s", l->package),
				       "cannot load what %s: %s", l->what, dlerror());
}
