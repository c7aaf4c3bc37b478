/* SPDX-License-Identifier: GPL-2.0 */
/* Fuzzes the reader of baselines; what it accepts must survive writing and reading again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/log.h"
#include "trial/stats/record.h"
#include "world.h"

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
	if (record_write(r, kept) || record_read(&same, kept)) {
		fprintf(stderr, "mismatch: it is not read again: %s\n", complaint());
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

	complaints_forget();
	if (!record_read(&r, path) && size % 8 == 0)	/* only sometimes: writing is slow */
		again(&r);
	record_free(&r);
	close(fd);
	return 0;
}
