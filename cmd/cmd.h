/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations shared by the subcommands. */
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
	const char *options;	/* the lines under "Options:"; NULL: only the common options */
	int (*run)(int argc, char **argv);	/* argv[0]: its name; returns the exit status */
};

#define COMMANDS(C) \
	C(attach) C(show) C(list) C(detach) C(run) C(driver) C(bench) C(drivers) C(explain) \
	C(wifi) \
	C(complete)
#define C(name) extern const struct command command_##name;
COMMANDS(C)
#undef C
extern const struct command *const commands[];	/* NULL-terminated */

/* Options that every command takes; common_option() handles them. */
#define COMMON_SHORT	"hjv"
#define COMMON_LONG	{ "help", no_argument, NULL, 'h' }, { "json", no_argument, NULL, 'j' }, \
			{ "verbose", no_argument, NULL, 'v' }, \
			{ "color", required_argument, NULL, OPTION_COLOR }
#define OPTION_COLOR	0x1000	/* above all letters and all options of the commands */
/* Handles common and unknown options; -j turns errors into JSON. True: exit with *status. */
bool common_option(const struct command *, int option, char **argv, int *status);
extern bool json_wanted;

/* Print the error, as text or (-j) as JSON. Returns EXIT_FAILURE. */
int failed(const struct error *);
/* Flush stdout. 0, or the errno of the first write that failed. */
int output_flush(void);
extern const char *stays_attached;	/* label for the error if output fails; NULL: nothing */
/* Print a usage error. Returns EXIT_USAGE. */
__attribute__((format(printf, 2, 3)))
int usage_error(const char *try, const char *what, ...);

/* Print a notice to stderr; control characters in names are made harmless. */
void tell(const char *);

/*
 * Enter the namespace of "NETNS/IFACE". Returns the interface name; NULL: an error.
 * If `netns` is given, it receives the inode, and "netns:INODE/IFACE" (iface_label()'s form for a
 * namespace without a name) is accepted without entering the namespace.
 */
const char *iface_enter(const char *arg, __u32 *netns, struct error *);
/*
 * The same without entering, for users who may only read the pins: finds the inode by the name of
 * the namespace. Call after iface_enter() failed: its error is forgotten, unless this fails, too.
 */
const char *iface_outside(const char *arg, __u32 *netns, struct error *);
/* failed() for an interface given as `arg`: the suggested command runs in its namespace. */
int iface_failed(const char *arg, struct error *);
/* Return to the namespace we were started in. */
void netns_go_home(void);
/* The name as a user would type it: "eth0", "blue/eth0". */
void iface_label(__u32 netns, const char *iface, char *label, unsigned size);

/* "pktsize,ecn" or "all" to 1 << METER_x. 0 after printing an error. */
__u64 meters_parse(const char *list);
/* -m, --rx, --sample and the like: shared by attach and run. False after printing an error. */
bool request_option(struct request *, int option);
/* Options of a meter are given only with that meter; false after printing an error. */
bool request_fits(const struct request *);
#define REQUEST_SHORT	"m:"
#define REQUEST_LONG	{ "meters", required_argument, NULL, 'm' }, \
			{ "rx", required_argument, NULL, 'R' }, \
			{ "sample", required_argument, NULL, 'S' }, \
			{ "stacks", no_argument, NULL, 'K' }, \
			{ "group", required_argument, NULL, 'G' }, DRIVER_LONG
/* Options of the meter driver and of the command driver. */
#define DRIVER_LONG	{ "functions", required_argument, NULL, 'F' }, \
			{ "time", required_argument, NULL, 'T' }, \
			{ "max-functions", required_argument, NULL, 'X' }
#define DRIVER_HELP \
	"      --functions GLOB,… count calls of these functions instead of the known\n" \
	"                         ones; MODULE:GLOB: of one module\n" \
	"      --time GLOB,…      also measure how long these functions take\n" \
	"      --max-functions N  fail rather than attach to more (default: 512)\n"
#define REQUEST_HELP						\
	"  -m, --meters METER,…   attach these, or fail (default: all cheap ones that\n" \
	"                         work here); +METER, -METER: add or remove one\n" \
	"      --rx HOOK          the hook for received packets: auto (default),\n" \
	"                         xdp, driver, tc, xdp-generic\n" \
	"      --sample N         follow one packet in N (default: see list -v; the\n" \
	"                         latency meters follow every packet)\n" \
	"      --stacks           record the kernel stack of each drop\n" \
	"      --group GROUP      let members of GROUP use show and list without root\n" \
	"  For the meter driver:\n" DRIVER_HELP

/* Can --rx name this hook? True for hooks of rx-nic, and for tc, which means: no rx-nic. */
struct error;
struct hook;
bool hook_choosable(const struct hook *);

const struct renderer *renderer_find(const char *name);	/* NULL after printing an error */
struct look terminal_look(void);

/* A snapshot of the attachment in `dir`, with its label and state. 0 or -errno. */
int snapshot_take(struct snapshot *, const char *dir, struct error *);
/*
 * Run a command (NULL: wait for Ctrl-C) and show what the maps in `dir` counted meanwhile.
 * Call signals_ready() before doing anything that must be undone. Returns the exit status.
 */
void signals_ready(void);
int measured_run(const char *dir, char **argv, const struct renderer *);
/* Packets of all interfaces so far, for figures per packet; NULL: use the meters' counts. */
extern uint64_t (*measured_packets)(void);
/* Network namespace of the command, by inode; 0: the current one. */
extern __u32 measured_netns;

/* Print what is attached, and where. */
void attached_print(FILE *, const struct meta *, const char *label);
struct json;
void attached_meters(struct json *, const struct meta *);	/* "meters": […] */
void attached_json(FILE *, const struct meta *, const char *label);

#endif
