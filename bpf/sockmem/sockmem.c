/* SPDX-License-Identifier: GPL-2.0 */
/* The meter sockmem: how full the buffers of sockets are, and what found them full. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/sockmem/sockmem.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"
#include "lib/net/inet_sockets.h"
#include "lib/proc/holders.h"
#include "lib/proc/nstat.h"
#include "lib/read/snapshot.h"

extern const struct meter meter_sockmem;

static const char *const drops[] = {
	[SOCKMEM_BUFFER] = "buffer",
	[SOCKMEM_BACKLOG] = "backlog",
	[SOCKMEM_EARLY] = "out-of-order",
	[SOCKMEM_LIMIT] = "memory",
};

static const struct metric metrics[] = {
	LEVEL(struct sockmem, fill, .name = "fill", .unit = "percent",
	      .help = "How full the buffer, or TIME_WAIT, is now; of several sockets: the "
		      "fullest one."),
	LEVEL(struct sockmem, held, .name = "held", .unit = "bytes",
	      .help = "Memory that the buffers take now, of all these sockets."),
	LEVEL(struct sockmem, limit, .name = "limit", .unit = "bytes",
	      .help = "Memory that they may take."),
	LEVEL(struct sockmem, sockets, .name = "sockets", .unit = "sockets",
	      .help = "Sockets of the protocol, or the one; connections in TIME_WAIT."),
	LEVEL(struct sockmem, full, .name = "full", .unit = "sockets",
	      .help = "Of these, sockets whose buffer is full to 80% now."),
	LEVEL(struct sockmem, shut, .name = "shut", .unit = "seconds", .rare = true,
	      .help = "For how long, at least, a window of TCP is closed now: as the program here "
		      "does not keep up, or while data waits, as that at the other end does not."),
	COUNTER(struct sockmem, packets, .name = "packets", .unit = "packets",
		.help = "Segments received or sent, datagrams read or sent."),
	COUNTER(struct sockmem, dropped, .name = "dropped", .unit = "packets", .group = "dropped",
		.help = "Packets dropped for want of room, by where there was none.",
		.label = "room", .labels = LABELS(struct sockmem, dropped, drops), .rare = true),
	COUNTER(struct sockmem, closed, .name = "windows_closed", .unit = "events", .rare = true,
		.help = "Times TCP closed a receive window, as its buffer was full."),
	COUNTER(struct sockmem, pruned, .name = "pruned", .unit = "events", .rare = true,
		.help = "Times a TCP receive buffer exceeded its limit, and room was made in it."),
	COUNTER(struct sockmem, collapsed, .name = "collapsed", .unit = "buffers", .rare = true,
		.help = "Buffers of segments that TCP put together to make room."),
	COUNTER(struct sockmem, pressures, .name = "pressures", .unit = "events", .rare = true,
		.help = "Times all of TCP took so much memory that it began to save some."),
	COUNTER(struct sockmem, forgotten, .name = "forgotten", .unit = "connections", .rare = true,
		.help = "Connections that closed while TIME_WAIT had all that it may have: they "
			"are forgotten at once."),
	COUNTER(struct sockmem, socket_drops, .name = "socket_drops", .unit = "packets",
		.rare = true, .help = "Datagrams dropped by this socket, as it counts."),
	{}
};

/* The words of a protocol's row, and their names in nstat. */
static const struct sockmem_count {
	const char *name;
	unsigned protocol, of, word;
} counted[] = {
#define DROPPED(reason)	WORD(struct sockmem, dropped[reason])
	{ "TcpInSegs", IPPROTO_TCP, SOCKMEM_RECEIVE, WORD(struct sockmem, packets) },
	{ "TcpOutSegs", IPPROTO_TCP, SOCKMEM_SEND, WORD(struct sockmem, packets) },
	{ "UdpInDatagrams", IPPROTO_UDP, SOCKMEM_RECEIVE, WORD(struct sockmem, packets) },
	{ "Udp6InDatagrams", IPPROTO_UDP, SOCKMEM_RECEIVE, WORD(struct sockmem, packets) },
	{ "UdpOutDatagrams", IPPROTO_UDP, SOCKMEM_SEND, WORD(struct sockmem, packets) },
	{ "Udp6OutDatagrams", IPPROTO_UDP, SOCKMEM_SEND, WORD(struct sockmem, packets) },
	{ "TcpExtTCPRcvQDrop", IPPROTO_TCP, SOCKMEM_RECEIVE, DROPPED(SOCKMEM_BUFFER) },
	{ "TcpExtTCPBacklogDrop", IPPROTO_TCP, SOCKMEM_RECEIVE, DROPPED(SOCKMEM_BACKLOG) },
	{ "TcpExtTCPOFODrop", IPPROTO_TCP, SOCKMEM_RECEIVE, DROPPED(SOCKMEM_EARLY) },
	{ "TcpExtTCPToZeroWindowAdv", IPPROTO_TCP, SOCKMEM_RECEIVE, WORD(struct sockmem, closed) },
	{ "TcpExtPruneCalled", IPPROTO_TCP, SOCKMEM_RECEIVE, WORD(struct sockmem, pruned) },
	{ "TcpExtTCPRcvCollapsed", IPPROTO_TCP, SOCKMEM_RECEIVE, WORD(struct sockmem, collapsed) },
	{ "TcpExtTCPMemoryPressures", IPPROTO_TCP, SOCKMEM_MEMORY,
	  WORD(struct sockmem, pressures) },
	{ "TcpExtTCPTimeWaitOverflow", IPPROTO_TCP, SOCKMEM_TIME_WAIT,
	  WORD(struct sockmem, forgotten) },
	{ "UdpRcvbufErrors", IPPROTO_UDP, SOCKMEM_RECEIVE, DROPPED(SOCKMEM_BUFFER) },
	{ "Udp6RcvbufErrors", IPPROTO_UDP, SOCKMEM_RECEIVE, DROPPED(SOCKMEM_BUFFER) },
	{ "UdpMemErrors", IPPROTO_UDP, SOCKMEM_RECEIVE, DROPPED(SOCKMEM_LIMIT) },
	{ "Udp6MemErrors", IPPROTO_UDP, SOCKMEM_RECEIVE, DROPPED(SOCKMEM_LIMIT) },
	{ "UdpSndbufErrors", IPPROTO_UDP, SOCKMEM_SEND, DROPPED(SOCKMEM_BUFFER) },
	{ "Udp6SndbufErrors", IPPROTO_UDP, SOCKMEM_SEND, DROPPED(SOCKMEM_BUFFER) },
#undef DROPPED
};

