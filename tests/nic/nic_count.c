/* SPDX-License-Identifier: GPL-2.0 */
/* The receiving side of the test NIC: when frames are read, and what they contain. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nic.h"

#define BURST	64		/* frames read before another thread may see the counts */

/* The sequence numbers of one sender's queue; they may arrive on any of ours. */
struct stream {
	uint64_t	*seen;		/* a bitmap of FRAME_MAX_SEQ bits */
	uint64_t	received;
	uint64_t	duplicates;
	uint64_t	reordered;
	uint64_t	end;		/* the highest number + 1 */
};

static struct stream streams[FRAME_MAX_STREAMS];
static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t drops_base;

static void stream_count(struct stream *s, uint64_t seq)
{
	uint64_t bit = 1ULL << seq % 64;

	if (!s->seen)
		s->seen = calloc(FRAME_MAX_SEQ / 64, sizeof(*s->seen));
	if (!s->seen)
		abort();
	s->received++;
	if (s->seen[seq / 64] & bit) {
		s->duplicates++;
		return;
	}
	s->seen[seq / 64] |= bit;
	if (seq < s->end)
		s->reordered++;
	else
		s->end = seq + 1;
}

static void numbers_count(const struct nic_rx *rx, uint32_t at, uint32_t segment)
{
	uint8_t stream;
	uint64_t seq;

	for (; at < rx->len; at += segment) {
		if (!frame_number(rx->data + at, rx->len - at, &stream, &seq))
			continue;
		pthread_mutex_lock(&streams_lock);
		stream_count(&streams[stream], seq);
		pthread_mutex_unlock(&streams_lock);
	}
}

static void frame_count(struct nic_queue *q, const struct nic_rx *rx)
{
	const uint32_t size = rx->len + rx->stripped;
	struct nic_counts *c = q->counts;
	struct frame_view view;
	uint32_t payload, mss;

	frame_parse(rx->data, rx->len, &view);
	c->frames++;
	c->bytes += size;
	c->size[size < FRAME_MAX ? size : FRAME_MAX]++;
	c->ecn[view.ip ? 1 + view.ecn : 0]++;

	payload = view.payload ? rx->len - view.payload : 0;
	mss = q->nic->vnet && rx->vnet.gso_type ? rx->vnet.gso_size : 0;
	if (mss && payload) {
		c->gso_frames++;
		c->segments += (payload + mss - 1) / mss;
	} else {
		c->segments++;
	}
	if (payload)
		numbers_count(rx, view.payload, mss ? mss : payload);
}

/* Returns 1 if a frame was read, 0 if there was none, or -errno. */
static int frame_take(struct nic_queue *q)
{
	int err = q->nic->backend->read(q, q->frame);

	switch (err) {
	case 0:
		frame_count(q, q->frame);
		return 1;
	case -EAGAIN:
	case -EINTR:
	case -ENETDOWN:			/* reported once when the interface goes down */
		return 0;
	default:
		return err;
	}
}

/* Reads what is there now; stops on errors that cannot be recovered (the interface is gone). */
static void queue_drain(struct nic_queue *q)
{
	int i, got = 1;

	while (got > 0) {
		pthread_mutex_lock(&q->lock);
		for (i = 0; got > 0 && i < BURST; i++)
			got = q->reading ? frame_take(q) : 0;
		if (got < 0)
			q->reading = false;
		pthread_mutex_unlock(&q->lock);
	}
}

static void *reader_run(void *arg)
{
	struct nic_queue *q = arg;
	struct pollfd fd = { .fd = q->rx, .events = POLLIN };
	uint64_t delay;

	for (;;) {
		pthread_mutex_lock(&q->lock);
		while (!q->reading)
			pthread_cond_wait(&q->wake, &q->lock);
		pthread_mutex_unlock(&q->lock);

		if (poll(&fd, 1, -1) <= 0)
			continue;
		delay = q->delay;
		if (delay)
			time_sleep_until(time_now() + delay);
		queue_drain(q);
	}
	return NULL;
}

