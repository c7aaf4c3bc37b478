/* SPDX-License-Identifier: GPL-2.0 */
/* File descriptors that processes pass to each other by unix sockets (SCM_RIGHTS). */
#ifndef NICPROBE_FDPASS_H
#define NICPROBE_FDPASS_H

#include "bpf/host/remote.h"

enum fdpass_kind {
	FDPASS_ANY,		/* of those for which the map has no room any more */
	FDPASS_SOCKET,
	FDPASS_FILE,
	FDPASS_DIRECTORY,
	FDPASS_PIPE,
	FDPASS_DEVICE,
	FDPASS_MEMFD,
	FDPASS_DMABUF,
	FDPASS_PIDFD,		/* since 6.9; before, an anonymous inode of this name */
	FDPASS_NAMESPACE,
	FDPASS_ANON,		/* an anonymous inode: its name is in the key */
	FDPASS_OTHER,
	NR_FDPASS_KINDS
};

#define FDPASS_NAME_SIZE 20

struct fdpass_key {
	char from[COMM_SIZE];	/* the thread that sent it; "": not known */
	char to[COMM_SIZE];	/* that received it; "": that is counted on its own, as it does */
	__u32 kind;		/* enum fdpass_kind */
	char name[FDPASS_NAME_SIZE];	/* of FDPASS_ANON: "[eventfd]", "bpf-map" */
};
KEY_BYTES(struct fdpass_key, 56);

struct fdpass {
	__u64 sent, received;	/* descriptors */
};

/* So many descriptors on their way are known; those sent longest ago are forgotten. */
#define FDPASS_FLIGHTS 8192

#endif
