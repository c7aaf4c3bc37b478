/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The other end of a multi-queue tap: the kernel receives what we write, and we read what it sends.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <netpacket/packet.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "nic.h"

#ifndef TUN_F_USO4			/* since 6.2 */
#define TUN_F_USO4	0x20
#define TUN_F_USO6	0x40
#endif

static uint64_t drops_base;

static int failed(struct nic *nic, const char *what)
{
	int err = -errno;

	snprintf(nic->why, sizeof(nic->why), "cannot %s %s: %s", what, nic->name, strerror(-err));
	return err;
}

/*
 * tun selects the queue by a flow hash of its own and ignores the stack's choice. With this program
 * it takes skb->queue_mapping if that is set (+1, as recorded).
 */
static int steering_load(void)
{
	const struct bpf_insn insn[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 0, .src_reg = 1,
		  .off = offsetof(struct __sk_buff, queue_mapping) },
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = 0, .off = 2 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 0, .imm = -1 },
		{ .code = BPF_JMP | BPF_EXIT },
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 0, .src_reg = 1,
		  .off = offsetof(struct __sk_buff, hash) },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "nic_steering", "GPL", insn,
			     sizeof(insn) / sizeof(insn[0]), NULL);
}

static int steering_set(struct nic *nic)
{
	int fd = steering_load(), err;

	if (fd < 0)
		return failed(nic, "load the steering program of");
	err = ioctl(nic->queue[0].tx, TUNSETSTEERINGEBPF, &fd) ? failed(nic, "steer") : 0;
	close(fd);
	return err;
}

static int offload_set(struct nic *nic, int fd)
{
	unsigned long flags = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6;

	if (!ioctl(fd, TUNSETOFFLOAD, flags | TUN_F_USO4 | TUN_F_USO6))
		return 0;
	return ioctl(fd, TUNSETOFFLOAD, flags) ? failed(nic, "set the offloads of") : 0;
}

/*
 * Non-blocking and with SNDBUF left at INT_MAX: only then does tun take the path (tun_build_skb) on
 * which it runs an XDP program in driver mode.
 */
static int queue_open(struct nic *nic, struct nic_queue *q)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_MULTI_QUEUE };

	ifr.ifr_flags |= (nic->vnet ? IFF_VNET_HDR : 0) | (nic->napi ? IFF_NAPI : 0) |
			 (nic->frags ? IFF_NAPI_FRAGS : 0);
	memcpy(ifr.ifr_name, nic->name, sizeof(nic->name));
	q->tx = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (q->tx < 0)
		return failed(nic, "open /dev/net/tun for");
	q->rx = q->tx;
	if (ioctl(q->tx, TUNSETIFF, &ifr))
		return failed(nic, "create the tap");
	memcpy(nic->name, ifr.ifr_name, sizeof(nic->name));
	return nic->vnet ? offload_set(nic, q->tx) : 0;
}

static uint64_t tx_dropped(struct nic *nic)
{
	struct ifaddrs *list, *i;
	uint64_t drops = 0;

	if (getifaddrs(&list))
		return 0;
	for (i = list; i; i = i->ifa_next)
		if (i->ifa_addr && i->ifa_addr->sa_family == AF_PACKET && i->ifa_data &&
		    !strcmp(i->ifa_name, nic->name))
			drops = ((struct rtnl_link_stats *)i->ifa_data)->tx_dropped;
	freeifaddrs(list);
	return drops;
}

static int tap_open(struct nic *nic)
{
	unsigned int i;
	int err;

	for (i = 0; i < nic->nr_queues; i++) {
		err = queue_open(nic, &nic->queue[i]);
		if (err)
			return err;
	}
	nic->ifindex = if_nametoindex(nic->name);
	if (!nic->ifindex)
		return failed(nic, "find");
	drops_base = tx_dropped(nic);
	return nic->steer ? steering_set(nic) : 0;
}

/* Closing the last descriptor deletes the interface. */
static void tap_close(struct nic *nic)
{
	unsigned int i;

	for (i = 0; i < nic->nr_queues; i++)
		if (nic->queue[i].tx >= 0)
			close(nic->queue[i].tx);
}

static int tap_read(struct nic_queue *q, struct nic_rx *rx)
{
	const size_t header = q->nic->vnet ? sizeof(rx->vnet) : 0;
	struct iovec iov[] = {
		{ .iov_base = &rx->vnet, .iov_len = header },
		{ .iov_base = rx->data, .iov_len = sizeof(rx->data) },
	};
	ssize_t len = readv(q->rx, iov, 2);

	if (len < 0)
		return -errno;
	rx->len = len - header;
	rx->stripped = 0;
	return 0;
}

static uint64_t tap_drops(struct nic *nic)
{
	return tx_dropped(nic) - drops_base;
}

static int tap_mac(struct nic *nic, uint8_t mac[6])
{
	struct ifreq ifr = {};

	if (ioctl(nic->queue[0].tx, SIOCGIFHWADDR, &ifr))
		return -errno;
	memcpy(mac, ifr.ifr_hwaddr.sa_data, 6);
	return 0;
}

const struct nic_backend nic_tap = {
	.open = tap_open,
	.close = tap_close,
	.read = tap_read,
	.drops = tap_drops,
	.mac = tap_mac,
};
