/* SPDX-License-Identifier: GPL-2.0 */
/* Fuzzes the reader of recordings: the body of a frame is made up, or the blocks of a file. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "findings/subjects.h"
#include "lib/util/error.h"
#include "record/about.h"
#include "record/block.h"
#include "record/frame.h"
#include "record/recording.h"
#include "tests/unit/drawn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All that a reader asks. */
static void read_all(struct recording *r)
{
	struct snapshot s, total;
	struct error e = {};

	for (unsigned i = 0; i < recording_ifaces(r); i++) {
		unsigned nr = recording_frames(r, i);

		recording_at(r, i, recording_when(r, i, nr / 2));
		for (unsigned k = 0; k < nr && k < 8; k++) {
			error_forget(&e);
			recording_snapshot(r, i, k, &s, &e);
			snapshot_free(&s);
			if (!k)
				continue;
			recording_window(r, i, recording_joined(r, i, k), k, &s, &total, &e);
			snapshot_free(&s);
			snapshot_free(&total);
		}
	}
}

#define NR_BODIES	7

/* A recording of three frames: what its blocks have in them, before they are packed. */
static struct whole {
	enum block_type type;
	struct bytes body;
} whole[NR_BODIES] = {
	{ .type = BLOCK_RUN }, { .type = BLOCK_NAMES }, { .type = BLOCK_IFACE },
	{ .type = BLOCK_FULL }, { .type = BLOCK_DIFF }, { .type = BLOCK_DIFF },
	{ .type = BLOCK_EVENT },
};

static void whole_make(void)
{
	static struct frame_state state;
	static struct snapshot *s;
	struct finding *f;

	s = snapshot("eth0", "tun", 2, 0);
	s->meta.magic = META_MAGIC;
	s->tables[METER_ecn_source].rows = 0;
	run_put(&whole[0].body, 1, 1);
	names_put(&whole[1].body);
	about_put(&whole[2].body, s);
	for (unsigned i = 0; i < 3; i++) {
		struct ecn_source_key key = { .address = { i + 1 } };

		s->boot_ns += 1000000000;
		s->when.tv_sec++;
		txlat(s, 0, 20 + i, 1000, i);
		*table_add(&s->tables[METER_ecn_source], meters[METER_ecn_source], &key) = i + 1;
		s->findings = (struct findings){};
		f = finding_add(&s->findings, kind_find("qdisc-drops"), i, "%u packets", i);
		finding_fact(f, "packets", i, "packets");
		finding_fix(f, "ethtool", "-G", "eth0");
		frame_put(&whole[3 + i].body, &state, s, &s->findings, !i);
	}
	bytes_text(&whole[6].body, "finding");
	bytes_text(&whole[6].body, "eth0");
	bytes_text(&whole[6].body, "it begins");
}

/*
 * Checksums would keep all input out: so it is a list of bodies, each of a type and a length, of
 * which blocks are made; or a list of places in the bodies of a good recording, and what is there.
 */
static void blocks_of(struct bytes *file, const uint8_t *data, size_t size)
{
	while (size > 4) {
		size_t len = (data[2] | data[3] << 8) % (size - 3);
		struct bytes body = { (uint8_t *)data + 4, len, len, false };

		block_add(file, data[0], data[1] % 3, 1, &body, NULL);
		data += 4 + len;
		size -= 4 + len;
	}
}

static void changes_of(struct bytes *file, const uint8_t *data, size_t size)
{
	for (unsigned i = 0; i < NR_BODIES; i++) {
		struct bytes body = {};

		bytes_add(&body, whole[i].body.bytes, whole[i].body.nr);
		for (size_t at = 0; at + 4 <= size; at += 4)
			if (data[at] % NR_BODIES == i)
				body.bytes[(data[at + 1] | data[at + 2] << 8) % body.nr] =
					data[at + 3];
		block_add(file, whole[i].type, 0, i, &body, NULL);
		bytes_free(&body);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes file = {};
	struct error e = {};
	struct recording *r;
	char path[32];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (!whole[0].body.nr)
		whole_make();
	if (size && *data & 1)
		blocks_of(&file, data + 1, size - 1);
	else if (size)
		changes_of(&file, data + 1, size - 1);
	if (fd < 0 || write(fd, file.bytes, file.nr) != (ssize_t)file.nr)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!recording_open(&r, path, &e)) {
		read_all(r);
		recording_close(r);
	} else if (!*e.what) {
		fprintf(stderr, "mismatch: it is refused without a sentence\n");
		abort();
	}
	if (size && !(*data & 1) && size < 5 && *e.what) {
		fprintf(stderr, "mismatch: a good recording is refused: %s\n", e.what);
		abort();
	}
	close(fd);
	bytes_free(&file);
	return 0;
}
