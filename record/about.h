/* SPDX-License-Identifier: GPL-2.0 */
/* What a recording says of an interface besides its figures: names, queues, hooks, settings. */
#ifndef NICPROBE_RECORD_ABOUT_H
#define NICPROBE_RECORD_ABOUT_H

#include "lib/read/snapshot.h"
#include "record/bytes.h"

void about_put(struct bytes *, const struct snapshot *);
/* Into a snapshot that has nothing yet. False: it is damaged, or says what cannot be. */
bool about_take(struct snapshot *, struct reading_of *);

#endif
