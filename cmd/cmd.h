/* SPDX-License-Identifier: GPL-2.0 */
/* What the subcommands share. */
#ifndef NICPROBE_CMD_H
#define NICPROBE_CMD_H

#include <getopt.h>
#include <stdbool.h>

#include "lib/attach/attach.h"
#include "lib/read/snapshot.h"
#include "render/render.h"


enum { EXIT_USAGE = 2 };

struct command {
	const char *name;
	const char *args;	/* "IFACE [-m METER,…]" */
	const char *help;	/* one line */
	const char *options;	/* the lines under "Options:"; NULL: none of its own */
	int (*run)(int argc, char **argv);	/* argv[0] is the name; the exit status */
};

#define COMMANDS(C) \
	C(attach) C(show) C(list) C(detach) C(run) C(driver) C(bench) C(drivers) C(explain) \
	C(wifi) \
	C(complete)
#define C(name) extern const struct command command_##name;
COMMANDS(C)
#undef C
extern const struct command *const commands[];	/* ends with NULL */

/* Options that every command takes; what it returns for them it need not handle. */
#define COMMON_SHORT	"hjv"
#define COMMON_LONG	{ "help", no_argument, NULL, 'h' }, { "json", no_argument, NULL, 'j' }, \
			{ "verbose", no_argument, NULL, 'v' }, \
			{ "color", required_argument, NULL, OPTION_COLOR }
#define OPTION_COLOR	0x1000	/* no letter's, and no command's own */
/* -h, -v and what is unknown; -j: errors are JSON. Returns true: exit with *status. */
bool common_option(const struct command *, int option, char **argv, int *status);
extern bool json_wanted;

/* Print the complaint there is, as a person or (-j) a program reads it. Returns EXIT_FAILURE. */
int failed(void);
/* Writes what was printed. 0, or the first errno for which some of it could not be. */
int output_flush(void);
extern const char *stays_attached;	/* whether its output could be written or not; NULL */
/* A complaint about how the command was typed. Returns EXIT_USAGE. */
__attribute__((format(printf, 2, 3)))
int usage_error(const char *try, const char *what, ...);

/* A line to standard error that is no error; no name in it can drive the terminal. */
void tell(const char *);

/*
 * "NETNS/IFACE": enters the namespace. Returns the name of the interface; NULL: a complaint.
 * With `netns`, its inode goes there, and "netns:INODE/IFACE", as iface_label() calls what is in
 * a namespace without a name, will do.
 */
const char *iface_enter(const char *arg, __u32 *netns);
/*
 * The same for who may not enter it, and only wants to read what is pinned: its name tells its
 * inode. After a complaint of iface_enter(), which stays where that does not help.
 */
const char *iface_outside(const char *arg, __u32 *netns);
/* failed(), of an interface that was typed so: what is to be tried is tried in its namespace. */
int iface_failed(const char *arg);
/* Back to the namespace we were started in. */
void netns_go_home(void);
/* As a user types it: "eth0", "blue/eth0". */
void iface_label(__u32 netns, const char *iface, char *label, unsigned size);

/* "pktsize,ecn" or "all" to 1 << METER_x. 0: a complaint was printed. */
__u64 meters_parse(const char *list);
/* -m, --rx, --sample: shared by attach and run. False: a complaint was printed. */
bool request_option(struct request *, int option);
/* Options that go with a meter, and it is there; else a complaint was printed. */
bool request_fits(const struct request *);
#define REQUEST_SHORT	"m:"
#define REQUEST_LONG	{ "meters", required_argument, NULL, 'm' }, \
			{ "rx", required_argument, NULL, 'R' }, \
			{ "sample", required_argument, NULL, 'S' }, \
			{ "stacks", no_argument, NULL, 'K' }, \
			{ "group", required_argument, NULL, 'G' }, DRIVER_LONG
/* Of the meter driver, and of the command. */
#define DRIVER_LONG	{ "functions", required_argument, NULL, 'F' }, \
			{ "time", required_argument, NULL, 'T' }, \
			{ "max-functions", required_argument, NULL, 'X' }
#define DRIVER_HELP \
	"      --functions GLOB,… count calls of these, not of those known of the\n" \
	"                         driver; MODULE:GLOB: of one module\n" \
	"      --time GLOB,…      how long these take, too\n" \
	"      --max-functions N  rather fail than attach to more (default: 512)\n"
#define REQUEST_HELP						\
	"  -m, --meters METER,…   these, or an error (default: what is here and cheap);\n" \
	"                         +METER, -METER: this one, too, or not\n" \
	"      --rx HOOK          where to see received packets: auto (default),\n" \
	"                         xdp, driver, tc, xdp-generic\n" \
	"      --sample N         look at one packet in N; default: latency meters each,\n" \
	"                         others as list -v says\n" \
	"      --stacks           with each drop, how the kernel came there\n" \
	"      --group GROUP      its members may show and list it, without being root\n" \
	"  Of the meter driver:\n" DRIVER_HELP

/* May --rx name it? Those that see rx-nic, and tc, which stands for: not there at all. */
struct hook;
bool hook_choosable(const struct hook *);

const struct renderer *renderer_find(const char *name);	/* NULL: none of that name */
struct look terminal_look(void);

/* A new snapshot of what is attached in `dir`, with its label and state. 0 or -errno. */
int snapshot_take(struct snapshot *, const char *dir);
/*
 * Runs a command (NULL: until Ctrl-C) and shows what the maps in `dir` have counted meanwhile.
 * signals_ready() comes before what is to be undone. Returns the command's exit status.
 */
void signals_ready(void);
int measured_run(const char *dir, char **argv, const struct renderer *);
/* Packets that all interfaces had until now, for figures per packet; NULL: by the meters. */
extern uint64_t (*measured_packets)(void);
/* Where the command runs: inode of a network namespace; 0: where we are. */
extern __u32 measured_netns;

/* Says what is attached, and where; after attach and run. */
void attached_print(FILE *, const struct meta *, const char *label);
struct json;
void attached_meters(struct json *, const struct meta *);	/* "meters": […] */
void attached_json(FILE *, const struct meta *, const char *label);

#endif
