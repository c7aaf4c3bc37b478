/* SPDX-License-Identifier: GPL-2.0 */
/* The sending side of the test NIC: batches of frames, and one thread per queue to send them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "nic.h"

#define MAX_BATCHES	1024
#define RETRY_FOR	(2 * NSEC_PER_SEC)
#define RETRY_EVERY	20000		/* ns */
#define FRAG_SIZE	4096		/* tun accepts no fragment larger than a page */
#define MAX_IOV		20

struct batch {
	struct frame	frame;
	unsigned int	queue;
	uint64_t	count;
	uint64_t	done;		/* sent or given up */
	uint64_t	pps;		/* 0: full speed */
	uint64_t	start;
	struct iovec	iov[MAX_IOV];
	int		nr_iov;
};

struct sender {
	struct nic_queue	*queue;
	pthread_t		thread;
	bool			interleave;
	uint64_t		left;
	uint64_t		sent;
	uint64_t		bytes;
	uint64_t		errors;
	uint64_t		retries;
	int			err;		/* the last one */
};

static struct batch *batches[MAX_BATCHES];
static unsigned int nr_batches;
static uint64_t nr_frames;
static pthread_barrier_t barrier;

/* tun with IFF_NAPI_FRAGS makes the first part linear and the others fragments. */
static void batch_split(struct nic *nic, struct batch *b)
{
	uint32_t at = 0, len = b->frame.spec.size, part = len;
	struct iovec *iov = b->iov;

	if (nic->vnet)
		*iov++ = (struct iovec){ &b->frame.vnet, sizeof(b->frame.vnet) };
	if (nic->frags)
		part = b->frame.payload;
	while (at < len) {
		*iov++ = (struct iovec){ b->frame.data + at, part };
		at += part;
		part = len - at < FRAG_SIZE ? len - at : FRAG_SIZE;
	}
	b->nr_iov = iov - b->iov;
}

const char *batch_add(struct nic *nic, unsigned int queue, uint64_t count, uint64_t pps,
		      const struct frame_spec *spec)
{
	struct nic_queue *q = &nic->queue[queue];
	struct batch *b;
	const char *why;

	if (nr_batches == MAX_BATCHES || nr_frames + count > NIC_MAX_FRAMES)
		return "too much for one go";
	b = calloc(1, sizeof(*b));
	if (!b)
		return strerror(ENOMEM);
	why = frame_build(&b->frame, spec);
	if (!why && spec->numbered && q->numbers + count * b->frame.segments > FRAME_MAX_SEQ)
		why = "too many numbers: reset first";
	if (why) {
		free(b->frame.data);
		free(b);
		return why;
	}
	if (spec->numbered)
		q->numbers += count * b->frame.segments;
	b->queue = queue;
	b->count = count;
	b->pps = pps;
	batch_split(nic, b);
	batches[nr_batches++] = b;
	nr_frames += count;
	return NULL;
}

/* A full queue is an error only after two seconds. */
static int frame_write(struct sender *s, struct batch *b)
{
	uint64_t end = 0;

	for (;;) {
		if (writev(s->queue->tx, b->iov, b->nr_iov) >= 0)
			return 0;
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN && errno != ENOBUFS)
			return -errno;
		if (!end)
			end = time_now() + RETRY_FOR;
		else if (time_now() > end)
			return -ETIMEDOUT;
		s->retries++;
		time_sleep_until(time_now() + RETRY_EVERY);
	}
}

/* Returns false if continuing is pointless. */
static bool frame_send(struct sender *s, struct batch *b)
{
	struct nic_queue *q = s->queue;
	int err;

	if (!b->done)
		b->start = time_now();
	if (b->pps)
		time_sleep_until(b->start + b->done * NSEC_PER_SEC / b->pps);
	frame_set(&b->frame, b->done, q->next_seq);
	if (b->frame.spec.numbered)
		q->next_seq += b->frame.segments;
	b->done++;
	s->left--;

	err = frame_write(s, b);
	if (!err) {
		s->sent++;
		s->bytes += b->frame.spec.size;
		return true;
	}
	s->errors++;
	s->err = err;
	return err != -ETIMEDOUT;
}

