/* SPDX-License-Identifier: GPL-2.0 */
/* Loads libmicrohttpd. */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "lib/util/error.h"
#include "serve/mhd.h"

#define LIBRARY		"libmicrohttpd.so.12"	/* the version whose header we are built with */

struct mhd mhd;

int mhd_load(struct error *e)
{
	static const struct {
		const char *name;
		size_t at;
	} functions[] = {
#define F(name) { "MHD_" #name, offsetof(struct mhd, name) },
		MHD_FUNCTIONS(F)
#undef F
	};
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	for (unsigned i = 0; library && i < sizeof(functions) / sizeof(*functions); i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function)
			library = NULL;
		*(void **)((char *)&mhd + functions[i].at) = function;
	}
	return library ? 0 : error_set(e, -ENOENT, "apt-get install libmicrohttpd12",
				       "cannot load what serves HTTP: %s", dlerror());
}
