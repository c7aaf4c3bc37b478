/* SPDX-License-Identifier: GPL-2.0 */
/* What a client accepts, by the headers of its request. */
#ifndef NICPROBE_NEGOTIATE_H
#define NICPROBE_NEGOTIATE_H

#include <stdbool.h>

/*
 * The value of the header Accept; NULL: there is none. Does the client prefer OpenMetrics 1.0 to
 * Prometheus' text format? Who accepts neither gets the latter, as of Prometheus' own libraries.
 */
bool accepts_openmetrics(const char *accept);
/* The value of Accept-Encoding; NULL: there is none. */
bool accepts_gzip(const char *encoding);

#endif
