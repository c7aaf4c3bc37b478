/* SPDX-License-Identifier: GPL-2.0 */
/* What can be done about packets that are dropped, by why they were. */
#include <stdint.h>

#include "../lib/snapshot.h"

struct remedy {
	const char *reason;		/* "NO_SOCKET"; ends with '*': all that begin so */
	uint64_t least;			/* fewer packets are not worth a word */
	const char *what;		/* after "N packets" */
	/* {if}: the interface; {sysctl}: its value now; {2*sysctl}: twice that */
	const char *try;
};
extern const struct remedy remedies[];	/* ends with an empty one */

/* Is it enough to be told? From so many on, and in the long run so many an hour. */
static inline bool worth_telling(const struct snapshot *s, uint64_t n, uint64_t least)
{
	return n >= least && n * 3600 >= least * s->seconds;
}

/* What other meters see of it, too. */
enum about remedy_about(const struct remedy *);

const struct remedy *remedy_of(const char *reason);	/* NULL: none known */
const char *remedy_text(const char *format, const struct snapshot *);
/* "3 packets were late" of what "packets were late"; "1 packet was late"; "1 time". */
const char *remedy_count(uint64_t n, const char *what);

/* Names that begin with `pattern` if it ends with '*', else that are it. */
bool pattern_fits(const char *pattern, const char *name);