int reader_start(struct nic *nic)
{
	struct nic_queue *q;
	pthread_t thread;
	unsigned int i;
	int err;

	for (i = 0; i < nic->nr_queues; i++) {
		q = &nic->queue[i];
		q->counts = calloc(1, sizeof(*q->counts));
		q->frame = calloc(1, sizeof(*q->frame));
		if (!q->counts || !q->frame)
			return -ENOMEM;
		if (q->rx < 0)
			continue;
		err = thread_start(q, reader_run, q, &thread);
		if (err)
			return err;
	}
	return 0;
}

/* An optional last word names one queue; without it first..last is all queues. */
static bool queues_parse(struct nic *nic, int argc, char **argv, int at, unsigned int *first,
			 unsigned int *last)
{
	uint64_t queue;

	*first = 0;
	*last = nic->nr_queues - 1;
	if (argc == at)
		return true;
	if (argc != at + 1 || !number_parse(argv[at], nic->nr_queues - 1, &queue)) {
		answer_error("no such queue");
		return false;
	}
	*first = *last = queue;
	return true;
}

void read_command(struct nic *nic, int argc, char **argv)
{
	unsigned int i, first, last;
	bool on;

	if (argc < 2 || (strcmp(argv[1], "on") && strcmp(argv[1], "off"))) {
		answer_error("usage: read on|off [QUEUE]");
		return;
	}
	if (!queues_parse(nic, argc, argv, 2, &first, &last))
		return;
	on = !strcmp(argv[1], "on");
	for (i = first; i <= last; i++) {
		struct nic_queue *q = &nic->queue[i];

		q->reading = on;
		/*
		 * Taking the lock ensures that the reader has seen it: off is in effect when we
		 * answer.
		 */
		pthread_mutex_lock(&q->lock);
		pthread_cond_signal(&q->wake);
		pthread_mutex_unlock(&q->lock);
	}
	printf("{\"read\":%s}\n", on ? "true" : "false");
}

void delay_command(struct nic *nic, int argc, char **argv)
{
	unsigned int i, first, last;
	char *end = NULL;
	double ms = -1;

	if (argc > 1)
		ms = strtod(argv[1], &end);
	if (argc < 2 || *end || !(ms >= 0 && ms <= 60000)) {
		answer_error("usage: delay MS [QUEUE], MS from 0 to 60000");
		return;
	}
	if (!queues_parse(nic, argc, argv, 2, &first, &last))
		return;
	for (i = first; i <= last; i++)
		nic->queue[i].delay = ms * 1e6;
	printf("{\"delay\":%g}\n", ms);
}

/* Frames of first..last in order of arrival, one from each queue in turn. */
static uint64_t frames_take(struct nic *nic, unsigned int first, unsigned int last, uint64_t want)
{
	const uint64_t end = time_now() + 2 * NSEC_PER_SEC;
	uint64_t taken = 0, before;
	unsigned int i;

	while (taken < want) {
		before = taken;
		for (i = first; i <= last && taken < want; i++) {
			struct nic_queue *q = &nic->queue[i];

			pthread_mutex_lock(&q->lock);
			if (q->rx >= 0 && frame_take(q) > 0)
				taken++;
			pthread_mutex_unlock(&q->lock);
		}
		if (taken > before)
			continue;
		if (time_now() > end)
			break;
		time_sleep_until(time_now() + 100000);
	}
	return taken;
}

void take_command(struct nic *nic, int argc, char **argv)
{
	unsigned int i, first, last;
	uint64_t want;

	if (argc < 2 || !number_parse(argv[1], NIC_MAX_FRAMES, &want)) {
		answer_error("usage: take N [QUEUE]");
		return;
	}
	if (!queues_parse(nic, argc, argv, 2, &first, &last))
		return;
	for (i = first; i <= last; i++) {
		if (nic->queue[i].reading) {
			answer_error("take is for when reading is off");
			return;
		}
	}
	printf("{\"taken\":%llu}\n", (unsigned long long)frames_take(nic, first, last, want));
}

