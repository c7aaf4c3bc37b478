/* SPDX-License-Identifier: GPL-2.0 */
/* Who had sessions with whom, as a graph in the language of Graphviz. */
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/host.h"
#include "render/text.h"
#include "render/units.h"

/* The sessions of one process with one service. */
struct edge {
	struct session_key key;		/* its side: enum line_side */
	uint64_t sessions, sent, received;
};

static void *edges;		/* a tree of search.h */

static int compare(const void *a, const void *b)
{
	const struct edge *one = a, *other = b;

	return memcmp(one->key.comm, other->key.comm, sizeof(one->key.comm)) ?:
	       memcmp(&one->key, &other->key, sizeof(one->key));
}

bool host_dot_add(const struct host_line *l)
{
	struct edge *new = calloc(1, sizeof(*new)), **found;

	if (!new)
		return false;
	new->key.remote = l->remote;
	new->key.serves = l->side;
	new->key.port = l->side == SIDE_SERVER ? l->local_port :
			l->side == SIDE_CLIENT ? l->remote_port : 0;
	memcpy(new->key.comm, l->comm, sizeof(new->key.comm));
	found = tsearch(new, &edges, compare);
	if (!found || *found != new)
		free(new);
	if (!found)
		return false;
	(*found)->sessions++;
	(*found)->sent += l->sent;
	(*found)->received += l->received;
	return true;
}

/* A process chooses its own name. */
static bool harmless(FILE *out, uint32_t c)
{
	bool control = c < ' ' || c == 0x7f || c == UTF8_BAD;

	if (control)
		fputc('?', out);
	return control;
}

static void name_put(const char *name)
{
	putchar('"');
	text_escape(stdout, name, harmless);
	putchar('"');
}

static void edge_print(const void *node, VISIT visit, void *arg)
{
	const struct edge *e = *(struct edge *const *)node;
	bool serves = e->key.serves == SIDE_SERVER;
	char process[64], remote[64], sent[UNITS_SIZE], received[UNITS_SIZE];

	(void)arg;
	if (visit != postorder && visit != leaf)
		return;
	comm_text(e->key.comm, process, sizeof(process));
	address_text(&e->key.remote, remote, sizeof(remote));
	units_bytes(sent, e->sent);
	units_bytes(received, e->received);
	fputs("\t", stdout);
	name_put(serves ? remote : process);
	fputs(" -> ", stdout);
	name_put(serves ? process : remote);
	printf(" [label=\"%" PRIu64 " session%s", e->sessions, e->sessions == 1 ? "" : "s");
	if (e->key.port)
		printf(" to port %u", e->key.port);
	printf("\\n%s there, %s back\"%s]\n", serves ? received : sent, serves ? sent : received,
	       e->key.serves == SIDE_UNKNOWN ? " dir=none" : "");
}

static void process_print(const void *node, VISIT visit, void *arg)
{
	const struct edge *e = *(struct edge *const *)node;
	char *last = arg, process[64];

	if (visit != postorder && visit != leaf)
		return;
	comm_text(e->key.comm, process, sizeof(process));
	if (!strcmp(process, last))
		return;
	strcpy(last, process);
	fputs("\t", stdout);
	name_put(process);
	fputs(" [shape=box]\n", stdout);
}

void host_dot_print(void)
{
	char last[64] = "";

	puts("digraph sessions {\n\trankdir=LR");
	twalk_r(edges, process_print, last);
	twalk_r(edges, edge_print, NULL);
	puts("}");
	tdestroy(edges, free);
	edges = NULL;
}
