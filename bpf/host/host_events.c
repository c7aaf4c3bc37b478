/* SPDX-License-Identifier: GPL-2.0 */
/* The shared object of the host's meters. */
#include "lib/core/event.h"
#include "host_events.skel.h"

const void *(*const host_elf)(size_t *) = host_events_bpf__elf_bytes;
