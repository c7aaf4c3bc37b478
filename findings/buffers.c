/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about buffers of the host's sockets that are full, and other room for sockets. */
#include <inttypes.h>
#include <netinet/in.h>

#include "findings/buffers.h"
#include "findings/dropping.h"
#include "findings/subjects.h"
#include "lib/proc/holders.h"
#include "lib/util/log.h"

enum { UDP_FULL, NOT_READ, PEER, TIME_WAIT_FULL };

#define TIME_WAIT_USUAL	65536UL	/* about 16 MB */

static const struct limit few = { 10, "10 datagrams or more" };
static const struct limit share = { 1e-4, "one in 10000 of those that came" };
static const struct limit ends = { 10, "10 connections or more" };
static const struct limit seconds = { 5, "5 seconds or more" };

static const struct finding_kind kinds[] = {
	[UDP_FULL] = {
		.id = "udp-buffer-full", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(sockmem), 0),
		.title = "The receive buffer of a UDP socket is full",
		.means = "The program has not read earlier datagrams, so further ones are dropped, "
			 "and UDP does not send them again. By which interface they came does not "
			 "matter: the host counts all; socket-full speaks of those of one "
			 "interface.",
		.when = "{1}, and {2}, found a receive buffer full",
		.remedy = "Make the program read faster, with more threads and SO_REUSEPORT. "
			  "Against bursts a larger buffer: SO_RCVBUF up to net.core.rmem_max, or "
			  "net.core.rmem_default for sockets opened later. The finding names the "
			  "socket that lost most.",
		.symptom = "A program misses datagrams",
		.limits = { &few, &share },
	},
	[NOT_READ] = {
		.id = "tcp-not-read", RATED(INFO, WAIT),
		RESTS(ALWAYS, ON(sockmem), 0),
		.title = "A program does not read from a TCP connection, or only slowly",
		.means = "What came waits in the receive buffer, which is full, so this host has "
			 "told the other end to send no more: its window is closed. Its program "
			 "waits, or stands still as it writes. The window opens only when a "
			 "sixteenth of the buffer is free, and of megabytes that is much.",
		.when = "a receive window has been zero for {1}, and nothing came meanwhile; the "
			"kernel tells it since Linux 6.2",
		.silent = "A program that reads a sixteenth of the buffer within this time: its "
			  "window opens in between.",
		.remedy = "Why the program does not keep up: is it stopped, does it wait for a "
			  "lock or a disk? If it means to read slowly, a smaller SO_RCVBUF lets "
			  "the data come evenly; if it does not want the data, it should close "
			  "the connection.",
		.symptom = "A transfer stands still, and the connection stays open",
		.limits = { &seconds },
	},
	[PEER] = {
		.id = "tcp-peer-not-read", RATED(INFO, WAIT),
		RESTS(ALWAYS, ON(sockmem), 0),
		.title = "The program at the other end does not read, or only slowly, and data "
			 "waits",
		.means = "The other end has closed its receive window and keeps it closed: it "
			 "answers when TCP asks for it, so host and way are well, and its program "
			 "takes nothing from a buffer that is full, or little: Linux opens the "
			 "window only when a sixteenth of the buffer is free. A program here that "
			 "writes more stands still in the end.",
		.when = "data has waited for a closed window for {1}, and the other end answers",
		.silent = "A program there that reads enough for its window to open within this "
			  "time; and a host that is silent.",
		.remedy = "At the other end: ss -tnmp shows the program, and a Recv-Q that stays, "
			  "or falls slowly. Here a program should limit how long it waits "
			  "(TCP_USER_TIMEOUT).",
		.symptom = "A transfer stands still, and the connection stays open",
		.limits = { &seconds },
	},
	[TIME_WAIT_FULL] = {
		.id = "time-wait-full", RATED(WARNING, RISK),
		RESTS(ALWAYS, ON(sockmem), 0),
		.title = "There is no room for connections in TIME_WAIT",
		.means = "The end that closes first remembers a connection for a minute: so it can "
			 "repeat its last acknowledgement, and segments that come late are not "
			 "taken for those of a new connection. Beyond "
			 "net.ipv4.tcp_max_tw_buckets it forgets at once; if that acknowledgement "
			 "is lost, the other end has a reset instead of an orderly end.",
		.when = "{1} ended without TIME_WAIT, as it had as many as it may",
		.silent = "Many connections in TIME_WAIT, as long as there is room: each takes "
			  "about 250 bytes, and its port only for one address and port.",
		.remedy = "A larger net.ipv4.tcp_max_tw_buckets. Better: keep connections open and "
			  "use them again.",
		.symptom = "The kernel's log says: TCP: time wait bucket table overflow",
		.limits = { &ends },
	},
};

const struct sockmem *sockets_all(const struct evidence *e, unsigned protocol, unsigned of)
{
	for_each_row(r, e, METER_sockmem) {
		const struct sockmem_key *key = r.key;

		if (key->protocol == protocol && key->of == of && !key->local_port)
			return (const void *)r.words;
	}
	return NULL;
}

