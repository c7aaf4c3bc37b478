/* SPDX-License-Identifier: GPL-2.0 */
/* How what XDP programs do is called, and what to do about what they lose. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "../lib/log.h"
#include "../lib/snapshot.h"
#include "xdp.h"
#include "xdp.skel.h"

static const char *const events[NR_XDP_EVENTS] = {
	[XDP_EXCEPTION] = "exception",
	[XDP_REDIRECTED] = "redirect",
	[XDP_SENT_TO] = "send",
	[XDP_SENT_FROM] = "send",
	[XDP_SENT_BACK] = "send back",
	[XDP_CPU_ENQUEUE] = "to cpu",
	[XDP_CPU_DONE] = "on cpu",
};

static const char *const cpu_results[NR_XDP_CPU] = {
	[XDP_CPU_OK] = "ok",
	[XDP_CPU_FULL] = "full",
	[XDP_CPU_PASSED] = "passed",
	[XDP_CPU_REDIRECTED] = "redirected",
	[XDP_CPU_DROPPED] = "dropped",
	[XDP_CPU_NO_MEMORY] = "no memory",
};

static const struct metric metrics[] = {
	COUNTER(struct xdp, packets, .name = "packets", .unit = "packets",
		.help = "Packets by what XDP programs did with them, where to, and how it went."),
	{}
};

enum { LABEL_EVENT, LABEL_PROGRAM, LABEL_WHERE, LABEL_RESULT };
static const char *const labels[] = { "event", "program", "where", "result", NULL };

/* "their_xdp 41"; the number alone when it is gone. */
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

static void judge_exception(const struct snapshot *s, struct findings *f,
			    const struct xdp_key *key, uint64_t n)
{
	const char *look = text("bpftool prog dump xlated id %u", key->prog);

	if (key->result == XDP_ABORTED)
		finding(f, "xdp", text("is a map slot empty that it redirects to? bpftool map; "
				       "%s", look),
			"the XDP program %s aborted on %" PRIu64 " packets, which were dropped",
			program(key->prog), n);
	else if (key->result > XDP_REDIRECT)
		finding(f, "xdp", look, "the XDP program %s dropped %" PRIu64 " packets by "
			"returning an action that does not exist: %u",
			program(key->prog), n, key->result);
	else if (key->result == XDP_TX)
		finding(f, "xdp", text("is its transmit ring full? ethtool -S %s; ethtool -G %s "
				       "tx N", s->meta.iface, s->meta.iface),
			"the driver dropped %" PRIu64 " packets that the XDP program %s sent back",
			n, program(key->prog));
}

/* What a redirect needs that an errno says it has not (net/core/filter.c, 6.1 to 6.18). */
static void judge_redirect(struct findings *f, const struct xdp_key *key, uint64_t n)
{
	const char *target = key->map ? text("bpftool map dump id %u", key->map) : "ip link";
	const char *why = "", *try = target;

	switch (key->result) {
	case 0:
		return;
	case ENETDOWN:
		why = ": the interface that it leads to is down";
		try = text("ip link set IFACE up; which: %s", target);
		break;
	case EOPNOTSUPP:	/* since 6.3; before, veth answers ENXIO to the batch */
		why = ": the driver of the target takes no packets from XDP";
		try = text("another target, or XDP_PASS; if a veth: ethtool -K PEER gro on; which: "
			   "%s", target);
		break;
	case EINVAL:
		why = key->map ? "" : ": there is no interface of that index";
		break;
	case EMSGSIZE:
		why = ": longer than the MTU of the target";
		try = text("ip link set IFACE mtu N; which: %s", target);
		break;
	case ENOSPC:
		why = ": there is no room at the target";
		break;
	}
	finding(f, "xdp", try, "%" PRIu64 " redirects of the XDP program %s to %s failed with "
		"%s%s", n, program(key->prog), map(key), result(key), why);
}

static void judge_send(const struct snapshot *s, struct findings *f, const struct xdp_key *key,
		       uint64_t n)
{
	const char *other = text("%.16s", key->dev), *we = s->meta.iface;
	const char *to = key->event == XDP_SENT_TO ? other : we;
	const char *try = key->result == ENXIO ?
		"a veth takes them if its peer has NAPI: ethtool -K PEER gro on, or XDP there" :
		text("is its transmit ring full? ethtool -S %s; ethtool -G %s tx N", to, to);
	const char *why = key->result == XDP_NOT_TAKEN ? "it did not take them" : result(key);

	if (!key->result)
		return;
	if (key->event == XDP_SENT_BACK)
		finding(f, "xdp", try, "the driver dropped %" PRIu64 " packets that an XDP program "
			"sent back: %s", n, why);
	else
		finding(f, "xdp", try, "%" PRIu64 " packets redirected from %s to %s were dropped: "
			"%s", n, to == we ? other : we, to, why);
}

static void judge_cpu(struct findings *f, const struct xdp_key *key, uint64_t n)
{
	if (key->event == XDP_CPU_ENQUEUE && key->result == XDP_CPU_FULL)
		finding(f, "xdp", text("more CPUs in cpumap %u, or a longer queue: the value of "
				       "its slot %u", key->map, key->index),
			"%" PRIu64 " packets were dropped because the queue to CPU %u was full",
			n, key->index);
	if (key->event == XDP_CPU_DONE && key->result == XDP_CPU_NO_MEMORY)
		finding(f, "xdp", "sysctl vm.min_free_kbytes", "%" PRIu64 " packets were dropped "
			"on CPU %u: there was no memory for their buffers", n, key->index);
}

static void judge(const struct snapshot *s, struct findings *f)
{
	const struct table *t = &s->tables[METER_xdp];

	for (unsigned row = 0; row < t->rows; row++) {
		const struct xdp_key *key = (void *)(t->keys + row * sizeof(*key));
		uint64_t n = *cell(t, row, 0, &metrics[0]);

		if (!n)
			continue;
		if (key->event == XDP_EXCEPTION)
			judge_exception(s, f, key, n);
		else if (key->event == XDP_REDIRECTED)
			judge_redirect(f, key, n);
		else if (key->event <= XDP_SENT_BACK)
			judge_send(s, f, key, n);
		else
			judge_cpu(f, key, n);
	}
}

const struct meter meter_xdp = {
	.name = "xdp",
	.help = "where XDP programs send packets, and what is lost of them",
	.by = BY_KEY,
	.point = RX_NIC,
	.row_size = sizeof(struct xdp),
	.metrics = metrics,
	.key_size = sizeof(struct xdp_key),
	.key_labels = labels,
	.key_text = key_text,
	.elf = xdp_bpf__elf_bytes,
	.judge = judge,
};
