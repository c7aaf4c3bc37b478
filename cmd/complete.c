/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe complete WHAT: the words and options that shell completion offers, one per line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
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

static int run(int argc, char **argv)
{
	const struct command *c = argc > 2 ? command_find(argv[2]) : NULL;

	if (c && ((argc == 3 && !strcmp(argv[1], "options")) ||
		  (argc == 4 && !strcmp(argv[1], "value")))) {
		print_options(c, argv[3]);
		return EXIT_SUCCESS;
	}
	if (argc == 2 && words_listed(argv[1], print, NULL))
		return EXIT_SUCCESS;
	return usage_error("nicprobe complete commands",
			   "complete takes one of: commands meters formats hooks drivers "
			   "findings interfaces attached scenarios each groups, "
			   "options COMMAND, value COMMAND OPTION");
}

const struct command command_complete = {
	.name = "complete",
	.args = "commands|meters|formats|hooks|drivers|findings|interfaces|attached|scenarios|each|"
		"groups|options COMMAND|value COMMAND OPTION",
	.run = run,
};