static void judge_udp(struct evidence *e)
{
	const struct sockmem *udp = sockets_all(e, IPPROTO_UDP, SOCKMEM_RECEIVE);
	uint64_t lost = udp ? udp->dropped[SOCKMEM_BUFFER] : 0;
	uint64_t came = udp ? udp->packets + lost : 0;
	struct finding *f;

	if (!worth(e, lost, few.value) || lost < share.value * came)
		return;
	f = finding_add(e->f, &kinds[UDP_FULL], -1, "%" PRIu64 " of %" PRIu64 " datagrams found "
			"the receive buffer of their socket full", lost, came);
	finding_counted(e, f, lost, "lost", "packets");
	finding_fact(f, "share", (double)lost / came, "ratio");
	loss_advise(e, f, "socket-full", (double)lost / came);
}

/* Buffers whose window has been closed so long. */
struct closed {
	const struct sockmem_key *key;	/* of that which is closed longest; NULL: there is none */
	const struct sockmem *row;
	unsigned nr;
	bool more;			/* there may be more: not all are asked, or have a row */
};

/*
 * A program may read meanwhile: __tcp_select_window() answers 0 until a sixteenth of the buffer and
 * a segment are free (6.1 to 6.18).
 */
static struct closed closed_longest(struct evidence *e, unsigned of)
{
	const struct sockmem *all = sockets_all(e, IPPROTO_TCP, of);
	struct closed c = { .more = all && all->sockets[0] > SOCKMEM_ASKED };
	unsigned shut = 0;

	for_each_row(r, e, METER_sockmem) {
		const struct sockmem_key *key = r.key;
		const struct sockmem *s = (const void *)r.words;

		if (!key->local_port || !s->shut[0])
			continue;
		if (++shut > SOCKMEM_MORE)
			c.more = true;
		if (key->of != of || s->shut[0] < seconds.value)
			continue;
		c.nr++;
		if (c.key && s->shut[0] <= c.row->shut[0])
			continue;
		c.row = s;
		c.key = key;
	}
	return c;
}

static void judge_closed(struct evidence *e, unsigned kind, unsigned of)
{
	struct closed c = closed_longest(e, of);
	const struct sockmem_key *key = c.key;
	const char *who, *others;
	struct finding *f;
	struct holder h;
	char remote[64];
	uint64_t time;

	if (!key)
		return;
	who = holder_find(key->inode, &h) ? text("%s (pid %d)", h.name, h.pid) : "a program";
	others = c.nr > 1 ? text(", and so it is with %s%u other%s", c.more ? "at least " : "",
				 c.nr - 1, c.nr > 2 ? "s" : "") : "";
	time = c.row->shut[0];
	address_text(&key->remote, remote, sizeof(remote));
	if (kind == NOT_READ)
		f = finding_add(e->f, &kinds[kind], -1, "%s does not read, or only slowly, what "
				"%s port %u sends: its receive window has been closed for %" PRIu64
				" s%s", who, remote, key->remote_port, time, others);
	else
		f = finding_add(e->f, &kinds[kind], -1, "%s port %u does not read, or only slowly, "
				"what %s sends: data has waited for its window for %" PRIu64 " s%s",
				remote, key->remote_port, who, time, others);
	finding_harm(f, time);
	finding_strikes(f, rate(e, c.nr));
	finding_fact(f, "closed", time, "seconds");
	finding_fact(f, "connections", c.nr, "connections");
	if (kind == NOT_READ)
		finding_advise(f, "is it stopped, what does it wait for: ss -tnmp src :%u",
			       key->local_port);
	else
		finding_advise(f, "at %s: ss -tnmp dst :%u", remote, key->local_port);
}

static void judge_time_wait(struct evidence *e)
{
	const struct sockmem *all = sockets_all(e, IPPROTO_TCP, SOCKMEM_TIME_WAIT);
	uint64_t forgotten = all ? all->forgotten : 0;
	struct finding *f;
	unsigned long now;
	bool host;

	if (!worth(e, forgotten, ends.value))
		return;
	f = finding_add(e->f, &kinds[TIME_WAIT_FULL], -1, "%" PRIu64 " connections ended without "
			"TIME_WAIT, which has %" PRIu64, forgotten, (uint64_t)all->sockets[0]);
	finding_harm(f, rate(e, forgotten));
	finding_fact(f, "forgotten", forgotten, "connections");
	finding_fact(f, "time_wait", all->sockets[0], "connections");
	now = sysctl_value(e, "net/ipv4/tcp_max_tw_buckets", &host);
	finding_changes(f, "the most connections in TIME_WAIT, from %lu", now);
	finding_fix(f, "sysctl", "-w", text("net.ipv4.tcp_max_tw_buckets=%lu",
					    now < TIME_WAIT_USUAL / 4 ? TIME_WAIT_USUAL : 4 * now));
}

static void judge(struct evidence *e)
{
	judge_udp(e);
	judge_time_wait(e);
	judge_closed(e, NOT_READ, SOCKMEM_RECEIVE);
	judge_closed(e, PEER, SOCKMEM_SEND);
}

DEFINE_SUBJECT(buffers, "Buffers and memory of the host's sockets", .host = true)
