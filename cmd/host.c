/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe host: prints each event of the sockets of a network namespace as it happens. */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/child.h"
#include "cmd/cmd.h"
#include "cmd/host.h"
#include "lib/kernel/permits.h"
#include "lib/net/iface.h"
#include "lib/util/amount.h"
#include "lib/util/clock.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "render/text.h"

#define TURN_MS	50
#define WIDE	1000		/* columns of a pipe: no line is longer */

struct listening {
	unsigned limit;			/* 0: none */
	struct line_filter only;
	const char *process;		/* a name or a pid; NULL: all */
	bool dot;
	double most;			/* seconds; 0: none */
	/* not of the command line: */
	const char *where;		/* "NETNS/host"; NULL: here */
	struct line_feed *lines;		/* one of both */
	struct calls *calls;
	unsigned told;
	bool no_memory;
	struct page page;
};

static bool is_process(const struct host_line *l, const char *process)
{
	unsigned pid;

	if (count_parse(process, 1, INT_MAX, &pid) && l->pid == pid)
		return true;
	return !strncmp(l->comm, process, sizeof(l->comm) - 1);
}

static bool is_wanted(const struct listening *w, const struct host_line *l)
{
	const struct line_filter *f = &w->only;

	return (!f->port || l->local_port == f->port || l->remote_port == f->port) &&
	       (!f->only_remote || !memcmp(&l->remote, &f->remote, sizeof(l->remote))) &&
	       (!w->process || is_process(l, w->process));
}

static bool enough(const struct listening *w)
{
	return w->limit && w->told >= w->limit;
}

static void hear(const struct host_line *l, void *arg)
{
	struct listening *w = arg;

	if (enough(w) || !is_wanted(w, l))
		return;
	w->told++;
	if (w->dot)
		w->no_memory |= !host_dot_add(l);
	else if (json_wanted)
		host_print_json(w->only.event, l);
	else
		host_print(&w->page, w->only.event, l);
}

static bool reader_gone(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	return output_flush() || (poll(&out, 1, 0) > 0 && out.revents & POLLERR);
}

static bool ended(const struct listening *w, double begun, bool *running, int *status)
{
	if (*running && child_ended(status)) {
		*running = false;
		return true;
	}
	if (!*running && child_signal()) {
		*status = child_signal() == SIGINT ? EXIT_SUCCESS : 128 + child_signal();
		return true;
	}
	return enough(w) || (w->most > 0 && seconds_now() - begun >= w->most) || reader_gone();
}

static int take(struct listening *w, int ms)
{
	int err = w->lines ? lines_poll(w->lines, ms) : calls_poll(w->calls, ms);

	return err == -EINTR ? 0 : err;
}

static void lost_tell(const struct listening *w)
{
	unsigned long long lost = w->lines ? lines_lost(w->lines) : 0;

	if (w->calls)
		calls_lost_tell(w->calls, &w->page);
	if (lost)
		tell(text("lost: %llu events are not shown: they came faster than they were "
			  "printed", lost));
}

static int follow(struct listening *w, bool running, struct error *e)
{
	double begun = seconds_now();
	int status = EXIT_SUCCESS, err = 0;

	if (!json_wanted && !w->dot)
		host_heads(&w->page, w->only.event);
	while (!err && !ended(w, begun, &running, &status))
		err = take(w, TURN_MS);
	if (w->lines)
		lines_detach(w->lines);
	else
		calls_detach(w->calls);
	err = err ?: take(w, 0);
	if (w->dot)
		host_dot_print();
	if (!err && w->no_memory)
		err = -ENOMEM;
	if (err) {
		error_set(e, err, NULL, "cannot follow %s: %s", host_event_names[w->only.event],
			  strerror(-err));
		failed(e);
	}
	lost_tell(w);
	if (running) {
		output_flush();
		status = child_end();
	}
	return err ? EXIT_FAILURE : status;
}

/* Attaches in the namespace that is asked for, and comes back. */
static int begin(struct listening *w, struct error *e)
{
	bool here = !w->where;
	__u32 netns = 0;

	if (kernel_permits(e))
		return e->err;
	if (w->only.event <= HOST_listen && lines_cannot(w->only.event))
		return error_set(e, -EOPNOTSUPP, NULL, "cannot follow sockets: %s",
				 lines_cannot(w->only.event));
	if (!iface_enter(here ? HOST_NAME : w->where, &netns, e))
		return -ENOENT;
	measured_netns = here ? 0 : netns;
	if (w->only.event <= HOST_listen)
		w->lines = lines_begin(&w->only, netns, hear, w, e);
	else
		w->calls = calls_begin(w->only.event, hear, w, e);
	netns_go_home();
	return w->lines || w->calls ? 0 : e->err ?: -EIO;
}

static void begin_tell(const struct listening *w, bool command)
{
	tell(text("following %s until %s%s%s", host_event_names[w->only.event],
		  command ? "the command ends" : "Ctrl-C",
		  w->most > 0 ? text(", for %g s at most", w->most) : "",
		  w->limit ? text(", %u event%s at most", w->limit, w->limit == 1 ? "" : "s") :
			     ""));
}

