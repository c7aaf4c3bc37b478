/* SPDX-License-Identifier: GPL-2.0 */
/* The meter xdp: what XDP programs do with packets. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bpf/xdp/xdp.h"
#include "lib/read/snapshot.h"
#include "lib/util/list.h"
#include "lib/util/log.h"

static const char *const events[] = {
	[XDP_EXCEPTION] = "exception",
	[XDP_REDIRECTED] = "redirect",
	[XDP_SENT_TO] = "send",
	[XDP_SENT_FROM] = "send",
	[XDP_SENT_BACK] = "send back",
	[XDP_CPU_ENQUEUE] = "to cpu",
	[XDP_CPU_DONE] = "on cpu",
};
ONE_EACH(events, NR_XDP_EVENTS);

static const char *const cpu_results[] = {
	[XDP_CPU_OK] = "ok",
	[XDP_CPU_FULL] = "full",
	[XDP_CPU_PASSED] = "passed",
	[XDP_CPU_REDIRECTED] = "redirected",
	[XDP_CPU_DROPPED] = "dropped",
	[XDP_CPU_NO_MEMORY] = "no memory",
};
ONE_EACH(cpu_results, NR_XDP_CPU);

static const struct metric metrics[] = {
	COUNTER(struct xdp, packets, .name = "packets", .unit = "packets",
		.help = "Packets by the action of XDP programs, its destination and its result."),
	{}
};

enum { LABEL_EVENT, LABEL_PROGRAM, LABEL_WHERE, LABEL_RESULT };
static const char *const labels[] = { "event", "program", "where", "result", NULL };

/* "their_xdp 41"; only the id if the program is gone. */
static const char *program(__u32 id)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	int fd = id ? bpf_prog_get_fd_by_id(id) : -1;

	if (fd >= 0) {
		if (bpf_obj_get_info_by_fd(fd, &info, &len))
			info.name[0] = 0;
		close(fd);
	}
	return id ? text("%s%s%u", info.name, *info.name ? " " : "", id) : "-";
}

static const char *action(__u32 act)
{
	static const char *const names[] = {
		[XDP_ABORTED] = "XDP_ABORTED", [XDP_DROP] = "XDP_DROP", [XDP_PASS] = "XDP_PASS",
		[XDP_TX] = "XDP_TX", [XDP_REDIRECT] = "XDP_REDIRECT",
	};

	return act <= XDP_REDIRECT ? names[act] : text("unknown %u", act);
}

static const char *map(const struct xdp_key *key)
{
	bool ok = !key->result || key->event >= XDP_CPU_ENQUEUE;

	switch (key->map_type) {
	case BPF_MAP_TYPE_UNSPEC:
		return ok ? text("ifindex %u", key->index) : "an ifindex";
	case BPF_MAP_TYPE_CPUMAP:
		return ok ? text("cpumap %u cpu %u", key->map, key->index) :
			    text("cpumap %u", key->map);
	case BPF_MAP_TYPE_XSKMAP:
		return ok ? text("xskmap %u slot %u", key->map, key->index) :
			    text("xskmap %u", key->map);
	default:
		return ok ? text("devmap %u slot %u", key->map, key->index) :
			    text("devmap %u", key->map);
	}
}

static const char *where(const struct xdp_key *key)
{
	if (key->event == XDP_SENT_TO || key->event == XDP_SENT_FROM)
		return text("%s %.16s", key->event == XDP_SENT_TO ? "to" : "from", key->dev);
	return key->event == XDP_EXCEPTION || key->event == XDP_SENT_BACK ? "-" : map(key);
}

static const char *result(const struct xdp_key *key)
{
	const char *name;

	if (key->event == XDP_EXCEPTION)
		return action(key->result);
	if (key->event >= XDP_CPU_ENQUEUE)
		return key->result < NR_XDP_CPU ? cpu_results[key->result] : "?";
	if (key->result == XDP_NOT_TAKEN)
		return "not taken";
	name = key->result ? strerrorname_np(key->result) : "ok";
	return name ?: text("errno %u", key->result);
}

static void key_text(const void *k, unsigned nr, char *to, size_t size)
{
	const struct xdp_key *key = k;
	const char *said = nr == LABEL_EVENT ?
			   (key->event < NR_XDP_EVENTS ? events[key->event] : "?") :
			   nr == LABEL_PROGRAM ? program(key->prog) :
			   nr == LABEL_WHERE ? where(key) : result(key);

	snprintf(to, size, "%s", said);
}

const struct meter meter_xdp = {
	.name = "xdp",
	.help = "where XDP programs send packets, and which are lost",
	.type = EVENT_METER,
	.by = BY_KEY,
	.point = RX_NIC,
	.row_size = sizeof(struct xdp),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct xdp_key),
		.labels = labels,
		.text = key_text,
	},
};
