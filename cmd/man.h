/* SPDX-License-Identifier: GPL-2.0 */
/* What the man pages that the program makes have in common. */
#ifndef NICPROBE_CMD_MAN_H
#define NICPROBE_CMD_MAN_H

#include <stdio.h>

/* One sentence per line, wrapped; what mdoc(7) would take for a macro is escaped. */
void man_put(FILE *, const char *words);

#endif
