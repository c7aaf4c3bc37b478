/* SPDX-License-Identifier: GPL-2.0 */
/* Lines of nicprobe host that are system calls: asked of stable probes, as nicprobe trace does. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/host.h"
#include "cmd/tracing_told.h"
#include "lib/net/iface.h"
#include "lib/util/error.h"
#include "probes/run.h"

struct calls {
	struct question question;
	struct tracing *tracing;
	void (*tell)(const struct host_line *, void *arg);
	void *arg;
};

static bool question_of(struct calls *c, enum host_event event, struct error *e)
{
	const struct posed bind = {
		.probes = "socket:::bind",
		.where = "so_family == inet || so_family == inet6",
		.print = "pid,execname,so_protocol,so_laddr,so_lport,errno",
	};
	const struct posed udp = {
		.probes = "socket:::connect", .where = "so_protocol == udp",
		.print = "pid,execname,so_laddr,so_lport,so_raddr,so_rport,errno",
	};

	return !question_ask(&c->question, event == HOST_bind ? &bind : &udp, e);
}

static bool has(const struct probe_event *e, enum event_group group)
{
	return e->have >> group & 1;
}

static void take(const struct probe_event *e, void *arg)
{
	struct host_line l = { .time = e->timestamp, .rx_queue = -1, .tx_queue = -1 };
	const struct calls *c = arg;

	if (has(e, GROUP_PROC)) {
		l.pid = e->pid;
		memcpy(l.comm, e->execname, sizeof(l.comm));
	}
	if (has(e, GROUP_ENDS)) {
		memcpy(&l.local, &e->laddr, sizeof(l.local));
		l.local_port = e->lport;
	}
	if (has(e, GROUP_FAR)) {
		memcpy(&l.remote, &e->raddr, sizeof(l.remote));
		l.remote_port = e->rport;
	}
	if (has(e, GROUP_SOCK))
		l.protocol = e->so_protocol;
	if (has(e, GROUP_RETVAL))
		l.error = e->failure;
	c->tell(&l, c->arg);
}

struct calls *calls_begin(enum host_event event, void (*tell)(const struct host_line *, void *),
			  void *arg, struct error *e)
{
	struct tracing_scope scope = { .netns = netns_cookie() };
	struct calls *c = calloc(1, sizeof(*c));

	if (!c) {
		error_set(e, -ENOMEM, NULL, "no memory to listen");
		return NULL;
	}
	c->tell = tell;
	c->arg = arg;
	if (question_of(c, event, e))
		c->tracing = tracing_begin(&c->question, &scope, e);
	if (c->tracing)
		return c;
	free(c);
	return NULL;
}

int calls_poll(struct calls *c, int ms)
{
	return tracing_poll(c->tracing, ms, take, c);
}

void calls_detach(struct calls *c)
{
	tracing_detach(c->tracing);
}

void calls_lost_tell(const struct calls *c, const struct page *as)
{
	losses_tell(c->tracing, as);
}

void calls_end(struct calls *c)
{
	tracing_end(c->tracing);
	free(c);
}
