/* SPDX-License-Identifier: GPL-2.0 */
/* All meters of an interface begin to count at once, when one shared word is written. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/begin.h"
#include "lib/attach/pinned.h"
#include "lib/attach/set.h"
#include "lib/attach/soon.h"
#include "lib/core/meter.h"
#include "lib/read/baseline.h"
#include "lib/util/clock.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

/* The steps of an attach, in order; each is done for all meters before the next begins. */
enum turn { PROGRAMS, FIGURES, FIGURES_NEEDED, DERIVED, NR_TURNS };

static enum turn turn_of(const struct meter *m, __u64 needed)
{
	if (m->type == DERIVED_METER)
		return DERIVED;
	if (m->type != READ_METER)
		return PROGRAMS;
	return needed >> meter_id(m) & 1 ? FIGURES_NEEDED : FIGURES;
}

/* Opens the word. -errno; -ENOENT: there is no program that would read it. */
static int word_open(const struct site *site)
{
	int fd = bpf_obj_get(pin_path(site, BEGUN_PIN));

	return fd < 0 ? -errno : fd;
}

int begin_next(const struct site *site)
{
	int fd = word_open(site);
	struct begun begun = {};
	__u32 key = 0;

	if (fd == -ENOENT)
		return 1;
	if (fd >= 0 && bpf_map_lookup_elem(fd, &key, &begun)) {
		int err = -errno;

		close(fd);
		fd = err;
	}
	if (fd < 0)
		return error_set(site->error, fd, NULL, "cannot read %s: %s",
				 pin_path(site, BEGUN_PIN), strerror(-fd));
	close(fd);
	return begun.times + 1;
}

/* In place: programs may write the word beside it meanwhile. */
static int word_write(const struct site *site)
{
	int fd = word_open(site), err = fd < 0 ? fd : 0;
	struct begun *begun = MAP_FAILED;

	if (err == -ENOENT)
		return 0;
	if (!err)
		begun = mmap(NULL, sizeof(*begun), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!err && begun == MAP_FAILED)
		err = -errno;
	if (begun != MAP_FAILED) {
		__atomic_store_n(&begun->times, site->config.from, __ATOMIC_RELEASE);
		munmap(begun, sizeof(*begun));
	}
	if (fd >= 0)
		close(fd);
	return err ? error_set(site->error, err, NULL, "cannot write %s: %s",
			       pin_path(site, BEGUN_PIN), strerror(-err)) : 0;
}

void begin_near(struct meta *meta, const char *pins)
{
	struct pinned_map map = pin_read(text("%s/" BEGUN_PIN, pins));
	struct begun begun;

	if (map.fd < 0 || bpf_map_lookup_elem(map.fd, &(__u32){ 0 }, &begun) || begun.far)
		meta->near = 0;
	pin_close(&map);
}

/* Writes the word, then pins the figures: pinning takes longer than reading them did. */
static int begin(const struct site *site, const struct meta *meta, __u64 *since)
{
	int err = word_write(site);

	if (since)
		*since = clock_ns(CLOCK_BOOTTIME);
	for (int id = 0; id < NR_METERS && !err; id++)
		if (meta->on >> id & 1 && site->figures[id].cells)
			err = table_pin(site, meters[id], &site->figures[id]);
	return err;
}

int begin_all(const struct site *site, const struct request *req, struct meta *meta, __u64 bits,
	      begin_meter *one, __u64 *since)
{
	struct table figures[NR_METERS] = {};
	struct site own = *site;
	__u64 needed = 0;
	int err = 0;

	own.figures = figures;
	for (int id = 0; id < NR_METERS; id++)
		needed |= bits >> id & 1 ? meter_needs(meters[id]) : 0;
	for (enum turn turn = 0; turn < NR_TURNS && !err; turn++) {
		if (turn == DERIVED)
			err = begin(&own, meta, since);
		for (int id = 0; id < NR_METERS && !err; id++)
			if (bits >> id & 1 && turn_of(meters[id], needed) == turn)
				err = one(&own, req, meters[id], meta);
		if (turn == PROGRAMS && !err)
			err = set_attach(&own, req, meta) ?: soon_settle();
	}
	for (int id = 0; id < NR_METERS; id++) {
		free(figures[id].cells);
		free(figures[id].keys);
	}
	return err;
}
