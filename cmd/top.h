/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe top: where its files meet. */
#ifndef NICPROBE_CMD_TOP_H
#define NICPROBE_CMD_TOP_H

#include "cmd/cmd.h"
#include "top/ui.h"

/* What was asked for. */
struct top_request {
	double interval;		/* seconds from one moment to the next */
	unsigned count;			/* moments; 0: until it is ended */
	bool batch;
	char **ifaces;			/* as typed, ends with NULL; none: all */
	const char *from, *at;		/* a recording, and a time in it; NULL: what is now */
};

/* The running kernel as a source. 0, or -errno and an error: no such interface. */
int live_begin(struct top_source *, char **ifaces, struct error *);
void live_end(struct top_source *);

/* A recording as a source. 0, or -errno and a sentence. */
int replay_begin(struct top_source *, const struct top_request *, struct error *);
void replay_end(struct top_source *);
/* What of it could not be read; "": all was. */
const char *replay_damage(const struct top_source *);
/* ns from the moment that was read last to the next one; 0: it was the last. */
uint64_t replay_step(const struct top_source *);
/* The next one to read is so much further, or the last. How much that is; 0: there is none. */
double replay_further(struct top_source *, double seconds);
/* Makes the model that of another moment. 0, or -errno and why it stays where it is. */
int replay_go(struct model *, const struct ui_go *, struct error *);

/*
 * Attachments that end with this process, even if it is killed: a child holds each, and detaches it
 * when the pipe from here closes.
 */
struct top_held;
/* Begins to attach `label` (NETNS/IFACE); it goes on beside. 0 or -errno. */
int held_attach(const char *label, bool for_good, struct error *);
/* Does top hold this interface, or is it about to? */
bool held_has(const char *label);
/* Lets go: detached, or (`keep`) attached for good. False: top does not hold it. */
bool held_release(const char *label, bool keep);
/* What children have said since: a sentence; false: nothing new. `urgent`: it is an error. */
bool held_said(char *what, size_t size, bool *urgent);
/* Descriptors to poll, at most `most`; their number. */
struct pollfd;
unsigned held_poll(struct pollfd *, unsigned most);
/* Ends all; waits until they are detached. False after printing an error. */
bool held_end(void);

/* The terminal: until `q` or a signal. The exit status. */
int screen_run(const struct top_request *, struct model *, struct error *);
/* Plain lines. The exit status. */
int batch_run(const struct top_request *, struct model *);

#endif
