/* SPDX-License-Identifier: GPL-2.0 */
/* What ethtool(8) shows of an interface: by netlink if possible, otherwise by ioctl. */
#ifndef NICPROBE_ETHTOOL_H
#define NICPROBE_ETHTOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/net/iface.h"

enum setting_kind { SETTING_NUMBER, SETTING_FLAG };

struct ethtool_setting {
	const char *name;		/* as ethtool(8) takes or prints it: "rx-usecs" */
	unsigned attr;			/* ETHTOOL_A_… */
	enum setting_kind kind;
	size_t at;			/* offset in the ioctl's answer… */
	unsigned size;			/* …and size; 0: not in the ioctl */
};

/* A command of ethtool that returns numbers. */
struct setting_group {
	const char *name;		/* "rings" */
	unsigned message;		/* ETHTOOL_MSG_…_GET */
	unsigned ioctl;			/* ETHTOOL_G…; 0: there is none */
	const struct ethtool_setting *list;
	unsigned nr;
};
extern const struct setting_group group_link, group_port, group_fec, group_pause;
extern const struct setting_group group_rings, group_channels, group_coalesce;

#define MAX_SETTINGS	32
#define NOT_TOLD	(-1ll)		/* reported by neither driver nor kernel */

struct settings {
	int err;			/* 0, or -errno; -EOPNOTSUPP: not by this driver */
	long long value[MAX_SETTINGS];
};

void settings_read(const struct iface *, const struct setting_group *, struct settings *);
/* By ioctl, which lacks some of them, and takes a tenth of the time where no other is asked for. */
void settings_read_old(const struct iface *, const struct setting_group *, struct settings *);
/* A setting by name; NOT_TOLD: not reported, or no such setting. */
long long setting_of(const struct setting_group *, const struct settings *, const char *name);

/* Mbit/s as the driver reports it; 0: not reported. */
unsigned long speed_of(const struct settings *link);

#define MAX_RSS_TABLE	4096		/* ice has 2048 */
#define MAX_RSS_KEY	256
enum { HASH_TCP4, HASH_UDP4, HASH_TCP6, HASH_UDP6, NR_HASHED };
extern const char *const hashed_names[];	/* "tcp4", as ethtool -N rx-flow-hash takes it */

struct rss {
	int err;			/* 0, or why nothing is known */
	unsigned nr;			/* entries of the table; 0: not reported */
	unsigned *table;		/* the queue in each */
	unsigned key_size;		/* bytes; 0: not reported */
	unsigned char key[MAX_RSS_KEY];
	const char *function;		/* "toeplitz"; "": not reported */
	bool symmetric;			/* both directions of a flow go to one queue */
	/* RXH_… bits: the fields hashed for such packets; -1: not reported */
	long long hashed[NR_HASHED];
	long long rules;		/* of ethtool -N, before the table; -1: not reported */
};

void rss_read(const struct iface *, struct rss *);	/* without the rules */
long long rss_rules(const struct iface *);
void rss_free(struct rss *);

enum { FEATURE_CAN = 1, FEATURE_WANTED = 2, FEATURE_ON = 4, FEATURE_FIXED = 8 };

struct ethtool_feature {
	char name[32];			/* ETH_GSTRING_LEN: "tx-tcp-segmentation" */
	unsigned is;			/* FEATURE_… */
};

struct features {
	int err;
	unsigned nr;
	struct ethtool_feature *list;	/* all that this kernel knows */
};

void features_read(const struct iface *, struct features *);
void features_free(struct features *);
int gro_read(const struct iface *);	/* 1: GRO is on; 0: off; -errno: not known */

/* Begins a request about an interface; `buf` has MNL_SOCKET_BUFFER_SIZE. NULL: no such family. */
struct nlmsghdr *ethtool_request(char *buf, unsigned message, const struct iface *);

#endif
