/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations shared by the subcommands. */
#ifndef NICPROBE_CMD_H
#define NICPROBE_CMD_H

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/options.h"
#include "lib/attach/attach.h"
#include "lib/read/snapshot.h"
#include "render/render.h"
#include "render/text.h"

enum { EXIT_USAGE = 2 };

struct command {
	const char *name;
	const char *args;	/* "IFACE [-m METER,…]" */
	const char *help;	/* one line */
	const struct option_spec *options[4];	/* tables; then come the common options */
	bool wraps;		/* what follows its first operand is a command line */
	int (*run)(int argc, char **argv);	/* argv[0]: its name; returns the exit status */
};

#define COMMANDS(C) \
	C(attach) C(show) C(doctor) C(list) C(detach) C(run) C(cost) C(trace) C(driver) C(bench) \
	C(drivers) C(explain) C(wifi) C(host) C(top) C(serve) C(record) C(report) \
	C(complete)
#define C(name) extern const struct command command_##name;
COMMANDS(C)
#undef C
extern const struct command *const commands[];	/* NULL-terminated */

/* What options of several commands ask for. */
extern bool json_wanted;	/* -j; errors are JSON, too */
extern const struct renderer *format_wanted;	/* the last of -f and -j; the default is table */
bool color_parse(const char *when);	/* --color. False after printing an error */

/* Options of several commands. */
extern const struct option_spec format_options[];
extern const struct option_spec request_options[];	/* into a struct request */
extern const struct option_spec driver_options[];	/* into a struct request, too */

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
 * Enter the namespace of "NETNS/IFACE". Returns the name of the interface, also of one given by an
 * alternative name: until the next call. NULL: an error.
 * If `netns` is given, it receives the inode, and "netns:INODE/IFACE" (iface_label()'s form for a
 * namespace without a name) is accepted without entering the namespace, and without looking for
 * alternative names.
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
/*
 * Options of a meter are given only with that meter, and no two that exclude each other; false
 * after printing an error. Sets what follows from the options.
 */
bool request_fits(struct request *);
/* Can --rx name this hook? True for hooks of rx-nic, and for tc, which means: no rx-nic. */
struct error;
struct hook;
bool hook_choosable(const struct hook *);

struct look terminal_look(void);
/* A page of the terminal's width, or of `least` columns on a narrower terminal. */
struct page terminal_page(FILE *out, unsigned least);

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

/* Detach only our own attachment: another process may have detached and attached again. */
int detach_ours(const char *dir, const struct meta *, struct error *);

/* Print what is attached, and where. */
void attached_print(FILE *, const struct meta *, const char *label);
struct json;
void attached_meters(struct json *, const struct meta *);	/* "meters": […] */
void attached_json(FILE *, const struct meta *, const char *label);

#endif
