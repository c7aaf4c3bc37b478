/* SPDX-License-Identifier: GPL-2.0 */
/* Libraries that few commands need, loaded when one does: each delays the start of all commands. */
#ifndef NICPROBE_LATE_H
#define NICPROBE_LATE_H

#include <stddef.h>

struct error;

struct late_symbol {
	const char *name;		/* of a function or variable */
	size_t at;			/* in a struct: where its address goes */
};

struct late {
	const char *library;		/* "libmicrohttpd.so.12": whose header we are built with */
	const char *package;
	const char *what;		/* it does: "serves HTTP" */
	const struct late_symbol *symbols;	/* ends with {} */
};

/* Fills the struct `to`. 0; -ENOENT and an error: it is not installed, or another version. */
int late_load(const struct late *, void *to, struct error *);

#endif
