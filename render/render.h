/* SPDX-License-Identifier: GPL-2.0 */
/* Output formats for snapshots, one per file. */
#ifndef NICPROBE_RENDER_H
#define NICPROBE_RENDER_H

#include <stdbool.h>
#include <stdio.h>

struct snapshot;

struct look {
	unsigned width;		/* columns of the terminal; 80 if there is none */
	bool colour;
	bool utf8;
	bool brief;		/* tables: a line or two per meter, without queues */
	bool queues;		/* every queue, however many there are */
	unsigned each;		/* openmetrics: 1 << EACH_x of series.h */
	unsigned unread;	/* attached interfaces that could not be read */
	/* of totals: the windows that their findings are of, in the same order; NULL: none */
	const struct snapshot *const *windows;
};

struct renderer {
	const char *name;	/* for -f */
	const char *help;
	/* Before the first and after the last snapshot of one output; NULL: nothing. */
	void (*begin)(FILE *, const struct look *);
	void (*one)(FILE *, const struct snapshot *, const struct look *);
	void (*end)(FILE *, const struct look *);
	/* All at once, for formats that group by metric; `one` is NULL then. */
	void (*all)(FILE *, const struct snapshot *const *, unsigned nr, const struct look *);
};

/* Every output format. A new format needs a file and an entry here. */
#define RENDERERS(R) R(table) R(json) R(openmetrics) R(prometheus)
#define R(name) extern const struct renderer renderer_##name;
RENDERERS(R)
#undef R

#endif
