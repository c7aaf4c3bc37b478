/* SPDX-License-Identifier: GPL-2.0 */
/* Maps that stay mapped from one round of readings to the next. */
#include <stdbool.h>
#include <sys/mman.h>

#include "lib/read/held.h"
#include "lib/util/list.h"

#define LONGEST	2		/* seconds */
#define MOST	(64 << 20)	/* bytes: they count as memory of this process */

static struct held_map {
	void *at;		/* NULL: nothing is held here */
	size_t size;
	__u32 id;		/* of the map */
	bool asked;		/* in this round */
} held[1024];			/* two maps may meet in one place: the second is not held */

static size_t all;		/* bytes that are held */
static bool holding;

static void let_go(struct held_map *h)
{
	munmap(h->at, h->size);
	all -= h->size;
	*h = (struct held_map){};
}

void held_until(double seconds)
{
	holding = seconds > 0 && seconds <= LONGEST;
	for (unsigned i = 0; all && i < NR_OF(held); i++) {
		if (held[i].at && !(holding && held[i].asked))
			let_go(&held[i]);
		held[i].asked = false;
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
