/* SPDX-License-Identifier: GPL-2.0 */
/* A trial kept in a file: what was measured, on what, and how; to compare another day's with. */
#ifndef NICPROBE_TRIAL_RECORD_H
#define NICPROBE_TRIAL_RECORD_H

#include "trial/stats/series.h"

#define RECORD_VERSION	1	/* of the document: "nicprobe_baseline" */
#define SETTINGS_MAX	32

/* An option of the trial that figures depend on. */
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
	struct series *series;
	char units[FIGURES_MAX][16];	/* those of figures that were read from a file */
};

/* Empty but for time and machine: iface, driver, scenario, settings and series are the caller's. */
int record_start(struct record *);		/* 0; -ENOMEM and a complaint */
/* A setting with its value; those beyond SETTINGS_MAX are an error of the program. */
__attribute__((format(printf, 3, 4)))
void record_set(struct record *, const char *name, const char *value, ...);
void record_free(struct record *);

/* 0; or -errno and a complaint: it could not be written there. Asked before a trial is run. */
int record_can_write(const char *path);
/* Replaces the file when all is written, or leaves the old one. 0; or -errno and a complaint. */
int record_write(const struct record *, const char *path);
/* 0; or -errno and a complaint: -EBADMSG, it is no such document. record_free() in any case. */
int record_read(struct record *, const char *path);

#endif
