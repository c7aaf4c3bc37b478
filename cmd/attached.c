/* SPDX-License-Identifier: GPL-2.0 */
/* Prints the result of an attach, what is absent and why: as text and as JSON. */
#include <string.h>

#include "cmd/cmd.h"
#include "lib/util/log.h"
#include "render/json_writer.h"
#include "render/sampled.h"
#include "render/shown.h"
#include "render/text.h"

/* "  rx-nic    xdp": a word, then a sentence in the second column, wrapped within it. */
static void attached_line(struct page *p, const char *word, const char *what, const char *why)
{
	page_spaces(p, 2);
	page_style(p, STYLE_DIM);
	page_put(p, word, -1);
	page_style(p, STYLE_PLAIN);
	page_spaces(p, 12 - p->at);
	page_wrap(p, 12, what);
	if (*why)
		page_wrap(p, 12, text(" (%s)", why));
	page_newline(p);
}

/* One line per reason; meters with the same reason share the line of the first of them. */
static void attached_reasons(struct page *p, const struct meta *meta, bool on_too)
{
	for (int id = 0; id < NR_METERS; id++) {
		const char *why = meta->absent[id], *names = meters[id]->name;
		bool told = !*why || (meta->on >> id & 1) != (unsigned)on_too;

		for (int other = 0; !told && other < NR_METERS; other++) {
			if (strcmp(meta->absent[other], why) ||
			    (meta->on >> other & 1) != (unsigned)on_too)
				continue;
			told = other < id;
			if (other > id)
				names = text("%s, %s", names, meters[other]->name);
		}
		if (!told)
			attached_line(p, on_too ? "how" : "absent", text("%s: %s", names, why), "");
	}
}

void attached_print(FILE *out, const struct meta *meta, const char *label)
{
	struct page p = terminal_page(out, 40);
	const char *on = "";

	page_style(&p, STYLE_BOLD);
	page_put(&p, label, -1);
	page_style(&p, STYLE_PLAIN);
	page_wrap(&p, 2, text(": attached (%s)", target_text(meta)));
	page_newline(&p);
	for (int i = 0; i < NR_POINTS; i++)
		if (*meta->hook[i] || *meta->note[i])
			attached_line(&p, point_names[i], *meta->hook[i] ? meta->hook[i] : "absent",
				      meta->note[i]);
	for (int id = 0; id < NR_METERS; id++)
		if (meta->on >> id & 1)
			on = text("%s%s%s", on, *on ? " " : "", meters[id]->name);
	attached_line(&p, "measures", on, "");
	if (sampled_meters(meta))
		attached_line(&p, "follows", sampled_meters(meta), "");
	attached_reasons(&p, meta, false);
	attached_reasons(&p, meta, true);
}

static void attached_hooks(struct json *j, const struct meta *meta)
{
	json_open(j, "hooks", '{');
	for (int i = 0; i < NR_POINTS; i++)
		if (*meta->hook[i])
			json_string(j, point_names[i], meta->hook[i]);
		else
			json_null(j, point_names[i]);
	json_close(j);
}

void attached_meters(struct json *j, const struct meta *meta)
{
	json_open(j, "meters", '[');
	for (int id = 0; id < NR_METERS; id++)
		if (meta->on >> id & 1)
			json_string(j, NULL, meters[id]->name);
	json_close(j);
}

void attached_json(FILE *out, const struct meta *meta, const char *label)
{
	struct json j = { .out = out };

	json_open(&j, NULL, '{');
	json_interface(&j, meta, label);
	attached_hooks(&j, meta);
	attached_meters(&j, meta);
	json_open(&j, "absent", '{');
	for (int i = 0; i < NR_POINTS; i++)
		if (!*meta->hook[i] && *meta->note[i])
			json_string(&j, point_names[i], meta->note[i]);
	for (int id = 0; id < NR_METERS; id++)
		if (*meta->absent[id] && !(meta->on >> id & 1))
			json_string(&j, meters[id]->name, meta->absent[id]);
	json_close(&j);
	json_open(&j, "remarks", '{');
	for (int id = 0; id < NR_METERS; id++)
		if (*meta->absent[id] && meta->on >> id & 1)
			json_string(&j, meters[id]->name, meta->absent[id]);
	json_close(&j);
	json_close(&j);
	fputc('\n', out);
}
