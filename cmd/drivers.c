/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe drivers: what is known about a driver, checked against this kernel or a module file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cmd/cmd.h"
#include "cmd/facts.h"
#include "cmd/words.h"
#include "lib/kernel/feature.h"
#include "lib/kernel/permits.h"
#include "lib/trace/module.h"
#include "lib/trace/running.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

static struct page page;

static void put(const char *what)
{
	page_wrap(&page, 2, what);
	page_newline(&page);
}

static const char *release(void)
{
	static struct utsname kernel;

	uname(&kernel);
	return kernel.release;
}

/* Does the running kernel have the driver? If not, nothing more can be checked. */
static bool ask_running(struct facts *f, struct running **running)
{
	*running = running_open(f->driver);
	f->version = release_version(release());
	if (*running && running_here(*running, f->driver))
		f->running = *running;
	return f->running;
}

/* Which attach methods can trace its functions here. */
static void ask_ways(struct facts *f)
{
	bool permits = !kernel_permits(NULL);

	f->no_fentry = permits ? kernel_lacks(FEATURE_FENTRY) : "unknown, finding out needs root";
	f->no_kprobe = kernel_lacks(FEATURE_KPROBE);
}

/* The lines above the list of functions. */
static void say_here(const struct facts *f)
{
	put(text("%s  %s", f->driver->name, f->driver->help));
	if (!f->driver->functions)
		return;
	if (!f->running) {
		put(text("Not in this kernel (%s). To check a module file: nicprobe drivers "
			 "--check FILE.", release()));
		return;
	}
	put(text("In this kernel (%s).", release()));
	if (f->no_fentry)
		put(text("fentry: %s.", f->no_fentry));
	if (f->no_kprobe)
		put(text("kprobe: %s.", f->no_kprobe));
}

static void one_json(struct json *j, struct facts *f)
{
	json_open(j, NULL, '{');
	json_string(j, "driver", f->driver->name);
	json_string(j, "help", f->driver->help);
	json_bool(j, "here", f->running);
	facts_json(j, f);
	json_close(j);
}

static void one(const struct driver *d, struct json *j, bool ask)
{
	struct facts f = { .driver = d };
	struct running *running = NULL;

	if (ask && ask_running(&f, &running))
		ask_ways(&f);
	if (j) {
		one_json(j, &f);
	} else {
		say_here(&f);
		facts_text(&page, &f);
	}
	if (running)
		running_close(running);
}

static void overview_line(const struct driver *d, bool here)
{
	page_put(&page, d->name, -1);
	page_spaces(&page, 20 - page.at);
	page_put(&page, here ? "here" : d->functions ? "" : "-", -1);
	page_spaces(&page, 26 - page.at);
	put(d->help);
}

static void overview(void)
{
	struct json j = { .out = stdout };
	unsigned nr = 0;
	bool *here;

	while (drivers[nr])
		nr++;
	here = calloc(nr, sizeof(*here));
	if (here)
		running_all(here);
	if (json_wanted)
		json_open(&j, NULL, '[');
	for (unsigned i = 0; here && i < nr; i++)
		if (json_wanted)
			one(drivers[i], &j, here[i]);
		else
			overview_line(drivers[i], here[i]);
	free(here);
	if (json_wanted) {
		json_close(&j);
		putchar('\n');
	} else {
		put("");
		put("here: in this kernel; -: no functions known.");
		put("Details of one driver: nicprobe drivers NAME.");
	}
}

/* The driver table for this module: its own, or one that names functions of it. NULL: none. */
static const struct driver *table_of(const char *module)
{
	const struct driver *own = driver_find(module);

	if (own != &driver_generic)
		return own;
	for (const struct driver *const *d = drivers; *d; d++) {
		struct facts f = { .driver = *d, .only = module };

		if (facts_functions(&f))
			return *d;
	}
	return NULL;
}

