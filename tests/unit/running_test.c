/* SPDX-License-Identifier: GPL-2.0 */
/* The names of a driver in a running kernel, from a kallsyms of our own. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/trace/running.h"

#define SUBJECT "running "
#include "check.h"

/* As 6.12 prints them to root and to others: modules in brackets, after a tab. */
static const char symbols[] =
	"ffffffff81daef80 t tun_net_xmit\n"
	"ffffffff81daef90 t tun_napi_poll\n"
	"ffffffff81daefa0 t tun_do_read.cold\n"
	"ffffffff81daefa8 t tun_get_user\n"
	"ffffffff81daefb0 t tun_get_user\n"
	"0000000000000000 t e1000_intr\t[e1000]\n"
	"0000000000000000 t e1000_clean\t[e1000]\n"
	"0000000000000000 t e1000_xmit_frame\t[e1000]\n"
	"ffffffffc0a01230 t i40e_napi_poll\t[i40e]\n"
	"ffffffffc0a01240 T __traceiter_i40e_clean_tx_irq\t[i40e]\n"
	"ffffffffc0a01250 d __tracepoint_i40e_clean_rx_irq\t[i40e]\n"
	"ffffffffc0a01260 t veth_poll\t[bpf]\n"
	"\n"
	"ffffffffc0a01270 t\n";

static struct running *open_of(const char *driver)
{
	struct running *r = running_open(driver_find(driver));

	if (r)
		return r;
	check(false, driver, "it cannot be opened");
	exit(1);
}

static bool here(const char *driver)
{
	struct running *r = open_of(driver);
	bool is = running_here(r, driver_find(driver));

	running_close(r);
	return is;
}

static void check_names(void)
{
	struct running *r = open_of("tun");

	holds(running_function(r, "tun_net_xmit").there &&
	      running_function(r, "tun_net_xmit").kprobe, "a function that is there");
	holds(!running_function(r, "tun_do_read").there, "what a compiler split off is another");
	holds(!running_function(r, "tun_xdp").there, "a function that is not there");
	holds(running_function(r, "tun_get_user").there &&
	      !running_function(r, "tun_get_user").fentry &&
	      !running_function(r, "tun_get_user").kprobe &&
	      !strcmp(running_function(r, "tun_get_user").why, "2 functions have this name"),
	      "two of one name");
	running_close(r);

	r = open_of("i40e");
	holds(running_tracepoint(r, "i40e_clean_tx_irq").there, "a tracepoint that is there");
	holds(!running_tracepoint(r, "i40e_clean_rx_irq").there, "one that nobody fires");
	holds(running_function(r, "i40e_napi_poll").there &&
	      !running_tracepoint(r, "i40e_napi_poll").there, "a function is no tracepoint");
	running_close(r);
}

static void check_all(void)
{
	bool all[64] = {}, good = true;

	running_all(all);
	for (unsigned i = 0; drivers[i]; i++)
		good &= all[i] == here(drivers[i]->name);
	holds(good, "all at once are as each alone");
}

int main(void)
{
	char path[] = "/tmp/kallsyms.XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, symbols, sizeof(symbols) - 1) != sizeof(symbols) - 1)
		return 1;
	close(fd);
	proc_kallsyms = path;
	holds(here("tun"), "a driver in the kernel itself is here");
	holds(here("e1000") && here("i40e"), "a module is here");
	holds(!here("e1000e"), "e1000e is not, although e1000 has functions called the same");
	holds(!here("veth"), "a function of another module is not its own");
	holds(!here("ena") && !here("dummy"), "what is not there is not");
	check_names();
	check_all();
	unlink(path);
	proc_kallsyms = "/nonesuch";
	holds(!running_open(driver_find("tun")), "no kallsyms");
	return failed > 0;
}
