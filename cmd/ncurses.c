/* SPDX-License-Identifier: GPL-2.0 */
/* Loads ncurses. */
#include "cmd/ncurses.h"
#include "lib/util/late.h"

struct ncurses nc;

int ncurses_load(struct error *e)
{
	static const struct late_symbol symbols[] = {
#define S(name) { #name, offsetof(struct ncurses, name) },
		NCURSES_SYMBOLS(S)
#undef S
		{}
	};
	static const struct late late = {
		.library = "libncursesw.so.6",
		.package = "libncursesw6",
		.what = "draws on the terminal",
		.symbols = symbols,
	};

	return late_load(&late, &nc, e);
}
