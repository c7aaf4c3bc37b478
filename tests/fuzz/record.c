/* SPDX-License-Identifier: GPL-2.0 */
/* Fuzzes the reader of baselines; what it accepts must survive writing and reading again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "trial/stats/record.h"
#include "world.h"

static struct error e;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void again(const struct record *r)
{
	static char kept[] = "/tmp/nicprobe-fuzz.XXXXXX";
	static int fd = -1;
	struct record same;

	if (fd < 0) {
		fd = mkstemp(kept);
		if (fd < 0)
			abort();
	}
	if (record_write(r, kept, &e) || record_read(&same, kept, &e)) {
		fprintf(stderr, "mismatch: it is not read again: %s\n", e.what);
		abort();
	}
	if (same.series->nr != r->series->nr || same.series->rounds != r->series->rounds ||
	    strcmp(same.kernel, r->kernel) || same.nr_settings != r->nr_settings) {
		fprintf(stderr, "mismatch: it is another when it is read again\n");
		abort();
	}
	record_free(&same);
	unlink(kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct record r;
	char path[32];
	int fd = world_file(data, size, path);

	error_forget(&e);
	/* only sometimes: writing is slow */
	if (!record_read(&r, path, &e) && size % 8 == 0)
		again(&r);
	record_free(&r);
	close(fd);
	return 0;
}
