/* SPDX-License-Identifier: GPL-2.0 */
/* Writes HTML and SVG: what comes from elsewhere is escaped unless it says that it is markup. */
#ifndef NICPROBE_REPORT_HTML_H
#define NICPROBE_REPORT_HTML_H

#include <stdio.h>

/* A text between tags or in quotes: the five characters of markup, and what is no text, escaped. */
void html_text(FILE *, const char *s);

/*
 * As fprintf(), of which %s is escaped, and nothing else is a text: %d %u %x %c %f %g and their
 * like, with l, ll and z, and with digits for the width.
 */
__attribute__((format(printf, 2, 3)))
void html(FILE *, const char *markup, ...);

#endif
