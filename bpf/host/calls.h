/* SPDX-License-Identifier: GPL-2.0 */
/* Meters that follow system calls. */
#ifndef NICPROBE_CALLS_H
#define NICPROBE_CALLS_H

/* Why this kernel, or this machine, does not show them; NULL: it does. */
const char *calls_cannot(void);

#endif
