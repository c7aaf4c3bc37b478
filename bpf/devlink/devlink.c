/* SPDX-License-Identifier: GPL-2.0 */
/* The meter devlink: packets that the card traps or drops, and errors of its health reporters. */
#include <errno.h>
#include <linux/devlink.h>
#include <stdio.h>
#include <string.h>

#include "bpf/devlink/devlink.h"
#include "lib/core/hook.h"
#include "lib/net/netlink.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

extern const struct meter meter_devlink;

#define COUNT(field, ...) COUNTER(struct devlink_row, field, .name = #field, __VA_ARGS__)

static const struct metric metrics[] = {
	COUNT(packets, .unit = "packets", .rare = true,
	      .help = "Packets that the trap passed to the kernel."),
	COUNT(bytes, .unit = "bytes", .rare = true,
	      .help = "Bytes that the trap passed to the kernel."),
	COUNT(dropped, .unit = "packets", .rare = true,
	      .help = "Packets that the card dropped at the trap, if the driver reports them."),
	COUNT(errors, .unit = "errors", .rare = true,
	      .help = "Errors that the driver reported to the health reporter."),
	COUNT(recoveries, .unit = "recoveries", .rare = true,
	      .help = "Recoveries of the driver from such errors."),
	{}
};

static const char *const labels[] = { "kind", "name", "group", "type", "of", NULL };

static void key_text(const void *of, unsigned nr, char *out, size_t size)
{
	static const char *const types[] = {
		[DEVLINK_TRAP_TYPE_DROP] = "drop", [DEVLINK_TRAP_TYPE_EXCEPTION] = "exception",
		[DEVLINK_TRAP_TYPE_CONTROL] = "control",
	};
	const struct devlink_key *key = of;
	bool trap = key->kind == DEVLINK_TRAP;

	switch (nr) {
	case 0:
		snprintf(out, size, "%s", trap ? "trap" : "health");
		break;
	case 1:
		snprintf(out, size, "%s", key->name);
		break;
	case 2:
		snprintf(out, size, "%s", *key->group ? key->group : "-");
		break;
	case 3:
		snprintf(out, size, "%s", !trap ? "-" : key->type < sizeof(types) /
			 sizeof(*types) ? types[key->type] : "unknown");
		break;
	default:
		snprintf(out, size, "%s", key->of_port ? "port" : "device");
	}
}

int devlink_put(const struct devlink *d, struct table *t)
{
	for (unsigned i = 0; i < d->nr; i++) {
		const struct devlink_one *one = &d->list[i];
		struct devlink_row now = { one->packets, one->bytes, one->dropped, one->errors,
					   one->recoveries };
		struct devlink_key key = { .kind = one->kind, .of_port = one->of_port,
					   .type = one->type };
		uint64_t *row;

		snprintf(key.name, sizeof(key.name), "%s", one->name);
		snprintf(key.group, sizeof(key.group), "%s", one->group);
		row = table_add(t, &meter_devlink, &key);
		if (!row)
			return -ENOMEM;
		memcpy(row, &now, sizeof(now));
	}
	return 0;
}

/* Without a port there is nothing to read. */
static int read_all(const struct meta *meta, struct table *t, struct error *e)
{
	struct devlink d;
	int err = devlink_read(meta->ifindex, &d);

	err = err ?: devlink_put(&d, t);
	devlink_free(&d);
	if (err == -ENODEV || err == -ENOENT)
		return 0;
	return err ? error_set(e, err, NULL, "cannot ask devlink for traps and health of %s: %s",
			       meta->iface, strerror(-err)) : 0;
}

static const char *cannot(void)
{
	return netlink_family(DEVLINK_GENL_NAME) < 0 ? "this kernel has no devlink" : NULL;
}

static const char *absent(const struct site *site)
{
	struct devlink_port port = { .ifindex = site->iface.ifindex };
	int err = devlink_find(&port);

	if (!err)
		return NULL;
	return err == -ENODEV ? "the driver has no devlink port for it" :
	       cannot() ?: text("cannot ask devlink: %s", strerror(-err));
}

const struct meter meter_devlink = {
	.name = "devlink",
	.help = "packets that the card traps or drops, and its health errors, from devlink",
	.type = READ_METER,
	.by = BY_KEY,
	.point = RX_NIC,
	.row_size = sizeof(struct devlink_row),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct devlink_key),
		.labels = labels,
		.text = key_text,
		.sorted = true,
	},
	.read = read_all,
	.cannot = cannot,
	.absent = absent,
};
