/* SPDX-License-Identifier: GPL-2.0 */
/* Listens to single events of sockets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/host/lines.h"
#include "lib/attach/configure.h"
#include "lib/attach/object.h"
#include "lib/core/nic_driver.h"
#include "lib/kernel/btf.h"
#include "lib/kernel/choose.h"
#include "lib/kernel/feature.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lines.skel.h"

const char *const host_event_names[NR_HOST_EVENTS] = {
#define E(name) [HOST_##name] = #name,
	HOST_EVENTS(E)
#undef E
};

struct line_feed {
	struct lines_bpf *skel;
	struct ring_buffer *ring;
	void (*tell)(const struct host_line *, void *arg);
	void *arg;
};

const char *lines_cannot(enum host_event event)
{
	return kernel_lacks(FEATURE_TP_BTF) ?: event == HOST_sockets ? socklife_cannot() : NULL;
}

static int hear(void *arg, void *data, size_t size)
{
	const struct line_feed *l = arg;
	struct host_line line;

	if (size < sizeof(line))
		return 0;
	memcpy(&line, data, sizeof(line));
	/* there the kernel takes the sender's queue for this one + 1, and no note of queue 0 */
	if (driver_find(line.kind)->rx_queue == RX_QUEUE_RAW)
		line.rx_queue = -1;
	l->tell(&line, l->arg);
	return 0;
}

static int map_set(struct bpf_object *obj, const char *name, const void *value, size_t size)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, name);

	return map ? bpf_map__set_initial_value(map, value, size) : -ENOENT;
}

/* They have alternatives, of which a kernel has one or the other. */
static bool is_of_sockets(const char *program, const void *arg)
{
	const struct line_filter *wanted = arg;

	return wanted->event == HOST_sockets && !strncmp(program, "socklife_", 9);
}

static int prepare(struct line_feed *l, const struct line_filter *wanted, __u32 netns)
{
	struct config config = { .netns = netns };
	bool again = wanted->event == HOST_retransmits, window = wanted->event == HOST_window;
	bool sockets = wanted->event == HOST_sockets;
	int err = kernel_choose(l->skel->obj, is_of_sockets, wanted, NULL, NULL);

	config_levels(&config);
	bpf_program__set_autoload(l->skel->progs.line_owners, true);
	bpf_program__set_autoload(l->skel->progs.line_state, !sockets);
	bpf_program__set_autoload(l->skel->progs.line_state_again, !sockets);
	bpf_program__set_autoload(l->skel->progs.line_sent, again);
	bpf_program__set_autoload(l->skel->progs.line_sent_again, again);
	bpf_program__set_autoload(l->skel->progs.line_synack, again);
	bpf_program__set_autoload(l->skel->progs.line_heard, window);
	bpf_program__set_autoload(l->skel->progs.line_heard_again, window);
	bpf_program__set_autoload(l->skel->progs.line_congested, window);
	bpf_program__set_autoload(l->skel->progs.line_congested_again, window);
	return err ?: map_set(l->skel->obj, ".rodata.config", &config, sizeof(config)) ?:
	       map_set(l->skel->obj, ".rodata.wanted", wanted, sizeof(*wanted));
}

/* Runs the program that names the owners of the sockets that are there. */
static int owners_find(struct line_feed *l)
{
	struct bpf_link *link = bpf_program__attach_iter(l->skel->progs.line_owners, NULL);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -errno;
	int err = fd < 0 ? fd : 0;
	char none[64];
	ssize_t got;

	while (!err && (got = read(fd, none, sizeof(none))))
		err = got < 0 && errno != EINTR && errno != EAGAIN ? -errno : 0;
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return err;
}

/* Those that the skeleton does not know how to attach; the beginnings of sockets last. */
static int cgroup_attach(struct line_feed *l, const struct line_filter *wanted)
{
	if (wanted->event != HOST_sockets)
		return 0;
	l->skel->links.socklife_ends = program_link(l->skel->progs.socklife_ends);
	if (!l->skel->links.socklife_ends)
		return -errno;
	l->skel->links.socklife_begins = program_link(l->skel->progs.socklife_begins);
	return l->skel->links.socklife_begins ? 0 : -errno;
}