static bool batch_due(const struct sender *s, const struct batch *b)
{
	return b->queue == s->queue->index && b->done < b->count;
}

static void *sender_run(void *arg)
{
	struct sender *s = arg;
	bool good = true;
	unsigned int i;

	pthread_barrier_wait(&barrier);
	while (good && s->left) {
		for (i = 0; good && i < nr_batches; i++)
			while (good && batch_due(s, batches[i])) {
				good = frame_send(s, batches[i]);
				if (s->interleave)
					break;
			}
	}
	s->errors += s->left;
	return NULL;
}

static void batches_forget(void)
{
	unsigned int i;

	for (i = 0; i < nr_batches; i++) {
		free(batches[i]->frame.data);
		free(batches[i]);
	}
	nr_batches = 0;
	nr_frames = 0;
}

static void result_print(const struct sender *senders, unsigned int nr, uint64_t ns)
{
	uint64_t sent = 0, bytes = 0, errors = 0, retries = 0;
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr; i++) {
		sent += senders[i].sent;
		bytes += senders[i].bytes;
		errors += senders[i].errors;
		retries += senders[i].retries;
		if (senders[i].err)
			err = senders[i].err;
	}
	printf("{\"sent\":%llu,\"bytes\":%llu,\"seconds\":%.6f,\"queues\":[",
	       (unsigned long long)sent, (unsigned long long)bytes, ns / 1e9);
	for (i = 0; i < nr; i++)
		printf("%s{\"sent\":%llu,\"bytes\":%llu}", i ? "," : "",
		       (unsigned long long)senders[i].sent, (unsigned long long)senders[i].bytes);
	printf("],\"errors\":%llu,\"retries\":%llu", (unsigned long long)errors,
	       (unsigned long long)retries);
	if (err)
		printf(",\"reason\":\"%s\"", strerror(-err));
	printf("}\n");
}

/* Threads wait for each other at the barrier, so all that are counted there must start. */
static int senders_run(struct nic *nic, struct sender *senders)
{
	unsigned int i, nr = 0;
	int err;

	for (i = 0; i < nic->nr_queues; i++)
		nr += senders[i].left > 0;
	pthread_barrier_init(&barrier, NULL, nr);
	for (i = 0; i < nic->nr_queues; i++) {
		if (!senders[i].left)
			continue;
		err = thread_start(senders[i].queue, sender_run, &senders[i], &senders[i].thread);
		if (err)
			return err;
	}
	for (i = 0; i < nic->nr_queues; i++)
		if (senders[i].thread)
			pthread_join(senders[i].thread, NULL);
	pthread_barrier_destroy(&barrier);
	return 0;
}

void go_command(struct nic *nic, int argc, char **argv)
{
	struct sender senders[NIC_MAX_QUEUES] = {};
	const bool interleave = argc == 2 && !strcmp(argv[1], "interleave");
	uint64_t start;
	unsigned int i;
	int err;

	if (argc > 1 && !interleave) {
		answer_error("usage: go [interleave]");
		return;
	}
	if (!nr_batches) {
		answer_error("nothing to send");
		return;
	}
	for (i = 0; i < nic->nr_queues; i++) {
		senders[i].queue = &nic->queue[i];
		senders[i].interleave = interleave;
	}
	for (i = 0; i < nr_batches; i++)
		senders[batches[i]->queue].left += batches[i]->count;

	start = time_now();
	err = senders_run(nic, senders);
	if (err) {
		answer_error("cannot start a thread: %s", strerror(-err));
		fflush(stdout);
		_exit(1);
	}
	result_print(senders, nic->nr_queues, time_now() - start);
	batches_forget();
}

void send_reset(struct nic *nic)
{
	unsigned int i;

	batches_forget();
	for (i = 0; i < nic->nr_queues; i++)
		nic->queue[i].next_seq = nic->queue[i].numbers = 0;
}
