/* SPDX-License-Identifier: GPL-2.0 */
/* The rx-stack hook: a tcx link at the head (Linux 6.6), else a filter on clsact. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/hooks/clsact.h"
#include "lib/attach/soon.h"
#include "lib/core/event.h"
#include "lib/core/hook.h"
#include "lib/kernel/btf.h"
#include "lib/kernel/feature.h"
#include "lib/kernel/programs.h"
#include "lib/kernel/tcx.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "tc.skel.h"

#define PIN	"tc"	/* of the tcx link */

static int attach_tcx(const struct site *site, int prog)
{
	enum soon_step step;
	int err = soon_link(site, prog, TCX_INGRESS, TCX_BEFORE, pin_path(site, PIN), &step);

	if (err && step == SOON_LINK)
		return error_set(site->error, err, NULL,
				 "cannot attach to tcx ingress of %s: %s", site->iface.name,
				 strerror(-err));
	return err ? error_set(site->error, err, NULL, "cannot pin the tcx link: %s",
			       strerror(-err)) : 0;
}

/* The program is pinned first: detach finds the filter by it. */
static int attach_clsact(const struct site *site, int prog)
{
	int err = bpf_obj_pin(prog, pin_path(site, CLSACT_PROGRAM));

	if (err)
		return error_set(site->error, -errno, NULL, "cannot pin the tc program: %s",
				 strerror(errno));
	return clsact_attach(site, prog);
}

static int attach(const struct site *site, struct bpf_object *obj, char *how, size_t size)
{
	const char *no_tcx = kernel_lacks(FEATURE_TCX);
	int prog, err = kernel_load(obj);

	if (err)
		return error_set(site->error, err, NULL, "cannot load the tc program: %s",
				 log_last());
	prog = bpf_program__fd(bpf_object__find_program_by_name(obj, "nicprobe_tc"));
	strncpy(how, no_tcx ? "clsact" : "tcx", size);
	return no_tcx ? attach_clsact(site, prog) : attach_tcx(site, prog);
}

/* Is our program attached, and first, at tcx ingress? */
static const char *blind_tcx(const struct site *site)
{
	__u32 ids[64], ours = program_pinned(pin_path(site, PIN));
	LIBBPF_OPTS(bpf_prog_query_opts, all, .prog_ids = ids, .prog_cnt = 64);

	if (bpf_prog_query_opts(site->iface.ifindex, TCX_INGRESS, &all) && errno != ENOSPC)
		return NULL;
	for (__u32 i = 0; i <= all.prog_cnt; i++) {
		if (i == all.prog_cnt || i == 64)
			return "our program is no longer attached";
		if (ids[i] == ours)
			break;
	}
	if (ids[0] != ours)
		return text("the tcx program %s runs before ours: packets that it takes, drops or "
			    "passes to the stack are not seen", program_named(ids[0]));
	if (site->iface.generic_xdp_id)
		return text("after the generic XDP program %s packets have no Ethernet header "
			    "here: sizes and codepoints are wrong",
			    program_named(site->iface.generic_xdp_id));
	return NULL;
}

static const char *blind(const struct site *site, const char *how)
{
	if (!strcmp(how, "tcx"))
		return blind_tcx(site);
	return strcmp(how, "clsact") ? NULL : clsact_blind(site);
}

static bool stack_can(void)
{
	return !denied(hook_stack_rx.name) && !kernel_lacks(FEATURE_TP_BTF);
}

static bool generic_xdp(const struct site *site)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, opts);

	if (soon_pending())	/* ours in the driver: there is no generic one beside it */
		return false;
	return !bpf_xdp_query(site->iface.ifindex, 0, &opts) && opts.skb_prog_id;
}

static const char *avoid(const struct site *site)
{
	/* skb_pp_cow_data() makes a new skb, whose mac_len is 0: 6.12, 6.18; not 6.1 */
	if (stack_can() && generic_xdp(site))
		return "after generic XDP tc gets packets without their Ethernet header";
	if (site->config.rx_queue == RX_QUEUE_BY_NAPI && site->config.rx_queues > 1)
		return "the driver records no receive queue for tc to see";
	/* qdisc_graft() stops all queues for a moment, even for an ingress qdisc; 6.18 */
	if (stack_can() && kernel_lacks(FEATURE_TCX) && !clsact_exists(site->iface.ifindex))
		return "creating or removing a clsact qdisc loses packets that are being sent";
	return NULL;
}

static void configure(struct config *config)
{
	config->buffers_at_tc = event_at_tc(config->on);
}

const struct hook hook_tc = {
	.name = "tc",
	.help = "first in tc ingress, after GRO and RPS",
	.points = 1 << RX_STACK,
	.avoid = avoid,
	.configure = configure,
	.elf = tc_bpf__elf_bytes,
	.attach = attach,
	.link = PIN,
	.filter = CLSACT_PROGRAM,
	.blind = blind,
	/* not clsact: dev_shutdown() destroys the qdiscs of an interface that moves; 6.18 */
	.along = (const char *const []){ "tcx", NULL },
	.detach = clsact_detach,
};
