/* SPDX-License-Identifier: GPL-2.0 */
/* A file in memory, which others may cut while it is read. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "record/mapped.h"

#define MOST	8		/* files at once */

static struct mapped known[MOST];
static long page;

/*
 * The kernel sends SIGBUS where a page has no file behind it any more. A page of zeros takes its
 * place; mmap() is a plain system call, which a handler may make.
 */
static void missing(int signal, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr;

	(void)context;
	for (unsigned i = 0; i < MOST; i++) {
		uintptr_t from = (uintptr_t)known[i].bytes;

		if (!from || at < from || at - from >= known[i].size)
			continue;
		if (mmap((void *)(at & -(uintptr_t)page), page, PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
			return;
	}
	sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
}

static void watch(const struct mapped *f)
{
	struct sigaction action = { .sa_sigaction = missing, .sa_flags = SA_SIGINFO };

	page = sysconf(_SC_PAGESIZE);
	for (unsigned i = 0; i < MOST; i++)
		if (!known[i].bytes) {
			known[i] = *f;
			sigaction(SIGBUS, &action, NULL);
			return;
		}
}

int mapped_take(int fd, const char *path, struct mapped *f, struct error *e)
{
	struct stat st;

	*f = (struct mapped){};
	if (fstat(fd, &st))
		return error_set(e, -errno, NULL, "cannot read %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(e, -EINVAL, NULL, "%s is not a file", path);
	if (!st.st_size)
		return 0;
	f->bytes = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (f->bytes == MAP_FAILED) {
		f->bytes = NULL;
		return error_set(e, -errno, NULL, "cannot read %s: %s", path, strerror(errno));
	}
	f->size = st.st_size;
	watch(f);
	return 0;
}

int mapped_open(const char *path, struct mapped *f, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;

	*f = (struct mapped){};
	if (fd < 0)
		return error_set(e, -errno, NULL, "cannot read %s: %s", path, strerror(errno));
	err = mapped_take(fd, path, f, e);
	close(fd);
	return err;
}

void mapped_close(struct mapped *f)
{
	for (unsigned i = 0; i < MOST; i++)
		if (f->bytes && known[i].bytes == f->bytes)
			known[i] = (struct mapped){};
	if (f->bytes)
		munmap(f->bytes, f->size);
	*f = (struct mapped){};
}
