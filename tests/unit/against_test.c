/* SPDX-License-Identifier: GPL-2.0 */
/* Baselines: written, read again, damaged in every way; and a trial compared with one. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "render/json_writer.h"
#include "trial/stats/against.h"
#include "trial/stats/said.h"

#define SUBJECT "against: "
#include "check.h"

static struct error e;

static char dir[] = "/tmp/against_test.XXXXXX", file[64];

static uint64_t state = 88172645463325252ull;

static double uniform(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return ((state * 2685821657736338717ull >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Rounds of a machine with noise that follows half the previous one; `speed` times as fast. */
static void measure(struct record *r, double speed, unsigned rounds)
{
	double off = 0.035 * normal();

	if (record_start(r, &e))
		exit(2);
	strcpy(r->iface, "eth0");
	strcpy(r->driver, "veth");
	strcpy(r->scenario, "rx-drop");
	record_set(r, "size", "%d", 64);
	record_set(r, "threads", "%d", 2);
	for (unsigned i = 0; i < rounds; i++) {
		struct result one = { .nr = 5, .figure = {
			{ .name = "packets_per_second", .unit = "packets/s", .better = 1,
			  .value = 1e6 * speed * exp(off) },
			{ .name = "ns_per_packet", .unit = "ns", .better = -1,
			  .value = 1e3 / speed * exp(-off) },
			{ .name = "drops", .unit = "packets", .better = -1 },
			{ .name = "cycles_per_packet", .unit = "1", .better = -1, .value = NAN },
			{ .name = "odd \"\\\n\t§", .unit = "%", .value = i ? -1.5 : NAN },
		} };

		off = 0.5 * off + 0.03 * normal();
		rounds_add(r->series, &one);
	}
}

static bool same_series(const struct rounds *a, const struct rounds *b)
{
	if (a->nr != b->nr || a->rounds != b->rounds)
		return false;
	for (unsigned i = 0; i < a->nr; i++) {
		if (strcmp(a->figure[i].name, b->figure[i].name) ||
		    strcmp(a->figure[i].unit, b->figure[i].unit) ||
		    a->figure[i].better != b->figure[i].better)
			return false;
		for (unsigned j = 0; j < a->rounds; j++) {
			double x = a->values[i][j], y = b->values[i][j];

			if (isnan(x) != isnan(y) || fabs(x - y) > 1e-8 * fabs(x))
				return false;
		}
	}
	return true;
}

static void check_round_trip(void)
{
	struct record r, again;
	struct stat st;
	int err;

	measure(&r, 1, 10);
	check(!record_can_write(file, &e) && !record_write(&r, file, &e), "is written", e.what);
	err = record_read(&again, file, &e);
	check(!err && same_series(r.series, again.series) && !strcmp(r.kernel, again.kernel) &&
	      !strcmp(r.saved, again.saved) && !strcmp(r.cpu, again.cpu) && r.cpus == again.cpus &&
	      !strcmp(again.scenario, "rx-drop") && again.nr_settings == 2 &&
	      !strcmp(again.settings[1].name, "threads") && !strcmp(again.settings[1].value, "2"),
	      "and read, the same", e.what);
	check(!stat(file, &st) && (st.st_mode & 0777) == (0666 & ~umask(022)),
	      "with the usual rights", text("%o", st.st_mode));
	record_free(&again);
	check(!record_write(&r, file, &e), "is written over", e.what);
	record_free(&r);
	check(record_can_write(dir, &e) == -EISDIR && strstr(e.what, "Is a directory"),
	      "not over a directory", e.what);
	error_forget(&e);
	check(record_can_write("/none/such", &e) == -ENOENT, "nor where there is none", e.what);
	error_forget(&e);
}

/*
 * The target of a link is replaced, the link stays; a file that is our own output is written in
 * place.
 */
static void check_links(void)
{
	char *link = NULL, *target = NULL;
	struct record r, again;
	struct stat st, before;
	FILE *f;

	if (asprintf(&link, "%s.link", file) < 0 || asprintf(&target, "%s.target", file) < 0)
		return;
	f = fopen(target, "w");
	for (int i = 0; f && i < 100000; i++)
		fputs("a longer file than that which comes\n", f);
	if (f)
		fclose(f);
	stat(target, &before);
	measure(&r, 1, 10);
	check(!symlink(target, link) && !record_can_write(link, &e) && !record_write(&r, link, &e),
	      "is written through a link", e.what);
	check(!record_read(&again, link, &e), "and nothing is left of what was there", e.what);
	record_free(&again);
	check(!lstat(link, &st) && S_ISLNK(st.st_mode), "the link stays", link);
	check(!stat(target, &st) && st.st_ino != before.st_ino, "what it leads to is replaced",
	      target);
	unlink(target);
	check(record_can_write(link, &e) == -ENOENT && record_write(&r, link, &e) == -ENOENT,
	      "a link to nowhere is no place", e.what);
	error_forget(&e);
	unlink(link);
	check(!mkfifo(link, 0600) && !record_can_write(link, &e) && !stat(link, &st) &&
	      S_ISFIFO(st.st_mode), "a FIFO can be written to, and is not waited for", e.what);
	unlink(link);
	record_free(&r);
	free(link);
	free(target);
}

