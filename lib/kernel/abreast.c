/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loads the programs of an object abreast.
 *
 * Of the time of an attach the kernel takes most to verify programs, one after the other, as libbpf
 * loads one after the other. So libbpf gets an empty program in the place of each, and threads load
 * the true ones meanwhile: libbpf asks us before each load (libbpf_register_prog_handler()), and we
 * keep what it would have loaded. In the end each true one gets the descriptor of its stand-in.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "lib/kernel/abreast.h"
#include "lib/kernel/btf.h"
#include "lib/util/log.h"

#define MOST_THREADS	16		/* of no use are more: the largest program is a tenth */
#define STACK		(1 << 18)
#define MOST_JOBS	128
#define MOST_FDS	511		/* those of all meters of an interface: 140 */
#define NO_PROGRAM	1		/* for libbpf a descriptor, which nobody uses */
#define LOG_ROOM	(1 << 24)	/* that much every kernel accepts */

struct job {
	struct bpf_program *prog;
	struct bpf_prog_load_opts opts;
	struct bpf_insn *insns;
	size_t nr;
	int fd;			/* -errno: it was not loaded */
	bool begun;
};

struct crew {
	pthread_mutex_t lock;
	pthread_cond_t more;		/* there is a job, or no further one will come */
	struct job job[MOST_JOBS];
	unsigned nr, idle;
	bool complete;			/* no further job will come */
	bool failed;			/* a program did: the others are not worth it */
	pthread_t thread[MOST_THREADS];
	unsigned nr_threads, most_threads;
};

static struct crew *crew;		/* NULL: programs are loaded one by one */

static unsigned cpus_allowed(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

/* The largest first: so none of the long ones begins last. NULL: there is none. */
static struct job *job_next(struct crew *c)
{
	struct job *largest = NULL;

	for (struct job *j = c->job; j < c->job + c->nr; j++)
		if (!j->begun && (!largest || j->nr > largest->nr))
			largest = j;
	if (largest)
		largest->begun = true;
	return c->failed ? NULL : largest;
}

static int load(struct job *j)
{
	return bpf_prog_load(bpf_program__type(j->prog), bpf_program__name(j->prog), "GPL",
			     j->insns, j->nr, &j->opts);
}

/* Loads all jobs that are there, with the lock held but for the loads. */
static void jobs_do(struct crew *c)
{
	for (struct job *j; (j = job_next(c));) {
		pthread_mutex_unlock(&c->lock);
		j->fd = load(j);
		pthread_mutex_lock(&c->lock);
		c->failed |= j->fd < 0;
	}
}

static void *work(void *arg)
{
	struct crew *c = arg;

	pthread_mutex_lock(&c->lock);
	for (;;) {
		jobs_do(c);
		if (c->complete)
			break;
		c->idle++;
		pthread_cond_wait(&c->more, &c->lock);
		c->idle--;
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Without signals: those that end a process belong to the thread that asks for them. */
static void thread_start(struct crew *c)
{
	sigset_t all, before;
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);	/* by default 8 MB */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_create(&c->thread[c->nr_threads], &attr, work, c))
		c->nr_threads++;
	else
		c->most_threads = c->nr_threads;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}

/* A newer libbpf may have options that this one cannot hand on. */
static bool known(const struct bpf_prog_load_opts *opts)
{
	const unsigned char *bytes = (const void *)opts;

	for (size_t i = sizeof(*opts); i < opts->sz; i++)
		if (bytes[i])
			return false;
	return !opts->fd_array;		/* libbpf frees it before the programs are loaded */
}

/* The kernel searches all its types for the function of a tracepoint, but not of an iterator. */
static void stand_in_place(struct bpf_prog_load_opts *opts)
{
	static int iterator;

	iterator = iterator ?: kernel_type("bpf_iter_bpf_map", BTF_KIND_FUNC);
	if (iterator <= 0)
		return;
	opts->expected_attach_type = BPF_TRACE_ITER;
	opts->attach_btf_id = iterator;
}

/* Leaves a stand-in to libbpf. */
static int job_add(struct crew *c, struct bpf_program *prog, struct bpf_prog_load_opts *opts)
{
	struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct job *j = &c->job[c->nr];
	int err;

	*j = (struct job){ .prog = prog, .nr = bpf_program__insn_cnt(prog), .fd = -ECANCELED };
	j->insns = malloc(j->nr * sizeof(*j->insns));
	if (!j->insns)
		return -ENOMEM;
	memcpy(j->insns, bpf_program__insns(prog), j->nr * sizeof(*j->insns));
	memcpy(&j->opts, opts, opts->sz < sizeof(j->opts) ? opts->sz : sizeof(j->opts));
	j->opts.sz = sizeof(j->opts);
	err = bpf_program__set_insns(prog, nothing, 2);
	if (err) {
		free(j->insns);
		return err;
	}
	opts->func_info_cnt = opts->line_info_cnt = 0;
	stand_in_place(opts);
	pthread_mutex_lock(&c->lock);
	c->nr++;
	if (c->idle)
		pthread_cond_signal(&c->more);
	else if (c->nr_threads < c->most_threads)
		thread_start(c);
	pthread_mutex_unlock(&c->lock);
	return 0;
}

/* What libbpf does before it loads a program of these sections, and see above. */
static int prepare(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long kind)
{
	const char *place = strchr(bpf_program__section_name(prog), '/');

	if (!opts->attach_btf_id && place) {
		int id = kernel_type(kind == BTF_KIND_FUNC ? place + 1 :
				     text("btf_trace_%s", place + 1), kind);

		if (id <= 0) {
			log_say("prog '%s': this kernel has no %s", bpf_program__name(prog),
				bpf_program__section_name(prog));
			return -ESRCH;
		}
		opts->attach_btf_id = id;
	}
	opts->attach_prog_fd = 0;	/* abreast_spare() */
	return crew && crew->nr < MOST_JOBS && known(opts) ? job_add(crew, prog, opts) : 0;
}

static int attach(const struct bpf_program *prog, long kind, struct bpf_link **link)
{
	(void)kind;
	*link = bpf_program__attach_trace(prog);
	return *link ? 0 : -errno;
}

void abreast_init(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = prepare,
		    .prog_attach_fn = attach);
	static bool done;

	if (done)
		return;
	done = true;
	opts.cookie = BTF_KIND_TYPEDEF;
	libbpf_register_prog_handler("tp_btf+", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, &opts);
	opts.cookie = BTF_KIND_FUNC;
	libbpf_register_prog_handler("fentry+", BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, &opts);
}

