/* SPDX-License-Identifier: GPL-2.0 */
/* The rx-nic hook by XDP: beside other programs with libxdp's dispatcher, otherwise alone. */
#include <errno.h>
#include <glob.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <xdp/libxdp.h>

#include "lib/attach/pins.h"
#include "lib/attach/soon.h"
#include "lib/core/hook.h"
#include "lib/kernel/btf.h"
#include "lib/kernel/feature.h"
#include "lib/kernel/insn.h"
#include "lib/kernel/programs.h"
#include "lib/util/error.h"
#include "lib/util/list.h"
#include "lib/util/log.h"
#include "xdp_hook.skel.h"

#define PROGRAM "nicprobe_rx"
#define PIN	"xdp_link"	/* pin of the link, if ours is the only program */
#define IN_DISPATCHER	"xdp in a dispatcher"
#define GENERIC	"xdp-generic"
#define DISPATCHERS "/sys/fs/bpf/xdp"	/* where libxdp pins */

static int refused(const struct site *site, int err)
{
	const char *iface = site->iface.name;
	const char *other = text("nicprobe attach --rx driver %s", iface);
	/* -ENOMEM of a driver is not this machine running out of memory */
	int ret = err == -ENOMEM ? -ENOBUFS : err;

	if (err == -EBUSY || err == -EEXIST)
		return error_set(site->error, -EBUSY, other,
				 "cannot attach %s: XDP is taken by \"%s\" (id %u), "
				 "which leaves no room for another program",
				 iface, program_name(site->iface.xdp_id), site->iface.xdp_id);
	if (err == -EOPNOTSUPP)
		return error_set(site->error, err, other, "the driver of %s (%s) has no native XDP",
				 iface, site->driver->name);
	if (site->driver->xdp_needs)
		return error_set(site->error, ret, other,
				 "the driver of %s (%s) rejects XDP: %s; its MTU is %u, "
				 "and XDP needs %s",
				 iface, site->iface.driver, strerror(-err),
				 site->iface.mtu, site->driver->xdp_needs);
	return error_set(site->error, ret, other,
			 "the driver of %s (%s) rejects XDP: %s; its MTU of %u may be "
			 "too large, or it lacks free queues",
			 iface, site->iface.driver,
			 strerror(-err), site->iface.mtu);
}

/* A bpf_link goes away with its last pin: a crash leaves nothing attached. */
static int link_hold(const struct site *site, int prog, __u32 mode)
{
	enum soon_step step;
	int err = soon_link(site, prog, BPF_XDP, mode, pin_path(site, PIN), &step);

	if (err && step == SOON_LINK)
		return refused(site, err);
	return err ? error_set(site->error, err, NULL, "cannot pin the XDP link: %s",
			       strerror(-err)) : 0;
}

static int attach_alone(const struct site *site, struct bpf_object *obj, __u32 mode)
{
	int err;

	log_forget();			/* what the kernel was asked before was told, too */
	err = kernel_load(obj);
	if (err)
		return error_set(site->error, err, NULL, "cannot load the XDP program: %s",
				 err == -EMFILE || !*log_last() ? strerror(-err) : log_last());
	return link_hold(site, bpf_program__fd(bpf_object__find_program_by_name(obj, PROGRAM)),
			 mode);
}

/* Is what is attached one program, without a dispatcher? */
static bool is_single(const struct site *site)
{
	struct xdp_multiprog *all = xdp_multiprog__get_from_ifindex(site->iface.ifindex);
	bool single = !libxdp_get_error(all) && xdp_multiprog__is_legacy(all);

	if (!libxdp_get_error(all))
		xdp_multiprog__close(all);
	return single;
}

/*
 * Where libxdp cannot make a dispatcher (its directory is another user's, or the environment has
 * LIBXDP_SKIP_DISPATCHER), it attaches the program in a way that would outlast us: by a link, then.
 */
