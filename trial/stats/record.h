/* SPDX-License-Identifier: GPL-2.0 */
/* Saves a trial with its machine and settings to a file, as a baseline for later comparisons. */
#ifndef NICPROBE_TRIAL_RECORD_H
#define NICPROBE_TRIAL_RECORD_H

#include "trial/stats/rounds.h"

struct error;

#define RECORD_VERSION	1	/* of the document: "nicprobe_baseline" */
#define SETTINGS_MAX	32

/* An option of the trial that affects its figures. */
struct setting {
	char name[32], value[96];	/* "size", "64" */
};

struct record {
	char saved[32];			/* "2026-11-20T10:00:00Z" */
	char host[72], machine[72], cpu[128], kernel[136];
	unsigned cpus;
	char iface[32], driver[32];
	char scenario[96];
	struct setting settings[SETTINGS_MAX];
	unsigned nr_settings;
	struct rounds *series;
	char units[FIGURES_MAX][16];	/* storage for units of figures read from a file */
};

/* Fills time and machine; iface, driver, scenario, settings and series are up to the caller. */
int record_start(struct record *, struct error *);	/* 0; or -ENOMEM with an error message */
/* Adds a setting; more than SETTINGS_MAX are a bug: abort(). */
__attribute__((format(printf, 3, 4)))
void record_set(struct record *, const char *name, const char *value, ...);
void record_free(struct record *);

/* Checks before a trial whether the file can be written. 0; or -errno with an error message. */
int record_can_write(const char *path, struct error *);
/* Replaces the file atomically. 0; or -errno with an error message, and the old file stays. */
int record_write(const struct record *, const char *path, struct error *);
/*
 * 0; or -errno with an error message; -EBADMSG: not a valid baseline. Call record_free() in any
 * case.
 */
int record_read(struct record *, const char *path, struct error *);

#endif
