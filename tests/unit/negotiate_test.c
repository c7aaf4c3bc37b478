/* SPDX-License-Identifier: GPL-2.0 */
/* What clients accept, by their headers. */
#define SUBJECT "negotiate: "

#include "serve/negotiate.h"
#include "check.h"

static void formats(void)
{
	/* Prometheus 2.42 and 3.0, curl, a browser */
	holds(accepts_openmetrics("application/openmetrics-text;version=1.0.0,"
				  "application/openmetrics-text;version=0.0.1;q=0.75,"
				  "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
	      "Prometheus 2.42 gets OpenMetrics");
	holds(accepts_openmetrics("application/openmetrics-text;version=1.0.0;"
				  "escaping=allow-utf-8;q=0.6,"
				  "application/openmetrics-text;version=0.0.1;q=0.5,"
				  "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
				  "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"),
	      "Prometheus 3.0 does, too");
	holds(!accepts_openmetrics("*/*"), "curl gets text");
	holds(!accepts_openmetrics("text/html,application/xhtml+xml,*/*;q=0.8"),
	      "a browser does, too");
	holds(!accepts_openmetrics(NULL), "without a header it is text");
	holds(!accepts_openmetrics(""), "with an empty one, too");
	holds(accepts_openmetrics("application/openmetrics-text"), "OpenMetrics without a version");
	holds(accepts_openmetrics(" text/plain ; q=0.5 ,\tApplication/OpenMetrics-Text ; q=0.6 "),
	      "weights, spaces and upper case");
	holds(!accepts_openmetrics("application/openmetrics-text;q=0.5,text/plain"),
	      "text is preferred");
	holds(!accepts_openmetrics("application/openmetrics-text;q=0"),
	      "OpenMetrics with weight 0");
	holds(!accepts_openmetrics("application/openmetrics-text;version=0.0.1"),
	      "an OpenMetrics that is older");
	/* the closest range has the say, wherever it stands */
	holds(accepts_openmetrics("text/plain;q=0.2,application/openmetrics-text;q=0.5,*/*"),
	      "the closest range counts: text");
	holds(!accepts_openmetrics("*/*;q=0.1,text/plain;q=0.9,application/openmetrics-text;q=0.5"),
	      "the closest range counts, last");
	holds(!accepts_openmetrics("application/json"), "neither of both is text");
	holds(!accepts_openmetrics(",;,;;q=,q=1;=,application/openmetrics-text;q=x"),
	      "a header that is none");
}

static void packings(void)
{
	holds(accepts_gzip("gzip"), "gzip");
	holds(accepts_gzip("deflate, gzip;q=0.5"), "gzip of several");
	holds(accepts_gzip("br, *"), "gzip as any");
	holds(!accepts_gzip("*, gzip;q=0"), "gzip excluded");
	holds(!accepts_gzip("identity"), "no packing");
	holds(!accepts_gzip("gzip;q=0.0"), "gzip with weight 0");
	holds(!accepts_gzip(NULL), "no header");
	holds(!accepts_gzip(""), "an empty header");
	holds(!accepts_gzip("gzipped"), "another word");
}

int main(void)
{
	formats();
	packings();
	return failed > 0;
}
