/* SPDX-License-Identifier: GPL-2.0 */
/* The symbols of the running kernel, one after the other. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/trace/kallsyms.h"

#define TRACED "__traceiter_"	/* the function behind a tracepoint */

const char *proc_kallsyms = "/proc/kallsyms";

/* "ffffffffc0a01230 t ena_io_poll	[ena]". There are 200,000 lines: sscanf() is too slow. */
static bool line_parse(char *line, struct kallsym *s)
{
	char *type = strchr(line, ' '), *name = type ? type + 3 : NULL, *module;

	if (!type || !type[1] || type[2] != ' ')
		return false;
	name[strcspn(name, "\n")] = '\0';
	module = strchrnul(name, '\t');
	if (*module) {
		*module++ = '\0';
		module += *module == '[';
		module[strcspn(module, "]")] = '\0';
	}
	*s = (struct kallsym){
		.name = name, .module = module, .address = strtoull(line, NULL, 16),
		.type = type[1], .tracepoint = !strncmp(name, TRACED, strlen(TRACED)),
	};
	s->name += s->tracepoint ? strlen(TRACED) : 0;
	return true;
}

int kallsyms_each(void (*fn)(const struct kallsym *, void *arg), void *arg)
{
	FILE *f = fopen(proc_kallsyms, "re");
	struct kallsym symbol;
	char line[640];

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		if (line_parse(line, &symbol))
			fn(&symbol, arg);
	fclose(f);
	return 0;
}
