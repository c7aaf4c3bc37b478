/* SPDX-License-Identifier: GPL-2.0 */
/* Holds back terminating signals while a change is half done. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/util/interrupt.h"

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* Except ignored ones (nohup): if blocked, they would stay pending and look like a request. */
static void each(void (*fn)(int signal))
{
	struct sigaction action;

	for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (!sigaction(signals[i], NULL, &action) && action.sa_handler != SIG_IGN)
			fn(signals[i]);
}

static sigset_t held;

static void hold(int signal)
{
	sigaddset(&held, signal);
}

void interrupts_hold(void)
{
	sigemptyset(&held);
	each(hold);
	sigprocmask(SIG_BLOCK, &held, NULL);
}

bool interrupted(void)
{
	sigset_t waiting;

	sigpending(&waiting);
	for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (sigismember(&held, signals[i]) == 1 && sigismember(&waiting, signals[i]) == 1)
			return true;
	return false;
}

void interrupts_release(void)
{
	sigprocmask(SIG_UNBLOCK, &held, NULL);
	sigemptyset(&held);
}

static void succeed(int signal)
{
	(void)signal;
	_exit(EXIT_SUCCESS);
}

static void let_succeed(int number)
{
	signal(number, succeed);
}

void interrupts_done(void)
{
	each(let_succeed);
	interrupts_release();
}
