/* SPDX-License-Identifier: GPL-2.0 */
/* How OpenMetrics is written: labels and their values. */
#ifndef NICPROBE_RENDER_OPENMETRICS_H
#define NICPROBE_RENDER_OPENMETRICS_H

#include <stdio.h>

struct snapshot;

void openmetrics_escaped(FILE *, const char *);
/* "SAMPLE{interface=…,netns=…": the caller closes it. */
void openmetrics_labels(FILE *, const char *sample, const struct snapshot *);

#endif
