/* SPDX-License-Identifier: GPL-2.0 */
/* The meter fdpass: file descriptors passed by unix sockets. */
#include <stdio.h>
#include <string.h>

#include "bpf/fdpass/fdpass.h"
#include "bpf/host/calls.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"

static const char *const kinds[NR_FDPASS_KINDS] = {
	[FDPASS_ANY] = "-",
	[FDPASS_SOCKET] = "socket",
	[FDPASS_FILE] = "file",
	[FDPASS_DIRECTORY] = "directory",
	[FDPASS_PIPE] = "pipe",
	[FDPASS_DEVICE] = "device",
	[FDPASS_MEMFD] = "memfd",
	[FDPASS_DMABUF] = "dmabuf",
	[FDPASS_PIDFD] = "pidfd",
	[FDPASS_NAMESPACE] = "namespace",
	[FDPASS_ANON] = "anon",
	[FDPASS_OTHER] = "other",
};

static const struct metric metrics[] = {
	COUNTER(struct fdpass, sent, .name = "sent", .unit = "descriptors",
		.help = "Descriptors sent; who receives them is not known yet."),
	COUNTER(struct fdpass, received, .name = "received", .unit = "descriptors",
		.help = "Descriptors received, by who sent them."),
	{}
};

enum label { FROM, TO, KIND };
static const char *const labels[] = { "from", "to", "kind", NULL };

/* "eventfd" of "[eventfd]" */
static void kind_text(const struct fdpass_key *key, char *out, size_t size)
{
	const char *name = key->name;
	int len = strnlen(name, FDPASS_NAME_SIZE);

	if (key->kind != FDPASS_ANON || !len) {
		snprintf(out, size, "%s", kinds[key->kind < NR_FDPASS_KINDS ? key->kind :
						FDPASS_OTHER]);
		return;
	}
	if (*name == '[' && name[len - 1] == ']') {
		name++;
		len -= 2;
	}
	snprintf(out, size, "%.*s", len, name);
}

static void key_words(const void *of, unsigned nr, char *out, size_t size)
{
	const struct fdpass_key *key = of;

	switch ((enum label)nr) {
	case FROM:
		if (key->kind == FDPASS_ANY)
			snprintf(out, size, REMOTE_OTHERS);
		else
			comm_text(key->from, out, size);
		break;
	case TO:
		snprintf(out, size, "%.*s", COMM_SIZE, *key->to ? key->to : "-");
		break;
	case KIND:
		kind_text(key, out, size);
	}
}

static int fill(const struct site *site, struct bpf_object *obj)
{
	(void)site;
	return remotes_reserve(obj, "fdpass", &(struct fdpass_key){}, 1);
}

const struct meter meter_fdpass = {
	.name = "fdpass",
	.help = "file descriptors passed by unix sockets: from whom to whom, of which kind",
	.type = EVENT_METER,
	.host = true,
	.by = BY_KEY,
	.row_size = sizeof(struct fdpass),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct fdpass_key),
		.labels = labels,
		.text = key_words,
	},
	.events = { .fill = fill },
	.cannot = calls_cannot,
	.on_request = "it runs at both ends of each system call of the machine: 0.2 to 0.3 us",
};
