/* SPDX-License-Identifier: GPL-2.0 */
/* The meter wifi: scans of a radio, and networks heard per channel. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "bpf/wifi/radio.h"
#include "bpf/wifi/wifi.h"
#include "lib/core/hook.h"
#include "lib/read/snapshot.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "wifi.skel.h"

static const char *const ends[] = { "done", "aborted", "refused" };

static const struct metric metrics[] = {	/* the first column is always shown */
	COUNTER(struct wifi, networks, .name = "networks", .unit = "networks",
		.help = "Networks (BSSIDs) heard on the channel, once per scan."),
	COUNTER(struct wifi, scans, .name = "scans", .unit = "scans",
		.help = "Scans by how they ended.", .label = "end",
		.labels = LABELS(struct wifi, scans, ends)),
	COUNTER(struct wifi, visits, .name = "visits", .unit = "visits",
		.help = "Completed scans that included the channel."),
	HISTOGRAM(struct wifi, duration, .name = "duration", .unit = "seconds", .scale = 1e-9,
		  .help = "Duration of completed scans, from the request to the end."),
	{}
};

enum label { BY, KIND, BAND, CHANNEL };
static const char *const labels[] = { "by", "kind", "band", "channel", NULL };

static const char *label(const struct wifi_key *key, enum label nr)
{
	unsigned khz = ntohl(key->khz);

	switch (nr) {
	case BY:
		return khz ? "-" : *key->by ? text("%.16s", key->by) : "unknown";
	case KIND:
		return khz ? "-" : wifi_kind(key->kind);
	case BAND:
		return khz ? wifi_band(khz) : "-";
	default:
		return khz ? wifi_channel(khz) : "-";
	}
}

static void key_text(const void *key, unsigned nr, char *out, size_t size)
{
	snprintf(out, size, "%s", label(key, nr));
}

static const char *absent(const struct site *site)
{
	char radio[WIFI_RADIO];
	const char *why = wifi_cannot();

	if (!why && !wifi_radio(site->iface.name, site->iface.ifindex, radio))
		why = "not a wireless interface";
	return why;
}

static const char *remark(const struct site *site)
{
	(void)site;
	return wifi_without();
}

static int attach(const struct site *site, struct bpf_object *obj)
{
	char radio[WIFI_RADIO];
	int err;

	wifi_radio(site->iface.name, site->iface.ifindex, radio);
	err = wifi_prepare(obj, radio, false);
	if (err)
		return error_set(site->error, err, NULL, "cannot prepare our own BPF object: %s",
				 strerror(-err));
	return object_load(site, obj) ?: object_attach(site, obj);
}

const struct meter meter_wifi = {
	.name = "wifi",
	.help = "scans: by whom, how they ended, and networks heard per channel",
	.type = EVENT_METER,
	.by = BY_KEY,
	.point = RX_NIC,
	.row_size = sizeof(struct wifi),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct wifi_key),
		.labels = labels,
		.text = key_text,
		.sorted = true,
	},
	.events = {
		.elf = wifi_bpf__elf_bytes,
		.attach = attach,
		.prefix = "scan",
	},
	.absent = absent,
	.remark = remark,
};
