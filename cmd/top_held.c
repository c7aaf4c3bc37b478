/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attachments that last as long as top. A child of its own session attaches the interface, and
 * detaches it when the pipe from top closes: at the end of top, whatever its end is.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cmd/show.h"
#include "cmd/top.h"
#include "lib/attach/pins.h"
#include "lib/kernel/permits.h"
#include "lib/net/iface.h"
#include "lib/read/cost.h"
#include "lib/util/error.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"
#include "render/units.h"

#define KEEP	'k'		/* from top: leave it attached */

/* From the child: one sentence. */
struct held_news {
	enum { HELD_ATTACHED, HELD_COSTS, HELD_FAILED } is;
	char what[320];
};

struct top_held {
	char label[96];
	pid_t child;
	int orders, news;		/* pipes: to the child, from it; -1: closed */
	bool for_good;
};

static struct top_held *all;
static unsigned nr;

static int orders_of_child = -1;	/* in the child alone */

static struct top_held *find(const char *label)
{
	for (unsigned i = 0; i < nr; i++)
		if (!strcmp(all[i].label, label) && all[i].orders >= 0)
			return &all[i];
	return NULL;
}

bool held_has(const char *label)
{
	const struct top_held *h = find(label);

	return h && !h->for_good;
}

/* In the child: false as soon as top has an order, or has ended. */
static bool wait_or_order(double seconds)
{
	struct pollfd order = { .fd = orders_of_child, .events = POLLIN };

	return poll(&order, 1, seconds * 1000) == 0;
}

static void news(int to, int is, const char *what)
{
	struct held_news n = { .is = is };
	ssize_t done;

	snprintf(n.what, sizeof(n.what), "%.*s", (int)sizeof(n.what) - 1, what);
	done = write(to, &n, sizeof(n));	/* top may be gone: the order comes next */
	(void)done;
}

/* Measures for a second what it takes, so that this is on the screen. */
static void cost_tell(int to, const char *dir, const char *label)
{
	char dirs[1][DIR_SIZE], each[UNITS_SIZE];
	struct error e = {};
	struct view v = { .interval = 1, .nr = 1, .dirs = dirs, .error = &e };
	struct snapshot *both = calloc(2, sizeof(*both));
	struct cost cost = {};
	double packets = 0;
	int err;

	snprintf(dirs[0], DIR_SIZE, "%s", dir);
	err = both ? cost_measure(&v, &both[0], &both[1], wait_or_order, &cost, &packets) : -ENOMEM;
	if (!err && packets >= 1) {
		units_seconds(each, (cost.inside + cost.calls) / packets * 1e-9);
		news(to, HELD_COSTS, text("%s: measuring takes %s per packet, %.2f%% of a CPU at "
					  "this rate", label, each,
					  (cost.inside + cost.calls) / cost.seconds / 1e7));
	} else if (!err) {
		news(to, HELD_COSTS, text("%s: no packet came or went in a second: what measuring "
					  "takes is not known", label));
	}
	for (unsigned i = 0; both && i < 2; i++)
		snapshot_free(&both[i]);
	free(both);
	free(cost.events);
}

static const char *on_text(const struct meta *meta)
{
	const char *on = "";

	for (int id = 0; id < NR_METERS; id++)
		if (meta->on >> id & 1)
			on = text("%s%s%s", on, *on ? " " : "", meters[id]->name);
	return on;
}

