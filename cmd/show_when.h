/* SPDX-License-Identifier: GPL-2.0 */
/* Times in a recording, as a user types them. */
#ifndef NICPROBE_CMD_SHOW_WHEN_H
#define NICPROBE_CMD_SHOW_WHEN_H

#include "cmd/show.h"
#include "record/recording.h"

/* Are options given that need --from? True after printing an error. */
bool show_from_lacks(const struct view *);
/* Fills v->from.at, .begin and .end. 0 or -errno and an error. */
int show_times(struct view *, const struct recording *);
/* One such time, counted from the end of the recording. 0 or -errno and an error. */
int show_when(const char *word, const struct recording *, uint64_t *ns, struct error *);
const char *show_when_text(uint64_t ns);	/* as text() */
/* Prints one event, as the format wants it. */
void show_event(const struct view *, const struct recorded_event *);

#endif
