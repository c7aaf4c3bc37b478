/* SPDX-License-Identifier: GPL-2.0 */
/* Findings in a recording: as they were made then, on the machine itself. */
#ifndef NICPROBE_RECORD_TOLD_H
#define NICPROBE_RECORD_TOLD_H

#include "lib/read/findings.h"
#include "record/bytes.h"

/* `before`: those of the frame before, whose words need not be said again. */
void told_put(struct bytes *, const struct findings *, const struct findings *before);
/* Those of kinds that this version has. False: they are damaged. */
bool told_take(struct findings *, const struct findings *before, struct reading_of *);

#endif
