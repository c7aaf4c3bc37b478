/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe host: where its lines come from, and how they are printed. */
#ifndef NICPROBE_CMD_HOST_H
#define NICPROBE_CMD_HOST_H

#include <stdbool.h>

#include "bpf/host/lines.h"

struct page;

/*
 * Lines of bind() and connect(), as nicprobe trace sees these calls, of the present namespace until
 * calls_end(). NULL: an error.
 */
struct calls;
struct calls *calls_begin(enum host_event, void (*tell)(const struct host_line *, void *arg),
			  void *arg, struct error *);
int calls_poll(struct calls *, int ms);		/* as lines_poll() */
void calls_detach(struct calls *);
void calls_lost_tell(const struct calls *, const struct page *as);	/* if any were lost */
void calls_end(struct calls *);

/* The columns that fit, by their headings; a line below them; the same as an object of JSON. */
void host_heads(struct page *, enum host_event);
void host_print(struct page *, enum host_event, const struct host_line *);
void host_print_json(enum host_event, const struct host_line *);
/*
 * What a line calls its end, of those that have one; its side; a state; the state of its congestion
 * control; what keeps it from sending. NULL: none.
 */
const char *line_end(enum host_event, const struct host_line *);
const char *line_side(const struct host_line *);
const char *line_state(__u32 state);
const char *line_congestion(const struct host_line *);
const char *line_limit(const struct host_line *);
bool line_has_remote(const struct host_line *);
bool line_has_local(const struct host_line *);		/* sockets of other families have none */

/* Who had sessions with whom: adds one; prints all as a graph. False: no memory. */
bool host_dot_add(const struct host_line *);
void host_dot_print(void);

#endif
