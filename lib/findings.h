/* SPDX-License-Identifier: GPL-2.0 */
/* Sentences: what is wrong, and what to try. */
#ifndef NICPROBE_FINDINGS_H
#define NICPROBE_FINDINGS_H

#define MAX_FINDINGS 32

struct finding {
	const char *meter;
	char what[200];		/* "queue 0 carries 91% of the packets" */
	char try[200];		/* "ethtool -X eth0 equal 4" */
};

struct findings {
	unsigned nr;
	struct finding list[MAX_FINDINGS];
};

/* Past MAX_FINDINGS they are dropped: nobody reads the 33rd. */
__attribute__((format(printf, 4, 5)))
void finding(struct findings *, const char *meter, const char *try, const char *what, ...);

#endif
