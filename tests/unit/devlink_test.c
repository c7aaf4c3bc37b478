/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parsing devlink's answers, made up as the kernel writes them: whole, truncated, of other devices.
 */
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>

#include "bpf/devlink/devlink.h"

#define SUBJECT "devlink "
#include "check.h"

#define NO_PORT	~0u

static struct nlmsghdr *begin(char *buf, const char *device, unsigned port)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	mnl_nlmsg_put_extra_header(nlh, sizeof(struct genlmsghdr));
	mnl_attr_put_strz(nlh, DEVLINK_ATTR_BUS_NAME, "pci");
	mnl_attr_put_strz(nlh, DEVLINK_ATTR_DEV_NAME, device);
	if (port != NO_PORT)
		mnl_attr_put_u32(nlh, DEVLINK_ATTR_PORT_INDEX, port);
	return nlh;
}

/* As in devlink_nl_port_fill(). */
static struct nlmsghdr *port(char *buf, const char *device, unsigned nr, unsigned ifindex)
{
	struct nlmsghdr *nlh = begin(buf, device, nr);

	mnl_attr_put_u16(nlh, DEVLINK_ATTR_PORT_TYPE, 2);
	if (ifindex) {
		mnl_attr_put_u32(nlh, DEVLINK_ATTR_PORT_NETDEV_IFINDEX, ifindex);
		mnl_attr_put_strz(nlh, DEVLINK_ATTR_PORT_NETDEV_NAME, "eth0");
	}
	return nlh;
}

/* As in devlink_nl_trap_fill(). */
static struct nlmsghdr *trap(char *buf, const char *device, const char *name)
{
	struct nlmsghdr *nlh = begin(buf, device, NO_PORT);
	struct nlattr *nest;

	mnl_attr_put_strz(nlh, DEVLINK_ATTR_TRAP_GROUP_NAME, "l3_drops");
	mnl_attr_put_strz(nlh, DEVLINK_ATTR_TRAP_NAME, name);
	mnl_attr_put_u8(nlh, DEVLINK_ATTR_TRAP_TYPE, DEVLINK_TRAP_TYPE_DROP);
	mnl_attr_put(nlh, DEVLINK_ATTR_TRAP_GENERIC, 0, NULL);
	mnl_attr_put_u8(nlh, DEVLINK_ATTR_TRAP_ACTION, DEVLINK_TRAP_ACTION_DROP);
	nest = mnl_attr_nest_start(nlh, DEVLINK_ATTR_STATS);
	mnl_attr_put_u64(nlh, DEVLINK_ATTR_STATS_RX_DROPPED, 1ull << 40);
	mnl_attr_put_u64(nlh, DEVLINK_ATTR_STATS_RX_PACKETS, 7);
	mnl_attr_put_u64(nlh, DEVLINK_ATTR_STATS_RX_BYTES, 420);
	mnl_attr_nest_end(nlh, nest);
	return nlh;
}

/* As in devlink_nl_health_reporter_fill(). */
static struct nlmsghdr *reporter(char *buf, unsigned nr, const char *name)
{
	struct nlmsghdr *nlh = begin(buf, "0000:03:00.0", nr);
	struct nlattr *nest = mnl_attr_nest_start(nlh, DEVLINK_ATTR_HEALTH_REPORTER);

	mnl_attr_put_strz(nlh, DEVLINK_ATTR_HEALTH_REPORTER_NAME, name);
	mnl_attr_put_u8(nlh, DEVLINK_ATTR_HEALTH_REPORTER_STATE, 1);
	mnl_attr_put_u64(nlh, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, 5);
	mnl_attr_put_u64(nlh, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, 3);
	mnl_attr_nest_end(nlh, nest);
	return nlh;
}

static void ports(void)
{
	struct devlink_port p = { .ifindex = 4 };
	char buf[4096];

	memset(buf, 0, sizeof(buf));
	devlink_port_take(port(buf, "0000:03:00.0", 0, 3), &p);
	memset(buf, 0, sizeof(buf));
	devlink_port_take(port(buf, "0000:03:00.0", 1, 0), &p);
	holds(!p.found, "ports of other interfaces, and of none");
	memset(buf, 0, sizeof(buf));
	devlink_port_take(port(buf, "0000:03:00.0", 2, 4), &p);
	holds(p.found && !strcmp(p.bus, "pci") && !strcmp(p.device, "0000:03:00.0") &&
	      p.index == 2, "the port of the interface");
}

