/* SPDX-License-Identifier: GPL-2.0 */
/* All that a report takes from one file: nothing of it needs the file any more. */
#ifndef NICPROBE_REPORT_ACCOUNT_H
#define NICPROBE_REPORT_ACCOUNT_H

#include "report/course.h"

struct error;

struct file_account {
	const char *path;
	struct run_about about;
	char damage[256];
	unsigned nr;
	struct course *list;		/* one for each interface */
	unsigned nr_events;
	struct recorded_event *events;
	unsigned nr_left;		/* interfaces that have no window, and why */
	struct { char name[96], why[300]; } *left;
};

/* How a file is read: it is one of so many, and it may take long. */
struct account_how {
	unsigned files;
	void (*progress)(double part);	/* 0 to 1 of an interface are read */
};

/*
 * Reads the last run of each interface. 0; or -errno and a sentence: it cannot be read, or no
 * interface has a window. account_free() in any case.
 */
int account_read(struct file_account *, const char *path, const struct account_how *,
		 struct error *);
void account_free(struct file_account *);

/* The meters of a window as tables, and what it does not see. */
void account_tables(struct course *, const struct snapshot *);

#endif
