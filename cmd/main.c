/* SPDX-License-Identifier: GPL-2.0 */
/* Entry point: finds and runs the subcommand. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/words.h"
#include "lib/kernel/feature.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

const struct command *const commands[] = {
#define C(name) &command_##name,
	COMMANDS(C)
#undef C
	NULL
};

static void overview(FILE *out)
{
	fputs("nicprobe: see what a network card, its driver and the kernel do to packets\n"
	      "\n", out);
	for (const struct command *const *c = commands; *c; c++)
		if ((*c)->help)
			fprintf(out, "  nicprobe %-8s %s\n", (*c)->name, (*c)->help);
	fputs("\nStart with: nicprobe attach IFACE; nicprobe show IFACE; nicprobe detach IFACE\n"
	      "Options: nicprobe COMMAND --help; everything else: nicprobe(8).\n", out);
}

/* Output that cannot be written is an error, except EPIPE: its reader is gone. */
static int written(void)
{
	int err = output_flush();
	struct error e = {};

	if (!err || err == EPIPE)
		return EXIT_SUCCESS;
	if (stays_attached)
		error_set(&e, -err, text("nicprobe detach %s", stays_attached), "cannot write the "
			  "output: %s; %s stays attached", strerror(err), stays_attached);
	else
		error_set(&e, -err, NULL, "cannot write the output: %s", strerror(err));
	return failed(&e);
}

int main(int argc, char **argv)
{
	struct error e = {};

	setlocale(LC_CTYPE, "");
	log_init(getenv("NICPROBE_VERBOSE"));
	if (denials_check(&e)) {
		failed(&e);
		return EXIT_USAGE;
	}
	if (argc < 2) {
		overview(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		overview(stdout);
		return written();
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("nicprobe %s\n", NICPROBE_VERSION);
		return written();
	}
	for (const struct command *const *c = commands; *c; c++)
		if (!strcmp(argv[1], (*c)->name)) {
			int status = (*c)->run(argc - 1, argv + 1);

			return status == EXIT_SUCCESS ? written() : status;
		}
	return usage_error(did_you_mean("@commands", argv[1], "nicprobe ", "nicprobe --help"),
			   "no command \"%s\"", argv[1]);
}
