/* SPDX-License-Identifier: GPL-2.0 */
/* The section "hw": what an interface is made of, in each format. */
#ifndef NICPROBE_RENDER_HW_H
#define NICPROBE_RENDER_HW_H

#include "lib/hw/hw.h"
#include "render/json_writer.h"
#include "render/text.h"

#define HW_CELL	96	/* "virtio2-input.0..63", "0,2..62" */

void hw_table(struct page *, const struct hw *);
/* Its parts: RSS, offloads, NAPI; queues and interrupts. */
void hw_steering_table(struct page *, const struct hw *);
void hw_queues_table(struct page *, const struct hw *);

#define HW_COLUMN 14	/* of a page, where what is said begins */
/* Begins a line; and one more of a list there, but the first has no comma before it. */
void hw_key(struct page *, const char *key);
void hw_item(struct page *, bool *any, const char *what);

void hw_json(struct json *, const struct hw *);	/* the keys of "hw", which is open */

struct metrics_out;
struct snapshot;
/* Of all those that have one. */
void hw_openmetrics(const struct metrics_out *, const struct snapshot *const *, unsigned nr);

/* "full", "FIBRE", "RS"; "": not known. */
const char *hw_duplex(const struct hw *);
const char *hw_port(const struct hw *);
const char *hw_fec(const struct hw *);
/* Mbit/s; 0: not known */
unsigned long hw_speed(const struct hw *);
/* What a span of lines has in common, with "a..b" for one each. */
void hw_numbers(char cell[HW_CELL], unsigned first, unsigned step, unsigned nr);
void hw_cpus(char cell[HW_CELL], const struct hw *, const struct hw_span *, size_t at,
	     const struct hw_follow *);
void hw_vector(char cell[HW_CELL], const struct hw *, const struct hw_span *);
void hw_queues(char cell[HW_CELL], const struct hw *, const struct hw_span *);

#endif
