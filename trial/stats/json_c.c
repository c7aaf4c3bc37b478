/* SPDX-License-Identifier: GPL-2.0 */
/* Loads json-c. */
#include "lib/util/late.h"
#include "trial/stats/json_c.h"

struct json_c jc;

int json_c_load(struct error *e)
{
	static const struct late_symbol symbols[] = {
#define F(name) { "json_" #name, offsetof(struct json_c, name) },
		JSON_C_FUNCTIONS(F)
#undef F
		{}
	};
	static const struct late late = {
		.library = "libjson-c.so.5",
		.package = "libjson-c5",
		.what = "reads JSON",
		.symbols = symbols,
	};

	return late_load(&late, &jc, e);
}
