/* SPDX-License-Identifier: GPL-2.0 */
/* Fuzzes the reader of kernel modules: file, symbols, strings, and queries on it. */
#include <stdlib.h>
#include <unistd.h>

#include "lib/core/nic_driver.h"
#include "lib/trace/module.h"
#include "lib/util/error.h"
#include "world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(struct module *m)
{
	const struct driver *d = driver_find(module_name(m));

	for (const struct driver_name *f = d->functions; f && f->name; f++)
		module_function(m, f->name);
	for (const struct driver_name *t = d->tracepoints; t && t->name; t++)
		module_tracepoint(m, t->name);
	module_says(m, "rx_queue_0_drops");
	module_says(m, "eth?-TxRx-0");
	module_says(m, "mlx5_comp0@pci:?");
	module_machine(m);
	module_no_btf(m);
	module_release(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct module *m;
	char path[32];
	struct error e = {};
	int fd = world_file(data, size, path);

	m = module_open(path, NULL, &e);
	if (m) {
		ask(m);
		module_close(m);
	}
	close(fd);
	return 0;
}
