/* SPDX-License-Identifier: GPL-2.0 */
/* Reads traps and health reporters from devlink. */
#include <errno.h>
#include <linux/devlink.h>
#include <stdlib.h>
#include <string.h>

#include "lib/net/devlink_dump.h"
#include "lib/net/netlink.h"
#include "lib/util/grow.h"

#define MOST	4096	/* traps and reporters of a device; mlxsw has about 100 */

/* The head of each answer; reporters of a whole device have no port index. */
struct devlink_handle {
	char bus[16], device[64];
	bool has_index;
	__u32 index;
};

static struct devlink_handle place_of(const struct nlmsghdr *nlh)
{
	const struct nlattr *index = genl_attr(nlh, DEVLINK_ATTR_PORT_INDEX);
	struct devlink_handle p = { .has_index = index, .index = attr_number(index, 0) };

	attr_text(genl_attr(nlh, DEVLINK_ATTR_BUS_NAME), p.bus, sizeof(p.bus));
	attr_text(genl_attr(nlh, DEVLINK_ATTR_DEV_NAME), p.device, sizeof(p.device));
	return p;
}

static bool is_ours(const struct devlink_handle *p, const struct devlink_port *port)
{
	return !strcmp(p->bus, port->bus) && !strcmp(p->device, port->device) &&
	       (!p->has_index || p->index == port->index);
}

int devlink_port_take(const struct nlmsghdr *nlh, void *arg)
{
	unsigned ifindex = attr_number(genl_attr(nlh, DEVLINK_ATTR_PORT_NETDEV_IFINDEX), 0);
	struct devlink_handle p = place_of(nlh);
	struct devlink_port *port = arg;

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
	struct devlink_one *more;

	if (!*one->name || d->nr == MOST)
		return MNL_CB_OK;
	more = grow(d->list, d->nr, sizeof(*more));
	if (!more) {
		errno = ENOMEM;
		return MNL_CB_ERROR;
	}
	d->list = more;
	more[d->nr++] = *one;
	return MNL_CB_OK;
}

int devlink_trap_take(const struct nlmsghdr *nlh, void *devlink)
{
	const struct nlattr *stats = genl_attr(nlh, DEVLINK_ATTR_STATS);
	struct devlink_one one = {
		.kind = DEVLINK_TRAP,
		.type = attr_number(genl_attr(nlh, DEVLINK_ATTR_TRAP_TYPE), 0),
		.packets = attr_number(attr_in(stats, DEVLINK_ATTR_STATS_RX_PACKETS), 0),
		.bytes = attr_number(attr_in(stats, DEVLINK_ATTR_STATS_RX_BYTES), 0),
		.dropped = attr_number(attr_in(stats, DEVLINK_ATTR_STATS_RX_DROPPED), 0),
	};
	struct devlink_handle p = place_of(nlh);
	struct devlink *d = devlink;

	attr_text(genl_attr(nlh, DEVLINK_ATTR_TRAP_NAME), one.name, sizeof(one.name));
	attr_text(genl_attr(nlh, DEVLINK_ATTR_TRAP_GROUP_NAME), one.group, sizeof(one.group));
	return is_ours(&p, &d->port) ? add(d, &one) : MNL_CB_OK;
}

int devlink_reporter_take(const struct nlmsghdr *nlh, void *devlink)
{
	const struct nlattr *nest = genl_attr(nlh, DEVLINK_ATTR_HEALTH_REPORTER);
	struct devlink_handle p = place_of(nlh);
	struct devlink_one one = {
		.kind = DEVLINK_REPORTER,
		.errors = attr_number(attr_in(nest, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT), 0),
		.recoveries =
			attr_number(attr_in(nest, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT), 0),
		.of_port = p.has_index,
	};
	struct devlink *d = devlink;

	attr_text(attr_in(nest, DEVLINK_ATTR_HEALTH_REPORTER_NAME), one.name, sizeof(one.name));
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
