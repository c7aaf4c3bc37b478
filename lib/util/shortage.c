/* SPDX-License-Identifier: GPL-2.0 */
/* A temporary shortage of this process, which says nothing about the kernel's features. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "lib/util/shortage.h"

static const int shortages[] = { EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR };
static struct error noted;	/* of the process: see shortage.h */

bool is_shortage(int err)
{
	for (unsigned i = 0; i < sizeof(shortages) / sizeof(*shortages); i++)
		if (err == shortages[i])
			return true;
	return false;
}

static const char *remedy(int err)
{
	return err == EMFILE ? "ulimit -n 1024" :
	       err == ENOMEM ? "end what uses the memory, or raise ulimit -v" :
	       err == ENFILE ? "sysctl fs.file-max" :
	       is_shortage(err) ? "the same command again" : "";
}

void shortage_note(int err, const char *try, const char *what, ...)
{
	va_list args;

	if (noted.err)
		return;
	noted.err = -err;
	snprintf(noted.try, sizeof(noted.try), "%s", try ?: remedy(err));
	va_start(args, what);
	vsnprintf(noted.what, sizeof(noted.what), what, args);
	va_end(args);
}

void short_of(int err, const char *what)
{
	if (is_shortage(err))
		shortage_note(err, NULL, "cannot %s: %s", what, strerror(err));
}

bool shortage_unmapped(const void *variables)
{
	if (!variables)
		shortage_note(EAGAIN, NULL, "libbpf cannot map the variables of a program: a "
			      "system call failed");
	return !variables;
}

void shortage_read(const char *message)
{
	for (unsigned i = 0; i < sizeof(shortages) / sizeof(*shortages); i++)
		if (strstr(message, strerror(shortages[i])))
			shortage_note(shortages[i], NULL, "a system call failed: %s",
				      strerror(shortages[i]));
	/* libbpf hides the cause behind ESRCH; if the file exists, it is not the cause */
	if (strstr(message, "Error loading vmlinux BTF") &&
	    !access("/sys/kernel/btf/vmlinux", F_OK))
		shortage_note(ENOMEM, NULL, "libbpf cannot load the types (BTF) of this kernel: "
			      "out of memory, or not readable");
}

void shortage_forget(void)
{
	noted = (struct error){};
}

int shortage(struct error *e)
{
	if (noted.err && e)
		*e = noted;
	return noted.err;
}
