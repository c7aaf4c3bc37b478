/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe complete WHAT: what shell completion offers, one word per line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/host.h"
#include "cmd/words.h"

static void print(const char *word, void *arg)
{
	(void)arg;
	puts(word);
}

static const struct command *command_find(const char *name)
{
	const struct command *const *c = commands;

	while (*c && (!(*c)->help || strcmp((*c)->name, name)))
		c++;
	return *c;
}

/* "--btf 1 file files": how many values, what they are, and what the operands are with it. */
static void print_option(const struct option_spec *o)
{
	const char *kind = o->kind == OPTION_FILE ? "file" : o->list ? "list" : "word";

	if (o->letter)
		printf("-%c %u %s %s\n", o->letter, option_values(o), kind, o->operands ?: "");
	printf("--%s %u %s %s\n", o->name, option_values(o), kind, o->operands ?: "");
}

static bool is_called(const struct option_spec *o, const char *word)
{
	if (o->letter && word[0] == '-' && word[1] == o->letter && !word[2])
		return true;
	return !strncmp(word, "--", 2) && !strcmp(word + 2, o->name);
}

/* The options of a command; or of one of them, `called`, the words for its value. */
static void print_options(const struct command *c, const char *called)
{
	const struct option_spec *all[OPTIONS_MAX];
	unsigned nr = options_of(c, all);

	for (unsigned i = 0; i < nr; i++)
		if (all[i]->name && !called)
			print_option(all[i]);
		else if (all[i]->name && is_called(all[i], called) && all[i]->words)
			words_each(all[i]->words, print, NULL);
}

#define E(name) #name " "
#define HOST_WORDS HOST_EVENTS(E)

/* What the operands of a command are: the first, and those after it. */
static const struct operands {
	const char *command, *first, *others;
} operands[] = {
	{ "attach", .first = "@interfaces" },
	{ "bench", .first = "@interfaces", .others = "@scenarios" },
	{ "detach", .first = "@attached" },
	{ "doctor", .first = "@interfaces" },
	{ "driver", .first = "@drivers @interfaces" },
	{ "drivers", .first = "@drivers" },
	{ "explain", .first = "@findings", .others = "@findings" },
	{ "host", .first = HOST_WORDS, .others = "host" },
	{ "list", .first = "@probes @views", .others = "@probes @views" },
	{ "record", .first = "files", .others = "@interfaces @attached" },
	{ "report", .first = "files", .others = "files" },
	{ "run", .first = "@interfaces" },
	{ "show", .first = "@attached @meters @interfaces hw", .others = "@meters hw" },
	{ "top", .first = "@interfaces @attached", .others = "@interfaces @attached" },
	{ "trace", .first = "@probes @views" },
	{ "wifi", .first = "@interfaces", .others = "@interfaces" },
	{}
};

/* The word at the end of a command line, and what stands before it. */
struct line {
	const struct command *command;
	const struct option_spec *all[OPTIONS_MAX], *last;
	unsigned nr;
	unsigned left;		/* how many more values the last option takes */
	unsigned nr_operands;	/* before the word */
	const char *chosen;	/* an option says what the operands are; NULL: none does */
};

static bool takes_command(const struct command *c)
{
	return c->wraps || c == &command_record;
}

static void line_read(struct line *l, const char *word)
{
	if (l->left) {
		l->left--;
		return;
	}
	for (unsigned i = 0; i < l->nr; i++)
		if (l->all[i]->name && is_called(l->all[i], word)) {
			l->last = l->all[i];
			l->left = option_values(l->last);
			l->chosen = l->last->operands ?: l->chosen;
			return;
		}
	l->nr_operands += word[0] != '-';
}

/* With its help, up to the end of the line or to where a remark begins. */
static void offer_option(const struct option_spec *o)
{
	int len = strcspn(o->help, "\n(;:");

	while (len && o->help[len - 1] == ' ')
		len--;
	if (o->letter)
		printf("-%c\t%.*s\n", o->letter, len, o->help);
	printf("--%s\t%.*s\n", o->name, len, o->help);
}

static void offer_options(const struct line *l)
{
	puts("words");
	for (unsigned i = 0; i < l->nr; i++)
		if (l->all[i]->name)
			offer_option(l->all[i]);
	if (takes_command(l->command))
		puts("--\ta command follows");
}

static void offer_value(const struct option_spec *o)
{
	puts(o->kind == OPTION_FILE ? "files" : o->list ? "list" : "words");
	if (o->words)
		words_each(o->words, print, NULL);
}

static void offer_operands(const struct line *l)
{
	const struct operands *o = operands;
	const char *words;

	while (o->command && strcmp(o->command, l->command->name))
		o++;
	words = l->chosen ?: l->nr_operands ? o->others : o->first;
	if (words && !strcmp(words, "files")) {
		puts("files");
		return;
	}
	puts("words");
	if (l->chosen)
		words_listed(l->chosen, print, NULL);
	if (words && (!l->chosen || l->command == &command_list))
		words_each(l->chosen ? o->first : words, print, NULL);
}

static void offer_commands(void)
{
	puts("words");
	for (const struct command *const *c = commands; *c; c++)
		if ((*c)->help)
			printf("%s\t%s\n", (*c)->name, (*c)->help);
	puts("--help\n--version");
}

/* `words` are those of a command line behind "nicprobe", the last as far as it is typed. */
static void complete_line(int nr, char **words)
{
	struct line l = { .command = command_find(words[0]) };

	if (nr < 2) {
		offer_commands();
		return;
	}
	if (!l.command) {
		puts("words");
		return;
	}
	l.nr = options_of(l.command, l.all);
	for (int i = 1; i < nr - 1; i++) {
		if (!l.left && !strcmp(words[i], "--") && takes_command(l.command)) {
			printf("command %d\n", i + 1);
			return;
		}
		line_read(&l, words[i]);
	}
	if (l.left)
		offer_value(l.last);
	else if (words[nr - 1][0] == '-')
		offer_options(&l);
	else
		offer_operands(&l);
}

static int run(int argc, char **argv)
{
	const struct command *c = argc > 2 ? command_find(argv[2]) : NULL;

	if (c && ((argc == 3 && !strcmp(argv[1], "options")) ||
		  (argc == 4 && !strcmp(argv[1], "value")))) {
		print_options(c, argv[3]);
		return EXIT_SUCCESS;
	}
	if (argc > 2 && !strcmp(argv[1], "line")) {
		complete_line(argc - 2, argv + 2);
		return EXIT_SUCCESS;
	}
	if (argc == 2 && words_listed(argv[1], print, NULL))
		return EXIT_SUCCESS;
	return usage_error("nicprobe complete commands",
			   "complete takes one of: commands meters formats hooks drivers "
			   "findings interfaces attached scenarios each groups probes "
			   "views, "
			   "options COMMAND, value COMMAND OPTION, line WORD…");
}

const struct command command_complete = {
	.name = "complete",
	.args = "commands|meters|formats|hooks|drivers|findings|interfaces|attached|scenarios|each|"
		"groups|probes|views|options COMMAND|value COMMAND OPTION|"
		"line WORD…",
	.run = run,
};
