/* SPDX-License-Identifier: GPL-2.0 */
/* The meter backlog: what TCP listeners drop, by the kernel's counters of namespace and sockets. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "bpf/backlog/backlog.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"
#include "lib/net/inet_sockets.h"
#include "lib/proc/holders.h"
#include "lib/proc/nstat.h"
#include "lib/read/snapshot.h"

extern const struct meter meter_backlog;

static const char *const full[] = {
	[BACKLOG_COOKIES] = "cookie",
	[BACKLOG_DROPPED] = "dropped",
};

static const struct metric metrics[] = {
	COUNTER(struct backlog, overflows, .name = "overflows", .unit = "segments",
		.help = "SYNs, and last ACKs of handshakes, that found an accept queue full."),
	COUNTER(struct backlog, drops, .name = "drops", .unit = "segments",
		.help = "These, and others that a listener could not make a connection of."),
	COUNTER(struct backlog, full, .name = "syn_queue_full", .unit = "segments",
		.help = "SYNs that found a SYN queue full, by what became of them.",
		.label = "answer", .labels = LABELS(struct backlog, full, full), .rare = true,
		.group = "SYN queue full"),
	COUNTER(struct backlog, cookies_sent, .name = "cookies_sent", .unit = "segments",
		.rare = true, .help = "SYN cookies sent."),
	COUNTER(struct backlog, cookies_received, .name = "cookies_received", .unit = "segments",
		.rare = true, .help = "SYN cookies that came back, right."),
	COUNTER(struct backlog, cookies_failed, .name = "cookies_failed", .unit = "segments",
		.rare = true, .help = "ACKs with a wrong or an old cookie."),
	COUNTER(struct backlog, socket_drops, .name = "socket_drops", .unit = "segments",
		.rare = true, .help = "Segments dropped by this listener, as its socket counts."),
	{}
};

/* The words of the namespace's row, and their names in nstat. */
static const struct nstat_word {
	const char *name;
	unsigned word;
} counted[] = {
	{ "TcpExtListenOverflows", WORD(struct backlog, overflows) },
	{ "TcpExtListenDrops", WORD(struct backlog, drops) },
	{ "TcpExtTCPReqQFullDoCookies", WORD(struct backlog, full[BACKLOG_COOKIES]) },
	{ "TcpExtTCPReqQFullDrop", WORD(struct backlog, full[BACKLOG_DROPPED]) },
	{ "TcpExtSyncookiesSent", WORD(struct backlog, cookies_sent) },
	{ "TcpExtSyncookiesRecv", WORD(struct backlog, cookies_received) },
	{ "TcpExtSyncookiesFailed", WORD(struct backlog, cookies_failed) },
};

enum label { ADDRESS, PORT, PROCESS, SOCKET };
static const char *const labels[] = { "address", "port", "process", "socket", NULL };

static void key_text(const void *of, unsigned nr, char *out, size_t size)
{
	const struct backlog_key *key = of;
	struct holder h;

	if (!key->port) {
		snprintf(out, size, nr == ADDRESS ? "all" : "-");
		return;
	}
	switch ((enum label)nr) {
	case ADDRESS:
		address_text(&key->address, out, size);
		break;
	case PORT:
		snprintf(out, size, "%u", key->port);
		break;
	case PROCESS:
		snprintf(out, size, "%s", holder_find(key->inode, &h) ? h.name : "unknown");
		break;
	case SOCKET:
		snprintf(out, size, "%u", key->inode);
	}
}

static int count_put(const char *name, uint64_t value, void *arg)
{
	uint64_t *words = arg;

	for (size_t i = 0; i < sizeof(counted) / sizeof(*counted); i++)
		if (!strcmp(name, counted[i].name))
			words[counted[i].word] = value;
	return 0;
}

/* One that has dropped nothing has no row, as most. */
static int listener_put(const struct socket_facts *l, void *t)
{
	struct backlog_key key = { .port = l->local_port, .inode = l->inode };
	uint64_t *row;

	if (!l->mem[SK_MEMINFO_DROPS])
		return 0;
	memcpy(&key.address, l->local, sizeof(key.address));
	row = table_add(t, &meter_backlog, &key);
	if (!row)
		return -ENOMEM;
	row[WORD(struct backlog, socket_drops)] = l->mem[SK_MEMINFO_DROPS];
	return 0;
}

static int read_all(const struct meta *meta, struct table *t, struct error *e)
{
	uint64_t *all = table_add(t, &meter_backlog, &(struct backlog_key){});
	int err;

	(void)meta, (void)e;
	if (!all)
		return -ENOMEM;
	nstat_each(count_put, all);
	err = sockets_each(IPPROTO_TCP, SOCKETS_LISTEN, listener_put, t);
	return err == -ENOMEM ? err : 0;	/* without sock_diag there is the namespace's row */
}

const struct meter meter_backlog = {
	.name = "backlog",
	.help = "what TCP listeners drop, and SYN cookies, as the kernel counts them",
	.type = READ_METER,
	.host = true,
	.by = BY_KEY,
	.row_size = sizeof(struct backlog),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct backlog_key),
		.labels = labels,
		.text = key_text,
		.sorted = true,
	},
	.read = read_all,
};
