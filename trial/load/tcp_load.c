/* SPDX-License-Identifier: GPL-2.0 */
/* Connects two ports by TCP; threads at both ends send and receive at full speed. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "trial/load/generator.h"
#include "trial/load/tcp_load.h"

#define PIECE	(128 << 10)	/* bytes per call */
#define PATIENCE 3		/* seconds to connect, and to wait for bytes in flight */

struct tcp_thread {
	pthread_t thread;
	struct tcp_load *tcp;
	unsigned nr;
	bool receives, started;
	uint64_t bytes;
	int err;
};

/* A subnet chosen by pid: 198.18.0.0/15 has room for 32768. */
static void addresses_choose(struct tcp_load *t, bool ipv6)
{
	unsigned net = getpid() % 32768 * 4;

	for (int i = 0; i < 2; i++) {
		uint8_t v4[4] = { 198, 18 + (net >> 16), net >> 8, net + 1 + i };
		uint8_t v6[16] = { 0x20, 1, 0, 2, 0, 0, net >> 16, net >> 8, net, [15] = 1 + i };

		t->at[i].family = ipv6 ? AF_INET6 : AF_INET;
		memcpy(t->at[i].bytes, ipv6 ? v6 : v4, ipv6 ? 16 : 4);
	}
}

static socklen_t name_of(const struct address *a, in_port_t port, struct sockaddr_storage *name)
{
	struct sockaddr_in6 *v6 = (void *)name;
	struct sockaddr_in *v4 = (void *)name;

	memset(name, 0, sizeof(*name));
	name->ss_family = a->family;
	if (a->family == AF_INET) {
		v4->sin_port = port;
		memcpy(&v4->sin_addr, a->bytes, 4);
		return sizeof(*v4);
	}
	v6->sin6_port = port;
	memcpy(&v6->sin6_addr, a->bytes, 16);
	return sizeof(*v6);
}

/* A socket in the namespace of the port, bound to its address. */
static int socket_at(const struct address *a, struct error *e)
{
	struct timeval patience = { .tv_sec = PATIENCE };
	struct sockaddr_storage name;
	socklen_t len = name_of(a, 0, &name);
	int fd = port_enter(a->port, e) ? -1 : socket(a->family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	port_home();
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!bind(fd, (void *)&name, len))
		return fd;
	close(fd);
	return -1;
}

static int connect_all(struct tcp_load *t, struct error *e)
{
	struct sockaddr_storage name;
	socklen_t len = sizeof(name);
	int server = socket_at(&t->at[1], e), err = 0;

	if (server < 0 || listen(server, CONNECTIONS_MAX) ||
	    getsockname(server, (void *)&name, &len))
		err = -errno;
	for (unsigned i = 0; !err && i < t->connections; i++) {
		t->fd[0][i] = socket_at(&t->at[0], e);
		if (t->fd[0][i] < 0 || connect(t->fd[0][i], (void *)&name, len))
			err = errno == EINPROGRESS ? -ETIMEDOUT : -errno;
		if (!err)
			t->fd[1][i] = accept4(server, NULL, NULL, SOCK_CLOEXEC);
		if (!err && t->fd[1][i] < 0)
			err = -errno;
	}
	if (server >= 0)
		close(server);
	return err;
}

int tcp_open(struct tcp_load *t, const struct port *from, const struct port *to, bool ipv6,
	     double seconds, struct error *e)
{
	unsigned n = t->connections;
	int err = 0;

	addresses_choose(t, ipv6);
	for (int i = 0; i < 2; i++)
		t->fd[i] = malloc(n * sizeof(int));
	t->thread = calloc(2 * t->threads, sizeof(*t->thread));
	if (!t->fd[0] || !t->fd[1] || !t->thread)
		return error_set(e, -ENOMEM, NULL, "out of memory for %u connections", n);
	for (int i = 0; !err && i < 2; i++) {
		memset(t->fd[i], -1, n * sizeof(int));
		t->at[i].port = i ? to : from;
		err = address_add(&t->at[i], seconds + 3 * PATIENCE, e);
	}
	if (err)
		return err;
	err = connect_all(t, e);
	if (err)
		error_set(e, err, "check for firewalls, and for devices between them that are down",
			  "cannot connect %s to %s: %s", from->label, to->label, strerror(-err));
	return err;
}

