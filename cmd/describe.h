/* SPDX-License-Identifier: GPL-2.0 */
/* What nicprobe is made of, and what of it works here: nicprobe list -v. */
#ifndef NICPROBE_DESCRIBE_H
#define NICPROBE_DESCRIBE_H

struct page;

void describe(struct page *);
/* One object on stdout; its keys are in nicprobe(8). */
void describe_json(void);

#endif
