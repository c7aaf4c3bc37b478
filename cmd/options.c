/* SPDX-License-Identifier: GPL-2.0 */
/* Parses the options of a command by its tables, and prints its --help from them. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/words.h"
#include "lib/util/log.h"
#include "lib/util/near.h"

#define HELP_COLUMN	25	/* descriptions begin here */
#define LONG		0x100	/* getopt's value of the first option, by its name */

bool json_wanted;
const struct renderer *format_wanted = &renderer_table;

static bool json_take(void *to, const char *value)
{
	(void)to, (void)value;
	json_wanted = true;
	format_wanted = &renderer_json;
	return true;
}

static bool verbose_take(void *to, const char *value)
{
	(void)to, (void)value;
	log_init(true);
	return true;
}

static bool color_take(void *to, const char *value)
{
	(void)to;
	return color_parse(value);
}

static bool format_take(void *to, const char *value)
{
	static const struct renderer *const all[] = {
#define R(name) &renderer_##name,
		RENDERERS(R)
#undef R
	};

	(void)to;
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i]->name, value)) {
			format_wanted = all[i];
			return true;
		}
	usage_error(did_you_mean("@formats", value, "-f ", "-f table, -f json, -f openmetrics or "
				 "-f prometheus"), "no format \"%s\"", value);
	return false;
}

const struct option_spec format_options[] = {
	{ 'f', "format", "FORMAT", "table (default), json, openmetrics, prometheus",
	  .words = "@formats", .take = format_take },
	{}
};

static const struct option_spec common_options[] = {
	{ 'j', "json", NULL, "print JSON; errors are JSON, too", .take = json_take },
	{ 'v', "verbose", NULL, "show messages of libbpf and libxdp", .take = verbose_take },
	{ 0, "color", "WHEN", "always, never or auto (default): on a terminal",
	  .words = "always never auto", .take = color_take },
	{ 'h', "help", NULL, .help = "show this help" },
	{}
};

static bool has_letter(const struct option_spec *const *all, unsigned nr, char letter)
{
	unsigned i = 0;

	while (i < nr && all[i]->letter != letter)
		i++;
	return letter && i < nr;
}

unsigned options_of(const struct command *c, const struct option_spec **all)
{
	unsigned nr = 0;

	for (unsigned set = 0; c->options[set]; set++)
		for (const struct option_spec *o = c->options[set]; o->help; o++)
			all[nr++] = o;
	for (const struct option_spec *o = common_options; o->help; o++)
		if (!has_letter(all, nr, o->letter))
			all[nr++] = o;
	return nr;
}

unsigned option_values(const struct option_spec *o)
{
	return !o->arg || *o->arg == '[' ? 0 : o->kind == OPTION_COMMANDS ||
	       o->kind == OPTION_TIMES ? 2 : 1;
}

/* "-f", or "--rx": as errors call it. */
static const char *option_called(const struct option_spec *o)
{
	return o->letter ? text("-%c", o->letter) : text("--%s", o->name);
}

static unsigned columns(const char *utf8)
{
	unsigned n = 0;

	for (; *utf8; utf8++)
		n += (*utf8 & 0xc0) != 0x80;
	return n;
}

static void help_line(const struct option_spec *o)
{
	const char *head = "", *line = o->help;
	int len;

	if (o->name)
		head = text("%s--%s%s%s", o->letter ? text("-%c, ", o->letter) : "    ", o->name,
			    o->arg ? " " : "", o->arg ?: "");
	else
		head = o->arg ?: "";
	if (*head && columns(head) + 2 >= HELP_COLUMN)
		printf("  %s\n%*s", head, HELP_COLUMN, "");
	else
		printf("  %s%*s", head, *head ? (int)(HELP_COLUMN - 2 - columns(head)) : 0, "");
	for (; len = strcspn(line, "\n"), line[len]; line += len + 1)
		printf("%.*s\n%*s", len, line, HELP_COLUMN, "");
	puts(line);
}

static void help(const struct command *c)
{
	const struct option_spec *all[OPTIONS_MAX];
	unsigned nr = options_of(c, all);

	printf("nicprobe %s %s\n    %s\n\nOptions:\n", c->name, c->args, c->help);
	for (unsigned i = 0; i < nr; i++)
		help_line(all[i]);
}

static const char *help_of(const struct command *c)
{
	return text("nicprobe %s --help", c->name);
}

static int option_error(const struct command *c, const char *word, bool no_value)
{
	/* getopt leaves in optopt the short option, or the long option with the bad value */
	bool extra = optopt && !strncmp(word, "--", 2) && strchr(word, '=');
	const struct option_spec *all[OPTIONS_MAX];
	unsigned nr = options_of(c, all);
	struct near near;
	char name[64];

	snprintf(name, sizeof(name), "%s", word);
	if (no_value && strncmp(word, "--", 2))
		snprintf(name, sizeof(name), "-%c", optopt);
	name[strcspn(name, "=")] = '\0';
	if (extra || no_value)
		return usage_error(help_of(c), extra ? "the option %s takes no value" :
				   "the option %s needs a value", name);
	if (optopt)
		return usage_error(help_of(c), "no option -%c", optopt);
	near = near_to(name);
	for (unsigned i = 0; i < nr; i++)
		if (all[i]->name)
			near_try(&near, text("--%s", all[i]->name));
	return usage_error(*near.name ? near.name : help_of(c), "no option %s", name);
}