/* The child's whole life. Returns its exit status. */
static int live(const char *label, bool for_good, int orders, int to)
{
	struct request req = { .meters = meters_default(), .label = label };
	struct error e = {};
	const char *iface = iface_enter(label, NULL, &e);
	char dir[256], order;
	struct meta meta;

	orders_of_child = orders;
	if (!iface || attach_iface(iface, &req, &meta, &e)) {
		news(to, HELD_FAILED, *e.try ? text("%s; try: %s", e.what, e.try) : e.what);
		return EXIT_SUCCESS;
	}
	netns_go_home();
	pins_dir(dir, sizeof(dir), meta.netns, meta.iface);
	news(to, HELD_ATTACHED, text("%s is attached %s: %s", label, for_good ?
				     "until nicprobe detach" : "until top ends", on_text(&meta)));
	if (for_good)
		return EXIT_SUCCESS;
	cost_tell(to, dir, label);
	while (read(orders, &order, 1) < 0 && errno == EINTR)
		;
	if (order == KEEP)
		return EXIT_SUCCESS;
	error_forget(&e);
	return detach_ours(dir, &meta, &e) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The child has nothing to do with the terminal, and ends only after it has detached. */
static void become_child(int keep_orders, int keep_news)
{
	static const int ignored[] = {
		SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGTSTP, SIGTTOU
	};
	int null = open("/dev/null", O_RDWR);

	setsid();
	for (unsigned i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	/* the pipes to other children would not close with top if they stayed open here */
	for (unsigned i = 0; i < nr; i++) {
		if (all[i].orders >= 0 && all[i].orders != keep_orders)
			close(all[i].orders);
		if (all[i].news >= 0 && all[i].news != keep_news)
			close(all[i].news);
	}
}

int held_attach(const char *label, bool for_good, struct error *e)
{
	int orders[2] = { -1, -1 }, told[2] = { -1, -1 };
	struct top_held *list = grow(all, nr, sizeof(*list));
	pid_t child;

	if (kernel_permits(e))
		return -EPERM;
	if (list)
		all = list;
	if (!list || pipe2(orders, O_CLOEXEC) || pipe2(told, O_CLOEXEC) || (child = fork()) < 0) {
		int err = list ? errno : ENOMEM;

		for (unsigned i = 0; i < 2; i++) {
			if (orders[i] >= 0)
				close(orders[i]);
			if (told[i] >= 0)
				close(told[i]);
		}
		return error_set(e, -err, NULL, "cannot start a process that attaches %s: %s",
				 label, strerror(err));
	}
	if (!child) {
		close(orders[1]);
		close(told[0]);
		become_child(-1, -1);
		_exit(live(label, for_good, orders[0], told[1]));
	}
	close(orders[0]);
	close(told[1]);
	list[nr] = (struct top_held){ .child = child, .orders = orders[1], .news = told[0],
				  .for_good = for_good };
	snprintf(list[nr++].label, sizeof(list->label), "%s", label);
	return 0;
}

bool held_release(const char *label, bool keep)
{
	struct top_held *h = find(label);
	char order = KEEP;

	if (!h || h->for_good)
		return false;
	if (keep && write(h->orders, &order, 1) != 1)
		return false;
	close(h->orders);
	h->orders = -1;
	return true;
}

unsigned held_poll(struct pollfd *list, unsigned most)
{
	unsigned n = 0;

	for (unsigned i = 0; i < nr && n < most; i++)
		if (all[i].news >= 0)
			list[n++] = (struct pollfd){ .fd = all[i].news, .events = POLLIN };
	return n;
}

bool held_said(char *what, size_t size, bool *urgent)
{
	for (unsigned i = 0; i < nr; i++) {
		struct pollfd said = { .fd = all[i].news, .events = POLLIN };
		struct held_news n;
		ssize_t got;

		if (all[i].news < 0 || poll(&said, 1, 0) <= 0)
			continue;
		got = read(all[i].news, &n, sizeof(n));
		if (got == (ssize_t)sizeof(n)) {
			*urgent = n.is == HELD_FAILED;
			snprintf(what, size, "%s", n.what);
			return true;
		}
		close(all[i].news);	/* it has ended, and says no more */
		all[i].news = -1;
		if (all[i].orders >= 0)
			close(all[i].orders);
		all[i].orders = -1;
	}
	return false;
}

bool held_end(void)
{
	bool good = true;

	for (unsigned i = 0; i < nr; i++)
		if (all[i].orders >= 0)
			close(all[i].orders);
	for (unsigned i = 0; i < nr; i++) {
		struct error e = {};
		int status = 0;

		while (waitpid(all[i].child, &status, 0) < 0 && errno == EINTR)
			;
		if (WIFEXITED(status) && !WEXITSTATUS(status))
			continue;
		error_set(&e, -EIO, text("nicprobe detach %s", all[i].label), "cannot detach %s",
			  all[i].label);
		failed(&e);
		good = false;
	}
	free(all);
	all = NULL;
	nr = 0;
	return good;
}