static uint64_t frames_read(struct nic *nic)
{
	uint64_t frames = 0;
	unsigned int i;

	for (i = 0; i < nic->nr_queues; i++) {
		pthread_mutex_lock(&nic->queue[i].lock);
		frames += nic->queue[i].counts->frames;
		pthread_mutex_unlock(&nic->queue[i].lock);
	}
	return frames;
}

void wait_command(struct nic *nic, int argc, char **argv)
{
	uint64_t want, ms = 2000, end, frames;

	if (argc < 2 || argc > 3 || !number_parse(argv[1], UINT64_MAX, &want) ||
	    (argc == 3 && !number_parse(argv[2], 600000, &ms))) {
		answer_error("usage: wait FRAMES [MS]");
		return;
	}
	end = time_now() + ms * 1000000;
	for (;;) {
		frames = frames_read(nic);
		if (frames >= want || time_now() >= end)
			break;
		time_sleep_until(time_now() + 500000);
	}
	printf("{\"frames\":%llu}\n", (unsigned long long)frames);
}

static void counts_print(const struct nic_counts *c)
{
	static const char *const ecn[NIC_NR_ECN] = { "not-ip", "not-ect", "ect1", "ect0", "ce" };
	const char *comma = "";
	unsigned int i;

	printf("{\"frames\":%llu,\"bytes\":%llu,\"sizes\":{", (unsigned long long)c->frames,
	       (unsigned long long)c->bytes);
	for (i = 0; i <= FRAME_MAX; i++) {
		if (!c->size[i])
			continue;
		printf("%s\"%u\":%llu", comma, i, (unsigned long long)c->size[i]);
		comma = ",";
	}
	printf("},\"ecn\":{");
	for (i = 0; i < NIC_NR_ECN; i++)
		printf("%s\"%s\":%llu", i ? "," : "", ecn[i], (unsigned long long)c->ecn[i]);
	printf("},\"gso_frames\":%llu,\"segments\":%llu}", (unsigned long long)c->gso_frames,
	       (unsigned long long)c->segments);
}

void count_command(struct nic *nic, int argc, char **argv)
{
	unsigned int i;

	(void)argc;
	(void)argv;
	printf("{\"queues\":[");
	for (i = 0; i < nic->nr_queues; i++) {
		if (i)
			printf(",");
		pthread_mutex_lock(&nic->queue[i].lock);
		counts_print(nic->queue[i].counts);
		pthread_mutex_unlock(&nic->queue[i].lock);
	}
	printf("],\"drops\":%llu}\n",
	       (unsigned long long)(nic->backend->drops(nic) - drops_base));
}

/* Losses after the highest number seen do not show: compare `received` with what was sent. */
void seqcheck_command(struct nic *nic, int argc, char **argv)
{
	uint64_t received = 0, missing = 0, duplicates = 0, reordered = 0;
	const struct stream *s;

	(void)nic;
	(void)argc;
	(void)argv;
	pthread_mutex_lock(&streams_lock);
	for (s = streams; s < streams + FRAME_MAX_STREAMS; s++) {
		received += s->received;
		missing += s->end - (s->received - s->duplicates);
		duplicates += s->duplicates;
		reordered += s->reordered;
	}
	pthread_mutex_unlock(&streams_lock);
	printf("{\"received\":%llu,\"missing\":%llu,\"duplicates\":%llu,\"reordered\":%llu}\n",
	       (unsigned long long)received, (unsigned long long)missing,
	       (unsigned long long)duplicates, (unsigned long long)reordered);
}

void count_reset(struct nic *nic)
{
	unsigned int i;

	for (i = 0; i < nic->nr_queues; i++) {
		pthread_mutex_lock(&nic->queue[i].lock);
		memset(nic->queue[i].counts, 0, sizeof(*nic->queue[i].counts));
		pthread_mutex_unlock(&nic->queue[i].lock);
	}
	pthread_mutex_lock(&streams_lock);
	for (i = 0; i < FRAME_MAX_STREAMS; i++) {
		free(streams[i].seen);
		streams[i] = (struct stream){};
	}
	pthread_mutex_unlock(&streams_lock);
	drops_base = nic->backend->drops(nic);
}
