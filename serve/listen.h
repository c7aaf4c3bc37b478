/* SPDX-License-Identifier: GPL-2.0 */
/* The sockets on which connections arrive: of addresses, or passed by systemd. */
#ifndef NICPROBE_SERVE_LISTEN_H
#define NICPROBE_SERVE_LISTEN_H

#include <stddef.h>

#define SOCKETS_MAX	16

struct error;

struct sockets {
	unsigned nr;
	int fd[SOCKETS_MAX];
};

/* Listens on "127.0.0.1:9920" or "[::1]:9920"; port 0: one that is free. 0 or -errno. */
int sockets_listen(struct sockets *, const char *where, struct error *);
/* Adds the sockets of $LISTEN_FDS, if they are meant for this process. 0 or -errno. */
int sockets_passed(struct sockets *, struct error *);
/* "127.0.0.1:9920", or the path of a Unix socket. */
void socket_name(int fd, char *name, size_t size);

#endif