enum label { PROTOCOL, BUFFER, LOCAL, REMOTE, PROCESS, SOCKET };
static const char *const labels[] = { "protocol", "buffer", "local", "remote", "process", "socket",
				      NULL };

static void key_words(const void *of, unsigned nr, char *out, size_t size)
{
	static const char *const buffers[] = {
		[SOCKMEM_MEMORY] = "memory", [SOCKMEM_RECEIVE] = "receive", [SOCKMEM_SEND] = "send",
		[SOCKMEM_TIME_WAIT] = "time-wait",
	};
	const struct sockmem_key *key = of;
	struct holder h;

	if (nr > BUFFER && !key->local_port) {
		snprintf(out, size, nr == LOCAL ? "all" : "-");
		return;
	}
	switch ((enum label)nr) {
	case PROTOCOL:
		snprintf(out, size, "%s", key->protocol == IPPROTO_TCP ? "tcp" : "udp");
		break;
	case BUFFER:
		snprintf(out, size, "%s", buffers[key->of % NR_SOCKMEM_OF]);
		break;
	case LOCAL:
		endpoint_text(&key->local, key->local_port, out, size);
		break;
	case REMOTE:
		if (key->remote_port)
			endpoint_text(&key->remote, key->remote_port, out, size);
		else
			snprintf(out, size, "-");
		break;
	case PROCESS:
		snprintf(out, size, "%s", holder_find(key->inode, &h) ? h.name : "unknown");
		break;
	case SOCKET:
		snprintf(out, size, "%u", key->inode);
	}
}

static bool is_part(const void *key)
{
	return ((const struct sockmem_key *)key)->local_port;
}

static const unsigned protocols[] = { IPPROTO_TCP, IPPROTO_UDP };
#define NR_PROTOCOLS	NR_OF(protocols)

/* One socket's receive or send buffer. */
struct buffer {
	struct sockmem_key key;
	__u64 held, limit, drops;
	__u64 shut;		/* s */
};

