/* SPDX-License-Identifier: GPL-2.0 */
/* Selection of a driver's functions, from a made-up kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/kernel/tracefs.h"
#include "lib/trace/probes.h"
#include "lib/trace/running.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "check.h"

static struct error e;

static char dir[] = "/tmp/probes_test.XXXXXX";

static void put(const char *name, const char *what)
{
	FILE *f;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *slash = strchr(path + strlen(dir) + 1, '/'); slash; ) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
		slash = strchr(slash + 1, '/');
	}
	f = fopen(path, "w");
	if (!f || fputs(what, f) < 0 || fclose(f))
		exit(2);
}

static const char symbols[] =
	"ffffffff81000000 t receive_buf\n"
	"ffffffff81000100 T napi_poll_it\n"
	"ffffffff81000180 t __pfx_napi_poll_it\n"
	"ffffffffc0000000 t receive_buf\t[virtio_net]\n"
	"ffffffffc0000100 t virtnet_poll\t[virtio_net]\n"
	"ffffffffc0000200 t virtnet_poll.cold\t[virtio_net]\n"
	"ffffffffc0000300 t start_xmit\t[virtio_net]\n"
	"ffffffffc0000400 t skb_recv_done\t[virtio_net]\n"
	"ffffffffc0000500 t virtnet_twice\t[virtio_net]\n"
	"ffffffffc0000600 t virtnet_twice\t[virtio_net]\n"
	"ffffffffc0000700 d virtnet_data\t[virtio_net]\n"
	"ffffffffc0000800 t start_xmit\t[other]\n"
	"ffffffffc0000900 t __traceiter_virtnet_seen\t[virtio_net]\n"
	"ffffffffc0000a00 t __traceiter_other_seen\t[other]\n"
	"ffffffffc0000b00 t __traceiter_nowhere\t[virtio_net]\n"
	"ffffffff81000200 T __traceiter_napi_poll\n";

static const char traceable[] =	/* without skb_recv_done: known ones are not checked */
	"receive_buf\nnapi_poll_it\nreceive_buf [virtio_net]\nvirtnet_poll [virtio_net]\n"
	"start_xmit [virtio_net]\nvirtnet_twice [virtio_net]\nvirtnet_twice [virtio_net]\n"
	"start_xmit [other]\n";

static struct probes p;

/* "name[module]:row…" of all, in order. */
static const char *chosen(const struct probes_wanted *w)
{
	static char list[1000];
	int at = 0;

	error_forget(&e);
	probes_free(&p);
	*list = '\0';
	if (probes_choose(&p, w, &e))
		return e.what;
	for (unsigned i = 0; i < p.nr; i++)
		at += snprintf(list + at, sizeof(list) - at, "%s%s[%s]:%u%s%s", i ? " " : "",
			       p.list[i].name, p.list[i].module, p.list[i].row,
			       p.list[i].timed ? "t" : "", p.list[i].tracepoint ? "!" : "");
	return list;
}

static void globs(void)
{
	unsigned nr = 9;

	holds(probes_fit("ena_io_poll", "ena_io_poll", "ena", NULL), "a name fits itself");
	holds(probes_fit("igb_*,ena_*", "ena_io_poll", "ena", &nr) && nr == 1, "the second of two");
	holds(!probes_fit("igb_*,ena", "ena_io_poll", "ena", NULL), "none");
	holds(probes_fit("ena:*poll", "ena_io_poll", "ena", NULL), "of a module");
	holds(!probes_fit("igb:*poll", "ena_io_poll", "ena", NULL), "not of another");
	holds(probes_fit("vmlinux:napi_*", "napi_poll", "", NULL), "of the kernel");
	holds(!probes_fit("vmlinux:*", "ena_io_poll", "ena", NULL), "not of the kernel");
	holds(probes_fit(",,ena_*,", "ena_io_poll", "ena", &nr) && !nr, "commas that part nothing");
	holds(!probes_fit("", "x", "", NULL) && !probes_fit(NULL, "x", "", NULL), "no globs");
}

