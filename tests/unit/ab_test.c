/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A/B comparison of two settings, on a machine that is a file: order, end, failures, restoration.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "trial/stats/ab.h"
#include "trial/stats/settle.h"
#include "trial/stats/shell.h"

#define SUBJECT "ab: "
#include "check.h"

static struct error e;

static char dir[] = "/tmp/ab_test.XXXXXX";
static volatile sig_atomic_t stop;

/* The machine: its speed in the file "speed", 2% of noise, and a slow second round each time. */
struct machine {
	unsigned rounds, stop_at, fail_at;
	char seen[512];		/* the first letter that "speed" held, round by round */
};

static const char *file_read(const char *name)
{
	char line[64] = "";
	FILE *f = fopen(text("%s/%s", dir, name), "r");

	if (f && !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		fclose(f);
	return text("%s", line);
}

static double noise(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += drand48() - 0.5;
	return sum;
}

static int round_of(void *ctx, struct result *r, struct error *error)
{
	struct machine *m = ctx;
	const char *line = file_read("speed");
	double speed = atof(line + 1) * (1 + 0.02 * noise()) * (m->rounds & 1 ? 0.97 : 1);

	m->seen[m->rounds++] = line[0];
	if (m->rounds == m->fail_at)
		return error_set(error, -EIO, "another cable", "the machine broke");
	if (m->rounds == m->stop_at)
		stop = 1;
	*r = (struct result){ .nr = 3, .figure = {
		{ .name = "interface", .unit = "1", .value = 2 },
		{ .name = "packets_per_second", .unit = "packets/s", .better = 1, .value = speed },
		{ .name = "ns_per_packet", .unit = "ns", .better = -1, .value = 1e9 / speed },
	} };
	return 0;
}

static const char *set_speed(char letter, double speed)
{
	return text("echo %c%g >%s/speed", letter, speed, dir);
}

static struct ab_options options(struct machine *m, const char *a, const char *b)
{
	struct ab_options o = ab_defaults;
	static char commands[2][128];

	/* results of text() do not last */
	snprintf(commands[0], sizeof(commands[0]), "%s", a);
	snprintf(commands[1], sizeof(commands[1]), "%s", b);
	error_forget(&e);
	stop = 0;
	*m = (struct machine){};
	o.command[0] = commands[0];
	o.command[1] = commands[1];
	o.round = round_of;
	o.ctx = m;
	o.error = &e;
	o.pause = 0;
	o.stop = &stop;
	o.seed = 7;
	return o;
}

static void check_difference(void)
{
	struct machine m;
	struct ab_options o = options(&m, set_speed('A', 1e6), set_speed('B', 1.05e6));
	const struct comparison *c;
	struct ab t;
	int err = ab_run(&o, &t);

	c = &t.pairs.list[t.pairs.deciding];
	check(!err && t.end == AB_DECIDED && c->verdict == VERDICT_REAL &&
	      comparison_good(c) == 1 && c->difference > 2 && c->difference < 8 && c->low > 0,
	      "5% more is found", text("%d %g %g %s", t.end, c->difference, c->low, e.what));
	same_text("the first that can be better decides", c->name, "packets_per_second");
	check(comparison_good(&t.pairs.list[2]) == 1 && t.pairs.list[2].difference < 0 &&
	      t.pairs.list[0].verdict == VERDICT_NONE, "as do the others, each in its way",
	      text("%g", t.pairs.list[2].difference));
	check(t.nr == 16 && m.rounds == 32 && !strcmp(m.seen, t.order),
	      "each round had its setting", text("%s but %s", m.seen, t.order));
	check(strstr(t.order, "AA") && strstr(t.order, "BB"), "the order is by lot", t.order);
	check(file_read("speed")[0] == 'A', "A is left behind", file_read("speed"));
	ab_free(&t);
}

static void check_none(void)
{
	enum { TRIALS = 20 };
	unsigned real = 0, rounds = 0;

	for (int i = 0; i < TRIALS; i++) {
		struct machine m;
		struct ab_options o = options(&m, set_speed('A', 1e6), set_speed('B', 1e6));
		struct ab t;

		o.seed = i + 1;
		if (ab_run(&o, &t))
			real++;
		for (unsigned f = 0; f < t.pairs.nr; f++)
			real += t.pairs.list[f].verdict == VERDICT_REAL;
		rounds += t.nr;
		ab_free(&t);
	}
	check(real <= 1 && rounds >= 16 * TRIALS,
	      text("A against A: a difference in %u of %d, %u rounds", real, TRIALS, rounds),
	      "more than 1");
}

static void check_ends(void)
{
	struct machine m;
	struct ab_options o = options(&m, set_speed('A', 1e6), set_speed('B', 1e6));
	struct ab t;
	int err;

	o.rounds = 3;
	err = ab_run(&o, &t);
	check(!err && t.end == AB_ROUNDS && t.nr == 3 && t.pairs.list[1].verdict == VERDICT_FEW &&
	      fabs(t.pairs.list[1].a - 1e6) < 2e5, "three rounds are too few to say",
	      text("%d %u %s", t.end, t.nr, e.what));
	ab_free(&t);
	o = options(&m, set_speed('A', 1e6), set_speed('B', 2e6));
	m.stop_at = 15;
	err = ab_run(&o, &t);
	check(!err && t.end == AB_STOPPED && t.nr == 7 && m.rounds == 15 &&
	      t.pairs.list[1].verdict == VERDICT_REAL && file_read("speed")[0] == 'A',
	      "stopped: what there is, and A again", text("%d %u %s", t.end, t.nr, e.what));
	ab_free(&t);
	o = options(&m, set_speed('A', 1e6), set_speed('B', 1e6));
	m.stop_at = 1;
	err = ab_run(&o, &t);
	check(!err && t.end == AB_STOPPED && !t.nr && !t.pairs.nr, "stopped at once",
	      text("%d %u", err, t.nr));
	ab_free(&t);
	o = options(&m, set_speed('A', 1e6), set_speed('B', 1e6));
	o.pause = 0.05;
	o.seconds = 0.2;
	err = ab_run(&o, &t);
	check(!err && t.end == AB_TIME && t.nr >= 1 && t.nr < 8 && t.seconds < 3, "out of time",
	      text("%d %u %g s", t.end, t.nr, t.seconds));
	ab_free(&t);
}

static void expect_failure(struct ab_options o, const char *sentence, const char *name)
{
	struct ab t;
	int err = ab_run(&o, &t);

	check(err && !strcmp(e.what, sentence), name, e.what);
	ab_free(&t);
}

static void check_failures(void)
{
	struct machine m;
	struct ab_options o = options(&m, set_speed('A', 1), "echo one >&2; echo two >&2; exit 80");

	expect_failure(o, "command B exited with status 80, with \"two\": "
		       "echo one >&2; echo two >&2; exit 80", "B fails, and says why");
	check(file_read("speed")[0] == 'A', "A is left behind, still", file_read("speed"));
	o = options(&m, "false", set_speed('B', 1));
	expect_failure(o, "command A exited with status 1: false; and cannot set A again: "
		       "command A exited with status 1: false", "A fails, and again at the end");
	o = options(&m, "kill -TERM $$", "true");
	o.seed = 7;
	expect_failure(o, "command A was killed by signal 15 (Terminated): kill -TERM $$; and "
		       "cannot set A again: command A was killed by signal 15 (Terminated): "
		       "kill -TERM $$", "A is killed");
	o = options(&m, set_speed('A', 1), "printf '\\033[2Jx' >&2; sleep 60 & wait");
	o.patience = 0.1;
	expect_failure(o, "command B did not end within 0.1 s, and was killed: "
		       "printf '\\033[2Jx' >&2; sleep 60 & wait", "B does not end");
	o = options(&m, set_speed('A', 1), set_speed('B', 1));
	m.fail_at = 5;
	expect_failure(o, "the machine broke", "a round fails");
	check(!strcmp(e.try, "another cable") && file_read("speed")[0] == 'A',
	      "it says what to try, and leaves A behind", e.try);
	o = options(&m, set_speed('A', 1), set_speed('B', 1));
	o.figure = "packet_per_second";
	expect_failure(o, "the trial has no figure \"packet_per_second\"", "no such figure");
	same_text("but one much like it", e.try, "packets_per_second");
}

static void check_shell(void)
{
	int sock = link_socket();

	error_forget(&e);
	check(!shell_run("command A", "echo out; test ! -t 0 && ! read line", 5, &e),
	      "reads nothing", e.what);
	error_forget(&e);
	check(shell_run("command A", "printf '\\033[2Jboo\\n\\n' >&2; exit 3", 5, &e) == -ECHILD &&
	      !strchr(e.what, '\033') && strstr(e.what, "[2Jboo\""),
	      "what it says cannot move the cursor", e.what);
	error_forget(&e);
	check(shell_run("command A", "yes long | tr -d '\\n' | head -c 99999 >&2; exit 3", 5, &e) &&
	      strlen(e.what) < 400, "much said on one line", e.what);
	error_forget(&e);
	holds(!link_running(sock, "none such"), "what is not there has none");
	check(settle(sock, "none such", 0, 0.1, NULL, &e) == -ENETDOWN &&
	      !strcmp(e.what, "none such has had no carrier for 0.1 s"),
	      "a carrier that does not come", e.what);
	stop = 1;
	error_forget(&e);
	check(settle(-1, NULL, 60, 60, &stop, &e) == -EINTR, "a pause is stopped", e.what);
	close(sock);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 2;
	check_difference();
	check_none();
	check_ends();
	check_failures();
	check_shell();
	unlink(text("%s/speed", dir));
	rmdir(dir);
	return failed > 0;
}
