/* SPDX-License-Identifier: GPL-2.0 */
/* Prints the begin or the end of a scan to standard output. */
#ifndef NICPROBE_CMD_WIFI_H
#define NICPROBE_CMD_WIFI_H

struct look;
struct wifi_scan;

void wifi_print(const struct wifi_scan *, const struct look *);
void wifi_print_json(const struct wifi_scan *);		/* one line */

#endif
