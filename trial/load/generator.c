/* SPDX-License-Identifier: GPL-2.0 */
/* The threads of the packet generator. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/util/error.h"
#include "trial/load/generator.h"
#include "trial/load/traffic.h"

volatile int trial_stop;

int sleep_until(double when, const volatile int *stop)
{
	while (!stop || !*stop) {
		double left = when - seconds_now(), nap = left < .05 ? left : .05;
		struct timespec t = { .tv_nsec = nap * 1e9 };

		if (left <= 0)
			return 0;
		nanosleep(&t, NULL);
	}
	return -EINTR;
}

/* Assigns the first CPUs of our affinity mask: containers may not have all CPUs. */
static void cpus_give(struct generator *g)
{
	cpu_set_t may;
	unsigned cpu = 0;

	CPU_ZERO(&may);
	sched_getaffinity(0, sizeof(may), &may);
	for (unsigned i = 0; i < g->load.threads; i++, cpu++) {
		while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &may))
			cpu++;
		g->worker[i].cpu = cpu;
	}
}

int generator_open(struct generator *g, const struct port *p, const struct load *load, enum how how,
		   struct error *e)
{
	*g = (struct generator){ .how = how, .load = *load, .ifindex = p->iface.ifindex };
	for (unsigned i = 0; i < load->threads; i++) {
		g->worker[i].g = g;
		g->worker[i].nr = i;
	}
	cpus_give(g);
	return how == HOW_PACKET ? 0 : live_open(g, e);
}

/* Time this thread was runnable but waited for its CPU; 0: unknown. */
static double seconds_waited(void)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "re");
	unsigned long long ran, waited = 0;

	if (f && fscanf(f, "%llu %llu", &ran, &waited) != 2)
		waited = 0;
	if (f)
		fclose(f);
	return waited * 1e-9;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	double waited = seconds_waited();
	sigset_t end;
	cpu_set_t set;

	sigemptyset(&end);
	sigaddset(&end, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &end, NULL);
	CPU_ZERO(&set);
	CPU_SET(w->cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set))
		w->err = -EINVAL;
	else
		w->err = w->g->how == HOW_PACKET ? packet_send(w) : live_send(w);
	w->waited = seconds_waited() - waited;
	return NULL;
}

static void ignore(int signal)
{
	(void)signal;
}

int thread_start(pthread_t *thread, void *(*work)(void *), void *arg)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	err = -pthread_create(thread, NULL, work, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int generator_start(struct generator *g, const struct port *p, double seconds, struct error *e)
{
	const struct sigaction end = { .sa_handler = ignore };
	int err = port_enter(p, e);

	sigaction(SIGUSR1, &end, NULL);
	g->until = seconds_now() + seconds;
	for (unsigned i = 0; !err && i < g->load.threads; i++) {
		err = thread_start(&g->worker[i].thread, work, &g->worker[i]);
		g->worker[i].started = !err;
	}
	port_home();
	if (err) {
		g->until = 0;
		generator_wait(g, e);
		error_set(e, err, NULL, "cannot start a generator thread: %s", strerror(-err));
	}
	return err;
}

/* A signal just before the blocking call does not interrupt it: repeat it until the thread ends. */
static void worker_end(struct worker *w)
{
	struct timespec t;

	do {
		pthread_kill(w->thread, SIGUSR1);
		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_nsec += 5000000;
		t.tv_sec += t.tv_nsec / 1000000000;
		t.tv_nsec %= 1000000000;
	} while (pthread_timedjoin_np(w->thread, NULL, &t) == ETIMEDOUT);
}

int generator_wait(struct generator *g, struct error *e)
{
	int err = 0;

	sleep_until(g->until, &trial_stop);
	for (unsigned i = 0; i < g->load.threads; i++) {
		if (!g->worker[i].started)
			continue;
		worker_end(&g->worker[i]);
		g->worker[i].started = false;
		err = err ?: g->worker[i].err;
	}
	if (err)
		error_set(e, err, err == -ENETDOWN || err == -ENXIO ? "ip link set IFACE up" : NULL,
			  "the generator stopped early: %s", strerror(-err));
	return err;
}

uint64_t generator_sent(const struct generator *g, uint64_t *by_cpu)
{
	uint64_t sent = 0;

	if (g->how != HOW_PACKET)
		return live_sent(g, by_cpu);
	for (unsigned i = 0; i < g->load.threads; i++) {
		sent += g->worker[i].sent;
		by_cpu[traffic_at(g->worker[i].cpu, TRAFFIC_CPUS)] += g->worker[i].sent;
	}
	return sent;
}

uint64_t generator_refused(const struct generator *g)
{
	uint64_t refused = 0;

	for (unsigned i = 0; i < g->load.threads; i++)
		refused += g->worker[i].refused;
	return refused;
}