/* What is found while the sockets of one protocol are listed. */
struct protocol {
	unsigned nr;
	struct sockmem of[NR_SOCKMEM_OF];
	struct buffer fullest[NR_SOCKMEM_OF][SOCKMEM_FULLEST];
	unsigned asked;		/* sockets whose windows were asked for */
	unsigned more;		/* buffers that have a row though not among the fullest */
	struct buffer longest[NR_SOCKMEM_OF];	/* of those past SOCKMEM_MORE: shut longest */
	struct table *t;
};

static __u64 fill(__u64 held, __u64 limit)
{
	return limit ? held * 100 / limit : 0;
}

static int row_put(struct table *t, const struct sockmem_key *key, const struct sockmem *row)
{
	uint64_t *words = table_add(t, &meter_sockmem, key);

	if (!words)
		return -ENOMEM;
	memcpy(words, row, sizeof(*row));
	return 0;
}

static int buffer_put(struct table *t, const struct buffer *b)
{
	__u64 percent = fill(b->held, b->limit);

	return row_put(t, &b->key, &(struct sockmem){
		.fill = { percent }, .sockets = { 1 }, .full = { percent >= SOCKMEM_FULL },
		.held = { b->held }, .limit = { b->limit }, .shut = { b->shut },
		.socket_drops = b->drops,
	});
}

/* Keeps the list in order, the fullest one first. */
static void rank(struct buffer list[SOCKMEM_FULLEST], const struct buffer *b)
{
	unsigned at = SOCKMEM_FULLEST;

	while (at && fill(list[at - 1].held, list[at - 1].limit) < fill(b->held, b->limit))
		at--;
	if (at == SOCKMEM_FULLEST)
		return;
	memmove(list + at + 1, list + at, (SOCKMEM_FULLEST - 1 - at) * sizeof(*list));
	list[at] = *b;
}

/* One that has dropped something has a row as long as it is open: so its count is never new. */
static int buffer_take(struct protocol *p, const struct buffer *b)
{
	struct sockmem *all = &p->of[b->key.of];
	__u64 percent = fill(b->held, b->limit);

	all->sockets[0]++;
	all->held[0] += b->held;
	all->limit[0] += b->limit;
	all->full[0] += percent >= SOCKMEM_FULL;
	if (percent > all->fill[0])
		all->fill[0] = percent;
	if (b->shut > all->shut[0])
		all->shut[0] = b->shut;
	if ((b->drops || b->shut) && p->more++ < SOCKMEM_MORE)
		return buffer_put(p->t, b);
	if (b->shut > p->longest[b->key.of].shut)
		p->longest[b->key.of] = *b;
	else if (percent >= SOCKMEM_SHOWN)
		rank(p->fullest[b->key.of], b);
	return 0;
}

/* Few of the sockets are so that it is worth to ask; where many are, not all are asked. */
static struct tcp_closed closed(struct protocol *p, const struct socket_facts *s)
{
	bool full = fill(s->mem[SK_MEMINFO_RMEM_ALLOC], s->mem[SK_MEMINFO_RCVBUF]) >= SOCKMEM_HALF;

	return (full || s->probes) && p->asked++ < SOCKMEM_ASKED ? tcp_closed(s) :
	       (struct tcp_closed){};
}

/* What TCP has written waits until it is acknowledged; UDP has none left once it is sent. */
static int socket_take(const struct socket_facts *s, void *arg)
{
	struct protocol *p = arg;
	bool tcp = protocols[p->nr] == IPPROTO_TCP;
	struct tcp_closed windows = tcp ? closed(p, s) : (struct tcp_closed){};
	struct buffer b = {
		.key = {
			.protocol = protocols[p->nr], .of = SOCKMEM_RECEIVE, .inode = s->inode,
			.local_port = s->local_port, .remote_port = s->remote_port,
		},
		.held = s->mem[SK_MEMINFO_RMEM_ALLOC], .limit = s->mem[SK_MEMINFO_RCVBUF],
		.drops = tcp ? 0 : s->mem[SK_MEMINFO_DROPS],
		.shut = windows.own / 1000,
	};
	int err;

	memcpy(&b.key.local, s->local, sizeof(b.key.local));
	memcpy(&b.key.remote, s->remote, sizeof(b.key.remote));
	err = buffer_take(p, &b);
	b.key.of = SOCKMEM_SEND;
	b.held = s->mem[tcp ? SK_MEMINFO_WMEM_QUEUED : SK_MEMINFO_WMEM_ALLOC];
	b.limit = s->mem[SK_MEMINFO_SNDBUF];
	b.drops = 0;
	b.shut = windows.others / 1000;
	return err ?: buffer_take(p, &b);
}