static char *whole;
static size_t size;

static void load(void)
{
	FILE *f = fopen(file, "r");

	whole = calloc(1, 1 << 20);
	size = f ? fread(whole, 1, (1 << 20) - 1, f) : 0;
	if (f)
		fclose(f);
}

static int read_bytes(const char *bytes, size_t nr)
{
	FILE *f = fopen(file, "w");
	struct record r;
	int err;

	error_forget(&e);
	if (!f || fwrite(bytes, 1, nr, f) != nr || fclose(f))
		exit(2);
	err = record_read(&r, file, &e);
	if (!err && (!r.series->nr || !r.series->rounds || r.series->rounds > ROUNDS_MAX))
		exit(3);
	record_free(&r);
	return err;
}

/* The document with one part replaced. */
static void expect_broken(const char *from, const char *to, const char *says)
{
	char *at = strstr(whole, from), *bytes;

	bytes = calloc(1, size + strlen(to) + 1);
	if (at && bytes) {
		sprintf(bytes, "%.*s%s%s", (int)(at - whole), whole, to, at + strlen(from));
		check(read_bytes(bytes, strlen(bytes)) == -EBADMSG && strstr(e.what, says),
		      text("broken: %.60s", to), e.what);
	} else {
		check(false, text("broken: %.60s", to), "what was to be replaced is not there");
	}
	free(bytes);
}

static void check_broken(void)
{
	unsigned bad = 0, cut = 0, read = 0;
	char *bytes = malloc(size);

	for (size_t nr = 0; nr < size - 1; nr += nr < 200 ? 1 : 37, cut++)
		bad += read_bytes(whole, nr) != -EBADMSG || !*e.what;
	check(!bad, text("cut short at %u places: refused", cut), text("%u not", bad));
	for (unsigned i = 0; i < 1000; i++) {
		memcpy(bytes, whole, size);
		for (unsigned n = 0; n < 1 + i % 3; n++)
			bytes[(size_t)(uniform() * size)] = uniform() * 256;
		if (!read_bytes(bytes, size))
			read++;
		else
			bad += !*e.what;
	}
	free(bytes);
	check(!bad && read < 1000, text("1000 with wrong bytes: %u can be read still", read),
	      "without a word");
	expect_broken("{\"nicprobe_baseline\":1", "{\"nicprobe_baseline\":2",
		      "it is version 2, not 1");
	expect_broken("{\"nicprobe_baseline\":1", "{\"nicprobe\":1",
		      "it has no \"nicprobe_baseline\"");
	expect_broken("{\"nicprobe_baseline\"", "[1,2]{\"x\"", "at byte 5");
	expect_broken("\"rounds\":10", "\"rounds\":11", "not have a value for every round");
	expect_broken("\"rounds\":10", "\"rounds\":-1", "not between 1 and 128");
	expect_broken("\"rounds\":10", "\"rounds\":99999999999999999999", "not between 1 and 128");
	expect_broken("\"better\":1", "\"better\":7", "not 1, 0 or -1");
	expect_broken("\"better\":1", "\"better\":\"x\"", "\"better\" is missing, or not an int");
	expect_broken("ns_per_packet", "packets_per_second", "a figure is duplicate");
	expect_broken("\"values\":[", "\"values\":[true,", "not have a value for every round");
	expect_broken("null", "NaN", "a value is not finite");
	expect_broken("null", "-Infinity", "a value is not finite");
	expect_broken("null", "\"1\"", "a value is not a number");
	expect_broken("\"figures\":", "\"figures\":[],\"others\":", "it has no figure");
	expect_broken("\"size\":\"64\"", "\"size\":64", "\"size\" is missing, or not a string");
	expect_broken("\"driver\":\"veth\"",
		      "\"driver\":\"veth veth veth veth veth veth veth veth\"",
		      "\"driver\" is too long");
	expect_broken("\"interface\"", "\"face\"", "\"interface\" is missing, or not a string");
	check(read_bytes("", 0) == -EBADMSG, "broken: an empty file", e.what);
	check(read_bytes("\177ELF\2\1\1\0\0", 9) == -EBADMSG, "broken: a program", e.what);
}

