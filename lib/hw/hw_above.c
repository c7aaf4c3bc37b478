/* SPDX-License-Identifier: GPL-2.0 */
/* Finds what is installed on an interface, where packets can vanish before they are seen. */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <xdp/libxdp.h>

#include "lib/attach/pins.h"
#include "lib/core/hook.h"
#include "lib/hw/hw.h"
#include "lib/kernel/programs.h"
#include "lib/kernel/tcx.h"
#include "lib/net/netlink.h"
#include "lib/net/sysfs.h"
#include "lib/util/list.h"
#include "lib/util/log.h"

#define DISPATCHER	"xdp_dispatcher"
#define INGRESS TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS)
#define EGRESS	TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS)

const char *const hook_names[] = {
	[HOOK_XDP_NATIVE] = "xdp-native", [HOOK_XDP_GENERIC] = "xdp-generic",
	[HOOK_XDP_OFFLOADED] = "xdp-offloaded", [HOOK_XDP_DISPATCHED] = "xdp-dispatched",
	[HOOK_TCX_INGRESS] = "tcx-ingress", [HOOK_TCX_EGRESS] = "tcx-egress",
	[HOOK_TC_INGRESS] = "tc-ingress", [HOOK_TC_EGRESS] = "tc-egress",
};
ONE_EACH(hook_names, NR_HOOKS);

struct above_search {
	struct hw_above *above;
	unsigned ifindex;
	__u32 own[8];		/* our programs, where we may see their pins */
	unsigned nr_own;
	__u32 map;		/* a map of our program that libxdp pins; 0: likewise */
	unsigned master;
	unsigned unlisted;	/* programs beyond MAX_PROGRAMS */
	bool egress;
	bool clsact, ingress;	/* it has such a qdisc */
};

static __u32 number(const struct nlattr *attr)
{
	return mnl_attr_get_payload_len(attr) >= sizeof(__u32) ? mnl_attr_get_u32(attr) : 0;
}

static void program_add(struct above_search *s, enum hw_hook hook, __u32 id)
{
	struct hw_above *a = s->above;
	struct hw_program *p = &a->programs[a->nr];
	const char *name = program_name(id);

	if (a->nr == MAX_PROGRAMS) {
		s->unlisted++;
		return;
	}
	a->nr++;
	*p = (struct hw_program){ .hook = hook, .id = id };
	for (unsigned i = 0; i < s->nr_own; i++)
		p->own |= s->own[i] == id;
	if (hook == HOOK_XDP_DISPATCHED && s->map)
		p->own = program_uses(id, s->map);
	if (strcmp(name, "?"))
		snprintf(p->name, sizeof(p->name), "%s", name);
}

/* The programs that libxdp's dispatcher calls, in order. */
static void dispatched_read(struct above_search *s)
{
	struct xdp_multiprog *all = xdp_multiprog__get_from_ifindex(s->ifindex);
	struct xdp_program *prog = NULL;

	if (libxdp_get_error(all))
		return;
	while (!xdp_multiprog__is_legacy(all) && (prog = xdp_multiprog__next_prog(prog, all)))
		program_add(s, HOOK_XDP_DISPATCHED, xdp_program__id(prog));
	xdp_multiprog__close(all);
}

static void xdp_read(struct above_search *s, const struct nlattr *nest)
{
	static const struct { int attr; enum hw_hook hook; } ids[] = {
		{ IFLA_XDP_DRV_PROG_ID, HOOK_XDP_NATIVE },
		{ IFLA_XDP_SKB_PROG_ID, HOOK_XDP_GENERIC },
		{ IFLA_XDP_HW_PROG_ID, HOOK_XDP_OFFLOADED },
	};
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest)
		for (unsigned i = 0; i < sizeof(ids) / sizeof(*ids); i++)
			if (mnl_attr_get_type(attr) == ids[i].attr)
				program_add(s, ids[i].hook, number(attr));
}

static void kind_read(const struct nlattr *nest, char kind[HW_KIND])
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest)
		if (mnl_attr_get_type(attr) == IFLA_INFO_KIND)
			snprintf(kind, HW_KIND, "%s", mnl_attr_get_str(attr));
}

