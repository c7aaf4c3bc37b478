/* SPDX-License-Identifier: GPL-2.0 */
/* Prints the lines of nicprobe host in columns, those that fit. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/host.h"
#include "lib/util/clock.h"
#include "lib/util/list.h"
#include "lib/util/log.h"
#include "probes/named.h"
#include "render/text.h"
#include "render/units.h"

#define CELL	80		/* bytes of the longest value */
#define GAP	2
#define MOST	16		/* columns */

static const char *or_none(const char *s)
{
	return s && *s ? s : "-";
}

const char *line_state(__u32 state)
{
	return named_text(FORMAT_STATE, state);
}

const char *line_end(enum host_event event, const struct host_line *l)
{
	return event == HOST_connect && l->end < NR_CONNECT_ENDS ? connect_ends[l->end] :
	       event == HOST_sessions && l->end < NR_SESSION_ENDS ? session_ends[l->end] :
	       event == HOST_retransmits && l->end < NR_TCP_AGAIN ? tcp_kinds[l->end] : NULL;
}

const char *line_side(const struct host_line *l)
{
	static const char *const sides[] = { NULL, "client", "server" };

	return sides[l->side % NR_OF(sides)];
}

const char *line_congestion(const struct host_line *l)
{
	static const char *const states[] = { "open", "disorder", "cwr", "recovery", "loss" };

	return l->congestion < NR_OF(states) ? states[l->congestion] : NULL;
}

const char *line_limit(const struct host_line *l)
{
	return l->limit < NR_TCPWAIT ? tcpwait_causes[l->limit] :
	       l->limit == LIMIT_APPLICATION ? "application" :
	       l->limit == LIMIT_SEND_BUFFER ? "send-buffer" : NULL;
}

bool line_has_local(const struct host_line *l)
{
	return !l->family || l->family == AF_INET || l->family == AF_INET6;
}

/* A local end may be any address; a remote one without port is none. */
bool line_has_remote(const struct host_line *l)
{
	return l->remote_port || !remote_is_any(&l->remote);
}

static void end_text(const struct remote *address, __u32 port, char *out)
{
	bool v4 = remote_is_v4(address);
	char host[CELL / 2];

	address_text(address, host, sizeof(host));
	snprintf(out, CELL, "%s%s%s:%s", v4 ? "" : "[", host, v4 ? "" : "]",
		 port ? text("%u", port) : "-");
}

static void time_cell(const struct host_line *l, char *out)
{
	struct timespec t = clock_wall(l->time);
	char clock[16];
	struct tm tm;

	strftime(clock, sizeof(clock), "%T", localtime_r(&t.tv_sec, &tm));
	snprintf(out, CELL, "%s.%03ld", clock, t.tv_nsec / 1000000);
}

static void process_cell(const struct host_line *l, char *out)
{
	comm_text(l->comm, out, CELL);
}

static void pid_cell(const struct host_line *l, char *out)
{
	snprintf(out, CELL, l->pid ? "%u" : "-", l->pid);
}

static void protocol_cell(const struct host_line *l, char *out)
{
	const char *name = named_text(FORMAT_PROTOCOL, l->protocol);

	snprintf(out, CELL, "%s", name ?: text("%u", l->protocol));
}

static void family_cell(const struct host_line *l, char *out)
{
	family_text(l->family, out, CELL);
}

static void kind_of_cell(const struct host_line *l, char *out)
{
	protocol_text(l->family, l->type, l->protocol, out, CELL);
}

static void side_cell(const struct host_line *l, char *out)
{
	snprintf(out, CELL, "%s", or_none(line_side(l)));
}

static void local_cell(const struct host_line *l, char *out)
{
	if (line_has_local(l))
		end_text(&l->local, l->local_port, out);
	else
		strcpy(out, "-");
}

static void remote_cell(const struct host_line *l, char *out)
{
	if (line_has_remote(l))
		end_text(&l->remote, l->remote_port, out);
	else
		strcpy(out, "-");
}

static void connect_cell(const struct host_line *l, char *out)
{
	snprintf(out, CELL, "%s", or_none(line_end(HOST_connect, l)));
}

static void session_cell(const struct host_line *l, char *out)
{
	snprintf(out, CELL, "%s", or_none(line_end(HOST_sessions, l)));
}

