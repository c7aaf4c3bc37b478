/* SPDX-License-Identifier: GPL-2.0 */
/* An error as a value: what failed, on what and why, and what to try. */
#ifndef NICPROBE_ERROR_H
#define NICPROBE_ERROR_H

/*
 * The caller owns it, begins with {} and passes it down; whoever finds the reason writes it. Of
 * several reasons the first is kept: later ones only follow from it. NULL is accepted everywhere
 * and means that the caller wants no words: then only the -errno comes back.
 */
struct error {
	int err;		/* the -errno of the reason; 0: there is none */
	char what[512];		/* a sentence; "": there is none */
	char try[256];		/* a command that may help; "": no suggestion */
};

/*
 * Writes the reason unless there is one already. `try` may be NULL. Returns `err`, a -errno.
 * A shortage is also noted as such, even without a struct error: see shortage.h.
 */
__attribute__((format(printf, 4, 5)))
int error_set(struct error *, int err, const char *try, const char *what, ...);
/* There is no reason any more: the next one counts. */
void error_forget(struct error *);
/* The sentence; "" if there is none, or the error is NULL. */
const char *error_what(const struct error *);

#endif
