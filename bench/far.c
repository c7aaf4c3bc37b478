/* SPDX-License-Identifier: GPL-2.0 */
/* The receiving end of live frames: an empty XDP program, and a socket that is never read. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>

#include "bench.h"
#include "empty.skel.h"

/* With a full buffer, packets pass through the whole stack and are dropped at the socket. */
static void socket_open(void)
{
	const struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(BENCH_PORT) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), least = 0;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &least, sizeof(least)) ||
	    bind(fd, (const struct sockaddr *)&any, sizeof(any)))
		die("cannot open the receiving socket: %s", strerror(errno));
}

int empty_xdp_load(void)
{
	struct empty_bpf *e = empty_bpf__open();
	struct bpf_program *prog;

	if (!e)
		die("cannot open the empty programs: %s", strerror(errno));
	bpf_object__for_each_program(prog, e->obj)
		bpf_program__set_autoload(prog, prog == e->progs.empty_xdp);
	if (empty_bpf__load(e))
		die("cannot load the empty XDP program: %s", strerror(errno));
	return bpf_program__fd(e->progs.empty_xdp);
}

static int link_create(int prog, const char *iface)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = XDP_FLAGS_DRV_MODE);
	int link = bpf_link_create(prog, if_nametoindex(iface), BPF_XDP, &opts);

	if (link < 0)
		die("cannot attach the empty XDP program to %s: %s", iface, strerror(-link));
	return link;
}

int far_main(int argc, char **argv)
{
	int prog, link = -1;
	char line[64];

	if (argc != 2)
		return 2;
	socket_open();
	prog = empty_xdp_load();
	while (fgets(line, sizeof(line), stdin)) {
		if (!strcmp(line, "xdp on\n") && link < 0)
			link = link_create(prog, argv[1]);
		else if (!strcmp(line, "xdp off\n") && link >= 0)
			close(link), link = -1;
		puts("{}");
		fflush(stdout);
	}
	return 0;
}
