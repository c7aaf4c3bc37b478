/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables of sets: the program as it is counts here, and the reader as it is reads, also while a row
 * becomes another key's. Without BPF; copies, which only the kernel makes, if a map can be had.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "tests/fuzz/stub/bpf/bpf_helpers.h"

static unsigned cpu;	/* that the program is on */

#define bpf_get_smp_processor_id()	cpu
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "xdp/packet.bpf.h"

#include "lib/attach/pinned.h"
#include "lib/read/derived.h"
#include "lib/read/sets.h"
#include "lib/util/list.h"
#define SUBJECT "sets: "
#include "check.h"

#define CPUS	3
#define FORGED	20000
#define ROUNDS	300

static struct config *settings = (struct config *)&config;	/* writable */
static const struct meter *const m = &meter_ecn_source;
static const struct meta meta = { .cpus = CPUS };
static unsigned char *entries;
static __u64 not_kept, sent;

static unsigned nr_entries(void)
{
	return table_stride(CPUS) * CPUS;
}

void *stub_lookup(const struct stub_map *map, const void *key)
{
	__u32 nr = *(const __u32 *)key;

	if (map->map == &lost)
		return nr == METER_ecn_source ? &not_kept : NULL;
	return map->map == &ecn_source && nr < nr_entries() ?
	       entries + nr * sizeof(union ecn_source_set) : NULL;
}

static void arrives(__u64 first, __u64 second, bool ipv6, unsigned segs)
{
	struct packet p = {
		.point = RX_NIC, .ecn = ECN_CE, .src = { first, second }, .ipv6 = ipv6, .segs = segs
	};

	ecn_source_packet(&p, 0);
	sent += segs;
}

static void forget(void)
{
	memset(entries, 0, nr_entries() * sizeof(union ecn_source_set));
	not_kept = sent = 0;
	cpu = 0;
}

static int fd;
static bool mapped = true;

static struct pinned_map map_here(void)
{
	return (struct pinned_map){
		.fd = fd, .mappable = mapped,
		.info = {
			.max_entries = nr_entries(), .value_size = sizeof(union ecn_source_set)
		},
	};
}

static struct table taken(void)
{
	struct pinned_map map = map_here();
	struct table t = { .words = m->row_size / 8, .cpus = 1 };

	same("it is of the shape", sets_fit(m, &meta, &map.info), 1);
	same("it is read", -sets_read(m, &meta, &t, &map), 0);
	return t;
}

static void leave(struct table *t)
{
	free(t->cells);
	free(t->keys);
}

static __u64 all_of(const struct table *t)
{
	__u64 all = 0;

	for (unsigned row = 0; row < t->rows; row++)
		all += t->cells[row];
	return all;
}

static __u64 of(const struct table *t, __u32 first, __u32 last, bool ipv6)
{
	struct ecn_source_key key = { .address = { first, 0, 0, last }, .ipv6 = ipv6 };
	__u64 n = 0;

	for (unsigned row = 0; row < t->rows; row++)
		if (!memcmp(t->keys + row * sizeof(key), &key, sizeof(key)))
			n += t->cells[row] + (n ? 1 << 30 : 0);		/* twice is wrong */
	return n;
}

static void check_sums(void)
{
	struct table t;

	forget();
	for (cpu = 0; cpu < CPUS; cpu++)
		for (__u64 i = 0; i < 100; i++)
			arrives(i, 0, false, i + 1 + cpu);	/* 0.0.0.0, too */
	cpu = 1;
	arrives(7, 0, true, 1000);
	arrives(7, 9ull << 32, true, 2000);
	t = taken();
	same("a row of each", t.rows, 102);
	same("the CPUs are added", of(&t, 99, 0, false), 3 * 100 + 3);
	same("0.0.0.0 is one", of(&t, 0, 0, false), 3 + 3);
	same("the families are told apart", of(&t, 7, 0, false), 3 * 8 + 3);
	same("and the words of an address", of(&t, 7, 0, true), 1000);
	same("to the last", of(&t, 7, 9, true), 2000);
	same("that is all", all_of(&t), sent);
	same("nothing is lost", not_kept, 0);
	leave(&t);
}

