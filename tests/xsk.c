/* SPDX-License-Identifier: GPL-2.0 */
/* An AF_XDP socket that tests control, including things that a good program would not do. */
#include <errno.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <xdp/xsk.h>

/*
 * usage: xsk IFACE QUEUE [--rx N] [--tx N] [--fill N] [--frames N] [--share]
 *            [--no-program]
 * Copy mode, behind a generic XDP program that redirects all packets of the queue to it. Rings have
 * this many descriptors, the UMEM this many frames; --share: a second socket with the same UMEM and
 * rings of its own; --no-program: it receives nothing. Each line of input is a command, answered in
 * JSON:
 *   fill N       puts free frames into the fill ring
 *   fillbad N    puts invalid addresses into the fill ring
 *   read [N]     takes at most N received packets, and keeps their frames
 *   free         frees all frames that were read
 *   send N SIZE  sends frames, with as many kicks as it takes
 *   sendbad N    puts descriptors outside of the UMEM into the TX ring
 *   kick N       kicks this often, with nothing to send
 *   serve COUNT MICROSECONDS	takes at most COUNT, refills their frames, and pauses; 0 0: stop
 *   leak COUNT MICROSECONDS	the same, without refilling
 *   stats        the kernel's statistics of the socket, by getsockopt()
 */
#define CHUNK	2048		/* bytes of a frame; 256 of them are headroom */

static struct {
	struct xsk_umem *umem;
	struct xsk_socket *socket, *second;
	struct xsk_ring_prod fill, tx, tx2;
	struct xsk_ring_cons completion, rx, rx2;
	char *area;
	__u64 *free, *held;	/* frames owned by nobody, and frames that were read */
	unsigned nr_free, nr_held, frames, rx_size, tx_size, fill_size;
	bool share, no_program;
	unsigned serve, pause_us;
	bool leak;
	unsigned long long served;
} x = { .frames = 256, .rx_size = 64, .tx_size = 64, .fill_size = 128 };

static void die(const char *what, int err)
{
	printf("{\"error\": \"%s: %s\"}\n", what, strerror(err < 0 ? -err : err));
	exit(1);
}

/* redirect_map(map, queue of the packet, otherwise pass it) */
static int program_load(int map)
{
	struct bpf_insn code[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 2, .src_reg = 1,
		  .off = offsetof(struct xdp_md, rx_queue_index) },
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_FD,
		  .imm = map },
		{},
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect_map },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_XDP, "np_test_xsk", "GPL", code,
			     sizeof(code) / sizeof(*code), NULL);
}

/* It is detached when the process ends. */
static void program_attach(unsigned ifindex, unsigned queue)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = XDP_FLAGS_SKB_MODE);
	int map = bpf_map_create(BPF_MAP_TYPE_XSKMAP, "np_test_xsks", 4, 4, 64, NULL);
	int prog = map < 0 ? map : program_load(map), fd = xsk_socket__fd(x.socket);

	if (prog < 0)
		die("a program that redirects", errno);
	if (bpf_map_update_elem(map, &queue, &fd, 0))
		die("the socket into the map", errno);
	if (bpf_link_create(prog, ifindex, BPF_XDP, &opts) < 0)
		die("attach the program", errno);
}

static void sockets_open(const char *iface, unsigned queue)
{
	struct xsk_umem_config frames = {
		.fill_size = x.fill_size, .comp_size = x.tx_size, .frame_size = CHUNK,
	};
	struct xsk_socket_config config = {
		.rx_size = x.rx_size, .tx_size = x.tx_size, .bind_flags = XDP_COPY,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
	};
	size_t size = (size_t)x.frames * CHUNK;
	int err;

	x.area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	x.free = calloc(2 * x.frames, sizeof(*x.free));
	if (x.area == MAP_FAILED || !x.free)
		die("memory", ENOMEM);
	x.held = x.free + x.frames;
	for (unsigned i = 0; i < x.frames; i++)
		x.free[x.nr_free++] = (__u64)i * CHUNK;
	err = xsk_umem__create(&x.umem, x.area, size, &x.fill, &x.completion, &frames);
	if (err)
		die("register the frames", err);
	err = xsk_socket__create(&x.socket, iface, queue, x.umem, &x.rx, &x.tx, &config);
	if (err)
		die("a socket", err);
	config.bind_flags = 0;
	if (x.share)
		err = xsk_socket__create(&x.second, iface, queue, x.umem, &x.rx2, &x.tx2, &config);
	if (err)
		die("a second socket", err);
	if (!x.no_program)
		program_attach(if_nametoindex(iface), queue);
}

