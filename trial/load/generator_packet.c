/* SPDX-License-Identifier: GPL-2.0 */
/* Sends through a packet socket: for drivers without ndo_xdp_xmit. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "trial/load/generator.h"

#define BATCH	64

struct batch {
	struct mmsghdr msg[BATCH];
	struct iovec io[BATCH];
	__u8 frame[BATCH][FRAME_MAX];
	unsigned next;		/* flow */
};

static int socket_open(const struct generator *g)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_ifindex = g->ifindex, .sll_protocol = 0,
	};
	/* protocol 0: it receives nothing */
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (void *)&to, sizeof(to))) {
		int err = errno;

		close(fd);
		errno = err;
		fd = -1;
	}
	return fd;
}

static void batch_make(struct batch *b, const struct worker *w)
{
	b->next = w->nr % w->g->load.flows;
	for (unsigned i = 0; i < BATCH; i++) {
		frame_build(&w->g->load.frame, 0, b->frame[i]);
		b->io[i].iov_base = b->frame[i];
		b->io[i].iov_len = w->g->load.frame.size;
		b->msg[i].msg_hdr.msg_iov = &b->io[i];
		b->msg[i].msg_hdr.msg_iovlen = 1;
	}
}

/* Moves the first n frames to the next flows: sendmmsg() has copied their contents. */
static void batch_turn(struct batch *b, const struct worker *w, unsigned n)
{
	const struct load *load = &w->g->load;

	for (unsigned i = 0; i < n; i++) {
		frame_flow(&load->frame, b->next, b->frame[i]);
		b->next += load->threads;
		if (b->next >= load->flows)
			b->next = w->nr % load->flows;
	}
}

/* A rejected frame ends the call before it; the next call starts with it, fails, and skips it. */
static int batch_send(struct batch *b, struct worker *w, int fd, unsigned n)
{
	unsigned done = 0;

	while (done < n && !trial_stop) {
		int got = sendmmsg(fd, b->msg + done, n - done, 0);

		if (got > 0) {
			w->sent += got;
			done += got;
		} else if (errno == ENOBUFS) {
			w->refused++;
			done++;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

int packet_send(struct worker *w)
{
	const struct load *load = &w->g->load;
	double start = seconds_now(), rate = load->rate / load->threads, now;
	struct batch *b = calloc(1, sizeof(*b));
	int fd = socket_open(w->g), err = fd < 0 ? -errno : b ? 0 : -ENOMEM;
	uint64_t tried = 0;

	if (!err)
		batch_make(b, w);
	while (!err && !trial_stop && (now = seconds_now()) < w->g->until) {
		double due = rate * (now - start) - tried;
		unsigned n = rate && due < BATCH ? due : BATCH;

		if (rate && due < 1) {
			sleep_until(now + .0005, &trial_stop);
			continue;
		}
		batch_turn(b, w, n);
		err = batch_send(b, w, fd, n);
		tried += n;
	}
	if (fd >= 0)
		close(fd);
	free(b);
	return err;
}
