/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the subcommands: common options, error output, interface names, snapshots. */
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "lib/net/here.h"
#include "lib/net/iface.h"
#include "lib/net/link.h"
#include "lib/read/reach.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "render/json_writer.h"
#include "render/text.h"

static void error_line(const char *before, const char *what)
{
	fputs(before, stderr);
	text_harmless(stderr, what, !strcmp(nl_langinfo(CODESET), "UTF-8"));
	fputc('\n', stderr);
}

void tell(const char *what)
{
	error_line("nicprobe: ", what);
}

static int error_print(const struct error *e, int status)
{
	if (json_wanted) {
		struct json j = { .out = stderr };

		json_open(&j, NULL, '{');
		json_string(&j, "error", e->what);
		if (*e->try)
			json_string(&j, "try", e->try);
		json_close(&j);
		fputc('\n', stderr);
		return status;
	}
	tell(*e->what ? e->what : "internal error: failed without a message");
	if (*e->try)
		error_line("  try: ", e->try);
	return status;
}

const char *stays_attached;

int output_flush(void)
{
	static int first;
	struct pollfd reader = { .fd = STDOUT_FILENO };

	if (!first && (fflush(stdout) || ferror(stdout)))
		/* after an error in the middle of printing, errno is already overwritten */
		first = poll(&reader, 1, 0) > 0 && reader.revents & POLLERR ? EPIPE : errno ?: EIO;
	return first;
}

int failed(const struct error *e)
{
	output_flush();
	return error_print(e, EXIT_FAILURE);
}

int usage_error(const char *try, const char *what, ...)
{
	va_list args;
	struct error e = {};
	char why[400];

	va_start(args, what);
	vsnprintf(why, sizeof(why), what, args);
	va_end(args);
	error_set(&e, -1, try, "%s", why);
	return error_print(&e, EXIT_USAGE);
}

static enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;

bool color_parse(const char *when)
{
	static const char *const words[] = {
		[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"
	};

	for (color = COLOR_AUTO; color <= COLOR_NEVER; color++)
		if (!strcmp(when, words[color]))
			return true;
	color = COLOR_AUTO;
	usage_error("--color=always", "--color takes always, never or auto, not \"%s\"", when);
	return false;
}

static __u32 home_inode;

static int home(void)
{
	static int fd = -1;

	if (fd < 0) {
		fd = open(NETNS_OURS, O_RDONLY | O_CLOEXEC);
		home_inode = netns_inode();
	}
	return fd;
}

void netns_go_home(void)
{
	int netns = home();

	if (!home_inode || netns_inode() != home_inode)
		netns_go(netns);
}

const char *iface_enter(const char *arg, __u32 *inode, struct error *e)
{
	const char *slash = strchr(arg, '/'), *name = slash ? slash + 1 : arg;
	static char main_name[IFNAMSIZ];
	char netns[256];
	int end = 0;
	__u32 here;

	if (netns_known(&here, e))
		return NULL;
	home();
	if (inode && sscanf(arg, "netns:%u/%n", inode, &end) == 1 && end)
		return arg + end;
	snprintf(netns, sizeof(netns), "%.*s", slash ? (int)(slash - arg) : 0, arg);
	if (slash && (netns_enter(netns, e) || netns_known(&here, e)))
		return NULL;
	if (inode)
		*inode = here;
	return iface_main_name(name, main_name) ? main_name : name;
}

const char *iface_outside(const char *arg, __u32 *inode, struct error *e)
{
	const char *slash = strchr(arg, '/');

	*inode = slash ? netns_named(text("%.*s", (int)(slash - arg), arg)) : 0;
	if (!*inode)
		return NULL;
	error_forget(e);
	return slash + 1;
}

int iface_failed(const char *arg, struct error *e)
{
	const char *slash = strchr(arg, '/');

	if (slash && !strcmp(e->try, "ip link"))
		snprintf(e->try, sizeof(e->try), "ip -n %.*s link", (int)(slash - arg), arg);
	return failed(e);
}

void iface_label(__u32 netns, const char *iface, char *label, unsigned size)
{
	char name[64];

	if (netns == netns_inode())
		snprintf(label, size, "%s", iface);
	else if (netns_name(netns, name, sizeof(name)) && *name)
		snprintf(label, size, "%s/%s", name, iface);
	else
		snprintf(label, size, "netns:%u/%s", netns, iface);
}

struct look terminal_look(void)
{
	struct look look = { .width = 80, .utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8") };
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		look.width = size.ws_col;
	else if (columns && atoi(columns) > 0)
		look.width = atoi(columns);
	look.colour = color == COLOR_ALWAYS ||
		      (color == COLOR_AUTO && isatty(STDOUT_FILENO) && !getenv("NO_COLOR") &&
		       strcmp(getenv("TERM") ?: "dumb", "dumb"));
	return look;
}

struct page terminal_page(FILE *out, unsigned least)
{
	static struct look look;

	look = terminal_look();
	return (struct page){
		.out = out, .look = &look, .width = look.width < least ? least : look.width,
	};
}

/* What became of the interface meanwhile; the process stays in its namespace. */
static int iface_take(struct snapshot *s, const char *dir, struct error *e)
{
	struct attached a = {};
	int err = 0;

	attached_state(&s->meta, &a);
	if (a.iface.ifindex && !reach_queues(&s->meta, a.iface.rx_queues, a.iface.tx_queues)) {
		snapshot_free(s);
		*s = (struct snapshot){ .packets = s->packets, .hw = s->hw };
		err = snapshot_read(s, dir, e);
		netns_enter_same(s->meta.netns, s->meta.cookie, NULL);
	}
	if (err)
		return err;
	if (a.rx_queues) {
		s->meta.rx_queues = a.rx_queues;
		s->meta.tx_queues = a.tx_queues;
		s->meta.down = 0;
	}
	attached_blind(&s->meta, &a, dir, s->blind);
	if (!*a.state)		/* otherwise the device is gone, moved or a different one */
		link_state(&a.iface, &s->link);
	memcpy(s->state, a.state, sizeof(s->state));
	s->gone = a.is == ATTACHED_GONE;
	memcpy(s->now, a.now, sizeof(s->now));
	return 0;
}

int snapshot_take(struct snapshot *s, const char *dir, struct error *e)
{
	int err = snapshot_read(s, dir, e);

	if (!err && *s->meta.iface)
		err = iface_take(s, dir, e);
	netns_go_home();
	if (err)
		return err;
	if (*s->meta.iface)
		iface_label(s->meta.netns, s->meta.iface, s->name, sizeof(s->name));
	else			/* nicprobe driver: all interfaces of the driver */
		snprintf(s->name, sizeof(s->name), "%s", s->meta.driver);
	return 0;
}
