/* SPDX-License-Identifier: GPL-2.0 */
/* The options of a command, in tables: for the parser, --help and completion. */
#ifndef NICPROBE_CMD_OPTIONS_H
#define NICPROBE_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* What a value is, and the type of the member that it is stored to. */
enum option_kind {
	OPTION_CALL,		/* only take() knows */
	OPTION_FLAG,		/* no value; bool */
	OPTION_STRING,		/* const char * */
	OPTION_FILE,		/* const char *; completed by file names */
	OPTION_COMMANDS,	/* two values; const char *[2] */
	OPTION_TIMES,		/* likewise, of which a time may begin with "-" */
	OPTION_WORD,		/* unsigned: its position in `words` */
	OPTION_NUMBER,		/* double */
	OPTION_WHOLE,		/* a number without fraction; unsigned */
	OPTION_COUNT,		/* decimal digits; unsigned */
};

struct option_spec {
	char letter;		/* 'f'; 0: no short form */
	const char *name;	/* "format"; NULL: not an option, but a line of --help */
	const char *arg;	/* "FORMAT"; "[…]": operands that may follow; NULL: no value */
	const char *help;	/* with line breaks; NULL ends the table */
	enum option_kind kind;
	size_t to;		/* offset of the member; see INTO() */
	double least, most;	/* of a number */
	bool most_unsaid;	/* the error does not mention `most` */
	const char *example;	/* a good value, for errors; NULL: they suggest --help */
	const char *words;	/* complete the value; see words_each() */
	bool list;		/* several words with commas */
	const char *operands;	/* with this option, these complete the operands; "files" */
	/* Called after the value is stored. False after printing an error. */
	bool (*take)(void *to, const char *value);
};

#define INTO(type, member)	.to = offsetof(type, member)

#define SECONDS		.least = .001, .most = 1e6, .most_unsaid = true, .example = "1"

#define OPTIONS_MAX	32	/* of a command, the common ones included */

struct command;

/*
 * Parse the options into the struct at `to`; optind is then the first operand. If the operands
 * begin a command line, stop at the first of them. False: exit with *status.
 */
bool options_take(const struct command *, int argc, char **argv, void *to, int *status);

/* All lines of --help, the common options included; their number. */
unsigned options_of(const struct command *, const struct option_spec **all);
/* How many values does it take? */
unsigned option_values(const struct option_spec *);

#endif
