/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about listeners of the host: queues that are full. */
#include <inttypes.h>
#include <stdio.h>

#include "bpf/accept/accept.h"
#include "bpf/backlog/backlog.h"
#include "findings/subjects.h"
#include "lib/proc/holders.h"
#include "lib/util/log.h"

enum { OVERFLOW, SYN_DROPPED, COOKIES };

static const struct limit few = { 3, "3 SYNs or ACKs or more" };
static const struct limit some = { 10, "10 SYNs or more" };

static const struct finding_kind kinds[] = {
	[OVERFLOW] = {
		.id = "listen-overflow", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(backlog), 0),
		.title = "The accept queue of a listener is full",
		.means = "A connection waits there from the end of its handshake until the program "
			 "takes it. Where the queue has no room, its SYN or its last ACK is "
			 "dropped: it is a second late, or three, or fails.",
		.when = "{1} found an accept queue full",
		.remedy = "A larger backlog, which the program asks for when it begins to listen "
			  "and net.core.somaxconn limits. Where the queue stays full, the program "
			  "accepts too slowly: more threads that accept, or several sockets with "
			  "SO_REUSEPORT.",
		.symptom = "Some clients wait one or three seconds for a connection",
		.limits = { &few },
	},
	[SYN_DROPPED] = {
		.id = "listen-syns-dropped", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(backlog), 0),
		.title = "SYNs are dropped, as a SYN queue is full",
		.means = "Handshakes that are not complete wait in the SYN queue of a listener, "
			 "which has room for as many as its backlog. SYN cookies are off, so "
			 "further SYNs are dropped: by a flood of forged ones, nobody can connect.",
		.when = "{1} found a SYN queue full and were dropped",
		.remedy = "SYN cookies: sysctl net.ipv4.tcp_syncookies=1. And a larger backlog.",
		.symptom = "Nobody can connect",
		.limits = { &some },
	},
	[COOKIES] = {
		.id = "listen-cookies", RATED(WARNING, WORK),
		RESTS(ALWAYS, ON(backlog), 0),
		.title = "SYNs are answered with cookies, as a SYN queue is full",
		.means = "A flood of forged SYNs, or a backlog that is too short for the load. "
			 "Cookies let clients in all the same; a client without TCP timestamps "
			 "then gets neither window scaling nor selective acknowledgements.",
		.when = "{1} found a SYN queue full and were answered with a cookie",
		.remedy = "If most of them come back, a larger backlog of the program, and "
			  "net.core.somaxconn. If few do, it is a flood: limit it on "
			  "the way, or drop it in XDP.",
		.symptom = "\"Possible SYN flooding\" in the kernel's log",
		.limits = { &some },
	},
};

/* What the namespace counts; NULL: nothing. */
static const struct backlog *everything(struct evidence *e)
{
	for_each_row(r, e, METER_backlog)
		if (!((const struct backlog_key *)r.key)->port)
			return (const void *)r.words;
	return NULL;
}

/* Of a listener: what its meters tell. */
struct full_listener {
	const struct backlog_key *key;		/* that dropped most; NULL: none is known */
	const struct accept_key *accepts;	/* at its port, or the fullest one; NULL: no row */
};

static const struct accept_key *accepting(struct evidence *e, unsigned port)
{
	const struct accept_key *key = NULL;
	uint64_t most = 0;

	for_each_row(r, e, METER_accept) {
		const struct accept *row = (const void *)r.words;
		const struct accept_key *k = r.key;
		bool fits = port ? k->port == port : row->filled > 0;

		if (!fits || row->connections <= most)
			continue;
		most = row->connections;
		key = k;
	}
	return key;
}

static struct full_listener fullest(struct evidence *e)
{
	struct full_listener l = {};
	uint64_t most = 0;

	for_each_row(r, e, METER_backlog) {
		const struct backlog *row = (const void *)r.words;

		if (row->socket_drops <= most)
			continue;
		most = row->socket_drops;
		l.key = r.key;
	}
	l.accepts = accepting(e, l.key ? l.key->port : 0);
	return l;
}