static int self_read(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attr;
	struct above_search *s = arg;

	mnl_attr_for_each(attr, nlh, sizeof(struct ifinfomsg)) {
		if (mnl_attr_get_type(attr) == IFLA_MASTER)
			s->master = number(attr);
		if (mnl_attr_get_type(attr) == IFLA_XDP)
			xdp_read(s, attr);
	}
	return MNL_CB_OK;
}

static int device_read(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attr;
	struct hw_device *d = arg;

	mnl_attr_for_each(attr, nlh, sizeof(struct ifinfomsg)) {
		if (mnl_attr_get_type(attr) == IFLA_IFNAME)
			snprintf(d->name, sizeof(d->name), "%s", mnl_attr_get_str(attr));
		if (mnl_attr_get_type(attr) == IFLA_LINKINFO)
			kind_read(attr, d->kind);
	}
	return MNL_CB_OK;
}

/* By its index, or by name if that is 0. */
static void device_find(unsigned ifindex, const char *name, struct hw_device *d)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *request = link_request(buf, NLM_F_ACK, ifindex);

	mnl_attr_put_u32(request, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	if (!ifindex)
		mnl_attr_put_strz(request, IFLA_IFNAME, name);
	netlink_ask(NETLINK_ROUTE, request, device_read, d);
}

/* The kernel links each upper device in sysfs as "upper_vlan7", including the master. */
static void stacked_read(struct hw *h, int sys)
{
	struct hw_above *a = &h->above;
	DIR *dir = sys < 0 ? NULL : sysfs_dir(sys, ".");
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		struct hw_device *d = &a->stacked[a->nr_stacked];

		if (strncmp(e->d_name, "upper_", 6) || strlen(e->d_name + 6) >= IFNAMSIZ ||
		    !strcmp(e->d_name + 6, a->master.name))
			continue;
		if (a->nr_stacked == MAX_STACKED) {
			hw_note(h, "other devices on it", "there are more than %u", MAX_STACKED);
			break;
		}
		device_find(0, e->d_name + 6, d);
		a->nr_stacked += !!*d->name;	/* unless it is gone already */
	}
	if (dir)
		closedir(dir);
}

void hw_beneath_add(struct hw_above *a, const char *kind)
{
	unsigned i = 0;

	while (i < a->nr_beneath && strcmp(a->beneath[i].kind, kind))
		i++;
	if (i == MAX_BENEATH)
		return;
	if (i == a->nr_beneath)
		snprintf(a->beneath[a->nr_beneath++].kind, HW_KIND, "%s", kind);
	a->beneath[i].nr++;
}

static int each_qdisc(const struct nlmsghdr *nlh, void *arg)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;
	struct above_search *s = arg;
	char kind[HW_KIND] = "";

	if ((unsigned)tc->tcm_ifindex != s->ifindex)
		return MNL_CB_OK;
	mnl_attr_for_each(attr, nlh, sizeof(*tc))
		if (mnl_attr_get_type(attr) == TCA_KIND)
			snprintf(kind, sizeof(kind), "%s", mnl_attr_get_str(attr));
	s->clsact |= !strcmp(kind, "clsact");
	s->ingress |= !strcmp(kind, "ingress");
	if (tc->tcm_parent == TC_H_INGRESS)	/* the parent of clsact and ingress */
		return MNL_CB_OK;
	if (tc->tcm_parent == TC_H_ROOT)
		snprintf(s->above->qdisc, HW_KIND, "%s", kind);
	else
		hw_beneath_add(s->above, kind);
	return MNL_CB_OK;
}

/*
 * The kernel lists each classifier without a handle, then its filters. u32 lists its hash tables as
 * well, whose handles end in zeros. Filters of a shared block name no interface.
 */
