/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe wifi: prints a line when a scan begins and a line when it ends. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/wifi/radio.h"
#include "cmd/cmd.h"
#include "cmd/wifi.h"
#include "lib/kernel/permits.h"
#include "lib/net/here.h"
#include "lib/net/iface.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "render/json_writer.h"
#include "render/text.h"

#define MOST 64		/* interfaces on the command line */

/* The interfaces to follow; none: all. */
static struct {
	__u32 netns;
	unsigned ifindex;
	char radio[WIFI_RADIO];
} wanted[MOST];
static unsigned nr_wanted;

static unsigned left;		/* exit after this many more scans; 0: never */
static bool enough;
static struct look look;
static volatile sig_atomic_t stop;

static bool is_wanted(const struct wifi_scan *s)
{
	for (unsigned i = 0; i < nr_wanted; i++)
		if (s->ifindex ? s->ifindex == wanted[i].ifindex && s->netns == wanted[i].netns :
		    !strcmp(s->radio, wanted[i].radio))
			return true;
	return !nr_wanted;
}

static void hear(const struct wifi_scan *s, void *arg)
{
	(void)arg;
	if (enough || !is_wanted(s))
		return;
	if (json_wanted)
		wifi_print_json(s);
	else
		wifi_print(s, &look);
	fflush(stdout);
	if (s->state != WIFI_BEGAN && left)
		enough = !--left;
}

static void interrupted(int signal)
{
	(void)signal;
	stop = true;
}

/* Signals stay blocked except in ppoll(), so that none is missed. */
static void signals_take(void)
{
	struct sigaction action = { .sa_handler = interrupted };
	sigset_t held;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigprocmask(SIG_BLOCK, &held, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* Announces that the programs are attached: from here on, no scan is missed. */
static void say_ready(void)
{
	struct json j = { .out = stdout };

	if (json_wanted) {
		json_open(&j, NULL, '{');
		json_string(&j, "event", "listening");
		if (wifi_without())
			json_string(&j, "without", wifi_without());
		json_close(&j);
		putchar('\n');
	} else {
		struct page p = { .out = stdout, .look = &look, .width = look.width };

		if (wifi_without()) {
			page_wrap(&p, 2, text("Some details are missing: %s.", wifi_without()));
			page_newline(&p);
		}
		page_wrap(&p, 2, "Following scans until Ctrl-C.");
		page_newline(&p);
	}
	fflush(stdout);
}

static int listen_on(struct wifi_ear *ear, struct error *e)
{
	struct pollfd fds[] = {
		{ .fd = wifi_fd(ear), .events = POLLIN },
		{ .fd = STDOUT_FILENO },	/* POLLERR: its reader is gone */
	};
	sigset_t none;
	int err = 0;

	sigemptyset(&none);
	say_ready();
	while (!err && !stop && !enough && !ferror(stdout) && !fds[1].revents) {
		if (ppoll(fds, 2, NULL, &none) < 0 && errno != EINTR)
			err = -errno;
		else
			err = wifi_take(ear);
	}
	if (err)
		return error_set(e, err, NULL, "cannot read scan events: %s", strerror(-err));
	if (wifi_lost(ear))
		tell(text("%llu events were lost: they came faster than they were read",
			  wifi_lost(ear)));
	return 0;
}

/* Adds the interfaces on the command line. False: an error. */
static bool want(char **args, struct error *e)
{
	for (; *args; args++) {
		const char *iface;

		if (nr_wanted == MOST) {
			error_set(e, -E2BIG, NULL, "cannot follow more than %d interfaces", MOST);
			return false;
		}
		iface = iface_enter(*args, &wanted[nr_wanted].netns, e);
		if (!iface)
			return false;
		wanted[nr_wanted].ifindex = iface_index_of(iface);
		if (!wanted[nr_wanted].ifindex) {
			error_set(e, -ENODEV, NULL, "no interface %s", *args);
			return false;
		}
		if (!wifi_radio(iface, wanted[nr_wanted].ifindex, wanted[nr_wanted].radio)) {
			error_set(e, -EOPNOTSUPP, "ls /sys/class/ieee80211", "%s is not a wireless "
				  "interface", *args);
			return false;
		}
		nr_wanted++;
		netns_go_home();
	}
	return true;
}

static int begin(char **args)
{
	struct error e = {};
	struct wifi_ear *ear;
	int err;

	if (kernel_permits(&e))
		return failed(&e);
	if (wifi_cannot()) {
		error_set(&e, -EOPNOTSUPP, NULL, "cannot follow scans: %s", wifi_cannot());
		return failed(&e);
	}
	if (!want(args, &e))
		return failed(&e);
	look = terminal_look();
	signals_take();
	ear = wifi_listen(hear, NULL, &e);
	if (!ear)
		return failed(&e);
	err = listen_on(ear, &e);
	wifi_deaf(ear);
	return err ? failed(&e) : EXIT_SUCCESS;
}

static const struct option_spec options[] = {
	{ 'c', "count", "COUNT", "stop after COUNT scans have ended", OPTION_COUNT,
	  .least = 1, .most = UINT_MAX, .most_unsaid = true, .example = "1" },
	{}
};

static int run(int argc, char **argv)
{
	int status;

	if (!options_take(&command_wifi, argc, argv, &left, &status))
		return status;
	return begin(argv + optind);
}

const struct command command_wifi = {
	.name = "wifi",
	.args = "[[NETNS/]IFACE…] [-c COUNT]",
	.help = "print each Wi-Fi scan: requester, channels, networks found",
	.options = { options },
	.run = run,
};