static int attach_beside(const struct site *site, struct bpf_object *obj, bool *alone)
{
	DECLARE_LIBXDP_OPTS(xdp_program_opts, opts, .obj = obj, .prog_name = PROGRAM);
	struct xdp_program *prog = xdp_program__create(&opts);
	int err = libxdp_get_error(prog);

	if (err)
		return error_set(site->error, err, NULL, "libxdp cannot use our program: %s",
				 strerror(-err));
	xdp_program__set_chain_call_enabled(prog, XDP_PASS, true);
	/* before all others: packets that they drop were received, too */
	xdp_program__set_run_prio(prog, 1);
	/* libxdp 1.3 does not see frags in "xdp.frags": its dispatcher would reject a large MTU */
	xdp_program__set_xdp_frags_support(prog, true);
	err = xdp_program__attach(prog, site->iface.ifindex, XDP_MODE_NATIVE, 0);
	*alone = !err && is_single(site);
	if (*alone)
		err = xdp_program__detach(prog, site->iface.ifindex, XDP_MODE_NATIVE, 0);
	if (err)
		err = refused(site, err);
	else if (*alone)
		err = link_hold(site, xdp_program__fd(prog), XDP_FLAGS_DRV_MODE);
	xdp_program__close(prog);
	return err;
}

/* A program attached without a dispatcher leaves no room for ours. */
static const char *why_alone(const struct site *site)
{
	const char *no = kernel_lacks(FEATURE_DISPATCHER);
	struct xdp_multiprog *all;
	bool legacy;

	if (no || !site->iface.xdp_id)
		return no;
	all = xdp_multiprog__get_from_ifindex(site->iface.ifindex);
	if (libxdp_get_error(all))
		return NULL;
	legacy = xdp_multiprog__is_legacy(all);
	xdp_multiprog__close(all);
	return legacy ? "another program is attached without a dispatcher" : NULL;
}

static int attach(const struct site *site, struct bpf_object *obj, char *how, size_t size)
{
	bool alone = why_alone(site);
	int err = alone ? attach_alone(site, obj, XDP_FLAGS_DRV_MODE) :
			  attach_beside(site, obj, &alone);

	snprintf(how, size, "%s", alone ? "xdp" : IN_DISPATCHER);
	return err;
}

static bool pin_uses_map(const char *prog_pin, __u32 map)
{
	__u32 id = program_pinned(prog_pin);

	return id && program_uses(id, map);
}

/*
 * libxdp pins a dispatcher before it attaches it: a process killed in between leaves it behind.
 * Ours are recognized by their maps. The ifindex in the name is not enough, as it may belong to
 * another network namespace (libxdp_clean_references()).
 */
static void remove_left(const struct site *site)
{
	__u32 ours = map_pinned(pin_path(site, "lost"));
	glob_t left;

	if (!ours || glob(text(DISPATCHERS "/dispatch-%u-*/prog*-prog", site->iface.ifindex), 0,
			  NULL, &left))
		return;
	for (size_t i = 0; i < left.gl_pathc; i++)
		if (pin_uses_map(left.gl_pathv[i], ours)) {
			*strrchr(left.gl_pathv[i], '/') = 0;
			pins_remove(left.gl_pathv[i], NULL);
		}
	globfree(&left);
}

/* A single program that is ours, and that no link holds: left between the two ways to attach. */
static bool is_left(const struct site *site, const struct xdp_program *prog)
{
	__u32 ours = map_pinned(pin_path(site, "lost"));

	return prog && ours && access(pin_path(site, PIN), F_OK) &&
	       !strcmp(xdp_program__name(prog), PROGRAM) &&
	       program_uses(xdp_program__id(prog), ours);
}

/* Removes our program from the dispatcher; found by name, since a crash leaves no pin. */
static int leave_dispatcher(const struct site *site)
{
	struct xdp_multiprog *all = xdp_multiprog__get_from_ifindex(site->iface.ifindex);
	struct xdp_program *prog = NULL;
	int err = 0;

	if (libxdp_get_error(all))
		return 0;
	if (xdp_multiprog__is_legacy(all) && is_left(site, xdp_multiprog__main_prog(all)))
		err = xdp_program__detach(xdp_multiprog__main_prog(all), site->iface.ifindex,
					  xdp_multiprog__attach_mode(all), 0);
	while (!xdp_multiprog__is_legacy(all) && (prog = xdp_multiprog__next_prog(prog, all)))
		if (!strcmp(xdp_program__name(prog), PROGRAM)) {
			err = xdp_program__detach(prog, site->iface.ifindex,
						  xdp_multiprog__attach_mode(all), 0);
			break;
		}
	xdp_multiprog__close(all);
	return err;
}

static void detach(const struct site *site)
{
	if (site->gone || !leave_dispatcher(site))
		remove_left(site);
}

