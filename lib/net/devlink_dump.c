/* SPDX-License-Identifier: GPL-2.0 */
/* Reads traps and health reporters from devlink. */
#include <errno.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/net/devlink_dump.h"
#include "lib/net/netlink.h"

#define MOST	4096	/* traps and reporters of a device; mlxsw has about 100 */

/* A number of any width; 0 for unknown widths. */
static __u64 number(const struct nlattr *attr)
{
	size_t len = mnl_attr_get_payload_len(attr);

	return len >= 8 ? mnl_attr_get_u64(attr) : len >= 4 ? mnl_attr_get_u32(attr) :
	       len >= 1 ? mnl_attr_get_u8(attr) : 0;
}

static void words(const struct nlattr *attr, char *to, size_t size)
{
	snprintf(to, size, "%.*s", (int)mnl_attr_get_payload_len(attr),
		 (const char *)mnl_attr_get_payload(attr));
}

/* The head of each answer; reporters of a whole device have no port index. */
struct devlink_handle {
	char bus[16], device[64];
	bool has_index;
	__u32 index;
};

static void place_take(const struct nlattr *attr, struct devlink_handle *p)
{
	switch (mnl_attr_get_type(attr)) {
	case DEVLINK_ATTR_BUS_NAME:
		words(attr, p->bus, sizeof(p->bus));
		break;
	case DEVLINK_ATTR_DEV_NAME:
		words(attr, p->device, sizeof(p->device));
		break;
	case DEVLINK_ATTR_PORT_INDEX:
		p->has_index = true;
		p->index = number(attr);
		break;
	}
}

static bool is_ours(const struct devlink_handle *p, const struct devlink_port *port)
{
	return !strcmp(p->bus, port->bus) && !strcmp(p->device, port->device) &&
	       (!p->has_index || p->index == port->index);
}

int devlink_port_take(const struct nlmsghdr *nlh, void *arg)
{
	struct devlink_port *port = arg;
	const struct nlattr *attr;
	struct devlink_handle p = {};
	unsigned ifindex = 0;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		place_take(attr, &p);
		if (mnl_attr_get_type(attr) == DEVLINK_ATTR_PORT_NETDEV_IFINDEX)
			ifindex = number(attr);
	}
	if (!ifindex || ifindex != port->ifindex || port->found || !p.has_index)
		return MNL_CB_OK;
	port->found = true;
	memcpy(port->bus, p.bus, sizeof(port->bus));
	memcpy(port->device, p.device, sizeof(port->device));
	port->index = p.index;
	return MNL_CB_OK;
}

static int add(struct devlink *d, const struct devlink_one *one)
{
	struct devlink_one *more = d->list;

	if (!*one->name || d->nr == MOST)
		return MNL_CB_OK;
	if (!(d->nr & (d->nr - 1)))	/* full: double it */
		more = realloc(d->list, (d->nr ? 2 * d->nr : 1) * sizeof(*more));
	if (!more) {
		errno = ENOMEM;
		return MNL_CB_ERROR;
	}
	d->list = more;
	more[d->nr++] = *one;
	return MNL_CB_OK;
}

static void trap_stats_take(const struct nlattr *nest, struct devlink_one *one)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest) {
		switch (mnl_attr_get_type(attr)) {
		case DEVLINK_ATTR_STATS_RX_PACKETS:
			one->packets = number(attr);
			break;
		case DEVLINK_ATTR_STATS_RX_BYTES:
			one->bytes = number(attr);
			break;
		case DEVLINK_ATTR_STATS_RX_DROPPED:
			one->dropped = number(attr);
			break;
		}
	}
}

int devlink_trap_take(const struct nlmsghdr *nlh, void *devlink)
{
	struct devlink_one one = { .kind = DEVLINK_TRAP };
	struct devlink *d = devlink;
	const struct nlattr *attr;
	struct devlink_handle p = {};

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		place_take(attr, &p);
		switch (mnl_attr_get_type(attr)) {
		case DEVLINK_ATTR_TRAP_NAME:
			words(attr, one.name, sizeof(one.name));
			break;
		case DEVLINK_ATTR_TRAP_GROUP_NAME:
			words(attr, one.group, sizeof(one.group));
			break;
		case DEVLINK_ATTR_TRAP_TYPE:
			one.type = number(attr);
			break;
		case DEVLINK_ATTR_STATS:
			trap_stats_take(attr, &one);
			break;
		}
	}
	return is_ours(&p, &d->port) ? add(d, &one) : MNL_CB_OK;
}

static void reporter_take(const struct nlattr *nest, struct devlink_one *one)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest) {
		switch (mnl_attr_get_type(attr)) {
		case DEVLINK_ATTR_HEALTH_REPORTER_NAME:
			words(attr, one->name, sizeof(one->name));
			break;
		case DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT:
			one->errors = number(attr);
			break;
		case DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT:
			one->recoveries = number(attr);
			break;
		}
	}
}

int devlink_reporter_take(const struct nlmsghdr *nlh, void *devlink)
{
	struct devlink_one one = { .kind = DEVLINK_REPORTER };
	struct devlink *d = devlink;
	const struct nlattr *attr;
	struct devlink_handle p = {};

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		place_take(attr, &p);
		if (mnl_attr_get_type(attr) == DEVLINK_ATTR_HEALTH_REPORTER)
			reporter_take(attr, &one);
	}
	one.of_port = p.has_index;
	return is_ours(&p, &d->port) ? add(d, &one) : MNL_CB_OK;
}

static int dump(int family, unsigned command, mnl_cb_t cb, void *arg)
{
	char buf[256];

	return netlink_ask(NETLINK_GENERIC, netlink_request(buf, family, NLM_F_DUMP, command), cb,
			   arg);
}

static int find(int family, struct devlink_port *port)
{
	int err = family < 0 ? family : dump(family, DEVLINK_CMD_PORT_GET, devlink_port_take, port);

	return err ?: port->found ? 0 : -ENODEV;
}

int devlink_find(struct devlink_port *port)
{
	return find(netlink_family(DEVLINK_GENL_NAME), port);
}

/* Traps or reporters alone are enough: few drivers have both. */
int devlink_read(unsigned ifindex, struct devlink *d)
{
	int family = netlink_family(DEVLINK_GENL_NAME), err;

	*d = (struct devlink){ .port = { .ifindex = ifindex } };
	err = find(family, &d->port);
	if (!err)
		err = dump(family, DEVLINK_CMD_TRAP_GET, devlink_trap_take, d);
	if (!err || err == -EOPNOTSUPP)
		err = dump(family, DEVLINK_CMD_HEALTH_REPORTER_GET, devlink_reporter_take, d);
	return err == -EOPNOTSUPP ? 0 : err;
}

void devlink_free(struct devlink *d)
{
	free(d->list);
	*d = (struct devlink){};
}
