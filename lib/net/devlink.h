/* SPDX-License-Identifier: GPL-2.0 */
/* What devlink tells of the port that is an interface: traps of its device, health reporters. */
#ifndef NICPROBE_DEVLINK_H
#define NICPROBE_DEVLINK_H

#include <linux/types.h>
#include <stdbool.h>

struct nlmsghdr;

#define DEVLINK_NAME	48	/* the longest trap of Linux 6.12 has 40 characters */

/* Where a port is: "pci", "0000:03:00.0", 65535. */
struct devlink_port {
	unsigned ifindex;	/* sought */
	bool found;
	char bus[16], device[64];
	__u32 index;
};

enum devlink_kind { DEVLINK_TRAP, DEVLINK_REPORTER };

struct devlink_one {
	enum devlink_kind kind;
	bool of_port;		/* a reporter of this port; else of the device, all its ports */
	char name[DEVLINK_NAME];
	char group[DEVLINK_NAME];	/* of a trap: "l2_drops" */
	__u8 type;		/* of a trap: enum devlink_trap_type */
	/* of a trap: handed to the kernel, and dropped by the card; 0: none, or not told */
	__u64 packets, bytes, dropped;
	__u64 errors, recoveries;	/* of a reporter */
};

struct devlink {
	struct devlink_port port;
	unsigned nr;
	struct devlink_one *list;
};

/*
 * 0; -ENOENT: this kernel has no devlink; -ENODEV: the driver has no port for this interface in
 * this network namespace; or another -errno. devlink_free() whatever comes back.
 */
int devlink_read(unsigned ifindex, struct devlink *);
void devlink_free(struct devlink *);
/* The port alone, as above. */
int devlink_find(struct devlink_port *);

/* Of an answer: the port sought; a trap, or a reporter, of its device. As mnl_cb_t. */
int devlink_port_take(const struct nlmsghdr *, void *port);
int devlink_trap_take(const struct nlmsghdr *, void *devlink);
int devlink_reporter_take(const struct nlmsghdr *, void *devlink);

#endif