static int count_put(const char *name, uint64_t value, void *arg)
{
	struct protocol *all = arg;

	for (size_t i = 0; i < NR_OF(counted); i++)
		for (unsigned p = 0; p < NR_PROTOCOLS; p++)
			if (!strcmp(name, counted[i].name) && protocols[p] == counted[i].protocol)
				((uint64_t *)&all[p].of[counted[i].of])[counted[i].word] += value;
	return 0;
}

/*
 * "TCP: inuse 8 orphan 0 tw 3 alloc 9 mem 2": sockets in TIME_WAIT, of the namespace; pages, of all
 * namespaces (6.1 to 6.18).
 */
static __u64 sockstat(const char *protocol, const char *name)
{
	FILE *f = fopen("/proc/net/sockstat", "re");
	size_t len = strlen(protocol);
	char line[160];
	__u64 value = 0;

	while (f && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, name);

		if (!strncmp(line, protocol, len) && line[len] == ':' && at)
			value = strtoull(at + strlen(name), NULL, 10);
	}
	if (f)
		fclose(f);
	return value;
}

/* The last number of a file that has `nr`. 0: there is none. */
static __u64 sysctl_last(const char *path, unsigned nr)
{
	FILE *f = fopen(path, "re");
	unsigned long value = 0;

	for (unsigned i = 0; f && i < nr; i++)
		if (fscanf(f, "%lu", &value) != 1)
			value = 0;
	if (f)
		fclose(f);
	return value;
}

/* Only the first namespace has the file (6.1 to 6.18). */
static void memory_take(struct sockmem *m, const char *protocol, const char *path)
{
	__u64 held = sockstat(protocol, " mem "), most = sysctl_last(path, 3);
	__u64 page = sysconf(_SC_PAGESIZE);

	if (!most)
		return;
	m->fill[0] = fill(held, most);
	m->held[0] = held * page;
	m->limit[0] = most * page;
}

static void time_wait_take(struct sockmem *m)
{
	m->sockets[0] = sockstat("TCP", " tw ");
	m->fill[0] = fill(m->sockets[0], sysctl_last("/proc/sys/net/ipv4/tcp_max_tw_buckets", 1));
}

static int protocol_put(struct table *t, const struct protocol *p)
{
	int err = 0;

	for (unsigned of = 0; of < NR_SOCKMEM_OF && !err; of++) {
		struct sockmem_key key = { .protocol = protocols[p->nr], .of = of };

		if (of == SOCKMEM_TIME_WAIT && key.protocol != IPPROTO_TCP)
			continue;
		err = row_put(t, &key, &p->of[of]);
		if (!err && p->longest[of].shut)
			err = buffer_put(t, &p->longest[of]);
		for (unsigned i = 0; i < SOCKMEM_FULLEST && !err; i++)
			if (p->fullest[of][i].held)
				err = buffer_put(t, &p->fullest[of][i]);
	}
	return err;
}

static int read_all(const struct meta *meta, struct table *t, struct error *e)
{
	struct protocol all[NR_PROTOCOLS] = {};
	int err = 0;

	(void)meta, (void)e;
	nstat_each(count_put, all);
	memory_take(&all[0].of[SOCKMEM_MEMORY], "TCP", "/proc/sys/net/ipv4/tcp_mem");
	memory_take(&all[1].of[SOCKMEM_MEMORY], "UDP", "/proc/sys/net/ipv4/udp_mem");
	time_wait_take(&all[0].of[SOCKMEM_TIME_WAIT]);
	for (unsigned p = 0; p < NR_PROTOCOLS && !err; p++) {
		all[p].nr = p;
		all[p].t = t;
		/* without sock_diag there is what the kernel counts */
		err = sockets_each(protocols[p], protocols[p] == IPPROTO_TCP ? SOCKETS_CONNECTED :
				   SOCKETS_ALL, socket_take, &all[p]);
		err = err == -ENOMEM ? err : protocol_put(t, &all[p]);
	}
	return err;
}

const struct meter meter_sockmem = {
	.name = "sockmem",
	.help = "how full the buffers of sockets are, and what is dropped for want of room",
	.type = READ_METER,
	.host = true,
	.by = BY_KEY,
	.row_size = sizeof(struct sockmem),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct sockmem_key),
		.labels = labels,
		.text = key_words,
		.is_part = is_part,
		.sorted = true,
	},
	.read = read_all,
};
