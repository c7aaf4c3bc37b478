/* SPDX-License-Identifier: GPL-2.0 */
/* Gives up what this process may do beyond reading files and answering. */
#ifndef NICPROBE_SERVE_CONFINE_H
#define NICPROBE_SERVE_CONFINE_H

struct error;

/* Drops all capabilities, for this process and whatever it might start. 0 or -errno. */
int confine(struct error *);

#endif