static unsigned fill(unsigned nr)
{
	unsigned at;

	nr = nr < x.nr_free ? nr : x.nr_free;
	if (!nr || xsk_ring_prod__reserve(&x.fill, nr, &at) != nr)
		return 0;
	for (unsigned i = 0; i < nr; i++)
		*xsk_ring_prod__fill_addr(&x.fill, at + i) = x.free[--x.nr_free];
	xsk_ring_prod__submit(&x.fill, nr);
	return nr;
}

static unsigned fill_bad(unsigned nr)
{
	unsigned at;

	if (xsk_ring_prod__reserve(&x.fill, nr, &at) != nr)
		return 0;
	for (unsigned i = 0; i < nr; i++)
		*xsk_ring_prod__fill_addr(&x.fill, at + i) = (__u64)(x.frames + 7 + i) * CHUNK;
	xsk_ring_prod__submit(&x.fill, nr);
	return nr;
}

static unsigned take(unsigned most)
{
	unsigned at, nr = xsk_ring_cons__peek(&x.rx, most, &at);

	for (unsigned i = 0; i < nr; i++)
		x.held[x.nr_held++] = xsk_ring_cons__rx_desc(&x.rx, at + i)->addr / CHUNK * CHUNK;
	if (nr)
		xsk_ring_cons__release(&x.rx, nr);
	return nr;
}

static unsigned give_back(void)
{
	unsigned nr = x.nr_held;

	while (x.nr_held)
		x.free[x.nr_free++] = x.held[--x.nr_held];
	return nr;
}

/* Completed frames are free again; invalid addresses come back as well (6.12). */
static void complete(void)
{
	unsigned at, nr = xsk_ring_cons__peek(&x.completion, x.tx_size, &at);

	for (unsigned i = 0; i < nr; i++) {
		__u64 addr = *xsk_ring_cons__comp_addr(&x.completion, at + i);

		if (addr < (__u64)x.frames * CHUNK)
			x.free[x.nr_free++] = addr;
	}
	if (nr)
		xsk_ring_cons__release(&x.completion, nr);
}

/* Has the kernel emptied the ring? */
static bool kick(void)
{
	return sendto(xsk_socket__fd(x.socket), NULL, 0, MSG_DONTWAIT, NULL, 0) >= 0;
}

/* Waits until the kernel has consumed everything; returns how often it emptied the ring. */
static unsigned kick_all(void)
{
	unsigned kicks = 0;

	for (int i = 0; i < 1000; i++) {
		kicks += kick();
		complete();
		if (__atomic_load_n(x.tx.consumer, __ATOMIC_ACQUIRE) == *x.tx.producer)
			break;
	}
	return kicks;
}

static void send_frames(unsigned nr, unsigned size)
{
	static const unsigned char head[14] = { 2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x88, 0xb5 };
	unsigned at, sent = 0, kicks = 0;

	while (sent < nr && x.nr_free && xsk_ring_prod__reserve(&x.tx, 1, &at) == 1) {
		struct xdp_desc *desc = xsk_ring_prod__tx_desc(&x.tx, at);

		*desc = (struct xdp_desc){ .addr = x.free[--x.nr_free], .len = size };
		memset(x.area + desc->addr, 0, size);
		memcpy(x.area + desc->addr, head, sizeof(head));
		xsk_ring_prod__submit(&x.tx, 1);
		if (++sent % 16 == 0 || sent == nr)
			kicks += kick_all();
	}
	printf("{\"sent\": %u, \"kicks\": %u}\n", sent, kicks);
}

static void send_bad(unsigned nr)
{
	unsigned at, sent = 0, kicks = 0;

	for (; sent < nr && xsk_ring_prod__reserve(&x.tx, 1, &at) == 1; sent++) {
		*xsk_ring_prod__tx_desc(&x.tx, at) = (struct xdp_desc){
			.addr = (__u64)(x.frames + 7) * CHUNK, .len = 60,
		};
		xsk_ring_prod__submit(&x.tx, 1);
		kicks += kick_all();
	}
	printf("{\"sent\": %u, \"kicks\": %u}\n", sent, kicks);
}