static void table(struct probes_wanted w)
{
	same_text("what is known of a driver, not what is called like it elsewhere", chosen(&w),
		  "receive_buf[virtio_net]:0 skb_recv_done[virtio_net]:1 start_xmit[virtio_net]:2 "
		  "virtnet_poll[virtio_net]:3 virtnet_seen[virtio_net]:4!");
	holds(p.functions == 4 && p.tracepoints == 1 && p.rows == 5 && p.known >= 10 &&
	      p.missing == p.known - 4, "…how many, and how many are not there");
	w.timed = "virtnet_poll,napi*";
	same_text("besides those that are timed", chosen(&w),
		  "napi_poll_it[]:0t receive_buf[virtio_net]:1 start_xmit[virtio_net]:2 "
		  "virtnet_poll[virtio_net]:3t virtnet_seen[virtio_net]:4!");
	holds(p.times == 2 && p.list[0].time == 0 && p.list[3].time == 1,
	      "…whose times have rows of their own");
	w.timed = NULL;
	w.cannot = "no kprobes";
	same_text("without functions the tracepoints are left", chosen(&w),
		  "virtnet_seen[virtio_net]:0!");
}

static void named(struct probes_wanted w)
{
	w.functions = "virtnet_*";
	same_text("by a glob: two of one name are one row", chosen(&w),
		  "virtnet_poll[virtio_net]:0 virtnet_seen[virtio_net]:1! "
		  "virtnet_twice[virtio_net]:2 virtnet_twice[virtio_net]:2");
	holds(!p.list[2].copy && p.list[3].copy && p.rows == 3 && p.functions == 3 && !p.known,
	      "…of which the second is a copy");
	w.functions = "start_xmit,vmlinux:receive_buf";
	same_text("in any module, or in none", chosen(&w),
		  "receive_buf[]:0 start_xmit[other]:1 start_xmit[virtio_net]:2");
	w.functions = "virtnet_*";
	w.max = 2;
	same_text("more than may be", chosen(&w), "3 functions are selected; the limit is 2");
	holds(!strncmp(e.try, "--max-functions 3", 17), "…and what to do");
	w.functions = "start_xmit,nosuch*";
	same_text("a glob that fits nothing", chosen(&w),
		  "no function in this kernel matches \"nosuch*\"");
	w.functions = "skb_recv_done";
	same_text("one that cannot be traced", chosen(&w),
		  "functions that match \"skb_recv_done\" cannot be traced: notrace, or "
		  "known by another name");
	w.functions = NULL;
	w.timed = "virtnet_poll,skb_recv_done";
	same_text("one that is timed, and cannot be traced", chosen(&w),
		  "functions that match \"skb_recv_done\" cannot be traced: notrace, or "
		  "known by another name");
	w.timed = "virtnet_seen";
	same_text("a tracepoint has no duration", chosen(&w),
		  "no function in this kernel matches \"virtnet_seen\"");
}

static void strangers(void)
{
	struct probes_wanted w = { .driver = &driver_generic, .module = "other" };

	same_text("of a module nobody knows its tracepoints", chosen(&w), "other_seen[other]:0!");
	w.module = "virtio_pci";
	same_text("a module with nothing", chosen(&w),
		  "no functions of virtio_pci are known");
	w.driver = driver_find("igb");
	w.module = "igb";
	same_text("a driver that is not loaded", chosen(&w),
		  "the driver igb is not in this kernel, or not loaded");
	same_text("…and what to do", e.try, "modprobe igb");
}

int main(void)
{
	struct probes_wanted virtio = {
		.driver = driver_find("virtio_net"), .module = "virtio_net",
	};
	static char path[64];

	if (!mkdtemp(dir))
		return 2;
	put("kallsyms", symbols);
	put("available_filter_functions", traceable);
	put("events/virtio/virtnet_seen/id", "77\n");
	put("events/other/other_seen/id", "78\n");
	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	proc_kallsyms = path;
	tracefs_dirs[0] = dir;
	tracefs_dirs[1] = NULL;
	globs();
	table(virtio);
	named(virtio);
	strangers();
	holds(tracefs_event("other_seen") == 78 && !tracefs_event("nobody_seen"),
	      "an event is found in whatever group, or not at all");
	tracefs_dirs[0] = "/nowhere";
	holds(!tracefs_event("nobody_seen"), "nothing is found where tracefs is not mounted");
	tracefs_dirs[0] = dir;
	put("kallsyms", "0000000000000000 t virtnet_poll\t[virtio_net]\n");
	same_text("addresses that are hidden", chosen(&virtio),
		  "the kernel hides the addresses of its functions");
	probes_free(&p);
	return system(text("rm -r %s", dir)) || failed > 0;
}