static void kind_cell(const struct host_line *l, char *out)
{
	snprintf(out, CELL, "%s", or_none(line_end(HOST_retransmits, l)));
}

static void span_cell(const struct host_line *l, char *out)
{
	if (l->span == SPAN_UNKNOWN)
		strcpy(out, "-");
	else
		units_seconds(out, l->span * 1e-9);
}

static void sent_cell(const struct host_line *l, char *out)
{
	if (l->sent == COUNT_UNKNOWN)
		strcpy(out, "-");
	else
		units_bytes(out, l->sent);
}

static void received_cell(const struct host_line *l, char *out)
{
	if (l->received == COUNT_UNKNOWN)
		strcpy(out, "-");
	else
		units_bytes(out, l->received);
}

static void sends_cell(const struct host_line *l, char *out)
{
	snprintf(out, CELL, l->sends == COUNT_UNKNOWN ? "-" : "%llu", l->sends);
}

static void receives_cell(const struct host_line *l, char *out)
{
	snprintf(out, CELL, l->receives == COUNT_UNKNOWN ? "-" : "%llu", l->receives);
}

static void segments_cell(const struct host_line *l, char *out)
{
	snprintf(out, CELL, "%u", l->segments);
}

static void cwnd_cell(const struct host_line *l, char *out)
{
	snprintf(out, CELL, "%u", l->cwnd);
}

static void ssthresh_cell(const struct host_line *l, char *out)
{
	snprintf(out, CELL, l->ssthresh == SSTHRESH_NONE ? "-" : "%u", l->ssthresh);
}

static void congestion_cell(const struct host_line *l, char *out)
{
	snprintf(out, CELL, "%s", or_none(line_congestion(l)));
}

static void limit_cell(const struct host_line *l, char *out)
{
	snprintf(out, CELL, "%s", or_none(line_limit(l)));
}

static void peer_cell(const struct host_line *l, char *out)
{
	units_bytes(out, l->peer_window);
}

static void old_cell(const struct host_line *l, char *out)
{
	snprintf(out, CELL, "%s", or_none(line_state(l->old_state)));
}

static void state_cell(const struct host_line *l, char *out)
{
	snprintf(out, CELL, "%s", or_none(line_state(l->state)));
}

static void backlog_cell(const struct host_line *l, char *out)
{
	snprintf(out, CELL, "%u", l->backlog);
}

static void waiting_cell(const struct host_line *l, char *out)
{
	if (l->backlog || l->waiting)
		snprintf(out, CELL, "%u/%u", l->waiting, l->backlog);
	else
		strcpy(out, "-");
}

static void half_open_cell(const struct host_line *l, char *out)
{
	if (l->half_open >= 0)
		snprintf(out, CELL, "%d", l->half_open);
	else
		strcpy(out, "-");
}

static void error_cell(const struct host_line *l, char *out)
{
	snprintf(out, CELL, "%s", or_none(l->error ? strerrorname_np(l->error) : NULL));
}

static void iface_cell(const struct host_line *l, char *out)
{
	snprintf(out, CELL, "%.16s", or_none(l->iface));
}

static void queue_cell(const struct host_line *l, char *out)
{
	char rx[16] = "-", tx[16] = "-";

	if (l->rx_queue >= 0)
		snprintf(rx, sizeof(rx), "%d", l->rx_queue);
	if (l->tx_queue >= 0)
		snprintf(tx, sizeof(tx), "%d", l->tx_queue);
	snprintf(out, CELL, "%s/%s", rx, tx);
}

/* `rank`: where there is no room, those of the greatest are left out first; 0: never. */
struct host_column {
	const char *name;
	unsigned char width, rank;
	bool right;
	void (*put)(const struct host_line *, char *out);
};

#define TIME	{ "time", 12, 5, false, time_cell }
#define PROCESS	{ "process", 15, 1, false, process_cell }
#define PID	{ "pid", 7, 7, true, pid_cell }
#define SIDE	{ "side", 6, 4, false, side_cell }
#define LOCAL	{ "local", 21, 6, false, local_cell }
#define HERE	{ "local", 21, 0, false, local_cell }
#define REMOTE	{ "remote", 21, 0, false, remote_cell }
#define TOOK(name)	{ name, 8, 2, true, span_cell }
#define ERROR	{ "error", 12, 0, false, error_cell }
#define WAY	{ "interface", 9, 8, false, iface_cell }, { "rx/tx", 5, 9, false, queue_cell }