/* Far more senders of one packet than there is room for, and one that sends on. */
static void check_flood(void)
{
	__u32 heavy = 0x0100a8c0, late = 0x0200a8c0;
	__u64 of_heavy = 0, growing = 0, before = 0;
	struct table t;

	forget();
	for (__u32 i = 0; i < FORGED; i++) {
		arrives(0x01000000 + i * 0x10001, 0, false, 1);
		if (i % 500 == 0) {
			arrives(heavy, 0, false, 2);
			of_heavy += 2;
		}
		if (i % 5000 == 0) {
			t = taken();
			growing += of(&t, heavy, 0, false) <= before;
			before = of(&t, heavy, 0, false);
			same("at any time all is told of", all_of(&t) + not_kept, sent);
			leave(&t);
		}
	}
	arrives(late, 0, false, 50);
	t = taken();
	check(t.rows > 3000 && t.rows <= 4096, "it is full", text("%u rows", t.rows));
	same("who sends on keeps every count", of(&t, heavy, 0, false), of_heavy);
	same("and never had less", growing, 0);
	same("who is new is counted", of(&t, late, 0, false), 50);
	same("what is there and what is not is all", all_of(&t) + not_kept, sent);
	leave(&t);
}

/* The next address of this set. */
static __u32 in_set(__u32 nr, __u32 after)
{
	while (table_set(++after, 0) != nr)
		;
	return after;
}

/* A set of rows that were large long ago makes room for a sender that is there now. */
static void check_past(void)
{
	__u32 old = 0, now, forged;
	struct table t;

	forget();
	for (int i = 0; i < TABLE_WAYS; i++) {
		old = in_set(3, old);
		arrives(old, 0, false, 100000);
	}
	forged = now = in_set(3, old);
	for (int i = 0; i < 300; i++) {
		for (int packets = 0; packets < 4; packets++)
			arrives(now, 0, false, 1);
		forged = in_set(3, forged);
		arrives(forged, 0, false, 1);
	}
	t = taken();
	check(of(&t, now, 0, false) > 600, "who sends now has a row, and keeps it",
	      text("%llu packets", of(&t, now, 0, false)));
	same("the set is full", t.rows, TABLE_WAYS);
	same("nothing is uncounted", all_of(&t) + not_kept, sent);
	leave(&t);
}

/* While a row is nobody's it is not read; and what a task that was put aside holds is not taken. */
static void check_torn(void)
{
	__u32 source = in_set(0, 0), other = source;
	union ecn_source_set *set = (void *)entries;
	struct table t;

	forget();
	arrives(source, 0, false, 10);
	same("it is the first row of all", set->way[0].row.packets, 10);
	set->way[0].turn++;
	t = taken();
	same("it is not read", t.rows, 0);
	leave(&t);
	set->way[0].turn++;
	t = taken();
	same("it is read again", of(&t, source, 0, false), 10);
	leave(&t);
	for (int i = 0; i < TABLE_WAYS; i++)
		set->way[i].turn++;
	arrives(other = in_set(0, other), 0, false, 3);
	same("none can be taken: it is lost", not_kept, 3);
	for (int i = 0; i < TABLE_WAYS; i++)
		set->way[i].turn++;
	arrives(other, 0, false, 4);
	t = taken();
	same("now there is room", of(&t, other, 0, false), 4);
	same("nothing is forgotten", all_of(&t) + not_kept, sent);
	leave(&t);
}

static const __u32 primes[] = { 10007, 10009, 10037, 10039, 10061, 10067, 10069, 10079, 10091 };
static __u32 source_of[NR_OF(primes)];
static volatile bool enough;

/* More sources than a set has rows, each of which always counts by its own number. */
static void *in_turns(void *unused)
{
	for (unsigned i = 0, n = 0; !enough; i = (i * 7 + 3) % 1000003, n++) {
		unsigned nr = i % NR_OF(primes);

		arrives(source_of[nr], 0, false, primes[nr]);
		if (n % 256 == 0)
			usleep(10);	/* copies take longer than a row lasts */
	}
	return unused;
}

