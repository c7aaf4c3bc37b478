/* SPDX-License-Identifier: GPL-2.0 */
/* The ring of texts, near names, and what is kept of libbpf's messages. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "lib/util/log.h"
#include "lib/util/near.h"
#include "check.h"

static void check_texts(void)
{
	const char *texts[8];
	bool good = true;

	for (int i = 0; i < 8; i++)
		texts[i] = text("%d", i);
	for (int i = 0; i < 8; i++)
		good = good && texts[i][0] == '0' + i && !texts[i][1];
	check(good, "eight texts live at once", texts[0]);
	same("a long text is cut", strlen(text("%9999d", 1)), 511);
}

static void near(const char *wanted, const char *expected)
{
	static const char *const names[] = { "lo", "eth0", "eth1", "wlan0", "enp3s0f1", "docker0" };
	struct near n = near_to(wanted);

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		near_try(&n, names[i]);
	same_text(text("near \"%.9s\" is \"%s\"", wanted, expected), n.name, expected);
}

static void check_near(void)
{
	near("eht0", "eth0");
	near("eth", "eth0");
	near("ETH1", "eth1");
	near("l0", "lo");
	near("enp3s0", "enp3s0f1");
	near("wlp2s0", "");
	near("x", "");
	near("", "");
	near(text("%0500d", 0), "");
}

static libbpf_print_fn_t listener;

static void libbpf_says(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	listener(LIBBPF_WARN, format, args);
	va_end(args);
}

static void last_is(const char *expected, const char *name)
{
	same_text(name, log_last(), expected);
}

/* Messages of libbpf 1.1 for a program that the verifier rejects, in order. */
static void check_verifier(void)
{
	listener = libbpf_set_print(NULL);
	libbpf_says("libbpf: prog '%s': BPF program load failed: %s\n", "p", "Permission denied");
	last_is("prog 'p': BPF program load failed: Permission denied", "the failure, when alone");
	libbpf_says("libbpf: prog '%s': -- BEGIN PROG LOAD LOG --\n%s-- END PROG LOAD LOG --\n",
		    "p", "0: (95) exit\nR0 !read_ok\nprocessed 1 insns (limit 1000000)\n");
	last_is("R0 !read_ok", "the verifier's reason");
	libbpf_says("libbpf: prog '%s': failed to load: %d\n", "p", -13);
	libbpf_says("libbpf: failed to load object '%s'\n", "o");
	last_is("R0 !read_ok", "echoes are not remembered");
	libbpf_says("libbpf: Kernel error message: %s\n", "XDP program already attached");
	last_is("XDP program already attached", "the next thing that went wrong");
	log_forget();
	libbpf_says("libbpf: failed to load object '%s'\n", "o");
	last_is("failed to load object 'o'", "an echo is better than nothing");
	libbpf_says("libbpf: \n");
	last_is("failed to load object 'o'", "an empty line is nothing");
	log_forget();
	libbpf_says("libbpf: failed to get map info for map FD %d: %s\n", 7, strerror(EPERM));
	libbpf_says("libbpf: couldn't reuse pinned map at '%s': parameter mismatch\n", "p");
	libbpf_says("libbpf: map '%s': failed to create: %s(%d)\n", "m", strerror(EINVAL), -EINVAL);
	libbpf_says("libbpf: permission error while running as root; try raising 'ulimit -l'? "
		    "current value: %s\n", "8.0 MiB");
	last_is("failed to get map info for map FD 7: Operation not permitted",
		"what follows a refusal is an echo");
	log_forget();
	libbpf_says("libbpf: map '%s': failed to create: %s(%d)\n", "m", strerror(EINVAL), -EINVAL);
	libbpf_says("libbpf: permission error while running as root; try raising 'ulimit -l'? "
		    "current value: %s\n", "8.0 MiB");
	last_is("map 'm': failed to create: Invalid argument(-22)", "a guess is an echo");
	log_init(false);
}

static void check_libbpf(void)
{
	static char elf[64] = "no ELF";
	struct bpf_object *obj;

	log_forget();
	same_text("nothing is remembered at first", log_last(), "");
	obj = bpf_object__open_mem(elf, sizeof(elf), NULL);
	check(!obj && log_last()[0], "libbpf is listened to", "nothing remembered");
	check(!strstr(log_last(), "libbpf: "), "without libbpf's name", log_last());
	check(!strchr(log_last(), '\n'), "one line", log_last());
}

int main(void)
{
	log_init(false);
	check_texts();
	check_near();
	check_verifier();
	check_libbpf();
	return failed > 0;
}
