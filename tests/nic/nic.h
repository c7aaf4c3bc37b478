/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the parts of the test NIC: the interface, its queues and its backends. */
#ifndef NIC_H
#define NIC_H

#include <net/if.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "nic_frame.h"

#define NIC_MAX_QUEUES	256	/* the limit of a tap */
#define NIC_MAX_FRAMES	10000000ULL	/* per `go` */
#define NSEC_PER_SEC	1000000000ULL

/* Index 0 is "not IP", then the two ECN bits plus one. */
#define NIC_NR_ECN	5

struct nic_counts {
	uint64_t	frames;
	uint64_t	bytes;
	uint64_t	gso_frames;
	uint64_t	segments;
	uint64_t	ecn[NIC_NR_ECN];
	uint64_t	size[FRAME_MAX + 1];
};

/* A frame as read: `stripped` bytes of VLAN tag were on the wire but are not in data[]. */
struct nic_rx {
	struct virtio_net_hdr	vnet;
	uint32_t		len;
	uint32_t		stripped;
	uint8_t			data[FRAME_MAX + 64];
};

struct nic;

struct nic_queue {
	struct nic		*nic;
	unsigned int		index;
	int			cpu;		/* -1: not pinned */
	int			tx;
	int			rx;		/* -1: frames are counted under another queue */

	pthread_mutex_t		lock;		/* for reading frames, and counts */
	pthread_cond_t		wake;
	atomic_bool		reading;
	atomic_uint_fast64_t	delay;		/* ns */
	struct nic_counts	*counts;
	struct nic_rx		*frame;

	uint64_t		next_seq;	/* of the next numbered frame */
	uint64_t		numbers;	/* including queued ones */
};

/*
 * open and read return 0 or -errno; read does not block and takes one frame. drops is the number
 * lost before reading since open, mac the address that `send` takes for dmac=.
 */
struct nic_backend {
	int		(*open)(struct nic *nic);
	void		(*close)(struct nic *nic);
	int		(*read)(struct nic_queue *q, struct nic_rx *rx);
	uint64_t	(*drops)(struct nic *nic);
	int		(*mac)(struct nic *nic, uint8_t mac[6]);
};

struct nic {
	const struct nic_backend *backend;
	char			name[IFNAMSIZ];
	unsigned int		ifindex;
	unsigned int		nr_queues;
	bool			vnet;
	bool			napi;
	bool			frags;
	bool			steer;
	bool			pin;
	struct nic_queue	queue[NIC_MAX_QUEUES];
	char			why[160];	/* the reason why open failed */
};

extern const struct nic_backend nic_tap;
extern const struct nic_backend nic_packet;

/* nic.c */
uint64_t time_now(void);
void time_sleep_until(uint64_t ns);
void answer_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool number_parse(const char *word, uint64_t max, uint64_t *out);
int thread_start(struct nic_queue *q, void *(*run)(void *), void *arg, pthread_t *thread);

/* nic_send.c */
void send_command(struct nic *nic, int argc, char **argv);

/* nic_go.c: batch_add returns NULL or an error; send_reset drops everything queued. */
const char *batch_add(struct nic *nic, unsigned int queue, uint64_t count, uint64_t pps,
		      const struct frame_spec *spec);
void go_command(struct nic *nic, int argc, char **argv);
void send_reset(struct nic *nic);

/* nic_count.c: the reading side. */
int reader_start(struct nic *nic);
void read_command(struct nic *nic, int argc, char **argv);
void delay_command(struct nic *nic, int argc, char **argv);
void take_command(struct nic *nic, int argc, char **argv);
void wait_command(struct nic *nic, int argc, char **argv);
void count_command(struct nic *nic, int argc, char **argv);
void seqcheck_command(struct nic *nic, int argc, char **argv);
void count_reset(struct nic *nic);

#endif
