/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe list of functions and tracepoints: those that a pattern of fbt or sdt names. */
#include <stdlib.h>
#include <string.h>

#include "cmd/describe.h"
#include "lib/util/log.h"
#include "probes/raw.h"
#include "render/json_writer.h"
#include "render/text.h"

#define COLUMN 18

static void arguments_print(struct page *page, const struct raw_named *s)
{
	page_wrap(page, 2, raw_name(s));
	page_newline(page);
	if (!s->btf) {
		page_remark(page, 4, "This kernel does not describe its arguments (BTF).");
		return;
	}
	for (unsigned i = 0; s->probe != PROBE_fbt_return && raw_argument(s, i); i++)
		if (i < s->spot.nr_args)
			page_line(page, 4, text("arg%u", i), COLUMN, raw_argument(s, i));
		else
			page_line(page, 4, "no field", COLUMN, raw_argument(s, i));
	if (s->probe == PROBE_fbt_return && s->spot.width[RAW_ARGS])
		page_line(page, 4, "retval", COLUMN, raw_argument(s, RAW_ARGS));
}

static void spot_json(struct json *j, const struct raw_named *s)
{
	json_open(j, NULL, '{');
	json_string(j, "probe", raw_name(s));
	json_string(j, "module", *s->of ? s->of : "vmlinux");
	if (s->btf && s->probe != PROBE_fbt_return) {
		json_open(j, "args", '[');
		for (unsigned i = 0; raw_argument(s, i); i++)
			json_string(j, NULL, raw_argument(s, i));
		json_close(j);
	}
	if (s->probe == PROBE_fbt_return && s->spot.width[RAW_ARGS])
		json_string(j, "retval", raw_argument(s, RAW_ARGS));
	json_close(j);
}

int describe_raw(struct page *page, const char *pattern, bool verbose, bool as_json,
		 struct error *e)
{
	struct json j = { .out = page->out };
	struct raw_list found = {};
	int err = raw_find("PROBE", pattern, &found, e);

	if (!err && (verbose || as_json))
		raw_describe(&found);
	if (!err && as_json)
		json_open(&j, NULL, '[');
	for (unsigned i = 0; !err && i < found.nr; i++) {
		const struct raw_named *s = &found.list[i];

		/* several functions of a name are one probe */
		if (i && s->twice && !strcmp(raw_name(s), raw_name(s - 1)))
			continue;
		if (as_json)
			spot_json(&j, s);
		else if (verbose)
			arguments_print(page, s);
		else
			fprintf(page->out, "%s\n", raw_name(s));
	}
	if (!err && as_json) {
		json_close(&j);
		fputc('\n', page->out);
	}
	free(found.list);
	return err;
}
