/* SPDX-License-Identifier: GPL-2.0 */
/* Runs a shell command of the user and reports how it failed. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "trial/load/generator.h"
#include "trial/scenario/watch.h"
#include "trial/stats/shell.h"

#define SHOWN 120	/* bytes of a command or of its output in an error message */

/* The last line of the file, without control characters; "": none. */
static const char *last_line(int fd)
{
	char end[1024];
	off_t size = lseek(fd, 0, SEEK_END);
	off_t from = size > (off_t)sizeof(end) - 1 ? size - (off_t)sizeof(end) + 1 : 0;
	ssize_t got = pread(fd, end, sizeof(end) - 1, from);
	char *line;

	while (got > 0 && strchr("\n\r\t ", end[got - 1]))
		got--;
	if (got <= 0)
		return "";
	end[got] = '\0';
	line = strrchr(end, '\n');
	line = line ? line + 1 : end;
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	return text("%.*s", SHOWN, line);
}

static const int ours[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD };

/* In the child: resets signals and descriptors, and returns to the original mount namespace. */
static void become(const char *command, int errors)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	setpgid(0, 0);
	for (unsigned i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		signal(ours[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	if (!watch_outside())
		execl("/bin/sh", "sh", "-c", command, NULL);
	dprintf(STDERR_FILENO, "cannot start a shell: %s\n", strerror(errno));
	_exit(127);
}

/* Does the child end within the time? Signals do not interrupt the wait. */
static bool ends(pid_t child, double seconds)
{
	struct pollfd p = { .fd = syscall(SYS_pidfd_open, child, 0), .events = POLLIN };
	double until = seconds_now() + seconds, left;
	int got = 0;

	while (p.fd >= 0 && got <= 0 && (left = until - seconds_now()) > 0)
		got = poll(&p, 1, left * 1000 + 1);
	if (p.fd >= 0)
		close(p.fd);
	return got > 0;
}

static int ended_badly(const char *what, const char *command, int status, int errors,
		       struct error *e)
{
	const char *said = last_line(errors), *how;

	if (WIFSIGNALED(status))
		how = text("was killed by signal %d (%s)", WTERMSIG(status),
			   strsignal(WTERMSIG(status)));
	else
		how = text("exited with status %d", WEXITSTATUS(status));
	return error_set(e, -ECHILD, NULL, "%s %s%s%s%s: %.*s", what, how, *said ? ", with \"" : "",
			 said, *said ? "\"" : "", SHOWN, command);
}

int shell_run(const char *what, const char *command, double seconds, struct error *e)
{
	int errors = memfd_create("errors", MFD_CLOEXEC), status, err = 0;
	pid_t child;

	if (errors < 0)
		return error_set(e, -errno, NULL, "cannot run %s: %s", what, strerror(errno));
	child = fork();
	if (!child)
		become(command, errors);
	if (child < 0) {
		err = error_set(e, -errno, NULL, "cannot run %s with /bin/sh: %s", what,
				strerror(errno));
		goto out;
	}
	if (!ends(child, seconds)) {
		kill(-child, SIGKILL);
		err = error_set(e, -ETIME, NULL, "%s did not end within %g s, and was killed: %.*s",
				what, seconds, SHOWN, command);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!err && status)
		err = ended_badly(what, command, status, errors, e);
out:
	close(errors);
	return err;
}
