/* SPDX-License-Identifier: GPL-2.0 */
/* Maps that stay mapped, and programs that stay open, from one round of readings to the next. */
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/held.h"
#include "lib/util/list.h"

#define LONGEST	2		/* seconds */
#define MOST	(64 << 20)	/* bytes: they count as memory of this process */

static struct held_map {
	void *at;		/* NULL: nothing is held here */
	size_t size;
	__u32 id;		/* of the map */
	bool asked;		/* in this round */
} held[1024];			/* two maps may meet in one place: the second is not held */

static struct held_program {
	int fd;
	__u32 id;		/* 0: nothing is held here */
	bool asked;
} programs[256];

static size_t all;		/* bytes of maps that are held */
static bool holding;

static void map_let_go(struct held_map *h)
{
	munmap(h->at, h->size);
	all -= h->size;
	*h = (struct held_map){};
}

static void program_let_go(struct held_program *h)
{
	close(h->fd);
	*h = (struct held_program){};
}

void held_until(double seconds)
{
	holding = seconds > 0 && seconds <= LONGEST;
	for (unsigned i = 0; i < NR_OF(held); i++) {
		if (held[i].at && !(holding && held[i].asked))
			map_let_go(&held[i]);
		held[i].asked = false;
	}
	for (unsigned i = 0; i < NR_OF(programs); i++) {
		if (programs[i].id && !(holding && programs[i].asked))
			program_let_go(&programs[i]);
		programs[i].asked = false;
	}
}

const void *held_map(int fd, __u32 map_id, size_t size)
{
	struct held_map *h = &held[map_id % NR_OF(held)];

	if (!holding || (h->at && h->id != map_id))
		return NULL;
	if (!h->at) {
		void *at = all + size > MOST ? MAP_FAILED :
			   mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

		if (at == MAP_FAILED)
			return NULL;
		*h = (struct held_map){ .at = at, .size = size, .id = map_id };
		all += size;
	}
	h->asked = true;
	return h->at;
}

int held_program(__u32 id)
{
	struct held_program *h = &programs[id % NR_OF(programs)];

	if (!holding || !id || (h->id && h->id != id))
		return -1;
	if (!h->id) {
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			return -1;
		*h = (struct held_program){ .fd = fd, .id = id };
	}
	h->asked = true;
	return h->fd;
}
