/* SPDX-License-Identifier: GPL-2.0 */
/* Attaches empty programs to the hooks that nicprobe would use: the minimum cost. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"

#define TCX_INGRESS 46		/* BPF_TCX_INGRESS (6.6), missing in Debian 12's headers */
/* netfilter, too (6.4) */
#define PROG_NETFILTER		32
#define ATTACH_NETFILTER	45
struct netfilter_link {
	__u32 prog_fd, target_fd, attach_type, flags, pf, hooknum;
	__s32 priority;
	__u32 netfilter_flags;
};
#define PF_IPV4			2
#define POST_ROUTING		4

int empty_load(const char *hook, bool typed)
{
	static const struct bpf_insn body[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },	/* return 0 */
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	int id;

	if (typed) {
		id = libbpf_find_vmlinux_btf_id(hook, BPF_TRACE_RAW_TP);
		if (id < 0)
			return id;
		opts.attach_btf_id = id;
		opts.expected_attach_type = BPF_TRACE_RAW_TP;
	}
	return bpf_prog_load(typed ? BPF_PROG_TYPE_TRACING : BPF_PROG_TYPE_RAW_TRACEPOINT, "empty",
			     "GPL", body, sizeof(body) / sizeof(*body), &opts);
}

/* Packets that the host sends by IPv4. */
static int netfilter_link(void)
{
	static const struct bpf_insn accept[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1 },	/* return NF_ACCEPT */
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = ATTACH_NETFILTER);
	struct netfilter_link attr = {
		.prog_fd = bpf_prog_load(PROG_NETFILTER, "empty", "GPL", accept, 2, &opts),
		.attach_type = ATTACH_NETFILTER, .pf = PF_IPV4, .hooknum = POST_ROUTING,
	};
	int link = (int)attr.prog_fd < 0 ? (int)attr.prog_fd :
		   (int)syscall(__NR_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return link < 0 ? -errno : link;
}

/* Attaches like nicprobe: by a link to the interface or to a tracepoint. */
void hook_attach(int prog, const char *hook, const char *iface)
{
	bool tcx = !strcmp(hook, "tcx"), xdp = !strcmp(hook, "xdp");
	int link = tcx || xdp ? bpf_link_create(prog, if_nametoindex(iface),
						tcx ? TCX_INGRESS : BPF_XDP, NULL) :
				bpf_raw_tracepoint_open(NULL, prog);

	if (link < 0)
		die("cannot attach a program to %s: %s", hook, strerror(-link));
}

static int empty_of(const char *hook)
{
	static const struct bpf_insn next[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = -1 },	/* return TCX_NEXT */
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return !strcmp(hook, "tcx") ?
	       bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "empty", "GPL", next, 2, NULL) :
	       empty_load(hook, true);
}

void nothing_attach(const char *hook, const char *iface)
{
	bool filter = !strcmp(hook, "netfilter");	/* it has a link of its own kind */
	int fd = filter ? netfilter_link() : empty_of(hook);

	if (fd < 0)
		die("cannot attach an empty program to %s: %s", hook, strerror(-fd));
	if (!filter)
		hook_attach(fd, hook, iface);
}

int nothing_main(int argc, char **argv)
{
	char line[64];

	if (argc < 2)
		return 2;
	for (int i = 2; i < argc; i++)
		nothing_attach(argv[i], argv[1]);
	puts("{}");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	return 0;
}