static void check_race(void)
{
	unsigned wrong = 0, rows = 0;
	struct table t;
	pthread_t thread;

	forget();
	enough = false;
	for (unsigned i = 0; i < NR_OF(primes); i++)
		source_of[i] = in_set(5, i ? source_of[i - 1] : 0);
	if (pthread_create(&thread, NULL, in_turns, NULL))
		exit(2);
	/* more, if each meets a moment in which the rows are given to others */
	for (int round = 0; round < ROUNDS || (!rows && round < 1000 * ROUNDS); round++) {
		struct pinned_map map = map_here();

		t = (struct table){ .words = m->row_size / 8, .cpus = 1 };
		wrong += !!sets_read(m, &meta, &t, &map);
		rows += t.rows;
		for (unsigned row = 0; row < t.rows; row++) {
			__u32 from = *(__u32 *)(t.keys + row * m->key.size), nr = 0;

			while (nr < NR_OF(primes) && source_of[nr] != from)
				nr++;
			wrong += nr == NR_OF(primes) ||
				 t.cells[row] % primes[nr];
		}
		leave(&t);
	}
	enough = true;
	pthread_join(thread, NULL);
	check(rows, "rows were read meanwhile", text("%u rows", rows));
	same("none had what is another's", wrong, 0);
	t = taken();
	same("all is counted in the end", all_of(&t) + not_kept, sent);
	leave(&t);
}

/* Over time: a count that fell was evicted on a CPU, and what is new of it is not known. */
static void check_since(void)
{
	uint64_t now = 50;

	row_since(m, &now, &(uint64_t){ 30 });
	same("since: it grew", now, 20);
	now = 50;
	row_since(m, &now, &(uint64_t){ 1000 });
	same("since: it fell", now, 0);
}

static void check_all(void)
{
	check_sums();
	check_flood();
	check_past();
	check_torn();
	check_race();
}

static void *shared(int of)
{
	size_t size = nr_entries() * sizeof(union ecn_source_set);
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, of, 0);

	if (at == MAP_FAILED)
		exit(2);
	return at;
}

static void config_open(void)
{
	__u64 page = (__u64)&config & ~4095ull;

	if (mprotect((void *)page, (__u64)(&config + 1) - page, PROT_READ | PROT_WRITE))
		exit(2);
	asm volatile("" : "+r"(settings) : : "memory");
	settings->stride[METER_ecn_source] = table_stride(CPUS);
	settings->set_shift = 64 - __builtin_ctz(table_sets(CPUS));
	settings->seed[0] = 0x9e3779b97f4a7c15;
	settings->seed[1] = 0xc2b2ae3d27d4eb4f;
	settings->scratch = 1;
}

/* A map of the kernel, open for reading only: its entries are copied. */
static int map_open(void **at)
{
	LIBBPF_OPTS(bpf_map_create_opts, flags, .map_flags = BPF_F_MMAPABLE);
	LIBBPF_OPTS(bpf_get_fd_by_id_opts, only, .open_flags = BPF_F_RDONLY);
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "sets_test", 4, sizeof(union ecn_source_set),
				 nr_entries(), &flags);
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (map < 0 || bpf_obj_get_info_by_fd(map, &info, &len))
		return -1;
	*at = shared(map);
	return bpf_map_get_fd_by_id_opts(info.id, &only);
}

/* IPv4 addresses that follow each other, as a subnet has them: by some factors sets overflowed. */
static void check_subnet(void)
{
	enum { FACTORS = 4000, SENDERS = 40, MOST_SETS = 4096 };
	__u64 seed[2] = { settings->seed[0], settings->seed[1] }, x = seed[0];
	unsigned overflows = 0;
	for (int n = 0; n < FACTORS; n++) {
		__u8 senders[MOST_SETS] = {};
		bool over = false;

		x = x * 6364136223846793005u + 1442695040888963407u;
		settings->seed[0] = (x ^ x >> 32) | 1;
		asm volatile("" : : : "memory");	/* config is constant to the compiler */
		for (__u64 host = 1; host <= SENDERS; host++)	/* 198.18.1.host, as on the wire */
			over |= ++senders[table_set(0x112c6 | host << 24, 0)] > TABLE_WAYS;
		overflows += over;
	}
	same("by no factors do 40 senders of a subnet lack room", overflows, 0);
	memcpy(settings->seed, seed, sizeof(seed));
}

int main(void)
{
	void *at;

	config_open();
	check_since();
	check_subnet();
	fd = memfd_create("sets_test", 0);
	if (fd < 0 || ftruncate(fd, nr_entries() * sizeof(union ecn_source_set)))
		exit(2);
	entries = shared(fd);
	check_all();
	settings->scratch = SCRATCH_TASKS;	/* PREEMPT_RT */
	check_all();
	fd = map_open(&at);
	if (fd < 0) {
		printf("skip sets: no map can be made\n");
		return failed > 0;
	}
	entries = at;
	mapped = false;
	check_all();
	return failed > 0;
}
