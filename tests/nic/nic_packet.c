/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Raw sockets on an existing interface: one per TX queue for sending, one that receives everything.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/pkt_cls.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "nic.h"

#define TCX_EGRESS	47		/* BPF_TCX_EGRESS, since 6.6 */
#define RCVBUF		(512 << 20)
#define SNDBUF		(4 << 20)

static struct bpf_tc_hook hook;
static struct bpf_tc_opts filter;
static bool filter_attached, hook_created;
static uint64_t drops;

static int failed(struct nic *nic, const char *what, int err)
{
	snprintf(nic->why, sizeof(nic->why), "cannot %s %s: %s", what, nic->name, strerror(-err));
	return err;
}

/*
 * netdev_pick_tx() takes queue_mapping - 1 as the queue if nothing else (XPS) decides. We carry it
 * there in the mark of the socket, and clear the mark, which others may act on.
 */
static int chooser_load(void)
{
	const struct bpf_insn insn[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 2, .src_reg = 1,
		  .off = offsetof(struct __sk_buff, mark) },
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = 2, .off = 4 },
		{ .code = BPF_JMP | BPF_JGT | BPF_K, .dst_reg = 2, .off = 3,
		  .imm = NIC_MAX_QUEUES },
		{ .code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = 1, .src_reg = 2,
		  .off = offsetof(struct __sk_buff, queue_mapping) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2 },
		{ .code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = 1, .src_reg = 2,
		  .off = offsetof(struct __sk_buff, mark) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = TC_ACT_UNSPEC },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "nic_chooser", "GPL", insn,
			     sizeof(insn) / sizeof(insn[0]), NULL);
}

/* A tcx link ends with the process even if it is killed; clsact is for kernels before 6.6. */
static int chooser_attach(struct nic *nic)
{
	int prog = chooser_load(), err;

	if (prog < 0)
		return failed(nic, "load the program that chooses the queue of", prog);
	if (bpf_link_create(prog, nic->ifindex, (enum bpf_attach_type)TCX_EGRESS, NULL) >= 0) {
		close(prog);
		return 0;
	}

	libbpf_set_print(NULL);
	hook = (struct bpf_tc_hook){ .sz = sizeof(hook), .ifindex = nic->ifindex,
				     .attach_point = BPF_TC_EGRESS };
	filter = (struct bpf_tc_opts){ .sz = sizeof(filter), .prog_fd = prog };
	err = bpf_tc_hook_create(&hook);
	hook_created = !err;
	if (!err || err == -EEXIST)
		err = bpf_tc_attach(&hook, &filter);
	filter_attached = !err;
	close(prog);
	return err ? failed(nic, "choose the TX queue on", err) : 0;
}

static void chooser_detach(void)
{
	filter.prog_fd = filter.prog_id = filter.flags = 0;
	if (filter_attached)
		bpf_tc_detach(&hook, &filter);
	if (hook_created) {
		hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS;
		bpf_tc_hook_destroy(&hook);
	}
	filter_attached = hook_created = false;
}

static int option_set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) ? -errno : 0;
}

/* Bound only after its options are set, so that no frame of another interface gets in. */
static int socket_bind(struct nic *nic, int fd, int protocol)
{
	const struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(protocol),
		.sll_ifindex = nic->ifindex,
	};

	if (bind(fd, (const struct sockaddr *)&addr, sizeof(addr)))
		return failed(nic, "bind a socket to", -errno);
	return 0;
}

static int sender_open(struct nic *nic, struct nic_queue *q)
{
	int err;

	q->tx = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (q->tx < 0)
		return failed(nic, "open a socket for", -errno);
	err = option_set(q->tx, SOL_SOCKET, SO_MARK, q->index + 1);
	if (!err)
		err = option_set(q->tx, SOL_SOCKET, SO_SNDBUFFORCE, SNDBUF);
	if (!err && nic->vnet)
		err = option_set(q->tx, SOL_PACKET, PACKET_VNET_HDR, 1);
	if (err)
		return failed(nic, "set up a socket to send on", err);
	return socket_bind(nic, q->tx, 0);
}

static int receiver_open(struct nic *nic, struct nic_queue *q)
{
	int err;

	q->rx = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (q->rx < 0)
		return failed(nic, "open a socket for", -errno);
	err = option_set(q->rx, SOL_SOCKET, SO_RCVBUFFORCE, RCVBUF);
	if (!err)
		err = option_set(q->rx, SOL_PACKET, PACKET_AUXDATA, 1);
	if (!err)
		err = option_set(q->rx, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
	if (!err && nic->vnet)
		err = option_set(q->rx, SOL_PACKET, PACKET_VNET_HDR, 1);
	if (err)
		return failed(nic, "set up a socket to receive on", err);
	return socket_bind(nic, q->rx, ETH_P_ALL);
}

static int packet_open(struct nic *nic)
{
	unsigned int i;
	int err;

	nic->ifindex = if_nametoindex(nic->name);
	if (!nic->ifindex)
		return failed(nic, "find", -errno);
	for (i = 0; i < nic->nr_queues; i++) {
		err = sender_open(nic, &nic->queue[i]);
		if (err)
			return err;
	}
	err = receiver_open(nic, &nic->queue[0]);
	return err ? err : chooser_attach(nic);
}

static void packet_close(struct nic *nic)
{
	unsigned int i;

	chooser_detach();
	for (i = 0; i < nic->nr_queues; i++)
		if (nic->queue[i].tx >= 0)
			close(nic->queue[i].tx);
	if (nic->queue[0].rx >= 0)
		close(nic->queue[0].rx);
}

/* The kernel removes the outer tag from a frame before we get it. */
static uint32_t stripped_tag(struct msghdr *msg)
{
	struct tpacket_auxdata aux;
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		return aux.tp_status & TP_STATUS_VLAN_VALID ? 4 : 0;
	}
	return 0;
}

static int packet_read(struct nic_queue *q, struct nic_rx *rx)
{
	const size_t header = q->nic->vnet ? sizeof(rx->vnet) : 0;
	struct iovec iov[] = {
		{ .iov_base = &rx->vnet, .iov_len = header },
		{ .iov_base = rx->data, .iov_len = sizeof(rx->data) },
	};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	struct msghdr msg = {
		.msg_iov = iov,
		.msg_iovlen = 2,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t len = recvmsg(q->rx, &msg, 0);

	if (len < 0)
		return -errno;
	rx->len = len - header;
	rx->stripped = stripped_tag(&msg);
	return 0;
}

/* Reading the statistics zeroes them. */
static uint64_t packet_drops(struct nic *nic)
{
	struct tpacket_stats stats;
	socklen_t len = sizeof(stats);

	if (!getsockopt(nic->queue[0].rx, SOL_PACKET, PACKET_STATISTICS, &stats, &len))
		drops += stats.tp_drops;
	return drops;
}

static int packet_mac(struct nic *nic, uint8_t mac[6])
{
	(void)nic;
	memset(mac, 0xff, 6);
	return 0;
}

const struct nic_backend nic_packet = {
	.open = packet_open,
	.close = packet_close,
	.read = packet_read,
	.drops = packet_drops,
	.mac = packet_mac,
};
