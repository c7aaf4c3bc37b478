/* SPDX-License-Identifier: GPL-2.0 */
/*
 * conns RATE SECONDS [reset]: connections over loopback, so many a second; prints their number.
 * reset: they end so, and leave no TIME_WAIT, which would use up the ports.
 */
#include <arpa/inet.h>
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BYTES 8		/* there and back, in each */
#define PARALLEL 4

static double rate, seconds;	/* of each client */
static int reset;
static unsigned long made;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Reads until BYTES are there, or no more come. */
static int take(int fd)
{
	char bytes[BYTES];
	int n = 0, got;

	while (n < BYTES && (got = read(fd, bytes, BYTES - n)) > 0)
		n += got;
	return n;
}

static void *serve(void *arg)
{
	int listener = *(int *)arg, fd;
	char byte;

	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		if (take(fd) == BYTES && write(fd, "01234567", BYTES) == BYTES)
			while (read(fd, &byte, 1) > 0)
				;
		close(fd);
	}
	return NULL;
}

static void converse(const struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (const void *)to, sizeof(*to)))
		err(1, "connect");
	if (write(fd, "abcdefgh", BYTES) != BYTES || take(fd) != BYTES)
		err(1, "talk");
	if (reset)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 },
			   sizeof(struct linger));
	close(fd);
}

static void *visit(void *to)
{
	double begin = now();

	for (double next = begin; next < begin + seconds; next += 1 / rate) {
		converse(to);
		__atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
		while (now() < next)
			usleep(100);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(8000),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	pthread_t servers[PARALLEL], clients[PARALLEL];
	double begin = now();

	rate = argc > 2 ? atof(argv[1]) / PARALLEL : 0;
	seconds = argc > 2 ? atof(argv[2]) : 0;
	reset = argc > 3;
	if (!rate)
		errx(2, "conns RATE SECONDS [reset]");
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (void *)&at, sizeof(at)) || listen(listener, 1024))
		err(1, "listen");
	for (int i = 0; i < PARALLEL; i++)
		if (pthread_create(&servers[i], NULL, serve, &listener) ||
		    pthread_create(&clients[i], NULL, visit, &at))
			errx(1, "no threads");
	for (int i = 0; i < PARALLEL; i++)
		pthread_join(clients[i], NULL);
	printf("%lu %.3f\n", made, now() - begin);
	return 0;
}