/* "nginx at port 443". First of all in a sentence: to find a process takes many texts. */
static const char *who(const struct full_listener *l)
{
	struct holder h;

	if (l->key && holder_find(l->key->inode, &h))
		return text("%s at port %u", h.name, l->key->port);
	if (l->accepts && *l->accepts->comm)
		return text("%.*s at port %u", COMM_SIZE, l->accepts->comm, l->accepts->port);
	return l->key ? text("the listener at port %u", l->key->port) : "a listener";
}

/* Would a program that asks for more get more? Only the limit of the namespace is in the way. */
static void advise_limit(struct evidence *e, struct finding *f, const struct full_listener *l)
{
	unsigned port = l->key ? l->key->port : l->accepts ? l->accepts->port : 0;
	bool host;
	unsigned long most = sysctl_value(e, "net/core/somaxconn", &host);

	if (l->accepts && most && l->accepts->limit >= most) {
		finding_changes(f, "the most that listen() may ask for; then start the program "
				"anew");
		finding_fix(f, "sysctl", "-w", "net.core.somaxconn=16384");
	} else {
		finding_advise(f, "a larger backlog of the program; listen() gives it up to %lu",
			       most);
	}
	if (port)
		finding_advise(f, "does it accept at all, or is it late: ss -ltn sport = :%u",
			       port);
}

static void judge_overflow(struct evidence *e, const struct backlog *all)
{
	struct full_listener l;
	const char *whose;
	struct finding *f;

	if (!worth(e, all->overflows, few.value))
		return;
	l = fullest(e);
	whose = who(&l);
	f = finding_add(e->f, &kinds[OVERFLOW], -1, "%" PRIu64 " SYNs and ACKs found the accept "
			"queue of %s full%s", (uint64_t)all->overflows, whose,
			l.accepts ? text(", which has room for %u", l.accepts->limit + 1) : "");
	finding_counted(e, f, all->overflows, "overflows", "segments");
	if (l.accepts)
		finding_fact(f, "limit", l.accepts->limit, "connections");
	advise_limit(e, f, &l);
}

static void judge_dropped(struct evidence *e, const struct backlog *all)
{
	struct full_listener l;
	struct finding *f;

	if (!worth(e, all->full[BACKLOG_DROPPED], some.value))
		return;
	l = fullest(e);
	f = finding_add(e->f, &kinds[SYN_DROPPED], -1, "%" PRIu64 " SYNs were dropped, as the SYN "
			"queue of %s is full", (uint64_t)all->full[BACKLOG_DROPPED], who(&l));
	finding_counted(e, f, all->full[BACKLOG_DROPPED], "dropped", "segments");
	finding_changes(f, "SYN cookies: on, where a SYN queue is full");
	finding_fix(f, "sysctl", "-w", "net.ipv4.tcp_syncookies=1");
}

static void judge_cookies(struct evidence *e, const struct backlog *all)
{
	uint64_t sent = all->full[BACKLOG_COOKIES], back = all->cookies_received;
	struct finding *f;

	if (!worth(e, sent, some.value))
		return;
	f = finding_add(e->f, &kinds[COOKIES], -1, "%" PRIu64 " SYNs found a SYN queue full and "
			"were answered with a cookie; %" PRIu64 " came back", sent, back);
	finding_counted(e, f, sent, "cookies", "segments");
	finding_fact(f, "received", back, "segments");
	if (back >= sent / 2)
		finding_advise(f, "a larger backlog of the listener, and net.core.somaxconn");
	else
		finding_advise(f, "who sends them: tcpdump -nn -c 100 'tcp[tcpflags] == tcp-syn'");
}

static void judge(struct evidence *e)
{
	const struct backlog *all = everything(e);

	if (!all)
		return;
	judge_overflow(e, all);
	judge_dropped(e, all);
	judge_cookies(e, all);
}

DEFINE_SUBJECT(listening, "Listeners of the host", .host = true)
