/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe top: watch interfaces, on a terminal or as plain lines. */
#include <stdlib.h>
#include <string.h>

#include "cmd/top.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

static const struct option_spec options[] = {
	{ 'b', "batch", NULL, "print plain lines, for logs; also when the output is no\nterminal",
	  OPTION_FLAG, INTO(struct top_request, batch) },
	{ 'i', "interval", "SECONDS", "read every so often (default: 1)",
	  OPTION_NUMBER, INTO(struct top_request, interval), SECONDS },
	{ 'n', "count", "COUNT", "end after COUNT windows", OPTION_WHOLE,
	  INTO(struct top_request, count), 1, 1e6, .most_unsaid = true, .example = "1" },
	{ 0, "from", "FILE", "show a recording instead of what is now", OPTION_FILE,
	  INTO(struct top_request, from) },
	{ 0, "at", "TIME", "…from TIME on: 03:12:05, \"2026-11-25 03:12\",\n"
			   "@SECONDS, or -10m: before its end", OPTION_STRING,
	  INTO(struct top_request, at) },
	{}
};

static int run(int argc, char **argv)
{
	struct top_request wanted = { .interval = 1 };
	struct top_source source = {};
	struct model model = { .source = &source };
	struct error e = {};
	struct ui_go go;
	int status;

	if (!options_take(&command_top, argc, argv, &wanted, &status))
		return status;
	if (json_wanted)
		return usage_error("nicprobe show -j -i 1", "top prints no JSON");
	wanted.ifaces = argv + optind;
	wanted.batch |= !isatty(STDOUT_FILENO);
	model.span = wanted.interval;
	netns_go_home();
	if (wanted.at && !wanted.from)
		return usage_error("nicprobe top --from FILE --at TIME",
				   "--at is of a recording: it goes with --from");
	if (wanted.from ? replay_begin(&source, &wanted, &e) :
	    live_begin(&source, wanted.ifaces, &e))
		return failed(&e);
	go = (struct ui_go){ .first = !wanted.at, .time = wanted.at };
	if (wanted.from && replay_go(&model, &go, &e))
		status = EXIT_FAILURE;
	else if (wanted.batch)
		status = batch_run(&wanted, &model);
	else
		status = screen_run(&wanted, &model, &e);
	if (*e.what)
		failed(&e);
	model_free(&model);
	if (wanted.from)
		replay_end(&source);
	else
		live_end(&source);
	return status;
}

const struct command command_top = {
	.name = "top",
	.args = "[[NETNS/]IFACE…] [-b] [-i SECONDS] [-n COUNT] [--from FILE]",
	.help = "watch interfaces, queues and meters on the terminal",
	.options = { options },
	.run = run,
};