static int each_filter(const struct nlmsghdr *nlh, void *arg)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr, *option;
	struct above_search *s = arg;
	const char *kind = "";
	__u32 id = 0;

	if ((unsigned)tc->tcm_ifindex != s->ifindex &&
	    (unsigned)tc->tcm_ifindex != TCM_IFINDEX_MAGIC_BLOCK)
		return MNL_CB_OK;
	mnl_attr_for_each(attr, nlh, sizeof(*tc)) {
		if (mnl_attr_get_type(attr) == TCA_KIND)
			kind = mnl_attr_get_str(attr);
		if (mnl_attr_get_type(attr) != TCA_OPTIONS || strcmp(kind, "bpf"))
			continue;
		mnl_attr_for_each_nested(option, attr)
			if (mnl_attr_get_type(option) == TCA_BPF_ID)
				id = number(option);
	}
	if (!tc->tcm_handle || (!strcmp(kind, "u32") && !(tc->tcm_handle & 0xfffff)))
		return MNL_CB_OK;
	s->above->filters[s->egress]++;
	if (id)
		program_add(s, s->egress ? HOOK_TC_EGRESS : HOOK_TC_INGRESS, id);
	return MNL_CB_OK;
}

static void tcx_read(struct above_search *s, struct hw *h)
{
	static const enum bpf_attach_type types[] = { TCX_INGRESS, TCX_EGRESS };

	for (unsigned i = 0; i < 2; i++) {
		__u32 ids[MAX_TCX];
		LIBBPF_OPTS(bpf_prog_query_opts, all, .prog_ids = ids, .prog_cnt = MAX_TCX);
		int err = bpf_prog_query_opts(s->ifindex, types[i], &all);

		if (err == -EPERM && !i)
			hw_note(h, "tcx programs", "root only");
		for (__u32 k = 0; !err && k < all.prog_cnt && k < MAX_TCX; k++)
			program_add(s, HOOK_TCX_INGRESS + i, ids[k]);
	}
}

static void own_add(struct above_search *s, const char *dir, const char *pin)
{
	__u32 id = pin ? program_pinned(text("%s/%s", dir, pin)) : 0;

	if (id && s->nr_own < sizeof(s->own) / sizeof(*s->own))
		s->own[s->nr_own++] = id;
}

/* Only root may look at our pins. */
static void own_find(struct above_search *s, const struct hw *h)
{
	char dir[256];

	if (pins_find(h->iface.netns, h->iface.ifindex, dir, sizeof(dir))) {
		for (const struct hook *const *t = hooks; *t; t++) {
			own_add(s, dir, (*t)->link);
			own_add(s, dir, (*t)->filter);
		}
		s->map = map_pinned(text("%s/lost", dir));
	}
}

void hw_above_read(struct hw *h, int sys)
{
	struct hw_above *a = &h->above;
	struct above_search s = { .above = a, .ifindex = h->iface.ifindex };
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *request = link_request(buf, NLM_F_ACK, s.ifindex);
	int err;

	own_find(&s, h);
	mnl_attr_put_u32(request, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	err = netlink_ask(NETLINK_ROUTE, request, self_read, &s);
	if (err)
		hw_note(h, "XDP programs", "%s", strerror(-err));
	for (unsigned i = 0; i < a->nr; i++)
		if (!strcmp(a->programs[i].name, DISPATCHER)) {
			dispatched_read(&s);
			break;
		}
	if (s.master)
		device_find(s.master, "", &a->master);
	stacked_read(h, sys);
	tcx_read(&s, h);
	err = tc_dump(s.ifindex, RTM_GETQDISC, 0, each_qdisc, &s);
	if (err)
		hw_note(h, "qdisc", "%s", strerror(-err));
	if (s.clsact || s.ingress)
		tc_dump(s.ifindex, RTM_GETTFILTER, INGRESS, each_filter, &s);
	s.egress = true;	/* the qdisc "ingress" would list its filters twice */
	if (s.clsact)
		tc_dump(s.ifindex, RTM_GETTFILTER, EGRESS, each_filter, &s);
	if (s.unlisted)
		hw_note(h, "other programs", "%u beyond the first %u", s.unlisted, MAX_PROGRAMS);
}