static void check_missing(void)
{
	struct record r;

	error_forget(&e);
	check(record_read(&r, "/none/such", &e) == -ENOENT &&
	      !strcmp(e.what, "cannot read the baseline /none/such: "
		      "No such file or directory"), "no such file", e.what);
	record_free(&r);
	error_forget(&e);
	check(record_read(&r, dir, &e) == -EISDIR, "a directory", e.what);
	record_free(&r);
	error_forget(&e);
	check(record_read(&r, "/dev/zero", &e) == -EBADMSG, "one without end", e.what);
	record_free(&r);
	error_forget(&e);
}

static unsigned worse(double speed, double tolerance, struct against *g, struct record *then,
		      struct record *now)
{
	measure(then, 1, 12);
	measure(now, speed, 12);
	error_forget(&e);
	return against_compare(g, then, now, tolerance, &e) ? 99 : g->worse;
}

static void check_judgement(void)
{
	enum { TRIALS = 200 };
	static const double speeds[] = { 1, 0.8, 0.97 };
	unsigned alarms = 0, found = 0, forgiven = 0;
	struct record then, now;
	struct against g;

	for (int i = 0; i < TRIALS; i++)
		for (int which = 0; which < 3; which++) {
			unsigned nr = worse(speeds[which], 5, &g, &then, &now);

			*(which == 0 ? &alarms : which == 1 ? &found : &forgiven) += nr > 0;
			against_free(&g);
			record_free(&then);
			record_free(&now);
		}
	check(alarms * 20 <= TRIALS, text("the same again, rounds alike by half: worse in %u of %d",
					  alarms, TRIALS), "more than 1 in 20");
	check(found * 10 >= 9 * TRIALS, text("20%% less: worse in %u of %d", found, TRIALS),
	      "less than 9 in 10");
	check(forgiven * 5 <= TRIALS, text("3%% less, with a tolerance of 5%%: worse in %u of %d",
					   forgiven, TRIALS), "more than 1 in 5");
}

static const char *printed(const struct against *g, bool json)
{
	static char out[16384];
	const struct look look = { .width = 100 };
	FILE *f = fmemopen(out, sizeof(out), "w");
	struct json j = { .out = f };

	if (json) {
		json_open(&j, NULL, '{');
		against_json(&j, g);
		json_close(&j);
	} else {
		against_table(f, &look, g);
	}
	fclose(f);
	return out;
}

/* An interval from nothing to double is no measurement: no percentage is reported. */
static void check_noise(void)
{
	struct record then, now;
	struct against g = {};
	const char *said;

	state = 88172645463325252ull;
	worse(1, 5, &g, &then, &now);
	g.worse = 0;
	for (unsigned i = 0; i < g.nr; i++)
		g.list[i].verdict = VERDICT_NONE;
	g.list[0].low = -98.9;
	said = printed(&g, false);
	check(strstr(said, "packets_per_second varies too much between rounds") &&
	      !strstr(said, "could hide"), "rounds that cannot tell", said);
	against_free(&g);
	record_free(&then);
	record_free(&now);
}

static void check_words(void)
{
	struct record then, now;
	struct against g = {};
	unsigned nr;

	state = 88172645463325252ull;
	nr = worse(0.6, 5, &g, &then, &now);
	check(nr == 2 && g.nr == 5, "two of five figures are worse", text("%u of %u", nr, g.nr));
	check(strstr(printed(&g, false), "Worse by more than 5%: packets_per_second (-") &&
	      strstr(printed(&g, false), "not measured: cycles_per_packet") &&
	      strstr(printed(&g, false), " worse"), "and named", printed(&g, false));
	check(strstr(printed(&g, true), "\"worse\":2,\"better\":0") &&
	      strstr(printed(&g, true), "\"worse_than_tolerance\":true"), "in JSON, too",
	      printed(&g, true));
	against_free(&g);
	strcpy(now.settings[0].value, "1500");
	check(against_compare(&g, &then, &now, 5, &e) == -EINVAL &&
	      strstr(e.what, "with size 64, and now it is 1500"), "other options",
	      e.what);
	against_free(&g);
	error_forget(&e);
	strcpy(now.settings[0].value, "64");
	record_set(&now, "vlan", "7");
	check(against_compare(&g, &then, &now, 5, &e) == -EINVAL &&
	      strstr(e.what, "with vlan not set, and now it is 7"), "an option more",
	      e.what);
	against_free(&g);
	error_forget(&e);
	strcpy(now.scenario, "tx");
	check(against_compare(&g, &then, &now, 5, &e) == -EINVAL &&
	      strstr(e.what, "is of scenario \"rx-drop\", not \"tx\""),
	      "another scenario", e.what);
	against_free(&g);
	record_free(&then);
	record_free(&now);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 2;
	snprintf(file, sizeof(file), "%s/baseline.json", dir);
	check_round_trip();
	check_links();
	load();
	check_broken();
	check_missing();
	check_judgement();
	check_words();
	check_noise();
	unlink(file);
	rmdir(dir);
	free(whole);
	return failed > 0;
}
