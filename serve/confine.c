/* SPDX-License-Identifier: GPL-2.0 */
/* Gives up what this process may do beyond reading files and answering. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "serve/confine.h"

int confine(struct error *e)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[2] = {};

	/* without CAP_SETPCAP this fails, and then the next line makes up for it */
	for (int i = 0; !prctl(PR_CAPBSET_DROP, i, 0, 0, 0); i++)
		;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) ||
	    syscall(SYS_capset, &head, none))
		return error_set(e, -errno, NULL, "cannot give up capabilities: %s",
				 strerror(errno));
	return 0;
}
