/* SPDX-License-Identifier: GPL-2.0 */
/* The sockets on which connections arrive: of addresses, or passed by systemd. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "serve/listen.h"

#define PASSED_FROM	3	/* the first descriptor: sd_listen_fds(3) */
#define EXAMPLE		"--listen 127.0.0.1:9920"

static int socket_add(struct sockets *s, int fd, struct error *e)
{
	if (s->nr == SOCKETS_MAX)
		return error_set(e, -E2BIG, NULL, "more than %u sockets to listen on", SOCKETS_MAX);
	s->fd[s->nr++] = fd;
	return 0;
}

/* Splits "[::1]:9920" and "127.0.0.1:9920". */
static bool address_split(const char *where, char *host, size_t size, const char **port)
{
	const char *colon = strrchr(where, ':');
	size_t len = colon ? (size_t)(colon - where) : 0;
	bool bracket = *where == '[';
	char *end;

	if (!colon || len <= 2u * bracket || len - 2 * bracket >= size ||
	    bracket != (where[len - 1] == ']') || (!bracket && memchr(where, ':', len)))
		return false;
	snprintf(host, size, "%.*s", (int)(len - 2 * bracket), where + bracket);
	*port = colon + 1;
	return **port >= '0' && **port <= '9' && strtoul(*port, &end, 10) <= 65535 && !*end;
}

static int listen_failed(const char *where, const char *port, int err, struct error *e)
{
	if (err == EADDRINUSE)
		return error_set(e, -err, text("ss -ltnp sport = :%s", port),
				 "cannot listen on %s: another program does", where);
	if (err == EADDRNOTAVAIL)
		return error_set(e, -err, "ip address",
				 "cannot listen on %s: no interface here has this address", where);
	if (err == EACCES)
		return error_set(e, -err, EXAMPLE, "cannot listen on %s: ports below 1024 need "
				 "CAP_NET_BIND_SERVICE", where);
	return error_set(e, -err, NULL, "cannot listen on %s: %s", where, strerror(err));
}

int sockets_listen(struct sockets *s, const char *where, struct error *e)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	const int on = 1;
	struct addrinfo *a;
	const char *port;
	char host[128];
	int fd, err = 0;

	if (!address_split(where, host, sizeof(host), &port) ||
	    getaddrinfo(host, port, &hints, &a))
		return error_set(e, -EINVAL, EXAMPLE, "--listen takes ADDRESS:PORT or "
				 "[ADDRESS]:PORT, not \"%s\"", where);
	fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    (a->ai_family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on))) ||
	    bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, SOMAXCONN))
		err = listen_failed(where, port, errno, e);
	freeaddrinfo(a);
	err = err ?: socket_add(s, fd, e);
	if (err && fd >= 0)
		close(fd);
	return err;
}

static bool listens(int fd)
{
	int yes = 0, type = 0;
	socklen_t len = sizeof(yes);

	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &len) && yes &&
	       !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) && type == SOCK_STREAM;
}

static unsigned number(const char *variable)
{
	const char *value = getenv(variable);

	return value ? strtoul(value, NULL, 10) : 0;
}

int sockets_passed(struct sockets *s, struct error *e)
{
	unsigned nr = number("LISTEN_PID") == (unsigned)getpid() ? number("LISTEN_FDS") : 0;
	int err = 0;

	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	for (unsigned i = 0; i < nr && !err; i++) {
		int fd = PASSED_FROM + i;

		if (!listens(fd))
			return error_set(e, -ENOTSOCK, NULL, "descriptor %d of LISTEN_FDS is not a "
					 "stream socket that listens (Accept=no)", fd);
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		err = socket_add(s, fd, e);
	}
	return err;
}

void socket_name(int fd, char *name, size_t size)
{
	union {
		struct sockaddr any;
		struct sockaddr_un un;
		struct sockaddr_storage room;
	} a = {};
	socklen_t len = sizeof(a.room);
	char host[64] = "", port[8] = "";

	getsockname(fd, &a.any, &len);
	if (a.any.sa_family == AF_UNIX) {
		snprintf(name, size, "%s", a.un.sun_path);
		return;
	}
	getnameinfo(&a.any, len, host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(name, size, a.any.sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}
