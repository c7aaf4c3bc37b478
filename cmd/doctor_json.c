/* SPDX-License-Identifier: GPL-2.0 */
/* What `nicprobe doctor` answers, as JSON: with all that was measured. */
#include <string.h>

#include "cmd/doctor.h"
#include "render/json_writer.h"
#include "render/shown.h"

static void checks(struct json *j, const struct checks *c)
{
	json_open(j, "checks", '[');
	for (unsigned i = 0; i < c->nr; i++) {
		const struct check *one = &c->list[i];

		json_open(j, NULL, '{');
		json_string(j, "id", one->kind->id);
		json_string(j, "subject", one->subject->title);
		json_string(j, "is", checked_names[one->is]);
		json_string_or_null(j, "why", one->why);
		json_close(j);
	}
	json_close(j);
}

static void patient(struct json *j, const struct doctor *d, const struct patient *p)
{
	const char *why = unjudged(p);

	json_open(j, NULL, '{');
	json_string(j, "name", why ? p->name : p->now.name);
	if (why) {
		json_null(j, "well");
		json_string(j, "error", why);
		json_string_or_null(j, "try", p->error.try);
	} else {
		json_bool(j, "well", !troubles(d, p));
		json_uint(j, "findings", troubles(d, p));
		json_uint(j, "checked", p->checks.count[CHECK_WELL] +
			  p->checks.count[CHECK_FOUND]);
		checks(j, &p->checks);
		json_open(j, "measured", '{');
		json_snapshot(j, &p->now);
		json_close(j);
	}
	json_close(j);
}

void doctor_json(const struct doctor *d)
{
	struct json j = { .out = stdout };
	bool well = true;

	for (unsigned i = 0; i < d->nr; i++)
		well &= !troubles(d, &d->patients[i]);
	json_open(&j, NULL, '{');
	json_bool(&j, "well", well);
	json_open(&j, "cost", '{');
	json_double(&j, "attach_seconds", d->attaching);
	json_double(&j, "cpu_share", d->share < 0 ? __builtin_nan("") : d->share);
	json_close(&j);
	json_open(&j, "interfaces", '[');
	for (unsigned i = 0; i < d->nr; i++)
		patient(&j, d, &d->patients[i]);
	json_close(&j);
	json_close(&j);
	putchar('\n');
}
