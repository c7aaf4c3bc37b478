/* SPDX-License-Identifier: GPL-2.0 */
/* devlink data of an interface's port: traps of its device, health reporters. */
#ifndef NICPROBE_DEVLINK_DUMP_H
#define NICPROBE_DEVLINK_DUMP_H

#include <linux/types.h>
#include <stdbool.h>

struct nlmsghdr;

#define DEVLINK_NAME	48	/* the longest trap name of Linux 6.12 has 40 characters */

/* The address of a port: "pci", "0000:03:00.0", 65535. */
struct devlink_port {
	unsigned ifindex;	/* the interface to find */
	bool found;
	char bus[16], device[64];
	__u32 index;
};

enum devlink_kind { DEVLINK_TRAP, DEVLINK_REPORTER };

struct devlink_one {
	enum devlink_kind kind;
	bool of_port;		/* a reporter of this port; otherwise of the whole device */
	char name[DEVLINK_NAME];
	char group[DEVLINK_NAME];	/* of a trap: "l2_drops" */
	__u8 type;		/* of a trap: enum devlink_trap_type */
	/* of a trap: passed to the kernel, and dropped by the card; 0: none, or not reported */
	__u64 packets, bytes, dropped;
	__u64 errors, recoveries;	/* of a reporter */
};

struct devlink {
	struct devlink_port port;
	unsigned nr;
	struct devlink_one *list;
};

/*
 * 0; -ENOENT: this kernel has no devlink; -ENODEV: the driver has no devlink port for this
 * interface in this network namespace; or another -errno. Call devlink_free() in any case.
 */
int devlink_read(unsigned ifindex, struct devlink *);
void devlink_free(struct devlink *);
/* Finds the port only; returns as above. */
int devlink_find(struct devlink_port *);

/* Parse one answer: the port; a trap or reporter of its device. As mnl_cb_t. */
int devlink_port_take(const struct nlmsghdr *, void *port);
int devlink_trap_take(const struct nlmsghdr *, void *devlink);
int devlink_reporter_take(const struct nlmsghdr *, void *devlink);

#endif
