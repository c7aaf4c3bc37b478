/* SPDX-License-Identifier: GPL-2.0 */
/* Attaches the counting programs and reads their counts. */
#include <errno.h>
#include <linux/if_link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "trial/load/traffic.h"
#include "redirects.skel.h"
#include "sink.skel.h"

static int sink_attach(struct sink *s, const struct port *p)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = XDP_FLAGS_DRV_MODE);
	int prog = bpf_program__fd(s->bpf->progs.sink);

	s->link = bpf_link_create(prog, p->iface.ifindex, BPF_XDP, &opts);
	if (s->link < 0 && errno != EBUSY && errno != EEXIST && errno != EPERM) {
		s->generic = errno;
		opts.flags = XDP_FLAGS_SKB_MODE;
		s->link = bpf_link_create(prog, p->iface.ifindex, BPF_XDP, &opts);
	}
	return s->link < 0 ? -errno : 0;
}

static int taken(const struct port *p, int err, struct error *e)
{
	if (err == -EBUSY || err == -EEXIST)
		return error_set(e, err, text("bpftool net show dev %s", p->iface.name),
				 "cannot attach XDP to %s: another program is attached", p->label);
	return error_set(e, err, text("nicprobe bench -v %s", p->label),
			 "cannot attach XDP to %s: %s", p->label, strerror(-err));
}

int sink_open(struct sink *s, const struct port *p, __u32 action, unsigned size, bool tagged,
	      struct error *e)
{
	int err;

	*s = (struct sink){ .link = -1, .rows = p->iface.max_rx_queues };
	log_forget();
	s->bpf = sink_bpf__open();
	if (!s->bpf)
		return error_set(e, -errno, NULL, "cannot open the receiver's XDP program: %s",
				 strerror(errno));
	s->bpf->rodata->config = (struct sink_config){
		.action = action, .ifindex = p->iface.ifindex, .rows = s->rows,
		/* the card may have stripped the VLAN tag, or kept the FCS */
		.least = size && tagged ? size - 4 : size,
		.most = size ? size + 4 : 0,
	};
	bpf_map__set_max_entries(s->bpf->maps.counts, s->rows);
	err = sink_bpf__load(s->bpf);
	if (err)
		error_set(e, err, NULL, "cannot load the receiver's XDP program: %s",
			  *log_last() ? log_last() : strerror(-err));
	err = err ?: port_enter(p, e);
	if (!err) {
		err = sink_attach(s, p);
		port_home();
		if (err)
			taken(p, err, e);
	}
	if (err)
		sink_close(s);
	return err;
}

void sink_read(const struct sink *s, struct traffic *t)
{
	int cpus = libbpf_num_possible_cpus(), fd = bpf_map__fd(s->bpf->maps.counts);
	struct sink_count *c = calloc(cpus, sizeof(*c));

	memset(t, 0, sizeof(*t));
	for (__u32 row = 0; c && row < s->rows; row++) {
		if (bpf_map_lookup_elem(fd, &row, c))
			continue;
		for (int cpu = 0; cpu < cpus; cpu++) {
			t->packets += c[cpu].packets;
			t->bytes += c[cpu].bytes;
			t->others += c[cpu].others;
			t->queue[traffic_at(row, TRAFFIC_QUEUES)] += c[cpu].packets;
			t->cpu[traffic_at(cpu, TRAFFIC_CPUS)] += c[cpu].packets;
		}
	}
	free(c);
}

void sink_close(struct sink *s)
{
	if (s->bpf && s->link >= 0)
		close(s->link);
	sink_bpf__destroy(s->bpf);
	s->bpf = NULL;
	s->link = -1;
}

int redirects_open(struct redirects_bpf **of, const struct port *p, struct error *e)
{
	int err;

	log_forget();
	*of = redirects_bpf__open();
	if (!*of)
		return error_set(e, -errno, NULL,
				 "cannot open the programs that count redirects: %s",
				 strerror(errno));
	(*of)->rodata->config.ifindex = p->iface.ifindex;
	(*of)->rodata->config.netns = p->iface.netns;
	err = redirects_bpf__load(*of) ?: redirects_bpf__attach(*of);
	if (err)
		error_set(e, err, NULL, "cannot attach the programs that count redirects: %s",
			  *log_last() ? log_last() : strerror(-err));
	return err;
}

void redirects_read(const struct redirects_bpf *of, struct redirects *r)
{
	int cpus = libbpf_num_possible_cpus(), fd = bpf_map__fd(of->maps.redirected);
	struct redirected *c = calloc(cpus, sizeof(*c));

	memset(r, 0, sizeof(*r));
	for (__u32 err = 0; c && err < REDIRECT_ERRORS; err++) {
		if (bpf_map_lookup_elem(fd, &err, c))
			continue;
		for (int cpu = 0; cpu < cpus; cpu++) {
			r->sent += c[cpu].sent;
			r->dropped[err] += c[cpu].dropped;
			r->refused[err] += c[cpu].refused;
		}
	}
	free(c);
}

void redirects_close(struct redirects_bpf *of)
{
	redirects_bpf__destroy(of);
}
