/* SPDX-License-Identifier: GPL-2.0 */
/* Answers HTTP requests, one after the other, in one thread: pages that a command makes. */
#ifndef NICPROBE_SERVE_HTTP_H
#define NICPROBE_SERVE_HTTP_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include "serve/listen.h"

/* What the client sent that the page may depend on. */
struct http_request {
	const char *accept;	/* the header; NULL: none */
};

/* What the page says of itself; what it is goes to a stream. */
struct http_answer {
	unsigned status;	/* 200 */
	const char *type;	/* "text/html; charset=utf-8" */
	bool varies;		/* with the header Accept */
};

struct http_page {
	const char *path;	/* "/metrics"; NULL ends the table */
	void (*write)(FILE *, const struct http_request *, struct http_answer *, void *arg);
};

struct error;

/* What is waited for beside requests. */
struct http_waits {
	/* becomes true by the handler of a signal, which is blocked but in the mask `waiting` */
	const volatile bool *stop;
	const sigset_t *waiting;
	int fd;			/* -1: nothing else */
	void (*ready)(void);	/* it can be read */
};

/*
 * Answers on the sockets until it is to stop; then ends the answers that are under way, for two
 * seconds at most. Closes the sockets. 0 or -errno.
 */
int http_serve(const struct sockets *, const struct http_page *, void *arg,
	       const struct http_waits *, struct error *);

#endif
