/* SPDX-License-Identifier: GPL-2.0 */
/* Findings as text and as JSON. */
#ifndef NICPROBE_RENDER_FINDINGS_H
#define NICPROBE_RENDER_FINDINGS_H

#include "lib/read/snapshot.h"
#include "render/json_writer.h"
#include "render/text.h"

/* Worst first, each with its remedy; findings that follow from another beneath it. */
void findings_table(struct page *, const struct snapshot *);
/* The array "findings" of the document. */
void findings_json(struct json *, const struct snapshot *);

#endif