static bool number_take(const struct command *c, const struct option_spec *o, const char *value,
			void *to)
{
	const char *called = option_called(o), *whole = "", *range = text("from %.10g", o->least);
	const char *try = o->example ? text("%s %s", called, o->example) : help_of(c);
	char *end;
	double x = strtod(value, &end);
	bool bad = *end || end == value || !(x >= o->least && x <= o->most);

	if (!o->most_unsaid)
		range = text("%s to %.10g", range, o->most);
	bad |= value[strspn(value, o->kind == OPTION_COUNT ? "0123456789" : "0123456789.e")];
	if (o->kind == OPTION_COUNT)
		whole = "whole ";
	if (bad) {
		usage_error(try, "%s takes a %snumber %s, not \"%s\"", called, whole, range, value);
		return false;
	}
	if (o->kind == OPTION_NUMBER) {
		*(double *)to = x;
		return true;
	}
	*(unsigned *)to = x;
	if (*(unsigned *)to == x)
		return true;
	usage_error(try, "%s takes a whole number, not \"%s\"", called, value);
	return false;
}

struct position {
	const char *wanted;
	unsigned at;
	bool found;
};

static void compare(const char *word, void *arg)
{
	struct position *p = arg;

	p->found |= !strcmp(word, p->wanted);
	p->at += !p->found;
}

static bool word_take(const struct command *c, const struct option_spec *o, const char *value,
		      unsigned *to)
{
	struct position p = { .wanted = value };

	words_each(o->words, compare, &p);
	*to = p.at;
	if (!p.found)
		usage_error(did_you_mean(o->words, value, text("%s ", option_called(o)),
					 help_of(c)),
			    "%s does not take \"%s\"", option_called(o), value);
	return p.found;
}

/* getopt_long() gives the first of two values. */
static bool commands_take(const struct option_spec *o, char **argv, const char **to)
{
	bool times = o->kind == OPTION_TIMES;

	if (!argv[optind] || (*argv[optind] == '-' &&
			      !(times && strchr("0123456789", argv[optind][1])))) {
		usage_error(text("--%s %s", o->name, o->example),
			    "--%s needs two %s, A and B", o->name, times ? "times" : "commands");
		return false;
	}
	to[0] = optarg;
	to[1] = argv[optind++];
	return true;
}

static bool option_take(const struct command *c, const struct option_spec *o, char **argv,
			void *base)
{
	void *to = (char *)base + o->to;
	bool good = true;

	switch (o->kind) {
	case OPTION_CALL:
		break;
	case OPTION_FLAG:
		*(bool *)to = true;
		break;
	case OPTION_STRING:
	case OPTION_FILE:
		*(const char **)to = optarg;
		break;
	case OPTION_COMMANDS:
	case OPTION_TIMES:
		good = commands_take(o, argv, to);
		break;
	case OPTION_WORD:
		good = word_take(c, o, optarg, to);
		break;
	case OPTION_NUMBER:
	case OPTION_WHOLE:
	case OPTION_COUNT:
		good = number_take(c, o, optarg, to);
		break;
	}
	return good && (!o->take || o->take(base, optarg));
}

bool options_take(const struct command *c, int argc, char **argv, void *to, int *status)
{
	char letters[2 * OPTIONS_MAX + 3], *end = letters;
	const struct option_spec *all[OPTIONS_MAX];
	struct option names[OPTIONS_MAX + 1] = {};
	unsigned nr = options_of(c, all), nr_names = 0, i;
	int found;

	end += sprintf(end, c->wraps ? "+:" : ":");
	for (i = 0; i < nr; i++) {
		if (all[i]->letter)
			end += sprintf(end, "%c%s", all[i]->letter,
				       option_values(all[i]) ? ":" : "");
		if (all[i]->name)
			names[nr_names++] = (struct option){
				all[i]->name, !!option_values(all[i]), NULL, LONG + i
			};
	}
	while ((found = getopt_long(argc, argv, letters, names, NULL)) >= 0) {
		if (found == '?' || found == ':') {
			*status = option_error(c, argv[optind - 1] ?: "", found == ':');
			return false;
		}
		for (i = 0; found != LONG + (int)i && found != all[i]->letter; i++)
			;
		if (all[i]->letter == 'h') {
			help(c);
			*status = EXIT_SUCCESS;
			return false;
		}
		*status = EXIT_USAGE;
		if (!option_take(c, all[i], argv, to))
			return false;
	}
	return true;
}