static struct devlink sought(void)
{
	return (struct devlink){ .port = { 4, true, "pci", "0000:03:00.0", 2 } };
}

static bool is_called(const struct table *t, unsigned nr, const char *want)
{
	const unsigned char *key = t->keys + nr * meter_devlink.key.size;
	char got[160] = "", label[64];

	for (unsigned i = 0; meter_devlink.key.labels[i]; i++) {
		meter_devlink.key.text(key, i, label, sizeof(label));
		strcat(strcat(got, i ? " " : ""), label);
	}
	return check(!strcmp(got, want), text("row %u is called", nr), got);
}

static void rows(void)
{
	struct table t = { .cpus = 1, .words = sizeof(struct devlink_row) / 8 };
	struct devlink d = sought();
	const struct devlink_row *row;
	char buf[4096];

	memset(buf, 0, sizeof(buf));
	devlink_trap_take(trap(buf, "0000:03:00.0", "blackhole_route"), &d);
	memset(buf, 0, sizeof(buf));
	devlink_trap_take(trap(buf, "0000:04:00.0", "of_another_device"), &d);
	memset(buf, 0, sizeof(buf));
	devlink_reporter_take(reporter(buf, NO_PORT, "fw"), &d);
	memset(buf, 0, sizeof(buf));
	devlink_reporter_take(reporter(buf, 2, "tx"), &d);
	memset(buf, 0, sizeof(buf));
	devlink_reporter_take(reporter(buf, 3, "of_another_port"), &d);
	same("a trap, reporters of device and port; none of others", d.nr, 3);
	holds(!devlink_put(&d, &t) && t.rows == 3, "a row for each");
	row = (const void *)t.cells;
	holds(row[0].packets == 7 && row[0].bytes == 420 && row[0].dropped == 1ull << 40 &&
	      !row[0].errors, "what a trap counts");
	holds(row[1].errors == 5 && row[1].recoveries == 3 && !row[1].packets,
	      "what a reporter counts");
	is_called(&t, 0, "trap blackhole_route l3_drops drop device");
	is_called(&t, 1, "health fw - - device");
	is_called(&t, 2, "health tx - - port");
	free(t.cells);
	free(t.keys);
	devlink_free(&d);
}

/* Truncated to each length, and names without a terminator: nothing is read beyond the end. */
static void cut(void)
{
	char buf[4096] = {}, name[DEVLINK_NAME * 2];
	struct nlmsghdr *nlh = trap(buf, "0000:03:00.0", "blackhole_route");
	struct devlink d = sought();
	unsigned wrong = 0;

	for (unsigned len = NLMSG_HDRLEN; len <= nlh->nlmsg_len; len++) {
		/* as in netlink_ask(), zeros up to the alignment: ASan checks the rest */
		char *copy = calloc(1, NLMSG_ALIGN(len));
		struct devlink one = sought();

		memcpy(copy, buf, len);
		((struct nlmsghdr *)(void *)copy)->nlmsg_len = len;
		devlink_trap_take((void *)copy, &one);
		wrong += one.nr && strncmp(one.list->name, "blackhole_route",
					   strlen(one.list->name));
		devlink_free(&one);
		free(copy);
	}
	same("cut anywhere: nothing made up", wrong, 0);
	memset(buf, 0, sizeof(buf));
	memset(name, 'x', sizeof(name));
	nlh = begin(buf, "0000:03:00.0", NO_PORT);
	mnl_attr_put(nlh, DEVLINK_ATTR_TRAP_NAME, sizeof(name), name);
	devlink_trap_take(nlh, &d);
	holds(d.nr == 1 && strlen(d.list->name) == DEVLINK_NAME - 1, "a name without an end");
	devlink_free(&d);
}

int main(void)
{
	ports();
	rows();
	cut();
	return failed > 0;
}
