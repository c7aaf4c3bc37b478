/* SPDX-License-Identifier: GPL-2.0 */
/* A wire between two taps: carries the frames that the kernel sends on one to the other. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bench.h"

#define BURST	64	/* frames per turn and direction */

static int taps[2];
static bool wired;

/* Like a NIC, with NAPI, checksum offload and TSO; frames can be up to 64 kB. */
static int tap_open(const char *netns, const char *name)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | IFF_NAPI };
	int fd;

	enter(netns);
	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &ifr))
		die("cannot make the tap %s: %s", name, strerror(errno));
	if (ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN))
		die("cannot enable offloads of %s: %s", name, strerror(errno));
	return fd;
}

void wire_open(const char *name, const char *from, const char *to)
{
	taps[0] = tap_open(from, name);
	taps[1] = tap_open(to, name);
	wired = true;
}

static bool carry(int from, int to)
{
	static char frame[70000];
	unsigned int n;

	for (n = 0; n < BURST; n++) {
		ssize_t size = read(from, frame, sizeof(frame));

		if (size < 0)
			break;
		if (write(to, frame, size) != size)
			die("cannot carry %zd bytes from tap to tap: %s", size, strerror(errno));
	}
	return n;
}

bool wire_carry(void)
{
	bool there, back;

	if (!wired)
		return false;
	there = carry(taps[0], taps[1]);
	back = carry(taps[1], taps[0]);
	return there || back;
}
