/* SPDX-License-Identifier: GPL-2.0 */
/* Findings as text and as JSON. */
#ifndef NICPROBE_RENDER_FINDINGS_H
#define NICPROBE_RENDER_FINDINGS_H

#include "lib/read/snapshot.h"
#include "render/json_writer.h"
#include "render/text.h"

/* Worst first, each with its remedy; findings that follow from another beneath it. */
void findings_table(struct page *, const struct snapshot *);
/* The same, with what each costs and the evidence; without those that are over. */
void findings_costs(struct page *, const struct snapshot *);
/* A line of sh that runs command `nr` of a finding in the namespace of the interface. */
void fix_shell(const struct snapshot *, const struct finding *, unsigned nr, char *line,
	       size_t size);	/* of 4 * FIX_ROOM */
/* "lost 618 packets", "share 22%": a number that a finding rests on, as text(). */
const char *finding_fact_text(const struct fact *);
/* The array "findings" of the document. */
void findings_json(struct json *, const struct snapshot *);

#endif