/*
 * libbpf reads all types of the kernel for a program that follows the kernel, and not another
 * program (prog_needs_vmlinux_btf(); 1.1 to 1.6). It need not: prepare() has looked up its place.
 */
void abreast_spare(struct bpf_object *obj)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj) {
		const char *section = bpf_program__section_name(prog);

		if (!strncmp(section, "tp_btf/", 7) || !strncmp(section, "fentry/", 7))
			bpf_program__set_attach_target(prog, NO_PROGRAM, NULL);
	}
}

/* Loads the program again, to hear what the verifier has against it. */
static int complain(struct job *j)
{
	const char *name = bpf_program__name(j->prog);
	char *log = calloc(1, LOG_ROOM);
	int err = j->fd, fd;

	if (log) {
		j->opts.log_buf = log;
		j->opts.log_size = LOG_ROOM;
		j->opts.log_level = 1;
		fd = load(j);
		if (fd >= 0)
			close(fd);
	}
	log_say("prog '%s': BPF program load failed: %s", name, strerror(-err));
	if (log && *log)
		log_say("prog '%s': -- BEGIN PROG LOAD LOG --\n%s-- END PROG LOAD LOG --", name,
			log);
	free(log);
	return err;
}

/* Waits for all programs, and puts them in the place of their stand-ins. */
static int crew_end(struct crew *c, int err)
{
	pthread_mutex_lock(&c->lock);
	c->complete = true;
	c->failed |= !!err;
	pthread_cond_broadcast(&c->more);
	jobs_do(c);
	pthread_mutex_unlock(&c->lock);
	for (unsigned i = 0; i < c->nr_threads; i++)
		pthread_join(c->thread[i], NULL);
	for (struct job *j = c->job; j < c->job + c->nr; j++)
		if (!err && j->fd < 0 && j->fd != -ECANCELED)
			err = complain(j);
	for (struct job *j = c->job; j < c->job + c->nr; j++) {
		if (!err && dup3(j->fd, bpf_program__fd(j->prog), O_CLOEXEC) < 0)
			err = -errno;
		if (j->fd >= 0)
			close(j->fd);
		free(j->insns);
	}
	return err;
}

void abreast_room(void)
{
	static bool done;
	int fd = done ? -1 : eventfd(0, EFD_CLOEXEC), high;

	if (fd < 0)
		return;
	high = fcntl(fd, F_DUPFD_CLOEXEC, MOST_FDS);
	if (high >= 0)
		close(high);
	close(fd);
	done = true;
}

/* The maps whose pins were there before the load: a bit for each, in their order. */
struct pinned {
	__u64 there[4];
};

static void pins_look(const struct bpf_object *obj, struct pinned *p)
{
	struct bpf_map *map;
	unsigned i = 0;

	*p = (struct pinned){};
	bpf_object__for_each_map(map, obj) {
		const char *path = bpf_map__pin_path(map);

		if (i < 256 && path && !access(path, F_OK))
			p->there[i / 64] |= 1ull << i % 64;
		i++;
	}
}

/* As bpf_object__load() does that fails: it pins the maps before it loads programs. */
static void pins_undo(const struct bpf_object *obj, const struct pinned *p)
{
	struct bpf_map *map;
	unsigned i = 0;

	bpf_object__for_each_map(map, obj) {
		if (i < 256 && bpf_map__is_pinned(map) && !(p->there[i / 64] >> i % 64 & 1))
			bpf_map__unpin(map, NULL);
		i++;
	}
}

int abreast_load(struct bpf_object *obj)
{
	struct pinned before;
	unsigned cpus = cpus_allowed();
	int err;

	crew = cpus > 1 ? calloc(1, sizeof(*crew)) : NULL;
	if (!crew)
		return bpf_object__load(obj);
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->more, NULL);
	crew->most_threads = cpus - 1 < MOST_THREADS ? cpus - 1 : MOST_THREADS;
	abreast_room();
	pins_look(obj, &before);
	err = bpf_object__load(obj);
	if (err) {
		crew_end(crew, err);
	} else {
		err = crew_end(crew, 0);
		if (err)
			pins_undo(obj, &before);
	}
	pthread_mutex_destroy(&crew->lock);
	pthread_cond_destroy(&crew->more);
	free(crew);
	crew = NULL;
	return err;
}
