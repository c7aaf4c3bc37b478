/* SPDX-License-Identifier: GPL-2.0 */
/* Prints the lines of nicprobe host as JSON, whole. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/host.h"
#include "lib/util/clock.h"
#include "lib/util/log.h"
#include "probes/named.h"
#include "render/json_writer.h"

#define ADDRESS	48		/* bytes of the longest */

static void end_json(struct json *j, const char *key, const char *port_key,
		     const struct remote *address, __u32 port, bool there)
{
	char text[ADDRESS] = "";

	if (there)
		address_text(address, text, sizeof(text));
	json_string_or_null(j, key, text);
	if (port)
		json_uint(j, port_key, port);
	else
		json_null(j, port_key);
}

static void queue_json(struct json *j, const char *key, int queue)
{
	if (queue >= 0)
		json_uint(j, key, queue);
	else
		json_null(j, key);
}

static void span_json(struct json *j, const char *key, const struct host_line *l)
{
	if (l->span == SPAN_UNKNOWN)
		json_null(j, key);
	else
		json_double(j, key, l->span * 1e-9);
}

static void session_json(struct json *j, const struct host_line *l)
{
	json_string_or_null(j, "side", line_side(l) ?: "");
	span_json(j, "seconds", l);
	json_uint(j, "sent_bytes", l->sent);
	json_uint(j, "received_bytes", l->received);
	json_uint(j, "retransmits", l->segments);
}

static void count_json(struct json *j, const char *key, __u64 count)
{
	if (count == COUNT_UNKNOWN)
		json_null(j, key);
	else
		json_uint(j, key, count);
}

static void socket_json(struct json *j, const struct host_line *l)
{
	char word[32];

	family_text(l->family, word, sizeof(word));
	json_string(j, "family", word);
	protocol_text(l->family, l->type, l->protocol, word, sizeof(word));
	json_string(j, "protocol", word);
	span_json(j, "seconds", l);
	count_json(j, "sent_bytes", l->sent);
	count_json(j, "received_bytes", l->received);
	count_json(j, "sends", l->sends);
	count_json(j, "receives", l->receives);
}

static void window_json(struct json *j, const struct host_line *l)
{
	json_uint(j, "cwnd", l->cwnd);
	if (l->ssthresh == SSTHRESH_NONE)
		json_null(j, "ssthresh");
	else
		json_uint(j, "ssthresh", l->ssthresh);
	json_string_or_null(j, "congestion", line_congestion(l) ?: "");
	json_string_or_null(j, "limit", line_limit(l) ?: "");
	json_uint(j, "in_flight", l->segments);
	json_uint(j, "receiver_window_bytes", l->peer_window);
	span_json(j, "rtt_seconds", l);
}

static void own_json(struct json *j, enum host_event event, const struct host_line *l)
{
	if (line_end(event, l))
		json_string(j, event == HOST_retransmits ? "kind" : "end", line_end(event, l));
	if (event == HOST_sessions)
		session_json(j, l);
	if (event == HOST_sockets)
		socket_json(j, l);
	if (event == HOST_window)
		window_json(j, l);
	if (event == HOST_connect || event == HOST_states)
		span_json(j, "seconds", l);
	if (event == HOST_states)
		json_string_or_null(j, "from", line_state(l->old_state) ?: "");
	if (event == HOST_states || event == HOST_retransmits)
		json_string_or_null(j, event == HOST_states ? "to" : "state",
				    line_state(l->state) ?: "");
	if (event == HOST_retransmits)
		json_uint(j, "segments", l->segments);
	if (event == HOST_accept && l->backlog)
		json_uint(j, "waiting", l->waiting);
	if (event == HOST_accept && l->half_open >= 0)
		json_uint(j, "half_open", l->half_open);
	if (event == HOST_listen || (event == HOST_accept && l->backlog))
		json_uint(j, "backlog", l->backlog);
	if (event == HOST_bind)
		json_string(j, "protocol", named_text(FORMAT_PROTOCOL, l->protocol) ?:
					   text("%u", l->protocol));
	if (event >= HOST_bind)
		json_string_or_null(j, "error", l->error ? strerrorname_np(l->error) ?: "?" : "");
}

void host_print_json(enum host_event event, const struct host_line *l)
{
	struct timespec t = clock_wall(l->time);
	struct json j = { .out = stdout };

	json_open(&j, NULL, '{');
	json_time(&j, "time", &t);
	json_string(&j, "event", host_event_names[event]);
	json_string_or_null(&j, "process", l->comm);
	if (l->pid)
		json_uint(&j, "pid", l->pid);
	else
		json_null(&j, "pid");
	end_json(&j, "local", "local_port", &l->local, l->local_port, line_has_local(l));
	if (event != HOST_listen && event != HOST_bind)
		end_json(&j, "remote", "remote_port", &l->remote, l->remote_port,
			 line_has_remote(l));
	if (event <= HOST_window) {
		json_string_or_null(&j, "interface", l->iface);
		queue_json(&j, "rx_queue", l->rx_queue);
		queue_json(&j, "tx_queue", l->tx_queue);
	}
	own_json(&j, event, l);
	json_close(&j);
	putchar('\n');
}
