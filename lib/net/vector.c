/* SPDX-License-Identifier: GPL-2.0 */
/* Interrupts in /proc: lines of /proc/interrupts, matching names with patterns, affinities. */
#include <errno.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/net/queues.h"
#include "lib/net/sysfs.h"
#include "lib/util/log.h"
#include "lib/util/shortage.h"

bool vector_line(const char *line, unsigned cpus, unsigned *irq, const char **names)
{
	char *at;
	const char *word;

	*irq = strtoul(line, &at, 10);
	if (at == line || *at++ != ':')
		return false;
	for (unsigned i = 0; i < cpus; i++)
		strtoul(at, &at, 10);
	/* the chip; "1-edge", or "1 Edge" on other architectures than x86 */
	for (int i = 0; i < 2; i++) {
		at += strspn(at, " ");
		at += strcspn(at, " \n");
	}
	word = at + strspn(at, " ");
	if (!strncmp(word, "Edge ", 5) || !strncmp(word, "Level ", 6))
		word += strcspn(word, " ");
	*names = word + strspn(word, " ");
	return **names && **names != '\n';
}

void vectors_each(void (*fn)(unsigned irq, char *names, void *arg), void *arg)
{
	FILE *f = fopen("/proc/interrupts", "re");
	unsigned cpus = 0, irq;
	const char *names;
	char *line = NULL;
	size_t room = 0;

	if (!f)
		short_of(errno, "open /proc/interrupts");
	if (f && getline(&line, &room, f) > 0)
		for (const char *c = line; (c = strstr(c, "CPU")); c++)
			cpus++;
	while (f && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (vector_line(line, cpus, &irq, &names))
			fn(irq, (char *)names, arg);
	}
	free(line);
	if (f)
		fclose(f);
}

bool vector_next(const char **at, char name[VECTOR_NAME])
{
	size_t len;

	*at += strspn(*at, ", ");
	len = strcspn(*at, ",");
	snprintf(name, VECTOR_NAME, "%.*s", (int)len, *at);
	*at += len;
	return len;
}

/* Combined queues, one direction, or an interrupt for all. */
static bool queue_set(struct vector *v, char direction, int queue)
{
	if (strchr("qra", direction))
		v->rx = queue;
	if (strchr("qtab", direction))
		v->tx = queue;
	v->half = direction == 'b';
	return strchr("qrtab", direction);
}

static bool match(const char *p, const char *start, const char *name, struct vector *v)
{
	for (; *p; p++) {
		char *end = (char *)name;
		long queue = QUEUE_ALL;

		if (*p == '*' || !strncmp(p, "%i", 2)) {
			p += *p == '*' ? 1 : 2;
			for (; !match(p, start, name, v); name++)
				if (!*name)
					return false;
			return true;
		}
		if (*p != '%') {
			if (*p != *name++)
				return false;
			continue;
		}
		if (*++p != 'a') {
			if (!isdigit((unsigned char)*name))
				return false;
			queue = strtol(name, &end, 10);
			v->at = name - start;
			v->len = end - name;
		}
		if (queue >= MAX_QUEUES || !queue_set(v, *p, queue))
			return false;
		name = end;
	}
	return !*name;
}

bool vector_match(const struct driver *d, struct vector *v)
{
	for (unsigned i = 0; i < MAX_PATTERNS && d->irqs[i]; i++) {
		struct vector try = *v;

		if (!match(d->irqs[i], v->name, v->name, &try))
			continue;
		*v = try;
		return true;
	}
	return false;
}

bool vector_expand(const char *pattern, const char *iface, unsigned queue, struct vector *v)
{
	size_t len = 0;

	*v = (struct vector){ .rx = QUEUE_NONE, .tx = QUEUE_NONE };
	for (; *pattern; pattern++) {
		const char *part = text("%.1s", pattern);

		if (*pattern == '*')
			return false;
		if (*pattern == '%') {
			part = *++pattern == 'i' ? iface : *pattern == 'a' ? "" : text("%u", queue);
			if (*pattern != 'i')
				queue_set(v, *pattern, *part ? (int)queue : QUEUE_ALL);
		}
		len += snprintf(v->name + len, sizeof(v->name) - len, "%s", part);
		if (len >= sizeof(v->name))
			return false;
	}
	return true;
}

const char *proc_irq = "/proc/irq";

static void affinity_read(unsigned irq, const char *file, struct cpus *c)
{
	char line[4096];

	*c = (struct cpus){};
	if (sysfs_line(-1, text("%s/%u/%s", proc_irq, irq, file), line, sizeof(line)))
		cpus_from_list(c, line);
}

void vector_affinity(unsigned irq, struct cpus *affinity, struct cpus *effective)
{
	affinity_read(irq, "smp_affinity_list", affinity);
	affinity_read(irq, "effective_affinity_list", effective);
}
