/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether probes at the return of a process's functions are harmless to it. On x86-64 since Linux
 * 6.11 the probed process makes a system call as the function returns, uretprobe(). Filters of
 * system calls (seccomp: containers, sandboxes, services) do not know it, and a process whose call
 * they refuse crashes. Since 6.14, 6.13.3 and 6.12.14 the kernel lets it pass whatever they say.
 * On arm64 the unwinder of libgcc reads the code at a return address that it does not know. That is
 * the kernel's page for probes then, which is executable only (kernel/events/uprobes.c, 6.1 to
 * 6.18): where the CPU can forbid to read such pages (FEAT_PAN3), a thread that is cancelled or
 * makes a backtrace in a probed function crashes.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/kernel/feature.h"
#include "lib/kernel/uretprobe.h"

#define CALL	335	/* __NR_uretprobe of x86-64 */

const char *uretprobe_judge(enum uretprobe_call plain, enum uretprobe_call filtered)
{
	if (plain == URETPROBE_NONE || (plain == URETPROBE_STOPPED && filtered == plain))
		return NULL;
	if (filtered == URETPROBE_REFUSED)
		return "on this kernel return probes crash processes whose system calls are "
		       "filtered, as in containers (fixed in 6.12.14, 6.13.3 and 6.14)";
	return "whether return probes are harmless to processes whose system calls are filtered "
	       "could not be found out";
}

const char *uretprobe_judge_page(enum uretprobe_page page)
{
	if (page == URETPROBE_READ)
		return NULL;
	return page == URETPROBE_UNREADABLE ?
	       "on this CPU return probes crash processes that unwind their stack in a probed "
	       "function, as a cancelled thread does: pages of code alone cannot be read" :
	       "whether return probes are harmless to processes that unwind their stack could "
	       "not be found out";
}

static int waited(pid_t pid)	/* its status, or -1 */
{
	int status;

	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

#if defined(__x86_64__)

static int refuse_the_call(void)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALL, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(insns) / sizeof(*insns), insns };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ?:
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static void child(bool filtered)
{
	prctl(PR_SET_DUMPABLE, 0);	/* it leaves no core */
	signal(SIGILL, SIG_DFL);
	if (filtered && refuse_the_call())
		_exit(errno == EINVAL ? URETPROBE_STOPPED :	/* a kernel without seccomp */
		      URETPROBE_UNKNOWN);
	syscall(CALL);
	_exit(errno == ENOSYS ? URETPROBE_NONE : URETPROBE_REFUSED);
}

static enum uretprobe_call tried(bool filtered)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		child(filtered);
	status = waited(pid);
	if (status < 0)
		return URETPROBE_UNKNOWN;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return WTERMSIG(status) == SIGILL ? URETPROBE_STOPPED : URETPROBE_REFUSED;
}

const char *uretprobe_harms(void)
{
	static const char *why;
	static bool known;

	if (!known)
		why = uretprobe_judge(tried(false), tried(true));
	known = true;
	return denied("uretprobe") ?: why;
}

#elif defined(__aarch64__)

static void child(void)
{
	const volatile char *page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_EXEC,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	prctl(PR_SET_DUMPABLE, 0);	/* it leaves no core */
	signal(SIGSEGV, SIG_DFL);
	_exit(page == MAP_FAILED ? URETPROBE_PAGE_UNKNOWN :
	      *page ? URETPROBE_PAGE_UNKNOWN : URETPROBE_READ);
}

static enum uretprobe_page tried(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		child();
	status = waited(pid);
	if (status < 0)
		return URETPROBE_PAGE_UNKNOWN;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return WTERMSIG(status) == SIGSEGV ? URETPROBE_UNREADABLE : URETPROBE_PAGE_UNKNOWN;
}

const char *uretprobe_harms(void)
{
	static const char *why;
	static bool known;

	if (!known)
		why = uretprobe_judge_page(tried());
	known = true;
	return denied("uretprobe") ?: why;
}

#else

const char *uretprobe_harms(void)
{
	return NULL;
}

#endif
