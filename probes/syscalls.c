/* SPDX-License-Identifier: GPL-2.0 */
/* The system calls of the machine that this was built for, by name and number. */
#include <asm/unistd.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/list.h"
#include "lib/util/near.h"
#include "probes/syscalls.h"

/* All names. The headers have no number for those that this machine, or their release, lacks. */
#define CALLS(C) \
	C(_sysctl) C(accept) C(accept4) C(access) C(acct) C(add_key) C(adjtimex) \
	C(afs_syscall) C(alarm) C(arch_prctl) C(bind) C(bpf) C(brk) C(cachestat) \
	C(capget) C(capset) C(chdir) C(chmod) C(chown) C(chroot) C(clock_adjtime) \
	C(clock_adjtime64) C(clock_getres) C(clock_gettime) C(clock_gettime64) \
	C(clock_nanosleep) C(clock_settime) C(clock_settime64) C(clone) C(clone3) \
	C(close) C(close_range) C(connect) C(copy_file_range) C(creat) C(create_module) \
	C(delete_module) C(dup) C(dup2) C(dup3) C(epoll_create) C(epoll_create1) \
	C(epoll_ctl) C(epoll_ctl_old) C(epoll_pwait) C(epoll_pwait2) C(epoll_wait) \
	C(epoll_wait_old) C(eventfd) C(eventfd2) C(execve) C(execveat) C(exit) \
	C(exit_group) C(faccessat) C(faccessat2) C(fadvise64) C(fallocate) \
	C(fanotify_init) C(fanotify_mark) C(fchdir) C(fchmod) C(fchmodat) C(fchmodat2) \
	C(fchown) C(fchownat) C(fcntl) C(fcntl64) C(fdatasync) C(fgetxattr) \
	C(file_getattr) C(file_setattr) C(finit_module) C(flistxattr) C(flock) C(fork) \
	C(fremovexattr) C(fsconfig) C(fsetxattr) C(fsmount) C(fsopen) C(fspick) C(fstat) \
	C(fstat64) C(fstatat64) C(fstatfs) C(fstatfs64) C(fsync) C(ftruncate) \
	C(ftruncate64) C(futex) C(futex_requeue) C(futex_wait) C(futex_waitv) \
	C(futex_wake) C(futimesat) C(get_kernel_syms) C(get_mempolicy) C(get_robust_list) \
	C(get_thread_area) C(getcpu) C(getcwd) C(getdents) C(getdents64) C(getegid) \
	C(geteuid) C(getgid) C(getgroups) C(getitimer) C(getpeername) C(getpgid) \
	C(getpgrp) C(getpid) C(getpmsg) C(getppid) C(getpriority) C(getrandom) \
	C(getresgid) C(getresuid) C(getrlimit) C(getrusage) C(getsid) C(getsockname) \
	C(getsockopt) C(gettid) C(gettimeofday) C(getuid) C(getxattr) C(getxattrat) \
	C(init_module) C(inotify_add_watch) C(inotify_init) C(inotify_init1) \
	C(inotify_rm_watch) C(io_cancel) C(io_destroy) C(io_getevents) C(io_pgetevents) \
	C(io_setup) C(io_submit) C(io_uring_enter) C(io_uring_register) C(io_uring_setup) \
	C(ioctl) C(ioperm) C(iopl) C(ioprio_get) C(ioprio_set) C(kcmp) C(kexec_file_load) \
	C(kexec_load) C(keyctl) C(kill) C(landlock_add_rule) C(landlock_create_ruleset) \
	C(landlock_restrict_self) C(lchown) C(lgetxattr) C(link) C(linkat) C(listen) \
	C(listmount) C(listxattr) C(listxattrat) C(llistxattr) C(lookup_dcookie) \
	C(lremovexattr) C(lseek) C(lsetxattr) C(lsm_get_self_attr) C(lsm_list_modules) \
	C(lsm_set_self_attr) C(lstat) C(lstat64) C(madvise) C(map_shadow_stack) C(mbind) \
	C(membarrier) C(memfd_create) C(memfd_secret) C(migrate_pages) C(mincore) \
	C(mkdir) C(mkdirat) C(mknod) C(mknodat) C(mlock) C(mlock2) C(mlockall) C(mmap) \
	C(mmap2) C(modify_ldt) C(mount) C(mount_setattr) C(move_mount) C(move_pages) \
	C(mprotect) C(mq_getsetattr) C(mq_notify) C(mq_open) C(mq_timedreceive) \
	C(mq_timedsend) C(mq_unlink) C(mremap) C(mseal) C(msgctl) C(msgget) C(msgrcv) \
	C(msgsnd) C(msync) C(munlock) C(munlockall) C(munmap) C(name_to_handle_at) \
	C(nanosleep) C(newfstatat) C(nfsservctl) C(open) C(open_by_handle_at) \
	C(open_tree) C(open_tree_attr) C(openat) C(openat2) C(pause) C(perf_event_open) \
	C(personality) C(pidfd_getfd) C(pidfd_open) C(pidfd_send_signal) C(pipe) C(pipe2) \
	C(pivot_root) C(pkey_alloc) C(pkey_free) C(pkey_mprotect) C(poll) C(ppoll) \
	C(prctl) C(pread64) C(preadv) C(preadv2) C(prlimit64) C(process_madvise) \
	C(process_mrelease) C(process_vm_readv) C(process_vm_writev) C(pselect6) \
	C(ptrace) C(putpmsg) C(pwrite64) C(pwritev) C(pwritev2) C(query_module) \
	C(quotactl) C(quotactl_fd) C(read) C(readahead) C(readlink) C(readlinkat) \
	C(readv) C(reboot) C(recvfrom) C(recvmmsg) C(recvmsg) C(remap_file_pages) \
	C(removexattr) C(removexattrat) C(rename) C(renameat) C(renameat2) C(request_key) \
	C(restart_syscall) C(rmdir) C(rseq) C(rt_sigaction) C(rt_sigpending) \
	C(rt_sigprocmask) C(rt_sigqueueinfo) C(rt_sigreturn) C(rt_sigsuspend) \
	C(rt_sigtimedwait) C(rt_tgsigqueueinfo) C(sched_get_priority_max) \
	C(sched_get_priority_min) C(sched_getaffinity) C(sched_getattr) C(sched_getparam) \
	C(sched_getscheduler) C(sched_rr_get_interval) C(sched_setaffinity) \
	C(sched_setattr) C(sched_setparam) C(sched_setscheduler) C(sched_yield) \
	C(seccomp) C(security) C(select) C(semctl) C(semget) C(semop) C(semtimedop) \
	C(sendfile) C(sendfile64) C(sendmmsg) C(sendmsg) C(sendto) C(set_mempolicy) \
	C(set_mempolicy_home_node) C(set_robust_list) C(set_thread_area) \
	C(set_tid_address) C(setdomainname) C(setfsgid) C(setfsuid) C(setgid) \
	C(setgroups) C(sethostname) C(setitimer) C(setns) C(setpgid) C(setpriority) \
	C(setregid) C(setresgid) C(setresuid) C(setreuid) C(setrlimit) C(setsid) \
	C(setsockopt) C(settimeofday) C(setuid) C(setxattr) C(setxattrat) C(shmat) \
	C(shmctl) C(shmdt) C(shmget) C(shutdown) C(sigaltstack) C(signalfd) C(signalfd4) \
	C(socket) C(socketpair) C(splice) C(stat) C(stat64) C(statfs) C(statfs64) \
	C(statmount) C(statx) C(swapoff) C(swapon) C(symlink) C(symlinkat) C(sync) \
	C(sync_file_range) C(sync_file_range2) C(syncfs) C(sysfs) C(sysinfo) C(syslog) \
	C(tee) C(tgkill) C(time) C(timer_create) C(timer_delete) C(timer_getoverrun) \
	C(timer_gettime) C(timer_gettime64) C(timer_settime) C(timer_settime64) \
	C(timerfd_create) C(timerfd_gettime) C(timerfd_gettime64) C(timerfd_settime) \
	C(timerfd_settime64) C(times) C(tkill) C(truncate) C(truncate64) C(tuxcall) \
	C(umask) C(umount2) C(uname) C(unlink) C(unlinkat) C(unshare) C(uretprobe) \
	C(uselib) C(userfaultfd) C(ustat) C(utime) C(utimensat) C(utimes) C(vfork) \
	C(vhangup) C(vmsplice) C(vserver) C(wait4) C(waitid) C(write) C(writev)

/* "1", or what it is asked to be: "__NR_open" */
#define TEXT(macro)	TEXT_(macro)
#define TEXT_(macro)	#macro

static const struct {
	const char *name, *number;
} calls[] = {
#define C(name) { #name, TEXT(__NR_##name) },
	CALLS(C)
#undef C
};

static int number_of(unsigned i)
{
	char *end;
	long n = strtol(calls[i].number, &end, 0);

	return end == calls[i].number || *end ? -1 : n;
}

const char *syscall_name(__u32 number)
{
	for (unsigned i = 0; i < NR_OF(calls); i++)
		if (number_of(i) == (int)number)
			return calls[i].name;
	return NULL;
}

int syscall_number(const char *name)
{
	for (unsigned i = 0; i < NR_OF(calls); i++)
		if (!strcmp(calls[i].name, name))
			return number_of(i);
	return -1;
}

bool syscall_known(const char *pattern)
{
	for (unsigned i = 0; i < NR_OF(calls); i++)
		if (!fnmatch(pattern, calls[i].name, 0))
			return true;
	return false;
}

void syscalls_near(struct near *near)
{
	for (unsigned i = 0; i < NR_OF(calls); i++)
		near_try(near, calls[i].name);
}
