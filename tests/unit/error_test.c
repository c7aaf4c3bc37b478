/* SPDX-License-Identifier: GPL-2.0 */
/* Errors as values, and the process's note of a shortage. */
#include <errno.h>
#include <string.h>

#include "lib/util/error.h"
#include "lib/util/shortage.h"
#include "check.h"

static void check_reason(void)
{
	struct error e = {};

	check(!*e.what && !*e.try && !e.err, "none at first", e.what);
	same("returns err", error_set(&e, -ENOENT, "try it", "no %s", "luck"), -ENOENT);
	same("returns its own err", error_set(&e, -EPERM, "more", "later"), -EPERM);
	same_text("the first reason is kept", e.what, "no luck");
	same_text("with its suggestion", e.try, "try it");
	same("and its errno", e.err, -ENOENT);
	error_forget(&e);
	check(!*e.what && !*e.try && !e.err, "forgotten", e.what);
	error_set(&e, -EIO, NULL, "nothing known");
	same_text("the next reason counts", error_what(&e), "nothing known");
	same_text("no suggestion", e.try, "");
	error_forget(&e);
	error_set(&e, -EIO, "less", "%09999d", 1);
	same("a long reason is cut", strlen(e.what), sizeof(e.what) - 1);
}

static void check_null(void)
{
	same("NULL: only the errno", error_set(NULL, -EACCES, "try it", "no %s", "luck"), -EACCES);
	error_forget(NULL);
	same_text("NULL has no reason", error_what(NULL), "");
}

/* What one caller learns says nothing to another. */
static void check_isolated(void)
{
	struct error mine = {}, others = {};

	error_set(&others, -EPERM, "run it as root", "not permitted");
	error_set(&mine, -ENOENT, NULL, "not there");
	same_text("each has its own reason", mine.what, "not there");
	same_text("and suggestion", mine.try, "");
	error_forget(&mine);
	same_text("forgetting one keeps the other", others.what, "not permitted");
}

static void check_shortage(void)
{
	struct error e = {};

	same("no shortage at first", shortage(&e), 0);
	same_text("which is no reason", e.what, "");
	error_set(NULL, -EPERM, NULL, "not permitted");
	short_of(EACCES, "open FILE");
	same("other errors are none", shortage(&e), 0);
	error_set(NULL, -EMFILE, NULL, "cannot open %s", "it");
	short_of(ENOMEM, "open FILE");
	error_set(&e, -EOPNOTSUPP, "another hook", "this kernel lacks tcx");
	same("a shortage is noted without a struct error", shortage(NULL), -EMFILE);
	same("the first shortage is kept", shortage(&e), -EMFILE);
	same_text("it replaces the reason", e.what, "cannot open it");
	same_text("and says what to try", e.try, "ulimit -n 1024");
	shortage_forget();
	same("forgotten", shortage(&e), 0);
	short_of(EINTR, "open FILE");
	same("of a call", shortage(&e), -EINTR);
	check(!strncmp(e.what, "cannot open FILE: ", 18), "it names the call", e.what);
	shortage_forget();
	shortage_read("libbpf: failed to find '.BTF' ELF section");
	same("a message about something else", shortage(NULL), 0);
	shortage_read("map 'm': failed to create: Cannot allocate memory(-12)\nmore\n");
	same("a shortage in a message", shortage(&e), -ENOMEM);
	same_text("its words are not the library's", e.what,
		  "a system call failed: Cannot allocate memory");
	shortage_forget();
}

int main(void)
{
	check_reason();
	check_null();
	check_isolated();
	check_shortage();
	return failed > 0;
}
