/* SPDX-License-Identifier: GPL-2.0 */
/* The meter tcp: what TCP sends again and why, resets, and round trips, by remote host. */
#include <stdio.h>
#include <time.h>

#include "bpf/tcp/tcp.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"

const char *const tcp_kinds[NR_TCP_AGAIN] = {
	[TCP_AGAIN_TIMEOUT] = "timeout",
	[TCP_AGAIN_FAST] = "fast",
	[TCP_AGAIN_PROBE] = "probe",
	[TCP_AGAIN_SYN] = "syn",
	[TCP_AGAIN_SYNACK] = "syn-ack",
};

static const struct metric metrics[] = {
	COUNTER(struct tcp, again, .name = "retransmits", .unit = "segments",
		.help = "Segments sent again, by what made the kernel do so.", .label = "kind",
		.labels = LABELS(struct tcp, again, tcp_kinds), .group = "sent again"),
	COUNTER(struct tcp, segments, .name = "segments", .unit = "segments",
		.help = "Segments with data sent by connections that ended or sent some again."),
	COUNTER(struct tcp, resets_sent, .name = "resets_sent", .unit = "segments", .rare = true,
		.help = "Resets (RST) sent."),
	COUNTER(struct tcp, resets_received, .name = "resets_received", .unit = "segments",
		.rare = true, .help = "Resets (RST) received."),
	COUNTER(struct tcp, out_of_order, .name = "out_of_order", .unit = "segments",
		.rare = true, .help = "Segments that came after later ones, of ended connections."),
	COUNTER(struct tcp, duplicates, .name = "duplicates", .unit = "segments", .rare = true,
		.help = "Segments sent again in vain: the other side had them, and said so."),
	HISTOGRAM(struct tcp, rtt, .name = "rtt", .unit = "seconds", .scale = 1e-9,
		  .help = "Smoothed round trip of each connection at its end."),
	HISTOGRAM(struct tcp, rtt_min, .name = "rtt_min", .unit = "seconds", .scale = 1e-9,
		  .help = "Least round trip of its last minutes, of each connection at its end."),
	HISTOGRAM(struct tcp, busy, .name = "busy", .unit = "seconds", .scale = 1e-6,
		  .help = "Time in which a connection had data to send, or unacknowledged."),
	HISTOGRAM(struct tcp, by_receiver, .name = "limited_by_receiver", .unit = "seconds",
		  .scale = 1e-6,
		  .help = "Part of it in which the receiver's window held data back."),
	HISTOGRAM(struct tcp, by_sndbuf, .name = "limited_by_sndbuf", .unit = "seconds",
		  .scale = 1e-6,
		  .help = "Part of it in which a send buffer did that the program has set."),
	HISTOGRAM(struct tcp, by_wmem, .name = "limited_by_wmem", .unit = "seconds",
		  .scale = 1e-6,
		  .help = "Part of it in which a send buffer did that tcp_wmem lets not grow."),
	{}
};

static void key_words(const void *of, unsigned nr, char *out, size_t size)
{
	const struct tcp_key *key = of;

	(void)nr;
	remote_text(&key->remote, out, size);
}

static int fill(const struct site *site, struct bpf_object *obj)
{
	(void)site;
	return remotes_reserve(obj, "tcp", &(struct tcp_key){}, 1);
}

static void configure(const struct iface *i, const struct request *req, struct config *c)
{
	struct timespec tick = {};

	(void)i, (void)req;
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);	/* it goes by jiffies */
	c->tick_us = tick.tv_nsec / 1000;
}

const struct meter meter_tcp = {
	.name = "tcp",
	.help = "TCP by remote host: what is sent again, resets, round trips, what held it back",
	.type = EVENT_METER,
	.host = true,
	.by = BY_KEY,
	.row_size = sizeof(struct tcp),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct tcp_key),
		.labels = (const char *const []){ "remote", NULL },
		.text = key_words,
	},
	.events = { .fill = fill },
	.configure = configure,
};