static void check_text(struct facts *f, const char *path)
{
	const char *name = module_name(f->module), *machine = module_machine(f->module);

	put(text("%s  %s", name, facts_own(f) ? f->driver->help :
		 text("the parts of driver %s in this module", f->driver->name)));
	put(text("%s, for Linux %s%s.", basename(path), *module_release(f->module) ?
		 module_release(f->module) : "(unknown release)",
		 machine ? text(" on %s, unlike this machine", machine) : ""));
	if (f->no_fentry && facts_functions(f))
		put(text("fentry: unknown: %s.", f->no_fentry));
	facts_text(&page, f);
	put("");
	put(f->missing ? text("%u expected name%s %s missing.", f->missing,
			      f->missing == 1 ? "" : "s", f->missing == 1 ? "is" : "are") :
	    facts_functions(f) ? "Every expected name is present." :
	    "No names to check are known for it.");
}

static void check_json(struct facts *f, const char *path)
{
	struct json j = { .out = stdout };

	json_open(&j, NULL, '{');
	json_string(&j, "module", module_name(f->module));
	json_string(&j, "file", path);
	json_string(&j, "release", module_release(f->module));
	json_string(&j, "driver", f->driver->name);
	facts_json(&j, f);
	json_uint(&j, "missing", f->missing);
	json_close(&j);
	putchar('\n');
}

static int check(const char *path, const char *btf)
{
	struct error e = {};
	struct module *m = module_open(path, btf, &e);
	struct facts f = { .module = m };

	if (!m)
		return failed(&e);
	f.only = module_name(m);
	f.driver = table_of(f.only);
	f.version = release_version(module_release(m));
	f.no_fentry = module_no_btf(m);
	if (!f.driver) {
		error_set(&e, -1, "nicprobe drivers",
			  "cannot check %s: nothing is known about module %s", path,
			  module_name(m));
		module_close(m);
		return failed(&e);
	}
	if (json_wanted)
		check_json(&f, path);
	else
		check_text(&f, path);
	module_close(m);
	return f.missing ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Checks every file, even after one has failed. */
static int check_all(int argc, char **argv, const char *btf)
{
	int status = EXIT_SUCCESS;

	if (optind == argc)
		return usage_error("nicprobe drivers --check MODULE.ko", "--check needs a file");
	for (int i = optind; i < argc; i++) {
		if (i > optind && !json_wanted)
			put("");
		if (check(argv[i], btf))
			status = EXIT_FAILURE;
	}
	return status;
}

struct check_options {
	bool check;
	const char *btf;
};

static const struct option_spec options[] = {
	{ 'c', "check", NULL, "check module files for the known names; exit status 1\n"
			      "if a name is missing",
	  OPTION_FLAG, INTO(struct check_options, check), .operands = "files" },
	{ 'b', "btf", "VMLINUX", "take BTF from this kernel, which the modules are for",
	  OPTION_FILE, INTO(struct check_options, btf), .operands = "files" },
	{}
};

static int run(int argc, char **argv)
{
	struct check_options wanted = {};
	struct json j = { .out = stdout };
	const struct driver *d;
	int status;

	if (!options_take(&command_drivers, argc, argv, &wanted, &status))
		return status;
	page = terminal_page(stdout, 60);
	if (wanted.check)
		return check_all(argc, argv, wanted.btf);
	if (wanted.btf)
		return usage_error("nicprobe drivers --btf VMLINUX --check MODULE.ko",
				   "--btf requires --check");
	if (optind == argc) {
		overview();
		return EXIT_SUCCESS;
	}
	if (optind + 1 < argc)
		return usage_error("nicprobe drivers", "drivers takes one name");
	d = driver_find(argv[optind]);
	if (d == &driver_generic)
		return usage_error(did_you_mean("@drivers", argv[optind], "nicprobe drivers ",
						"nicprobe drivers"),
				   "no driver \"%s\"", argv[optind]);
	one(d, json_wanted ? &j : NULL, true);
	if (json_wanted)
		putchar('\n');
	return EXIT_SUCCESS;
}

const struct command command_drivers = {
	.name = "drivers",
	.args = "[NAME | --check MODULE.ko…]",
	.help = "show what is known about a driver, and check a kernel for it",
	.options = { options },
	.run = run,
};
