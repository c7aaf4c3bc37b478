/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Links to an interface that are made while programs are loaded.
 *
 * The kernel makes a link of XDP or tcx at once, and then waits until no CPU is within what was
 * there before (synchronize_rcu() in bpf_dispatcher_change_prog() and tcx_link_attach(); 6.18): 7
 * to 15 ms each, in which it has nothing to do. So a thread waits. A driver that refuses says so
 * within MOMENT, or the attach begins again with links that are waited for.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/soon.h"
#include "lib/core/hook.h"
#include "lib/kernel/abreast.h"

#define MOMENT	1000000		/* ns */
#define MOST	4		/* a point has one at most */

struct link_job {
	pthread_t thread;
	int prog, ifindex, err;
	enum bpf_attach_type type;
	__u32 flags;
	enum soon_step step;
	char pin[256];
};

static struct link_job jobs[MOST];
static unsigned pending;
static bool failed;

static int make(struct link_job *j)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = j->flags);
	int link = bpf_link_create(j->prog, j->ifindex, j->type, &opts), err;

	/* ENOMEM may be the driver's (no queues) or the kernel's: if it repeats, the driver's */
	if (link < 0 && errno == ENOMEM)
		link = bpf_link_create(j->prog, j->ifindex, j->type, &opts);
	j->step = SOON_LINK;
	if (link < 0)
		return -errno;
	j->step = SOON_PIN;
	err = bpf_obj_pin(link, j->pin) ? -errno : 0;
	close(link);
	return err;
}

static void *run(void *arg)
{
	struct link_job *j = arg;

	j->err = make(j);
	close(j->prog);
	return NULL;
}

/* Without signals: those that end a process belong to the thread that asks for them. */
static bool begin(struct link_job *j)
{
	sigset_t all, before;
	bool begun;

	abreast_room();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	begun = !pthread_create(&j->thread, NULL, run, j);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return begun;
}

static bool ends_soon(const struct link_job *j)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += MOMENT;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return !pthread_timedjoin_np(j->thread, NULL, &until);
}

int soon_link(const struct site *site, int prog, enum bpf_attach_type type, __u32 flags,
	      const char *pin, enum soon_step *step)
{
	bool generic = type == BPF_XDP && flags & XDP_FLAGS_SKB_MODE;	/* the next hook asks */
	struct link_job here;
	struct link_job *j = site->soon && !generic && pending < MOST ? &jobs[pending] : &here;

	*j = (struct link_job){
		.prog = prog, .ifindex = site->iface.ifindex, .type = type, .flags = flags,
	};
	snprintf(j->pin, sizeof(j->pin), "%s", pin);
	if (j != &here) {
		j->prog = fcntl(prog, F_DUPFD_CLOEXEC, 0);
		if (j->prog >= 0 && begin(j)) {
			if (pending || !ends_soon(j)) {
				pending++;
				return 0;
			}
			*step = j->step;
			return j->err;
		}
		if (j->prog >= 0)
			close(j->prog);
		j->prog = prog;
	}
	j->err = make(j);
	*step = j->step;
	return j->err;
}

bool soon_pending(void)
{
	return pending;
}

int soon_settle(void)
{
	int err = 0;

	for (unsigned i = 0; i < pending; i++) {
		pthread_join(jobs[i].thread, NULL);
		err = err ?: jobs[i].err;
	}
	pending = 0;
	failed |= !!err;
	return err;
}

bool soon_failed(void)
{
	bool was = failed;

	failed = false;
	return was;
}
