/* SPDX-License-Identifier: GPL-2.0 */
/* Sources that are functions of the kernel, and the functions of its timers. */
#ifndef NICPROBE_PROBES_FUNCTIONS_H
#define NICPROBE_PROBES_FUNCTIONS_H

#include <stdbool.h>

#include "probes/probe_event.h"
#include "probes/told.h"

bool source_is_function(enum source);
/* Why events cannot be seen at the functions of this source; NULL: they can. */
const char *functions_lack(enum source);
/* Where the kernel has the function that runs when such a timer runs out; 0: it is not told. */
__u64 timer_function(enum tcp_timer);
const char *timers_lack(void);		/* NULL: all of them are known */

#endif
