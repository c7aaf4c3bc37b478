/* SPDX-License-Identifier: GPL-2.0 */
/* How findings read, for people and for programs. */
#ifndef NICPROBE_RENDER_FINDINGS_H
#define NICPROBE_RENDER_FINDINGS_H

#include "lib/read/snapshot.h"
#include "render/json_writer.h"
#include "render/text.h"

/* Worst first, each with what to try; those that follow from one beneath it. */
void findings_table(struct page *, const struct snapshot *);
/* The list "findings" of the document. */
void findings_json(struct json *, const struct snapshot *);

#endif
