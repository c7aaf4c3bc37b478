/* SPDX-License-Identifier: GPL-2.0 */
/* How a snapshot looks: one file a format. */
#ifndef NICPROBE_RENDER_H
#define NICPROBE_RENDER_H

#include <stdbool.h>
#include <stdio.h>

struct snapshot;

struct look {
	unsigned width;		/* columns of the terminal; 80 where there is none */
	bool colour;
	bool utf8;
	bool brief;		/* tables: a line or two of each meter, and no queues */
	bool queues;		/* each queue, however many there are */
	unsigned each;		/* openmetrics: 1 << EACH_x of series.h */
	unsigned unread;	/* interfaces that are attached, and could not be read */
};

struct renderer {
	const char *name;	/* what -f takes */
	const char *help;
	/* Before the first and after the last snapshot of one output; NULL: nothing. */
	void (*begin)(FILE *, const struct look *);
	void (*one)(FILE *, const struct snapshot *, const struct look *);
	void (*end)(FILE *, const struct look *);
	/* All at once, where the format groups by metric, not by interface; then `one` is NULL. */
	void (*all)(FILE *, const struct snapshot *const *, unsigned nr, const struct look *);
};

/* Every output format. A new one is a file and a line here. */
#define RENDERERS(R) R(table) R(json) R(openmetrics) R(prometheus)
#define R(name) extern const struct renderer renderer_##name;
RENDERERS(R)
#undef R

#endif