static const struct host_column columns[NR_HOST_EVENTS][MOST] = {
	[HOST_connect] = { TIME, PROCESS, PID, LOCAL, REMOTE,
			   { "end", 11, 0, false, connect_cell }, TOOK("took"), WAY },
	[HOST_accept] = { TIME, PROCESS, PID, LOCAL, REMOTE,
			  { "waiting", 9, 2, true, waiting_cell },
			  { "half-open", 9, 3, true, half_open_cell }, WAY },
	[HOST_sessions] = { TIME, PROCESS, PID, SIDE, LOCAL, REMOTE,
			    { "end", 9, 0, false, session_cell }, TOOK("lasted"),
			    { "sent", 8, 3, true, sent_cell },
			    { "received", 8, 3, true, received_cell },
			    { "again", 5, 4, true, segments_cell }, WAY },
	[HOST_sockets] = { TIME, PROCESS, PID, { "family", 6, 6, false, family_cell },
			   { "protocol", 8, 4, false, kind_of_cell }, LOCAL, REMOTE, TOOK("lasted"),
			   { "sent", 8, 3, true, sent_cell },
			   { "received", 8, 3, true, received_cell },
			   { "sends", 6, 7, true, sends_cell },
			   { "receives", 8, 7, true, receives_cell }, WAY },
	[HOST_retransmits] = { TIME, PROCESS, PID, LOCAL, REMOTE,
			       { "kind", 7, 0, false, kind_cell },
			       { "segments", 8, 3, true, segments_cell },
			       { "state", 12, 2, false, state_cell }, WAY },
	[HOST_window] = { TIME, PROCESS, PID, LOCAL, REMOTE, { "cwnd", 5, 0, true, cwnd_cell },
			  { "ssthresh", 8, 0, true, ssthresh_cell },
			  { "state", 8, 2, false, congestion_cell },
			  { "limit", 12, 0, false, limit_cell },
			  { "in flight", 9, 3, true, segments_cell },
			  { "receiver", 8, 4, true, peer_cell }, TOOK("rtt"), WAY },
	[HOST_states] = { TIME, PROCESS, PID, LOCAL, REMOTE, { "from", 12, 0, false, old_cell },
			  { "to", 12, 0, false, state_cell }, TOOK("after") },
	[HOST_listen] = { TIME, PROCESS, PID, HERE, { "backlog", 7, 0, true, backlog_cell } },
	[HOST_bind] = { TIME, PROCESS, PID, { "protocol", 8, 2, false, protocol_cell }, HERE,
			ERROR },
	[HOST_udp] = { TIME, PROCESS, PID, LOCAL, REMOTE, ERROR },
};

/* Columns above this rank do not fit. */
static unsigned rank_most(const struct page *p, const struct host_column *all)
{
	for (unsigned most = 9;; most--) {
		unsigned width = 0;

		for (const struct host_column *c = all; c->name; c++)
			width += c->rank <= most ? c->width + (width ? GAP : 0) : 0;
		if (width <= p->width || !most)
			return most;
	}
}

static void row_print(struct page *p, enum host_event event, const struct host_line *l)
{
	const struct host_column *all = columns[event];
	unsigned most = rank_most(p, all), end = 0;

	for (const struct host_column *c = all; c->name; c++) {
		char cell[CELL];
		unsigned wide;

		if (c->rank > most)
			continue;
		if (l)
			c->put(l, cell);
		else
			strcpy(cell, c->name);
		wide = text_columns(cell);
		end += end ? GAP : 0;
		if (end)
			page_spaces(p, GAP);
		if (c->right && wide < c->width)
			page_spaces(p, c->width - wide);
		page_wrap(p, GAP, cell);
		if (!c->right && wide < c->width)
			page_spaces(p, c->width - wide);
		end += c->width;
	}
	page_newline(p);
}

void host_heads(struct page *p, enum host_event event)
{
	row_print(p, event, NULL);
}

void host_print(struct page *p, enum host_event event, const struct host_line *l)
{
	row_print(p, event, l);
}
