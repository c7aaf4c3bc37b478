/* SPDX-License-Identifier: GPL-2.0 */
/* The meter open: TCP connections while they last, as the kernel lists them. */
#include <errno.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <string.h>

#include "bpf/open/open.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"
#include "lib/net/inet_sockets.h"
#include "lib/proc/holders.h"
#include "lib/read/snapshot.h"
#include "lib/util/error.h"

extern const struct meter meter_open;

static const struct metric metrics[] = {
	COUNTER(struct open, bytes, .name = "carried", .unit = "bytes",
		.help = "Payload, both ways."),
	COUNTER(struct open, received, .name = "received", .unit = "bytes",
		.help = "Payload received."),
	COUNTER(struct open, sent, .name = "sent", .unit = "bytes",
		.help = "Payload sent; what was sent again counts once."),
	COUNTER(struct open, retransmits, .name = "retransmits", .unit = "segments",
		.rare = true, .help = "Segments sent again."),
	LEVEL(struct open, round_trip, .name = "round_trip", .unit = "microseconds",
	      .help = "The smoothed round trip time now."),
	LEVEL(struct open, window, .name = "window", .unit = "segments",
	      .help = "The congestion window now."),
	LEVEL(struct open, unsent, .name = "unsent", .unit = "bytes",
	      .help = "What a program has written and TCP has not sent yet."),
	LEVEL(struct open, without, .name = "without_row", .unit = "connections", .rare = true,
	      .help = "Connections that have no row here: there are more than have one, and these "
		      "carried least."),
	{}
};

enum label { LOCAL, REMOTE, PROCESS, SOCKET };
static const char *const labels[] = { "local", "remote", "process", "socket", NULL };

static void key_words(const void *of, unsigned nr, char *out, size_t size)
{
	const struct open_key *key = of;
	struct holder h;

	if (!key->local_port) {
		snprintf(out, size, nr == LOCAL ? "others" : "-");
		return;
	}
	switch ((enum label)nr) {
	case LOCAL:
		endpoint_text(&key->local, key->local_port, out, size);
		break;
	case REMOTE:
		endpoint_text(&key->remote, key->remote_port, out, size);
		break;
	case PROCESS:
		snprintf(out, size, "%s", holder_find(key->inode, &h) ? h.name : "unknown");
		break;
	case SOCKET:
		snprintf(out, size, "%u", key->inode);
	}
}

/* The other end's FIN counts as a byte received, though it is none (tcp_queue_rcv(), 6.1). */
static __u64 received(const struct socket_facts *s, const struct tcp_info *tcp)
{
	return tcp->tcpi_bytes_received - (s->ended && tcp->tcpi_bytes_received);
}

static int connection_put(const struct socket_facts *s, const struct tcp_info *tcp, void *t)
{
	struct open_key key = {
		.local_port = s->local_port, .remote_port = s->remote_port, .inode = s->inode,
		.cookie = { s->id.idiag_cookie[0], s->id.idiag_cookie[1] },
	};
	struct open row;
	uint64_t *words;

	/*
	 * A program must hold it: one that closes, or waits for accept(), has no inode, and would
	 * be another row, which began anew.
	 */
	if (!s->inode)
		return 0;
	row = (struct open){
		.received = received(s, tcp),
		.sent = tcp->tcpi_bytes_sent - tcp->tcpi_bytes_retrans,
		.retransmits = tcp->tcpi_total_retrans,
		.round_trip = { tcp->tcpi_rtt },
		.window = { tcp->tcpi_snd_cwnd },
		.unsent = { tcp->tcpi_notsent_bytes },
	};
	memcpy(&key.local, s->local, sizeof(key.local));
	memcpy(&key.remote, s->remote, sizeof(key.remote));
	words = table_add(t, &meter_open, &key);
	if (!words)
		return -ENOMEM;
	row.bytes = row.received + row.sent;
	memcpy(words, &row, sizeof(row));
	return 0;
}

static int read_all(const struct meta *meta, struct table *t, struct error *e)
{
	int err = connections_each(connection_put, t);

	(void)meta;
	return !err ? 0 : error_set(e, err, NULL, "the kernel does not list TCP connections "
				    "(CONFIG_INET_DIAG): %s", strerror(-err));
}

/* Of many the busiest since attach stay. What is pinned at attach has all. */
static int cut(const char *pins, struct table *t)
{
	unsigned all = t->rows;
	uint64_t *others;

	(void)pins;
	if (all <= OPEN_ROWS)
		return 0;
	table_sort(&meter_open, t, NULL);
	t->rows = OPEN_ROWS;
	others = table_add(t, &meter_open, &(struct open_key){});
	if (!others)
		return -ENOMEM;
	others[WORD(struct open, without)] = all - OPEN_ROWS;
	return 0;
}

/* Between two readings: where `then` was cut, one that is new may be one that had no row. */
static bool began(const struct table *then, const void *key)
{
	static const struct open_key others;

	(void)key;
	for (unsigned row = then->rows == OPEN_ROWS + 1 ? 0 : then->rows; row < then->rows;
	     row++)
		if (!memcmp(then->keys + row * sizeof(others), &others, sizeof(others)))
			return false;
	return true;
}

const struct meter meter_open = {
	.name = "open",
	.help = "TCP connections that are open: who, with whom, how many bytes now",
	.type = READ_METER,
	.host = true,
	.on_request = "each reading lists all TCP connections: 15 ms of a CPU where there are "
		      "10,000, and 5 ms for each 1000 open files to find their processes",
	.by = BY_KEY,
	.row_size = sizeof(struct open),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct open_key),
		.labels = labels,
		.text = key_words,
		.each = "remote",
	},
	.read = read_all,
	.fixup = cut,
	.began = began,
};
