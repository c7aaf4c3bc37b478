/* SPDX-License-Identifier: GPL-2.0 */
/* The counters of the kernel's protocols, as nstat names them. */
#ifndef NICPROBE_NSTAT_H
#define NICPROBE_NSTAT_H

#include <stdint.h>

/*
 * Calls `fn` for each of /proc/net/snmp, netstat and snmp6, of the namespace the process is in,
 * that is not 0: "TcpExtListenDrops". Ends with the first value of `fn` that is not 0, and
 * returns it.
 */
int nstat_each(int (*fn)(const char *name, uint64_t value, void *arg), void *arg);
/* The same for a file with a name and a value per line. */
int nstat_list_each(const char *path, int (*fn)(const char *name, uint64_t value, void *arg),
		    void *arg);

#endif