static void kicks(unsigned nr)
{
	unsigned done = 0;

	for (unsigned i = 0; i < nr; i++)
		done += kick();
	printf("{\"kicks\": %u}\n", done);
}

static void stats(void)
{
	struct xdp_statistics s = {};
	socklen_t len = sizeof(s);

	if (getsockopt(xsk_socket__fd(x.socket), SOL_XDP, XDP_STATISTICS, &s, &len))
		die("getsockopt", errno);
	printf("{\"rx_dropped\": %llu, \"rx_invalid\": %llu, \"rx_ring_full\": %llu, "
	       "\"fill_ring_empty\": %llu, \"tx_invalid\": %llu, \"tx_ring_empty\": %llu, "
	       "\"served\": %llu}\n", s.rx_dropped, s.rx_invalid_descs, s.rx_ring_full,
	       s.rx_fill_ring_empty_descs, s.tx_invalid_descs, s.tx_ring_empty_descs, x.served);
}

static void obey(const char *line)
{
	unsigned a = 0, b = 0;
	char word[16] = "";
	int words = sscanf(line, "%15s %u %u", word, &a, &b);

	if (!strcmp(word, "fill")) {
		printf("{\"filled\": %u}\n", fill(a));
	} else if (!strcmp(word, "fillbad")) {
		printf("{\"filled\": %u}\n", fill_bad(a));
	} else if (!strcmp(word, "read")) {
		printf("{\"read\": %u}\n", take(words > 1 ? a : x.rx_size));
	} else if (!strcmp(word, "free")) {
		printf("{\"freed\": %u}\n", give_back());
	} else if (!strcmp(word, "send")) {
		send_frames(a, b);
	} else if (!strcmp(word, "sendbad")) {
		send_bad(a);
	} else if (!strcmp(word, "kick")) {
		kicks(a);
	} else if (!strcmp(word, "serve") || !strcmp(word, "leak")) {
		x.leak = *word == 'l';
		x.serve = a;
		x.pause_us = b;
		printf("{\"serve\": %u}\n", a);
	} else if (!strcmp(word, "stats")) {
		stats();
	} else {
		die(word, EINVAL);
	}
	fflush(stdout);
}

static void serve(void)
{
	x.served += take(x.serve);
	if (!x.leak) {
		give_back();
		while (x.nr_free && fill(1))
			;
	}
	if (x.pause_us)
		nanosleep(&(struct timespec){ x.pause_us / 1000000,
					      x.pause_us % 1000000 * 1000 }, NULL);
}

static unsigned *option(const char *name)
{
	return !strcmp(name, "--rx") ? &x.rx_size : !strcmp(name, "--tx") ? &x.tx_size :
	       !strcmp(name, "--fill") ? &x.fill_size : !strcmp(name, "--frames") ? &x.frames :
	       NULL;
}

int main(int argc, char **argv)
{
	char line[128];

	for (int i = 3; i < argc; i++) {
		unsigned *number = option(argv[i]);

		if (number && i + 1 < argc)
			*number = strtoul(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--share"))
			x.share = true;
		else if (!strcmp(argv[i], "--no-program"))
			x.no_program = true;
		else
			die(argv[i], EINVAL);
	}
	if (argc < 3)
		die("usage: xsk IFACE QUEUE", EINVAL);
	sockets_open(argv[1], strtoul(argv[2], NULL, 10));
	setvbuf(stdin, NULL, _IONBF, 0);	/* so that poll() sees unread input */
	printf("{\"pid\": %d}\n", getpid());
	fflush(stdout);
	for (;;) {
		struct pollfd fds[2] = {
			{ .fd = STDIN_FILENO, .events = POLLIN },
			{ .fd = xsk_socket__fd(x.socket), .events = POLLIN },
		};

		if (poll(fds, x.serve && !x.pause_us ? 2 : 1, x.serve ? !x.pause_us * 10 : -1) < 0)
			die("poll", errno);
		if (fds[0].revents && !fgets(line, sizeof(line), stdin))
			return 0;
		if (fds[0].revents)
			obey(line);
		if (x.serve)
			serve();
	}
}