/* In a dispatcher: is our program there, and first? A new program means a new dispatcher. */
static const char *blind_beside(const struct site *site)
{
	struct xdp_multiprog *all = xdp_multiprog__get_from_ifindex(site->iface.ifindex);
	__u32 map = map_pinned(pin_path(site, "lost")), first = 0, xdp = 0;
	struct xdp_program *prog = NULL;

	if (libxdp_get_error(all) || xdp_multiprog__is_legacy(all)) {
		bpf_xdp_query_id(site->iface.ifindex, 0, &xdp);
	} else {
		while ((prog = xdp_multiprog__next_prog(prog, all)) &&
		       !(!strcmp(xdp_program__name(prog), PROGRAM) &&
			 program_uses(xdp_program__id(prog), map)))
			first = first ?: xdp_program__id(prog);
		xdp = prog ? 0 : first;
	}
	if (!libxdp_get_error(all))
		xdp_multiprog__close(all);
	if (prog)
		return first ? text("the XDP program %s runs before ours, which does not see what "
				    "it takes or drops",
				    program_named(first)) : NULL;
	return xdp ? text("our program is no longer attached: the XDP program %s has replaced it",
			  program_named(xdp)) : "our program is no longer attached";
}

static const char *blind(const struct site *site, const char *how)
{
	__u32 other = site->iface.xdp_id, generic = site->iface.generic_xdp_id, ours;

	if (strncmp(how, "xdp", 3) || program_hidden(other ?: generic))
		return NULL;
	if (!strcmp(how, IN_DISPATCHER))
		return blind_beside(site);
	ours = program_pinned(pin_path(site, PIN));
	if (ours && (other == ours || generic == ours))
		return NULL;
	return other ? text("our program is no longer attached: the XDP program %s has replaced it",
			    program_named(other)) : "our program is no longer attached";
}

static const char *avoid(const struct site *site)
{
	if (site->driver->no_xdp)
		return text("the driver has no native XDP");
	if (site->driver->xdp)
		return text("attaching XDP to %s %s", site->iface.driver, site->driver->xdp);
	/* tun_build_skb() and do_xdp_generic() of tun present such a frame as one packet; 6.18 */
	if (site->iface.gso_frames)
		return "its peer may pass many packets as one frame, which XDP counts as one";
	return NULL;
}

/* libxdp opens the dispatcher and what is in it by their numbers. */
static const char *keeps(const char *how)
{
	return !strcmp(how, IN_DISPATCHER) && module_types_hidden() ?
		"its XDP program shares a dispatcher with others, which CAP_SYS_ADMIN alone can "
		"change" : NULL;
}

/* A program that calls it takes the kernel's compiler, which may be off, or lack such calls. */
static bool can_call(int function)
{
	const struct bpf_insn calls[] = {
		INSN(BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL, .imm = function),
		EXIT_WITH(XDP_PASS),
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "nicprobe_cast", "GPL", calls, NR_OF(calls),
			       NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void configure(struct config *config)
{
	int id = kernel_type("bpf_cast_to_kern_ctx", BTF_KIND_FUNC);

	config->xdp_cast = id > 0 && can_call(id) ? id : 0;
}

const struct hook hook_xdp = {
	.name = "xdp",
	.help = "native XDP, in the driver before an skb exists",
	.points = 1 << RX_NIC,
	.avoid = avoid,
	.configure = configure,
	.elf = xdp_hook_bpf__elf_bytes,
	.attach = attach,
	.link = PIN,
	.blind = blind,
	.along = (const char *const []){ "xdp", IN_DISPATCHER, NULL },
	.keeps = keeps,
	.detach = detach,
};

static void configure_generic(struct config *config)
{
	configure(config);
	config->xdp_generic = true;
}

static int attach_generic(const struct site *site, struct bpf_object *obj, char *how, size_t size)
{
	snprintf(how, size, "%s", GENERIC);
	return attach_alone(site, obj, XDP_FLAGS_SKB_MODE);
}

static const char *avoid_generic(const struct site *site)
{
	(void)site;
	return "generic XDP runs after GRO and disables it: it changes what it measures";
}

const struct hook hook_xdp_generic = {
	.name = GENERIC,
	.help = "generic XDP, for any driver; it runs after GRO and disables it",
	.points = 1 << RX_NIC,
	.avoid = avoid_generic,
	.configure = configure_generic,
	.elf = xdp_hook_bpf__elf_bytes,
	.attach = attach_generic,
	.link = PIN,
	.along = (const char *const []){ GENERIC, NULL },
};
