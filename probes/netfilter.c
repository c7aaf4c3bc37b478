/* SPDX-License-Identifier: GPL-2.0 */
/* Attaches programs to the hooks of netfilter, before all rules or behind them. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/util/list.h"
#include "probes/tracing.h"

/* struct bpf_attr of BPF_LINK_CREATE for netfilter: Linux 6.4, later than Debian 12's headers. */
#define PROG_NETFILTER		32
#define ATTACH_NETFILTER	45
struct netfilter_link {
	__u32 prog_fd, target_fd, attach_type, flags;
	__u32 pf, hooknum;
	__s32 priority;
	__u32 netfilter_flags;
};

#define PF_IPV4			2
#define PF_IPV6			10
#define PRIORITIES		256
/* The very first and the very last are refused. */
#define PRIORITY_FIRST		(INT_MIN + 1)
#define PRIORITY_LAST		(INT_MAX - 1)

enum { PRE_ROUTING, LOCAL_IN, FORWARD, LOCAL_OUT, POST_ROUTING };

static const struct {
	__u32 hook;
	bool first;		/* what others drop is seen */
} places[NR_SOURCES] = {
	[SOURCE_nf_local_in] = { LOCAL_IN, false },
	[SOURCE_nf_post_routing] = { POST_ROUTING, false },
	[SOURCE_nf_pre_first] = { PRE_ROUTING, true },
	[SOURCE_nf_pre_last] = { PRE_ROUTING, false },
	[SOURCE_nf_forward_first] = { FORWARD, true },
	[SOURCE_nf_forward_last] = { FORWARD, false },
	[SOURCE_nf_post_first] = { POST_ROUTING, true },
	[SOURCE_nf_local_out] = { LOCAL_OUT, true },
};

bool program_is_netfilter(const struct bpf_program *prog)
{
	return !strcmp(bpf_program__section_name(prog), "netfilter");
}

void netfilter_prepare(struct bpf_program *prog)
{
	bpf_program__set_type(prog, PROG_NETFILTER);
	bpf_program__set_expected_attach_type(prog, ATTACH_NETFILTER);
}

/* The first or last of the hook that is free, as no two BPF programs may have the same priority. */
static int netfilter_link(const struct netfilter_link *wanted, bool first)
{
	struct netfilter_link attr = *wanted;
	int fd = -1;

	for (int i = 0; fd < 0 && i < PRIORITIES; i++) {
		attr.priority = first ? PRIORITY_FIRST + i : PRIORITY_LAST - i;
		fd = syscall(__NR_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
		if (fd < 0 && errno != EBUSY)
			break;
	}
	return fd < 0 ? -errno : fd;
}

int netfilter_attach(struct tracing *t, struct bpf_program *prog, enum source source)
{
	static const __u32 families[] = { PF_IPV4, PF_IPV6 };

	for (unsigned i = 0; i < NR_OF(families); i++) {
		struct netfilter_link attr = {
			.prog_fd = bpf_program__fd(prog), .attach_type = ATTACH_NETFILTER,
			.pf = families[i], .hooknum = places[source].hook,
		};
		int fd = netfilter_link(&attr, places[source].first), err;

		if (fd < 0)
			return fd;
		err = link_keep(t, NULL, fd);
		if (err)
			return err;
	}
	return 0;
}