void tcp_close(struct tcp_load *t)
{
	for (int i = 0; i < 2; i++) {
		for (unsigned c = 0; t->fd[i] && c < t->connections; c++)
			if (t->fd[i][c] >= 0)
				close(t->fd[i][c]);
		free(t->fd[i]);
		address_remove(&t->at[i]);
	}
	free(t->thread);
	*t = (struct tcp_load){};
}

/* One call on each connection that is ready. */
static int round_go(struct tcp_thread *th, struct pollfd *list, unsigned n, char *piece)
{
	int ready = poll(list, n, 20);

	for (unsigned i = 0; ready > 0 && i < n; i++) {
		ssize_t got;

		if (!list[i].revents)
			continue;
		got = th->receives ? recv(list[i].fd, piece, PIECE, MSG_DONTWAIT) :
		      send(list[i].fd, piece, PIECE, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (got > 0)
			th->bytes += got;
		else if (!got || (errno != EAGAIN && errno != EINTR))
			return got ? -errno : -ECONNRESET;
	}
	return ready < 0 && errno != EINTR ? -errno : 0;
}

static void *work(void *arg)
{
	struct tcp_thread *th = arg;
	struct tcp_load *t = th->tcp;
	struct pollfd *list = calloc(t->connections, sizeof(*list));
	char *piece = calloc(1, PIECE);
	unsigned n = 0;

	th->err = list && piece ? 0 : -ENOMEM;
	for (unsigned i = th->nr; !th->err && i < t->connections; i += t->threads)
		list[n++] = (struct pollfd){ .fd = t->fd[th->receives][i],
					     .events = th->receives ? POLLIN : POLLOUT };
	while (!th->err && n && (th->receives ? !t->over : !trial_stop && seconds_now() < t->until))
		th->err = round_go(th, list, n, piece);
	free(list);
	free(piece);
	return NULL;
}

static int threads_start(struct tcp_load *t)
{
	int err = 0;

	for (unsigned i = 0; !err && i < 2 * t->threads; i++) {
		struct tcp_thread *th = &t->thread[i];

		th->tcp = t;
		th->nr = i % t->threads;
		th->receives = i < t->threads;	/* receivers start first and wait */
		err = thread_start(&th->thread, work, th);
		th->started = !err;
	}
	return err;
}

static int threads_join(struct tcp_load *t, bool receiving)
{
	int err = 0;

	for (unsigned i = 0; i < 2 * t->threads; i++) {
		struct tcp_thread *th = &t->thread[i];

		if (!th->started || th->receives != receiving)
			continue;
		pthread_join(th->thread, NULL);
		th->started = false;
		err = err ?: th->err;
	}
	return err;
}

int tcp_send(struct tcp_load *t, double seconds, struct error *e)
{
	uint64_t sent, received, retransmits;
	double patient;
	int err, ended;

	t->over = 0;
	t->until = seconds_now() + seconds;
	err = threads_start(t);
	if (err)
		t->until = 0;
	ended = threads_join(t, false);
	err = err ?: ended;
	patient = seconds_now() + PATIENCE;
	do {
		struct timespec nap = { .tv_nsec = 1000000 };

		tcp_count(t, &sent, &received, &retransmits);
		if (received < sent)
			nanosleep(&nap, NULL);
	} while (!err && received < sent && seconds_now() < patient);
	t->over = 1;
	ended = threads_join(t, true);
	err = err ?: ended;
	return err ? error_set(e, err, NULL, "a connection broke: %s", strerror(-err)) : 0;
}

void tcp_count(const struct tcp_load *t, uint64_t *sent, uint64_t *received, uint64_t *retransmits)
{
	*sent = *received = *retransmits = 0;
	for (unsigned i = 0; i < 2 * t->threads; i++)
		*(t->thread[i].receives ? received : sent) += t->thread[i].bytes;
	for (unsigned i = 0; i < t->connections; i++) {
		struct tcp_info info = {};
		socklen_t len = sizeof(info);

		if (!getsockopt(t->fd[0][i], IPPROTO_TCP, TCP_INFO, &info, &len))
			*retransmits += info.tcpi_total_retrans;
	}
}
