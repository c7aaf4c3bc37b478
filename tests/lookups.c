/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Looks up names: lookups WORD..., each "FUNCTION:NAME" a call of the C library, "as:NAME" a new
 * name for the thread, "times:N" for the next word; "line:WORD" prints that, and reads a line.
 * Prints for each call what came of it, and the nanoseconds that it took.
 */
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static int getaddrinfo_of(const char *name)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *list = NULL;
	int result = getaddrinfo(name, NULL, &hints, &list);

	if (list)
		freeaddrinfo(list);
	return result;
}

/* The result, or h_errno. */
static int by_r(const char *name, int family, size_t size)
{
	struct hostent host, *result = NULL;
	char *room = malloc(size);
	int error = 0, err;

	err = family < 0 ? gethostbyname_r(name, &host, room, size, &result, &error) :
			   gethostbyname2_r(name, family, &host, room, size, &result, &error);
	free(room);
	return result ? 0 : err == ERANGE ? ERANGE : error;
}

static sigjmp_buf back;

static void leave(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

/* Left by a signal's handler after 300 ms, as a program does that has no threads. */
static int left(const char *name)
{
	signal(SIGALRM, leave);
	if (sigsetjmp(back, 1))
		return 0;
	ualarm(300000, 0);
	return getaddrinfo_of(name) ?: -100;
}

/* Another call further down the stack than any before. */
static __attribute__((noinline)) int deep(const char *name)
{
	char room[65536];
	int result;

	memset(room, 0, sizeof(room));
	asm volatile("" :: "r"(room) : "memory");	/* else clang leaves it out */
	result = getaddrinfo_of(name);
	asm volatile("" :: "r"(room) : "memory");
	return result;
}

static void *thread(void *name)
{
	return (void *)(long)getaddrinfo_of(name);
}

/* The thread is ended in the call. */
static int cancelled(const char *name)
{
	pthread_t t;
	void *result;

	if (pthread_create(&t, NULL, thread, (void *)name))
		return -100;
	usleep(200000);
	pthread_cancel(t);
	pthread_join(t, &result);
	return result == PTHREAD_CANCELED ? 0 : -100;
}

/* The process is killed in the call. */
static int killed(const char *name)
{
	int status, child = fork();

	if (!child)
		_exit(getaddrinfo_of(name));
	usleep(200000);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? 0 : -100;
}

/* A child that was made while another thread is in the call. */
static int forked(const char *name)
{
	pthread_t t;
	void *result;
	int status, child;

	if (pthread_create(&t, NULL, thread, (void *)name))
		return -100;
	usleep(100000);
	child = fork();
	if (!child)
		_exit(getaddrinfo_of("127.0.0.1"));
	waitpid(child, &status, 0);
	pthread_join(t, &result);
	return status ? -100 : (int)(long)result;
}

static int call(const char *function, const char *name)
{
	if (!strcmp(function, "gai"))
		return getaddrinfo_of(name);
	if (!strcmp(function, "name"))
		return gethostbyname(name) ? 0 : h_errno;
	if (!strcmp(function, "name2"))
		return gethostbyname2(name, AF_INET) ? 0 : h_errno;
	if (!strcmp(function, "name-r"))
		return by_r(name, -1, 4096);
	if (!strcmp(function, "name2-r"))
		return by_r(name, AF_INET, 4096);
	if (!strcmp(function, "small-r"))
		return by_r(name, -1, 16);
	if (!strcmp(function, "left"))
		return left(name);
	if (!strcmp(function, "deep"))
		return deep(name);
	if (!strcmp(function, "cancelled"))
		return cancelled(name);
	if (!strcmp(function, "killed"))
		return killed(name);
	return !strcmp(function, "forked") ? forked(name) : -1000;
}

int main(int argc, char **argv)
{
	for (int i = 1, times = 1; i < argc; i++) {
		char *name = strchr(argv[i], ':');

		if (!name)
			return 2;
		*name++ = '\0';
		if (!strcmp(argv[i], "as")) {
			prctl(PR_SET_NAME, name);
			continue;
		}
		if (!strcmp(argv[i], "line")) {		/* until one comes */
			printf("%s\n", name);
			fflush(stdout);
			while (getchar() > '\n')
				;
			continue;
		}
		if (!strcmp(argv[i], "times")) {
			times = atoi(name);
			continue;
		}
		for (; times; times--) {
			unsigned long long began = now();
			int result = call(argv[i], name);

			printf("%d %llu\n", result, now() - began);
		}
		times = 1;
	}
	return 0;
}