static int begin(struct line_feed *l, const struct line_filter *wanted, __u32 netns,
		 struct error *e)
{
	int err;

	log_forget();
	l->skel = lines_bpf__open();
	err = l->skel ? prepare(l, wanted, netns) : -errno;
	if (err)
		return error_set(e, err, NULL, "cannot open our own BPF object: %s",
				 *log_last() ? log_last() : strerror(-err));
	err = kernel_load(l->skel->obj);
	if (err)
		return error_set(e, err, NULL, "cannot load our BPF programs: %s", log_last());
	l->ring = ring_buffer__new(bpf_map__fd(l->skel->maps.line_ring), hear, l, NULL);
	if (!l->ring)
		return error_set(e, -errno, NULL, "cannot read events: %s", strerror(errno));
	/* its own program first, as it runs only when it is asked to */
	bpf_program__set_autoattach(l->skel->progs.line_owners, false);
	err = owners_find(l) ?: lines_bpf__attach(l->skel);
	if (!err && (err = cgroup_attach(l, wanted)) == -EPERM)
		return error_set(e, err, NULL, "cannot follow sockets: the root cgroup has a "
				 "program that allows no other");
	return !err ? 0 : error_set(e, err, NULL, "cannot attach our BPF programs: %s",
				    strerror(-err));
}

struct line_feed *lines_begin(const struct line_filter *wanted, __u32 netns,
			  void (*tell)(const struct host_line *, void *), void *arg,
			  struct error *e)
{
	struct line_feed *l = calloc(1, sizeof(*l));

	if (!l) {
		error_set(e, -ENOMEM, NULL, "no memory to listen");
		return NULL;
	}
	l->tell = tell;
	l->arg = arg;
	if (!begin(l, wanted, netns, e))
		return l;
	lines_end(l);
	return NULL;
}

int lines_poll(struct line_feed *l, int ms)
{
	int nr = ring_buffer__poll(l->ring, ms);

	return nr < 0 ? nr : 0;
}

void lines_detach(struct line_feed *l)
{
	lines_bpf__detach(l->skel);
}

static __u64 missed(const struct bpf_program *prog)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	if (bpf_program__fd(prog) < 0 ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len))
		return 0;
	return info.recursion_misses;
}

/* Of all the programs that follow sockets. */
static __u64 missed_of_lives(const struct bpf_object *obj)
{
	struct bpf_program *prog;
	__u64 n = 0;

	bpf_object__for_each_program(prog, obj)
		if (!strncmp(bpf_program__name(prog), "socklife_", strlen("socklife_")))
			n += missed(prog);
	return n;
}

/* What one of two copies missed the other told, mostly: lib/read/losses.c. */
static __u64 missed_both(const struct bpf_program *one, const struct bpf_program *other)
{
	__u64 a = missed(one), b = missed(other);

	return a < b ? a : b;
}

unsigned long long lines_lost(const struct line_feed *l)
{
	__u64 lost = 0;
	__u32 zero = 0;

	bpf_map_lookup_elem(bpf_map__fd(l->skel->maps.data_unread), &zero, &lost);
	return lost + missed_both(l->skel->progs.line_state, l->skel->progs.line_state_again) +
	       missed_both(l->skel->progs.line_sent, l->skel->progs.line_sent_again) +
	       missed_both(l->skel->progs.line_heard, l->skel->progs.line_heard_again) +
	       missed_both(l->skel->progs.line_congested, l->skel->progs.line_congested_again) +
	       missed(l->skel->progs.line_synack) + missed_of_lives(l->skel->obj);
}

void lines_end(struct line_feed *l)
{
	if (!l)
		return;
	ring_buffer__free(l->ring);
	lines_bpf__destroy(l->skel);
	free(l);
}
