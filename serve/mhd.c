/* SPDX-License-Identifier: GPL-2.0 */
/* Loads libmicrohttpd. */
#include "lib/util/late.h"
#include "serve/mhd.h"

struct mhd mhd;

int mhd_load(struct error *e)
{
	static const struct late_symbol symbols[] = {
#define F(name) { "MHD_" #name, offsetof(struct mhd, name) },
		MHD_FUNCTIONS(F)
#undef F
		{}
	};
	static const struct late late = {
		.library = "libmicrohttpd.so.12",
		.package = "libmicrohttpd12",
		.what = "serves HTTP",
		.symbols = symbols,
	};

	return late_load(&late, &mhd, e);
}