static int host(struct listening *w, char **command)
{
	struct error e = {};
	int status;

	signals_ready();
	if (begin(w, &e))
		return failed(&e);
	begin_tell(w, command);
	status = command ? child_start(command) : 0;
	if (!status)
		status = follow(w, command, &e);
	lines_end(w->lines);
	if (w->calls)
		calls_end(w->calls);
	return status;
}

static bool for_take(void *to, const char *value)
{
	struct listening *w = to;

	if (time_parse(value, &w->most))
		return true;
	usage_error("--for 10m", "--for takes a time like 90s, 10m, 1h or 2d, not \"%s\"", value);
	return false;
}

static bool remote_take(void *to, const char *value)
{
	struct listening *w = to;
	unsigned char *bytes = w->only.remote.bytes;

	w->only.only_remote = true;
	if (inet_pton(AF_INET6, value, bytes) == 1)
		return true;
	memset(bytes, 0, 10);
	bytes[10] = bytes[11] = 0xff;
	if (inet_pton(AF_INET, value, bytes + 12) == 1)
		return true;
	usage_error("--remote 192.0.2.1", "--remote takes an address, not \"%s\"", value);
	return false;
}

static const struct option_spec options[] = {
	{ 'c', "count", "COUNT", "stop after COUNT events", OPTION_COUNT,
	  INTO(struct listening, limit), 1, UINT_MAX, .most_unsaid = true, .example = "1" },
	{ 0, "for", "TIME", "stop after 90s, 10m, 1h or 2d (default: at Ctrl-C, or\n"
			    "when COMMAND ends)", .take = for_take },
	{ 0, "port", "PORT", "only of this port, at either end", OPTION_COUNT,
	  INTO(struct listening, only.port), 1, 65535, .example = "443" },
	{ 0, "remote", "ADDRESS", "only of this host at the other end", .take = remote_take },
	{ 0, "process", "NAME|PID", "only of sockets of this process", OPTION_STRING,
	  INTO(struct listening, process) },
	{ 0, "dot", NULL, "of sessions: print who talked to whom as a graph for\n"
			  "dot(1), at the end", OPTION_FLAG, INTO(struct listening, dot) },
	{}
};

static bool event_take(struct listening *w, const char *word)
{
#define E(name) ", " #name
	static const char words[] = HOST_EVENTS(E);
#undef E

	for (w->only.event = 0; word && w->only.event < NR_HOST_EVENTS; w->only.event++)
		if (!strcmp(host_event_names[w->only.event], word))
			return true;
	usage_error("nicprobe host connect", word ? "no event \"%s\": there are %s" :
		    "host needs an event: %s%s", word ?: "", words + 2);
	return false;
}

/* "blue/host", "blue/", "host" */
static bool is_place(const char *word)
{
	const char *slash = strrchr(word, '/');

	return !strcmp(word, HOST_NAME) || (slash && (!slash[1] || !strcmp(slash + 1, HOST_NAME)));
}

static int run(int argc, char **argv)
{
	struct listening w = { .page = terminal_page(stdout, 40) };
	bool options_end = false, event = false;
	int status;

	for (;;) {
		/* the word before the options stands where the name of the command would */
		if (!options_take(&command_host, argc, argv, &w, &status))
			return status;
		options_end = optind == argc || !strcmp(argv[optind - 1], "--");
		argv += optind;
		argc -= optind;
		optind = 0;
		if (options_end || (event && (w.where || !is_place(*argv))))
			break;
		if (event)
			w.where = *argv;
		else if (!event_take(&w, *argv))
			return EXIT_USAGE;
		event = true;
	}
	if (!event && !event_take(&w, NULL))
		return EXIT_USAGE;
	if (w.dot && (w.only.event != HOST_sessions || json_wanted))
		return usage_error("nicprobe host sessions --dot", w.only.event != HOST_sessions ?
				   "--dot is of sessions" : "--dot and -j exclude each other");
	if (!isatty(STDOUT_FILENO) && !getenv("COLUMNS"))
		w.page.width = WIDE;
	if (argc && child_wrong(*argv)) {
		struct error e = {};
		int wrong = child_wrong(*argv);

		if (!options_end && wrong == ENOENT) {
			usage_error(text("nicprobe host %s NETNS/host -- COMMAND",
					 host_event_names[w.only.event]),
				    "\"%s\" is neither NETNS/host nor a command", *argv);
			return 127;
		}
		error_set(&e, -wrong, NULL, "cannot run %s: %s", *argv, strerror(wrong));
		failed(&e);
		return wrong == ENOENT ? 127 : 126;
	}
	return host(&w, argc ? argv : NULL);
}

const struct command command_host = {
	.name = "host",
	.args = "EVENT [[NETNS/]host] [OPTION…] [-- COMMAND…]",
	.help = "print each event of sockets: connect, accept, sessions, …",
	.options = { options },
	.wraps = true,
	.run = run,
};
