/* SPDX-License-Identifier: GPL-2.0 */
/* Attaches to the system calls of which the probes of sockets are made. */
#include <errno.h>

#include "lib/kernel/tracefs.h"
#include "lib/util/list.h"
#include "lib/util/log.h"
#include "probes/tracing.h"

static const struct {
	enum stable_probe probe;
	const char *call;
} calls[] = {
	{ PROBE_socket_connect, "connect" }, { PROBE_socket_accept, "accept" },
	{ PROBE_socket_accept, "accept4" }, { PROBE_socket_bind, "bind" },
	{ PROBE_socket_listen, "listen" },
};

int socket_calls_attach(struct tracing *t, struct bpf_program *prog, enum source source)
{
	const char *prefix = source == SOURCE_socket_enter ? "sys_enter_" : "sys_exit_";
	int err = 0;

	for (unsigned i = 0; !err && i < NR_OF(calls); i++)
		if (t->serving[calls[i].probe])
			err = syscall_link(t, prog, text("%s%s", prefix, calls[i].call),
					   calls[i].probe);
	return err;
}
