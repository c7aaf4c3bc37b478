/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe doctor: is this interface well? Measures everything for a while, and answers. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/doctor.h"
#include "lib/kernel/permits.h"
#include "lib/net/iface.h"
#include "lib/util/amount.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"

#define SECONDS_DEFAULT	5
#define LONGEST		86400.0

enum { EXIT_FINDINGS = 3 };

static bool for_take(void *to, const char *value)
{
	struct doctor *d = to;

	if (time_parse(value, &d->seconds) && d->seconds >= .1 && d->seconds <= LONGEST)
		return true;
	usage_error("--for 5s", "--for takes a time from 100ms to 24h, not \"%s\"", value);
	return false;
}

static const struct option_spec options[] = {
	{ 0, "for", "TIME", "measure for this long (default: 5s)", .take = for_take },
	{ 0, "least", "SEVERITY", "an interface is well in spite of milder findings:\n"
				  "info (default), warning, critical", OPTION_WORD,
	  INTO(struct doctor, least), .words = "info warning critical" },
	{ 0, "script", NULL, "print the suggested commands as a script of sh",
	  OPTION_FLAG, INTO(struct doctor, script) },
	{}
};

static struct patient *more(struct doctor *d, const char *name)
{
	struct patient *list = grow(d->patients, d->nr, sizeof(*list));

	if (!list)
		return NULL;
	d->patients = list;
	list += d->nr++;
	memset(list, 0, sizeof(*list));
	snprintf(list->name, sizeof(list->name), "%s", name);
	return list;
}

/* All interfaces of this namespace that a driver serves and that are up. */
static int choose_all(struct doctor *d, struct error *e)
{
	struct if_nameindex *list = if_nameindex();
	unsigned down = 0;

	for (struct if_nameindex *i = list; i && i->if_index; i++) {
		struct iface now;

		if (iface_read(i->if_name, &now, NULL) || now.loopback ||
		    !strcmp(now.driver, "unknown"))
			continue;
		down += !now.up;
		if (now.up && !more(d, i->if_name))
			return error_set(e, -ENOMEM, NULL, "out of memory");
	}
	if (list)
		if_freenameindex(list);
	if (d->nr)
		return 0;
	return error_set(e, -ENODEV, "ip link", down ? "all interfaces here are down" :
			 "no interface here has a driver");
}

/* The exit status. */
static int answer(const struct doctor *d)
{
	bool unasked = false;

	for (unsigned i = 0; i < d->nr; i++) {
		if (troubles(d, &d->patients[i]))
			return EXIT_FINDINGS;
		unasked |= !!unjudged(&d->patients[i]);
	}
	return unasked ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int examine(struct doctor *d, struct error *e)
{
	if (doctor_measure(d, e))
		return failed(e);
	if (d->nr == 1 && unjudged(&d->patients[0]))
		return iface_failed(d->patients[0].name, &d->patients[0].error);
	(d->script ? doctor_script : json_wanted ? doctor_json : doctor_print)(d);
	if (output_flush() && output_flush() != EPIPE)
		return error_set(e, -output_flush(), NULL, "cannot write the output: %s",
				 strerror(output_flush())), failed(e);
	return answer(d);
}

static int run(int argc, char **argv)
{
	struct doctor d = { .seconds = SECONDS_DEFAULT };
	struct error e = {};
	int status;

	if (!options_take(&command_doctor, argc, argv, &d, &status))
		return status;
	if (optind + 1 < argc)
		return usage_error("nicprobe doctor IFACE",
				   "doctor takes one interface, or none: all");
	if (d.script && json_wanted)
		return usage_error("leave out -j", "--script prints commands, and -j JSON");
	if (kernel_permits_all(&e))
		return failed(&e);
	if (argv[optind] ? !more(&d, argv[optind]) : choose_all(&d, &e))
		return failed(&e);
	signal(SIGPIPE, SIG_IGN);	/* the answer is the exit status, too */
	status = examine(&d, &e);
	doctor_free(&d);
	return status;
}

const struct command command_doctor = {
	.name = "doctor",
	.args = "[[NETNS/]IFACE] [--for TIME]",
	.help = "answer whether an interface is well, and what to do",
	.options = { options },
	.run = run,
};
