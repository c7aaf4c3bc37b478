/* SPDX-License-Identifier: GPL-2.0 */
/* A command that is run while something is measured, and the signals that end both. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/child.h"
#include "cmd/cmd.h"
#include "lib/net/iface.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

static volatile pid_t child;
static volatile sig_atomic_t early;	/* a signal that arrived before the command started */

/* Ctrl-C reaches the command through the terminal; forward signals sent only to us. */
static void hand_on(int signal)
{
	if (!child)
		early = signal;
	else if (signal != SIGINT && signal != SIGQUIT)
		kill(child, signal);
}

static void signals_to(void (*handler)(int))
{
	static const int taken[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	for (unsigned i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		sigaction(taken[i], &action, NULL);
	/* detach must happen even if the reader of our output goes away, or a file may not grow */
	signal(SIGPIPE, handler == SIG_DFL ? SIG_DFL : SIG_IGN);
	signal(SIGXFSZ, handler == SIG_DFL ? SIG_DFL : SIG_IGN);
}

void signals_ready(void)
{
	signals_to(hand_on);
}

int child_wait(void)
{
	sigset_t all, before;

	tell("counting until Ctrl-C");
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	while (!early)
		sigsuspend(&before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return early == SIGINT ? EXIT_SUCCESS : 128 + early;
}

int child_start(char **argv)
{
	struct error e = {};
	sigset_t all, before;
	int err;

	/* A signal that arrived during attach also keeps the command from starting. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	if (!early)
		child = fork();
	if (!early && !child)
		signals_to(SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (early)
		return 128 + early;
	if (child < 0) {
		child = 0;
		error_set(&e, -errno, NULL, "cannot start %s: %s", *argv, strerror(errno));
		return failed(&e);
	}
	if (!child) {
		if (measured_netns && netns_enter_inode(measured_netns, &e)) {
			failed(&e);
			_exit(126);
		}
		execvp(*argv, argv);
		err = errno;
		tell(text("cannot run %s: %s", *argv, strerror(err)));
		_exit(err == ENOENT ? 127 : 126);
	}
	return 0;
}

static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool child_ended(int *result)
{
	int status;

	if (waitpid(child, &status, WNOHANG) != child)
		return false;
	child = 0;
	*result = shell_status(status);
	return true;
}

int child_end(void)
{
	int status;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	child = 0;
	return shell_status(status);
}

int child_run(char **argv)
{
	int status = child_start(argv);

	return status ?: child_end();
}

int child_signal(void)
{
	return early;
}

static int file_wrong(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	return S_ISDIR(st.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? EACCES : 0;
}

int child_wrong(const char *name)
{
	char *dirs = strdupa(getenv("PATH") ?: "/bin:/usr/bin"), *dir;
	int wrong = ENOENT, err;

	if (strchr(name, '/'))
		return file_wrong(name);
	while ((dir = strsep(&dirs, ":"))) {
		err = file_wrong(text("%s/%s", *dir ? dir : ".", name));
		if (!err)
			return 0;
		if (err == EACCES)
			wrong = err;
	}
	return wrong;
}
