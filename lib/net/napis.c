/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the NAPI instances of an interface from netdev-genl, and their threads from /proc. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/net/napis.h"
#include "lib/net/netdev.h"
#include "lib/net/netlink.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"

#define PF_KTHREAD	0x00200000	/* of include/linux/sched.h; 6.1, 6.12, 6.18 */

static void thread_read(struct napi_instance *n)
{
	FILE *f = fopen(text("/proc/%u/status", n->pid), "re");
	static const char key[] = "Cpus_allowed_list:\t";
	char *line = NULL;
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0)
		if (!strncmp(line, key, sizeof(key) - 1))
			cpus_from_list(&n->thread_cpus, line + sizeof(key) - 1);
	free(line);
	if (f)
		fclose(f);
}

static bool add(struct napis *all, const struct napi_instance *n)
{
	struct napi_instance *more = grow(all->list, all->nr, sizeof(*more));

	if (!more)
		return false;
	all->list = more;
	more[all->nr++] = *n;
	return true;
}

static int napi_read(const struct nlmsghdr *nlh, void *arg)
{
#define NUMBER(type, none) attr_number(genl_attr(nlh, NETDEV_A_NAPI_##type), none)
	struct napi_instance n = {
		.id = NUMBER(ID, 0), .irq = NUMBER(IRQ, 0), .pid = NUMBER(PID, 0),
		.threaded = NUMBER(THREADED, NAPI_NOT_TOLD),
		.defer_hard_irqs = NUMBER(DEFER_HARD_IRQS, -1),
		.gro_flush_ns = NUMBER(GRO_FLUSH_TIMEOUT, -1),
		.irq_suspend_ns = NUMBER(IRQ_SUSPEND_TIMEOUT, -1),
	};
#undef NUMBER

	if (n.pid)
		thread_read(&n);
	if (n.id)
		add(arg, &n);
	return MNL_CB_OK;
}

static int by_id(const void *a, const void *b)
{
	const struct napi_instance *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

void napis_read(unsigned ifindex, struct napis *all)
{
	int family = netlink_family("netdev");
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *request;

	*all = (struct napis){ .err = family < 0 ? -ENOENT : 0 };
	if (all->err)
		return;
	request = netlink_request(buf, family, NLM_F_DUMP, NETDEV_CMD_NAPI_GET);
	mnl_attr_put_u32(request, NETDEV_A_NAPI_IFINDEX, ifindex);
	all->err = netlink_ask(NETLINK_GENERIC, request, napi_read, all);
	if (all->nr)
		qsort(all->list, all->nr, sizeof(*all->list), by_id);
}

/*
 * Any program may take this name, and zombies lack an executable as well: check the kernel's flag.
 */
static bool is_kernel(unsigned pid)
{
	FILE *f = fopen(text("/proc/%u/stat", pid), "re");
	char line[256] = "", *end = f && fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	unsigned flags = 0;

	if (f)
		fclose(f);
	return end && sscanf(end, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
	       flags & PF_KTHREAD;
}

void napis_by_name(const char *iface, unsigned most, struct napis *all)
{
	DIR *proc = opendir("/proc");
	const struct dirent *e;
	int err = all->err;

	while (proc && all->nr <= most && (e = readdir(proc))) {
		struct napi_instance n = { .threaded = NAPI_IN_THREAD, .defer_hard_irqs = -1,
					   .gro_flush_ns = -1, .irq_suspend_ns = -1,
					   .pid = strtoul(e->d_name, NULL, 10) };
		FILE *f = n.pid ? fopen(text("/proc/%u/comm", n.pid), "re") : NULL;
		const char *begin = text("napi/%s-", iface);
		char name[64] = "", *end;

		if (f && fgets(name, sizeof(name), f) && !strncmp(name, begin, strlen(begin))) {
			n.id = strtoul(name + strlen(begin), &end, 10);
			thread_read(&n);
			if (*end == '\n' && is_kernel(n.pid))
				all->named |= add(all, &n);
		}
		if (f)
			fclose(f);
	}
	if (proc)
		closedir(proc);
	if (all->nr > most)
		napis_free(all);
	all->err = err;
	if (all->nr)
		qsort(all->list, all->nr, sizeof(*all->list), by_id);
}

void napis_free(struct napis *all)
{
	free(all->list);
	*all = (struct napis){};
}
