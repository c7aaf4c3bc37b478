/* SPDX-License-Identifier: GPL-2.0 */
/* The table of findings is complete; findings are ordered, folded and merged. */
#include <ctype.h>
#include <string.h>

#define SUBJECT "findings "
#include "judge.h"

#define MANY 400

static const struct finding_kind *all[MANY];
static unsigned nr_all;

static void collect(void)
{
	for (const struct subject *const *s = subjects; *s; s++)
		for (unsigned i = 0; (*s)->kind(i) && nr_all < MANY; i++)
			all[nr_all++] = (*s)->kind(i);
}

/* "rx-one-flow" */
static bool is_id(const char *id)
{
	for (const char *c = id; *c; c++)
		if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '-')
			return false;
	return *id && strlen(id) < 24;
}

/* Every limit that is quoted exists. */
static bool quotes_all(const struct finding_kind *k)
{
	char words[1000];

	for (unsigned i = 0; i < MAX_LIMITS; i++) {
		const char *quote = text("{%u}", i + 1);

		if (!k->limits[i] && strstr(k->when, quote))
			return false;
	}
	kind_text(k, k->when, words, sizeof(words));
	return !strpbrk(words, "{}") && strlen(words) < sizeof(words) - 1;
}

static bool follows(const struct finding_kind *k, const struct finding_kind *cause, unsigned deep)
{
	for (unsigned i = 0; deep && i < MAX_CAUSES && k->follows[i]; i++) {
		const struct finding_kind *next = kind_find(k->follows[i]);

		if (next && (next == cause || follows(next, cause, deep - 1)))
			return true;
	}
	return false;
}

static void check_table(void)
{
	check(nr_all >= 60 && nr_all < MANY, "there are many", text("%u", nr_all));
	for (unsigned i = 0; i < nr_all; i++) {
		const struct finding_kind *k = all[i];
		bool causes = true;

		must(is_id(k->id), k->id, "that is no id");
		must(kind_find(k->id) == k, k->id, "another has the same id");
		must(k->rests.all || k->rests.any, k->id, "it rests on nothing");
		must(k->title && k->means && k->when && k->remedy && k->symptom, k->id,
		     "it does not say all");
		must(quotes_all(k), k->id, "its limits are not those that it quotes");
		for (unsigned c = 0; c < MAX_CAUSES && k->follows[c]; c++)
			causes &= kind_find(k->follows[c]) != NULL;
		must(causes, k->id, "it follows from what is not there");
		must(!follows(k, k, 8), k->id, "it follows from itself");
	}
	holds(!failed, text("all %u say what they must", nr_all));
	holds(!kind_find("no-such-finding"), "an unknown id");
}

static const struct finding_kind cause = {
	.id = "cause", .severity = SEVERITY_WARNING, .harm = HARM_RISK
}, effect = {
	.id = "effect", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
	.follows = { "nothing", "cause" }
}, after = {
	.id = "after", .severity = SEVERITY_INFO, .harm = HARM_LOSS, .follows = { "effect" }
}, other = {
	.id = "other", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS
}, mild = {
	.id = "mild", .severity = SEVERITY_WARNING, .harm = HARM_WAIT
};

/* IDs in order, those that are folded in brackets. */
static const char *ordered(struct findings *f)
{
	const char *words = "";

	findings_order(f);
	for (unsigned i = 0; i < f->nr; i++)
		words = text(f->list[i].under < 0 ? "%s %s" : "%s (%s)", words,
			     f->list[i].kind->id);
	return words;
}

static void check_order(void)
{
	static struct findings f;

	finding_add(&f, &mild, -1, "1");
	finding_harm(finding_add(&f, &other, -1, "2"), 10);
	finding_add(&f, &effect, -1, "3");
	same_text("the worst first", ordered(&f), " other effect mild");
	finding_add(&f, &cause, -1, "4");
	finding_add(&f, &after, -1, "5");
	same_text("a cause is as bad as what comes of it", ordered(&f),
		  " other cause (effect) (after) mild");
	same("what comes last is folded under the first cause", f.list[3].under, 1);
	same("those that stand by themselves", findings_count(&f, SEVERITY_INFO), 3);
	same("of them critical", findings_count(&f, SEVERITY_CRITICAL), 2);
	f.nr = 0;
	for (int queue = 0; queue < 64; queue++)
		finding_harm(finding_add(&f, &mild, queue, "%d", queue), queue == 40 ? 2 : 1);
	same_text("one of a kind", ordered(&f), " mild");
	same("the worst of its queues", f.list[0].queue, 40);
	same("the others are counted", f.list[0].others, 63);
	f.nr = 0;
	finding_add(&f, &mild, 3, "1");
	holds(!finding_add(&f, &mild, 3, "2"), "the same is not said twice");
}

static void check_fix(void)
{
	static struct findings f;
	struct finding *one = finding_add(&f, &mild, -1, "x");
	char words[900], long_word[FIX_ROOM];

	finding_fix(one, "ethtool", "-G", "eth0", "rx", "1024");
	finding_try(one, words, sizeof(words));
	same_text("a command", words, "ethtool -G eth0 rx 1024");
	finding_changes(one, "a longer ring");
	finding_fix(one, "sh", "-c", "echo 3 > /sys/x");
	finding_advise(one, "and look");
	finding_try(one, words, sizeof(words));
	same_text("two, and a sentence", words, "ethtool -G eth0 rx 1024; echo 3 > /sys/x (a "
		  "longer "
		  "ring); and look");
	one->nr_fixes = 0;
	*one->changes = *one->advice = '\0';
	finding_fix(one, "ip", "link", "set", "dev", "it's; $(x)", "up");
	finding_try(one, words, sizeof(words));
	same_text("quotes", words, "ip link set dev 'it'\\''s; $(x)' up");
	memset(long_word, 'x', sizeof(long_word) - 1);
	long_word[sizeof(long_word) - 1] = '\0';
	one->nr_fixes = 0;
	finding_fix(one, "echo", long_word);
	same("half a command is none", one->nr_fixes, 0);
	finding_fix(NULL, "echo");
	finding_harm(NULL, 1);
	finding_advise(NULL, "x");
}

int main(void)
{
	collect();
	check_table();
	check_order();
	check_fix();
	same_text("a time of 0", finding_time(0), "0 ns");
	same_text("a short time", finding_time(32.84e-6), "32.8 us");
	same_text("just below the next unit", finding_time(.9994e-3), "999 us");
	same_text("rounded, it is the next unit", finding_time(.9996e-3), "1 ms");
	same_text("more than a second", finding_time(1.12), "1.12 s");
	same_text("a long time", finding_time(12345), "12345 s");
	return failed > 0;
}
