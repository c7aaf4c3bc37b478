/* SPDX-License-Identifier: GPL-2.0 */
/* Whether this process has the capabilities that it needs. */
#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/kernel/permits.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

static int permits(bool all, struct error *e)
{
	static const struct { int bit; const char *name; } wanted[] = {
		{ CAP_BPF, "CAP_BPF" }, { CAP_NET_ADMIN, "CAP_NET_ADMIN" },
		{ CAP_PERFMON, "CAP_PERFMON" }, { CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
	};
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {};
	const char *missing = "";

	if (syscall(SYS_capget, &head, data))
		return error_set(e, -errno, NULL, "cannot read our own capabilities: %s",
				 strerror(errno));
	for (unsigned i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		int bit = wanted[i].bit;
		bool have = data[bit / 32].effective >> bit % 32 & 1;

		/* CAP_SYS_ADMIN stands for the two that were split from it in 5.8 */
		if (bit != CAP_NET_ADMIN && data[0].effective >> CAP_SYS_ADMIN & 1)
			have = true;
		if (!have && (bit != CAP_SYS_ADMIN || all))
			missing = text("%s%s%s", missing, *missing ? ", " : "", wanted[i].name);
	}
	if (*missing)
		return error_set(e, -EPERM, "run it as root, or with these capabilities",
				 "this needs %s", missing);
	return 0;
}

int kernel_permits(struct error *e)
{
	return permits(false, e);
}

int kernel_permits_all(struct error *e)
{
	return permits(true, e);
}
