/* SPDX-License-Identifier: GPL-2.0 */
/* Measures interfaces for `nicprobe doctor`, without a change to what is attached to them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/doctor.h"
#include "lib/attach/bpffs.h"
#include "lib/attach/pins.h"
#include "lib/net/iface.h"
#include "lib/read/cost.h"
#include "lib/util/clock.h"
#include "lib/util/log.h"

#define COST_SECONDS	.5	/* the kernel times our programs for so long, after the window */

/* Meters on which no finding about an interface rests, and what they would cost. */
static const struct {
	enum meter_id id;
	const char *why;
} left_out[] = {
	{ METER_skblife, "doctor leaves it out: no trouble shows there alone, and it traces the "
			 "packets of all interfaces" },
	{ METER_driver, "doctor leaves it out: no trouble shows there alone, and it runs at each "
			"call of the driver's functions" },
};

/* What is under way, on a terminal; NULL: nothing any more. */
static void progress(const char *what)
{
	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%s\033[K", what ?: "");
	fflush(stderr);
}

static int begin(struct patient *p)
{
	struct request req = { .meters = (1ull << NR_METERS) - 1, .label = p->name, .aside = true };
	const char *iface = iface_enter(p->name, NULL, &p->error);
	int err = iface ? 0 : -ENOENT;

	for (unsigned i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
		req.meters &= ~(1ull << left_out[i].id);
	err = err ?: attach_iface(iface, &req, &p->meta, &p->error);
	netns_go_home();
	if (!err)
		pins_dir(p->pins, sizeof(p->pins), p->meta.netns, p->meta.iface);
	return err;
}

static void begin_all(struct doctor *d)
{
	double began = seconds_now();

	for (unsigned i = 0; i < d->nr; i++) {
		progress(text("attaching to %s", d->patients[i].name));
		begin(&d->patients[i]);
	}
	d->attaching = seconds_now() - began;
}

static void take(struct patient *p, struct snapshot *s)
{
	int err = *p->pins ? snapshot_take(s, p->pins, &p->error) : 0;

	if (err)
		error_set(&p->error, err, NULL, "cannot read the counts of %s: %s", p->name,
			  strerror(-err));
	if (err || s->gone)
		error_set(&p->error, -ENODEV, "ip link", "%s went away meanwhile", p->name);
}

/* By absolute time: what is left is told once a second. */
static void wait_until(double end)
{
	for (double left; (left = end - seconds_now()) > 0;) {
		double step = left > 1 ? left - (long)left ?: 1 : left;

		progress(text("measuring, %.0f s left", left));
		nanosleep(&(struct timespec){ .tv_sec = step,
					      .tv_nsec = (step - (long)step) * 1e9 }, NULL);
	}
}

static void judge(struct patient *p)
{
	const char *slash = strchr(p->name, '/');

	if (unjudged(p) || !*p->pins)
		return;
	snapshot_diff(&p->now, &p->before);
	for (unsigned i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
		snprintf(p->now.meta.absent[left_out[i].id],
			 sizeof(p->now.meta.absent[0]), "%s", left_out[i].why);
	if (!p->now.meta.host && iface_enter(p->name, NULL, &p->error) &&
	    !hw_read(slash ? slash + 1 : p->name, &p->hw, &p->error))
		p->now.hw = &p->hw;
	netns_go_home();
	if (unjudged(p))
		return;
	findings_judge(&p->now, p->now.hw);
	if (checks_of(&p->now, &p->checks))
		error_set(&p->error, -ENOMEM, NULL, "out of memory");
	else if (!p->now.meta.host && !p->hw.iface.up && !p->now.findings.nr)
		error_set(&p->error, -ENETDOWN, text("ip link set dev %s up", p->hw.iface.name),
			  "%s is administratively down: nothing can be said of it", p->name);
}

/* What our own programs take, after the window: being timed makes them dearer. */
static void cost(struct doctor *d)
{
	char (*dirs)[256] = calloc(d->nr, sizeof(*dirs));
	struct cost_watch *watch;
	struct cost c = {};
	unsigned nr = 0;

	d->share = -1;
	for (unsigned i = 0; dirs && i < d->nr; i++)
		if (*d->patients[i].pins)
			memcpy(dirs[nr++], d->patients[i].pins, sizeof(*dirs));
	watch = nr ? cost_begin((const char (*)[256])dirs, nr, NULL) : NULL;
	if (watch) {
		wait_until(seconds_now() + COST_SECONDS);
		if (!cost_end(watch, &c, NULL) && c.seconds > 0)
			d->share = (c.inside + c.calls) * 1e-9 / c.seconds;
	}
	free(c.events);
	free(dirs);
}

/* All would end with this process, but the kernel may take its time then. */
static void end(struct patient *p)
{
	int lock = *p->pins ? pins_lock(true, NULL) : -1;

	if (lock >= 0)
		detach_pins(p->pins, p->meta.netns, true, NULL);
	pins_unlock(lock);
	netns_go_home();
}

/* Interfaces that are judged before others, those with findings first, the worst of them first. */
static int compare(const void *a, const void *b)
{
	const struct patient *x = a, *y = b;
	const struct findings *f = &x->now.findings, *g = &y->now.findings;

	if (!unjudged(x) != !unjudged(y))
		return unjudged(x) ? 1 : -1;
	if (!f->nr || !g->nr)
		return (g->nr > 0) - (f->nr > 0);
	return finding_worse(&f->list[0], &g->list[0]);
}

int doctor_measure(struct doctor *d, struct error *e)
{
	int err = bpffs_own(e);

	if (err)
		return err;
	begin_all(d);
	for (unsigned i = 0; i < d->nr; i++)
		take(&d->patients[i], &d->patients[i].before);
	wait_until(seconds_now() + d->seconds);
	for (unsigned i = 0; i < d->nr; i++)
		take(&d->patients[i], &d->patients[i].now);
	for (unsigned i = 0; i < d->nr; i++)
		judge(&d->patients[i]);
	cost(d);
	for (unsigned i = 0; i < d->nr; i++)
		end(&d->patients[i]);
	pins_tidy();
	progress(NULL);
	/* each is an element of its own: what points into it is set anew */
	qsort(d->patients, d->nr, sizeof(*d->patients), compare);
	for (unsigned i = 0; i < d->nr; i++)
		if (d->patients[i].now.hw)
			d->patients[i].now.hw = &d->patients[i].hw;
	return 0;
}

void doctor_free(struct doctor *d)
{
	for (unsigned i = 0; i < d->nr; i++) {
		struct patient *p = &d->patients[i];

		snapshot_free(&p->before);
		snapshot_free(&p->now);
		hw_free(&p->hw);
		free(p->checks.list);
	}
	free(d->patients);
}
