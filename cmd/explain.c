/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe explain: what a finding means, when it is reported and what helps; or their man page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/explain.h"
#include "cmd/words.h"
#include "findings/subjects.h"
#include "lib/util/log.h"
#include "render/json_writer.h"
#include "render/text.h"

#define ID_COLUMN	26	/* titles begin here, after the ids */
#define TEXT_COLUMN	12	/* texts begin here, after their headings */

static const char *filled(const struct finding_kind *k, const char *template)
{
	char words[1000];

	kind_text(k, template, words, sizeof(words));
	return text("%s", words);
}

static void part(struct page *p, const char *head, const char *words)
{
	if (!words || !*words)
		return;
	page_line(p, 2, head, TEXT_COLUMN, words);
}

/* "rx-ring-full, backlog-full"; "": it follows from no other finding. */
static const char *causes(const struct finding_kind *k)
{
	const char *all = "";

	for (unsigned i = 0; i < MAX_CAUSES && k->follows[i]; i++)
		all = text("%s%s%s", all, *all ? ", " : "", k->follows[i]);
	return all;
}

static void explain(struct page *p, const struct finding_kind *k)
{
	page_style(p, STYLE_BOLD);
	page_put(p, k->id, -1);
	page_style(p, STYLE_PLAIN);
	page_wrap(p, 2, text("  %s", k->title));
	page_newline(p);
	part(p, "severity", text("%s; harm is measured in %s (%s)", severity_names[k->severity],
				 harm_units[k->harm], harm_names[k->harm]));
	part(p, "symptom", k->symptom);
	part(p, "meaning", k->means);
	part(p, "when", filled(k, k->when));
	part(p, "not for", filled(k, k->silent));
	part(p, "remedy", k->remedy);
	if (*causes(k))
		part(p, "follows", text("%s: listed beneath one of these if both are found",
					causes(k)));
}

/* Those that it needs, then those that add to them. */
static void json_meters(struct json *j, const struct finding_kind *k)
{
	const uint64_t bits[] = { k->rests.all, k->rests.any };

	json_open(j, "meters", '[');
	for (unsigned i = 0; i < 2; i++) {
		for (int id = 0; id < NR_METERS; id++)
			if (bits[i] >> id & 1)
				json_string(j, NULL, meters[id]->name);
		if (bits[i] & SETUP)
			json_string(j, NULL, "hw");
	}
	json_close(j);
}

static void explain_json(struct json *j, const struct subject *s, const struct finding_kind *k)
{
	json_open(j, NULL, '{');
	json_string(j, "id", k->id);
	json_string(j, "subject", s->title);
	json_bool(j, "host", s->host);
	json_string(j, "severity", severity_names[k->severity]);
	json_string(j, "harm", harm_names[k->harm]);
	json_string(j, "unit", harm_units[k->harm]);
	json_meters(j, k);
	json_string(j, "title", k->title);
	json_string(j, "symptom", k->symptom);
	json_string(j, "means", k->means);
	json_string(j, "when", filled(k, k->when));
	if (k->silent)
		json_string(j, "silent", filled(k, k->silent));
	json_string(j, "remedy", k->remedy);
	json_open(j, "limits", '[');
	for (unsigned i = 0; i < MAX_LIMITS && k->limits[i]; i++) {
		json_open(j, NULL, '{');
		json_double(j, "value", k->limits[i]->value);
		json_string(j, "text", k->limits[i]->text);
		json_close(j);
	}
	json_close(j);
	json_open(j, "follows", '[');
	for (unsigned i = 0; i < MAX_CAUSES && k->follows[i]; i++)
		json_string(j, NULL, k->follows[i]);
	json_close(j);
	json_close(j);
}

static void list(struct page *p)
{
	for (const struct subject *const *s = subjects; *s; s++) {
		if (s != subjects)
			page_newline(p);
		page_style(p, STYLE_BOLD);
		page_wrap(p, 0, (*s)->title);
		page_style(p, STYLE_PLAIN);
		page_newline(p);
		for (unsigned i = 0; (*s)->kind(i); i++)
			page_line(p, 2, (*s)->kind(i)->id, ID_COLUMN, (*s)->kind(i)->title);
	}
}

/* `ids`: the arguments, NULL-terminated; none: all findings are wanted. */
static bool is_wanted(const char *id, char **ids)
{
	unsigned i = 0;

	while (ids[i] && strcmp(ids[i], id))
		i++;
	return !*ids || ids[i];
}

static void print_json(char **ids)
{
	struct json j = { .out = stdout };

	json_open(&j, NULL, '[');
	for (const struct subject *const *s = subjects; *s; s++)
		for (unsigned i = 0; (*s)->kind(i); i++)
			if (is_wanted((*s)->kind(i)->id, ids))
				explain_json(&j, *s, (*s)->kind(i));
	json_close(&j);
	putchar('\n');
}

static int run(int argc, char **argv)
{
	struct page page;
	bool man = false;
	int status;

	if (!options_take(&command_explain, argc, argv, &man, &status))
		return status;
	page = terminal_page(stdout, 60);
	for (char **id = argv + optind; *id; id++)
		if (!kind_find(*id))
			return usage_error(did_you_mean("@findings", *id, "nicprobe explain ",
							"nicprobe explain"),
					   "no finding \"%s\"", *id);
	if (man)
		explain_man(stdout);
	else if (json_wanted)
		print_json(argv + optind);
	else if (optind == argc)
		list(&page);
	for (char **id = argv + optind; *id && !man && !json_wanted; id++)
		explain(&page, kind_find(*id));
	return EXIT_SUCCESS;
}

static const struct option_spec options[] = {
	{ 0, "man", NULL, "print the source of nicprobe-findings(7)", .kind = OPTION_FLAG },
	{}
};

const struct command command_explain = {
	.name = "explain",
	.args = "[FINDING…]",
	.help = "explain a finding: what it means and what helps; or list all",
	.options = { options },
	.run = run,
};
