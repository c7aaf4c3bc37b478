/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe serve: the metrics of all attached interfaces over HTTP, for Prometheus. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/serve.h"
#include "cmd/show.h"
#include "lib/attach/held.h"
#include "lib/kernel/symbol.h"
#include "lib/util/error.h"
#include "lib/util/heap.h"
#include "lib/util/log.h"
#include "serve/confine.h"
#include "serve/listen.h"

#define LISTEN	"127.0.0.1:9920"

struct serve {
	struct scraper scraper;
	struct sockets sockets;
	unsigned nr;
	const char *listen[SOCKETS_MAX];
};

static bool listen_take(void *to, const char *value)
{
	struct serve *s = to;

	if (s->nr < SOCKETS_MAX) {
		s->listen[s->nr++] = value;
		return true;
	}
	usage_error("nicprobe serve --help", "--listen can be given %u times", SOCKETS_MAX);
	return false;
}

static bool meters_take(void *to, const char *value)
{
	struct serve *s = to;

	s->scraper.wanted = meters_parse(value);
	s->scraper.look.each |= show_named(s->scraper.wanted);
	return s->scraper.wanted;
}

static bool each_take(void *to, const char *value)
{
	struct serve *s = to;

	return show_each(value, &s->scraper.look.each);
}

static const struct option_spec options[] = {
	{ 'l', "listen", "ADDRESS:PORT", "answer there (default: " LISTEN "); several times,\n"
	  "for several addresses", .take = listen_take },
	{ 'm', "meters", "METER,…", "only these meters (default: all that are attached)",
	  .words = "@meters", .list = true, .take = meters_take },
	{ 0, "per-queue", NULL, "metrics of every queue, not only sums", OPTION_FLAG,
	  INTO(struct serve, scraper.look.queues) },
	{ 0, "each", "LABEL,…", "metrics of every queue, cpu, interrupt, flow, source,\n"
				"remote host, domain or own (the driver's own\nstatistics)",
	  .words = "@each", .list = true, .take = each_take },
	{}
};

static volatile bool stop;

static void stop_now(int signal)
{
	(void)signal;
	stop = true;
}

/* They are blocked from now on, but while the server waits. */
static sigset_t signals_take(void)
{
	const struct sigaction end = { .sa_handler = stop_now };
	sigset_t block, before;

	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGINT, &end, NULL);
	sigemptyset(&block);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGINT);
	sigprocmask(SIG_BLOCK, &block, &before);
	return before;
}

/* Sockets of systemd take the place of the default address. 0 or -errno. */
static int listen_all(struct serve *s, struct error *e)
{
	int err = sockets_passed(&s->sockets, e);

	if (!s->nr && !s->sockets.nr)
		s->listen[s->nr++] = LISTEN;
	for (unsigned i = 0; i < s->nr && !err; i++)
		err = sockets_listen(&s->sockets, s->listen[i], e);
	return err;
}

static void listen_tell(const struct sockets *s)
{
	char name[160];

	for (unsigned i = 0; i < s->nr; i++) {
		socket_name(s->fd[i], name, sizeof(name));
		tell(text(*name == '/' ? "serving on %s" : "serving on http://%s/metrics", name));
	}
}

/* The windows of the first scrape begin here. */
static void scrape_first(struct scraper *s)
{
	struct error e = {};
	struct scrape first;

	if (scrape_begin(s, &first, &e))
		scraper_tell(s, &e);
	scrape_end(s, &first);
}

static int run(int argc, char **argv)
{
	struct serve s = {};
	struct error e = {};
	sigset_t waiting;
	int status, err;

	if (!options_take(&command_serve, argc, argv, &s, &status))
		return status;
	if (argv[optind])
		return usage_error("nicprobe serve --help", "serve takes options only, not \"%s\"",
				   argv[optind]);
	heap_keep();
	waiting = signals_take();
	symbol_conceal();
	err = listen_all(&s, &e) ?: confine(&e);
	if (!err) {
		const struct http_waits waits = { &stop, &waiting, held_watch(), held_changed };

		listen_tell(&s.sockets);
		held_until(HELD);
		scrape_first(&s.scraper);
		err = http_serve(&s.sockets, serve_pages, &s.scraper, &waits, &e);
	}
	scraper_free(&s.scraper);
	return err ? failed(&e) : EXIT_SUCCESS;
}

const struct command command_serve = {
	.name = "serve",
	.args = "[OPTION…]",
	.help = "serve the metrics over HTTP, for Prometheus",
	.options = { options },
	.run = run,
};
