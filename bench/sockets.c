/* SPDX-License-Identifier: GPL-2.0 */
/* UDP and TCP between sockets: sender, wire and receiver take turns in one thread. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

#define BURST	64		/* packets that the sender sends per turn */
#define CALL	65536		/* bytes per call, TCP */
#define PATIENCE 2000		/* ms without progress */

static char data[CALL];

struct pair {
	int sender, receiver, type;
	unsigned int payload;	/* of a UDP packet */
	uint64_t packets, bytes;
};
static struct pair udp_pair = { .type = SOCK_DGRAM }, tcp_pair = { .type = SOCK_STREAM };

static int nonblocking(int fd)
{
	if (fd < 0 || fcntl(fd, F_SETFL, O_NONBLOCK))
		die("cannot open a socket: %s", strerror(errno));
	return fd;
}

static struct sockaddr_in address(const char *text)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(BENCH_PORT + 1) };

	if (inet_pton(AF_INET, text, &to.sin_addr) != 1)
		die("%s is not an IPv4 address", text);
	return to;
}

static int bound(const struct sockaddr_in *to, int type)
{
	int fd = nonblocking(socket(AF_INET, type, 0)), room = 4 << 20;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	if (bind(fd, (const struct sockaddr *)to, sizeof(*to)) ||
	    (type == SOCK_STREAM && listen(fd, 1)))
		die("cannot open the receiving socket: %s", strerror(errno));
	return fd;
}

/* Accepts a connection; carries its handshake over the wire meanwhile. */
static int accepted(int listener)
{
	struct span began = span_begin();
	int fd;

	while ((fd = accept(listener, NULL, NULL)) < 0)
		if (!wire_carry() && span_ms(&began) > PATIENCE)
			die("cannot accept a connection: %s", strerror(errno));
	close(listener);
	return nonblocking(fd);
}

static void pair_open(struct pair *p, const char *from, const char *netns, const char *where)
{
	struct sockaddr_in to = address(where);

	enter(netns);
	p->receiver = bound(&to, p->type);
	enter(from);
	p->sender = nonblocking(socket(AF_INET, p->type, 0));
	if (connect(p->sender, (const struct sockaddr *)&to, sizeof(to)) && errno != EINPROGRESS)
		die("cannot connect to %s: %s", where, strerror(errno));
	if (p->type == SOCK_STREAM)
		p->receiver = accepted(p->receiver);
}

/* The messages of a burst, for sending and for receiving. */
static struct mmsghdr *burst(unsigned int payload)
{
	static struct mmsghdr msgs[BURST];
	static struct iovec iov;

	iov = (struct iovec){ data, payload };
	for (unsigned int i = 0; i < BURST; i++)
		msgs[i].msg_hdr = (struct msghdr){ .msg_iov = &iov, .msg_iovlen = 1 };
	return msgs;
}

static void udp(struct pair *p)
{
	struct span began = span_begin();
	int sent = sendmmsg(p->sender, burst(p->payload), BURST, 0);

	if (sent < 0)
		die("cannot send: %s", strerror(errno));
	for (int got = 0; got < sent;) {
		bool moved = wire_carry();
		int n = recvmmsg(p->receiver, burst(p->payload), BURST, 0, NULL);

		if (n > 0)
			got += n;
		else if (!moved && span_ms(&began) > PATIENCE)
			die("%d of %d packets did not arrive", sent - got, sent);
	}
	p->packets += sent;
	p->bytes += (uint64_t)sent * p->payload;
}

static bool receive(struct pair *p)
{
	bool some = false;
	ssize_t n;

	while ((n = recv(p->receiver, data, sizeof(data), 0)) > 0) {
		p->bytes += n;
		some = true;
	}
	return some;
}

static void tcp(struct pair *p)
{
	struct span began = span_begin();

	do {
		if (send(p->sender, data, sizeof(data), 0) < 0 && errno != EAGAIN)
			die("cannot send: %s", strerror(errno));
		wire_carry();
		if (span_ms(&began) > PATIENCE)
			die("TCP makes no progress");
	} while (!receive(p));
}

/* Carries frames until all bytes are acknowledged; otherwise they would be retransmitted. */
static void tcp_finish(struct pair *p)
{
	struct span began = span_begin();
	int left = 1;

	while (!ioctl(p->sender, SIOCOUTQ, &left) && left) {
		wire_carry();
		receive(p);
		if (span_ms(&began) > PATIENCE)
			die("TCP does not finish");
	}
	receive(p);	/* otherwise these bytes would count for the next command */
}

/* "udp MS" or "tcp MS" */
static void command(const char *line)
{
	struct pair *p = strncmp(line, "udp ", 4) ? &tcp_pair : &udp_pair;
	struct laps laps;
	unsigned int ms;

	if (sscanf(line, p == &udp_pair ? "udp %u" : "tcp %u", &ms) != 1)
		die("unknown command: %s", line);
	p->packets = p->bytes = 0;
	laps_begin(&laps, ms);
	while (laps_more(&laps, p->packets, p->bytes))
		(p == &udp_pair ? udp : tcp)(p);
	if (p == &tcp_pair)
		tcp_finish(p);
	laps_print(&laps, p->packets, p->bytes);
}

int sockets_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "size", required_argument, NULL, 's' }, { "wire", required_argument, NULL, 'w' },
		{ "cpu", required_argument, NULL, 'c' }, {}
	};
	unsigned int size = 64;
	const char *tap = NULL;
	char line[64];
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's')
			size = atoi(optarg);
		else if (c == 'w')
			tap = optarg;
		else if (c == 'c')
			cpu_pin(atoi(optarg));
		else
			return 2;
	}
	if (argc - optind != 3 || size < 42 || size > sizeof(data))
		return 2;
	argv += optind;
	if (tap) {
		wire_open(tap, argv[0], argv[1]);
		puts("{}");	/* the taps exist: the caller adds addresses */
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 0;
	}
	udp_pair.payload = size - 42;
	pair_open(&udp_pair, argv[0], argv[1], argv[2]);
	pair_open(&tcp_pair, argv[0], argv[1], argv[2]);
	puts("{}");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		command(line);
	return 0;
}
