/* SPDX-License-Identifier: GPL-2.0 */
/* What the meter sockmem counts of all sockets, for several subjects. */
#ifndef NICPROBE_FINDINGS_BUFFERS_H
#define NICPROBE_FINDINGS_BUFFERS_H

#include "bpf/sockmem/sockmem.h"
#include "findings/evidence.h"

/* The row of a protocol, by enum sockmem_of. NULL: there is none. */
const struct sockmem *sockets_all(const struct evidence *, unsigned protocol, unsigned of);

#endif
