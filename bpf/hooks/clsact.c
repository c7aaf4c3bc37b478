/* SPDX-License-Identifier: GPL-2.0 */
/* Our filter among others on a clsact qdisc: found by program id, only ours is removed. */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <libmnl/libmnl.h>

#include "bpf/hooks/clsact.h"
#include "lib/core/hook.h"
#include "lib/kernel/programs.h"
#include "lib/net/netlink.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

#define CLSACT_PRIORITY	0x7fff	/* of our filter if there is no other */
#define INGRESS TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS)
#define EGRESS	TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS)

struct filter_search {
	int ifindex;
	__u32 prog_id;
	unsigned found;			/* filters, or clsact qdiscs, of the interface */
	__u32 handle, priority;		/* of the filter with prog_id; handle 0: not found */
	__u32 first;			/* lowest priority; 0: no filter */
};

static int each_qdisc(const struct nlmsghdr *nlh, void *arg)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *kind = attr_of(nlh, sizeof(*tc), TCA_KIND);
	struct filter_search *s = arg;

	if (tc->tcm_ifindex == s->ifindex && kind)
		s->found += !strcmp(mnl_attr_get_str(kind), "clsact");
	return MNL_CB_OK;
}

static int each_filter(const struct nlmsghdr *nlh, void *arg)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);
	__u32 priority = TC_H_MAJ(tc->tcm_info) >> 16;
	struct filter_search *s = arg;
	const struct nlattr *id;

	if (tc->tcm_ifindex != s->ifindex)
		return MNL_CB_OK;
	s->found++;
	if (!s->first || s->first > priority)
		s->first = priority;
	id = attr_in(attr_of(nlh, sizeof(*tc), TCA_OPTIONS), TCA_BPF_ID);
	if (id && attr_number(id, 0) == s->prog_id) {
		s->handle = tc->tcm_handle;
		s->priority = priority;
	}
	return MNL_CB_OK;
}

bool clsact_exists(int ifindex)
{
	struct filter_search s = { .ifindex = ifindex };

	tc_dump(ifindex, RTM_GETQDISC, 0, each_qdisc, &s);
	return s.found;
}

/* Before the qdisc is created: whoever finds our pins later must know that it is ours. */
static int mark_made(const struct site *site)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "nicprobe_clsact", 4, 4, 1, NULL);
	int err = fd < 0 || bpf_obj_pin(fd, pin_path(site, CLSACT_MADE)) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return err;
}

int clsact_attach(const struct site *site, int prog_fd)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = site->iface.ifindex,
		    .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = prog_fd);
	struct filter_search others = { .ifindex = site->iface.ifindex };
	int err = 0;

	/* By default the kernel puts us behind all filters with a set priority (tcf_auto_prio). */
	tc_dump(others.ifindex, RTM_GETTFILTER, INGRESS, each_filter, &others);
	if (others.first == 1)
		return error_set(site->error, -EEXIST, NULL,
				 "another filter has tc priority 1 on %s: ours "
				 "cannot run before it", site->iface.name);
	opts.priority = others.first ? others.first - 1 : CLSACT_PRIORITY;
	if (!clsact_exists(site->iface.ifindex))
		err = mark_made(site);
	if (!err)
		err = bpf_tc_hook_create(&hook);
	if (!err || err == -EEXIST)
		err = bpf_tc_attach(&hook, &opts);
	return err ? error_set(site->error, err, NULL, "cannot attach to clsact ingress of %s: %s",
			       site->iface.name, strerror(-err)) : 0;
}

const char *clsact_blind(const struct site *site)
{
	struct filter_search s = {
		.ifindex = site->iface.ifindex,
		.prog_id = program_pinned(pin_path(site, CLSACT_PROGRAM)),
	};

	if (tc_dump(s.ifindex, RTM_GETTFILTER, INGRESS, each_filter, &s) && !s.found)
		return NULL;		/* the dump failed */
	if (!s.handle)
		return "our filter is no longer attached";
	if (s.first < s.priority)
		return text("a tc filter of priority %u runs before ours: packets that it takes, "
			    "drops or passes to the stack are not seen", s.first);
	return NULL;
}

static void remove_filter(const struct site *site)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = site->iface.ifindex,
		    .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts);
	struct filter_search s = {
		.ifindex = site->iface.ifindex,
		.prog_id = program_pinned(pin_path(site, CLSACT_PROGRAM)),
	};

	tc_dump(s.ifindex, RTM_GETTFILTER, INGRESS, each_filter, &s);
	if (!s.handle)
		return;
	opts.handle = s.handle;
	opts.priority = s.priority;
	bpf_tc_detach(&hook, &opts);
}

void clsact_detach(const struct site *site)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = site->iface.ifindex,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);
	struct filter_search s = { .ifindex = site->iface.ifindex };

	if (site->gone || access(pin_path(site, CLSACT_PROGRAM), F_OK))
		return;
	remove_filter(site);
	if (access(pin_path(site, CLSACT_MADE), F_OK))
		return;
	tc_dump(s.ifindex, RTM_GETTFILTER, INGRESS, each_filter, &s);
	tc_dump(s.ifindex, RTM_GETTFILTER, EGRESS, each_filter, &s);
	if (!s.found)
		bpf_tc_hook_destroy(&hook);
}
