/* SPDX-License-Identifier: GPL-2.0 */
/* The section "hw": the card, its driver and their settings, in each format. */
#ifndef NICPROBE_RENDER_HW_H
#define NICPROBE_RENDER_HW_H

#include "lib/hw/hw.h"
#include "render/json_writer.h"
#include "render/text.h"

#define HW_CELL	96	/* "virtio2-input.0..63", "0,2..62" */

void hw_table(struct page *, const struct hw *);
/* Parts of hw_table(): RSS, offloads, NAPI; queues and interrupts. */
void hw_steering_table(struct page *, const struct hw *);
void hw_queues_table(struct page *, const struct hw *);

#define HW_COLUMN 14	/* column where values begin */
/* hw_key() begins a line; hw_item() adds an item to its list, with a comma unless the first. */
void hw_key(struct page *, const char *key);
void hw_item(struct page *, const char *what);

void hw_json(struct json *, const struct hw *);	/* adds keys to the open object "hw" */

struct metrics_out;
struct snapshot;
/* Metrics of all snapshots that have the section. */
void hw_openmetrics(const struct metrics_out *, const struct snapshot *const *, unsigned nr);

/* "full", "fibre", "RS"; "": unknown. */
const char *hw_duplex(const struct hw *);
const char *hw_port(const struct hw *);
const char *hw_fec(const struct hw *);
/* Cells for a span of lines; "a..b" stands for one value per line. */
void hw_numbers(char cell[HW_CELL], unsigned first, unsigned step, unsigned nr);
void hw_cpus(char cell[HW_CELL], const struct hw *, const struct hw_span *, size_t at,
	     const struct hw_follow *);
void hw_vector(char cell[HW_CELL], const struct hw *, const struct hw_span *);
void hw_queues(char cell[HW_CELL], const struct hw *, const struct hw_span *);

#endif
