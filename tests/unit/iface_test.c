/* SPDX-License-Identifier: GPL-2.0 */
/* Interfaces and namespaces that ip(8) made: do iface_* and netns_* say the same of them? */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/iface.h"
#include "../../lib/log.h"

static int failed;
static char blue[32], red[32], stale[32];	/* namespaces of this very run */
static __u32 home;

static void check(bool good, const char *name, const char *why)
{
	if (good)
		printf("ok %s\n", name);
	else
		printf("not ok %s: %s\n", name, why);
	failed |= !good;
	complaints_forget();
}

static void number(unsigned is, unsigned expected, const char *name)
{
	check(is == expected, name, text("%u instead of %u", is, expected));
}

static void string(const char *is, const char *expected, const char *name)
{
	check(!strcmp(is, expected), name, text("\"%s\" instead of \"%s\"", is, expected));
}

static int run(const char *command)
{
	return system(text("%s >/dev/null 2>&1", command));
}

/* A complaint must name the error, and have the sentence in it. */
static void refused(int err, int expected, const char *sentence, const char *name)
{
	check(err == expected && strstr(complaint(), sentence), name,
	      text("%d, \"%.200s\"", err, complaint()));
}

static void check_names(void)
{
	struct iface i;

	refused(iface_read("", &i), -ENODEV, "empty", "empty name");
	refused(iface_read("a/b", &i), -ENODEV, "'/'", "name with a slash");
	refused(iface_read("..", &i), -ENODEV, "directory", "name of a directory");
	refused(iface_read("a b", &i), -ENODEV, "blank", "name with a blank");
	refused(iface_read(text("%0400d", 0), &i), -ENODEV, "too long", "name too long");
	refused(iface_read("sixteen_letters_", &i), -ENODEV, "no interface", "name of 16 letters");
	refused(iface_read("l0", &i), -ENODEV, "is it \"lo\"?", "near name");
	refused(iface_read("nothing-near", &i), -ENODEV, "\"nothing-near\" here", "no near name");
	refused(iface_read_index(0, &i), -ENODEV, "index 0", "index 0");
	refused(iface_read_index(~0u, &i), -ENODEV, "index 4294967295", "huge index");
	refused(iface_read_index(2147483647, &i), -ENODEV, "no interface", "unused index");
}

static void check_loopback(void)
{
	struct iface i;

	number(-iface_read("lo", &i), 0, "lo");
	string(i.driver, "loopback", "lo driver");
	number(i.loopback, 1, "lo is loopback");
	number(i.ifindex, 1, "lo index");
	number(i.rx_queues, 1, "lo rx queues");
	number(i.netns, home, "lo namespace");
	number(-iface_read_index(1, &i), 0, "lo by index");
	string(i.name, "lo", "lo by index: name");
}

/* The queues in use are fewer than the device was made with; /sys here shows another namespace. */
static void check_veth(void)
{
	struct iface i;

	if (run(text("ip -n %s link add v0 mtu 1400 address 02:00:00:00:00:07 txqueuelen 123 "
		     "numtxqueues 5 numrxqueues 4 type veth peer name v1", blue)))
		return (void)printf("skip veth: ip cannot make one\n");
	number(-iface_read("v0", &i), 0, "veth");
	string(i.driver, "veth", "veth driver");
	number(i.max_tx_queues, 5, "veth tx queues made with");
	number(i.max_rx_queues, 4, "veth rx queues made with");
	number(i.mtu, 1400, "veth mtu");
	number(i.tx_ring, 123, "veth txqueuelen");
	number(i.up || i.loopback || i.xdp_id, 0, "veth is down and bare");
	number(i.netns == netns_inode() && i.netns != home, 1, "veth namespace");
	check(i.mac[0] == 2 && i.mac[5] == 7 && i.mac[7] == 6, "veth address", "another one");
	refused(iface_read("v00", &i), -ENODEV, "is it \"v0\"?", "veth near name");

	if (run(text("ip netns exec %s ethtool -L v0 rx 3 tx 2", blue)) ||
	    run(text("ip -n %s link set v0 up", blue)))
		return (void)printf("skip veth-channels: ethtool cannot set them\n");
	number(-iface_read("v0", &i), 0, "veth again");
	number(i.rx_queues, 3, "veth rx queues in use");
	number(i.tx_queues, 2, "veth tx queues in use");
	number(i.max_tx_queues, 5, "veth tx queues made with, still");
	number(i.up, 1, "veth up");
}

static void check_altname(void)
{
	struct iface i;

	if (run(text("ip -n %s link property add dev v0 altname a_name_of_more_than_15", blue)))
		return (void)printf("skip altname: this kernel has none\n");
	number(-iface_read("a_name_of_more_than_15", &i), 0, "altname");
	string(i.name, "v0", "altname gives the name");
	refused(iface_read("a_name_of_more_than_16", &i), -ENODEV,
		"is it \"a_name_of_more_than_15\"?", "near altname");
	run(text("ip -n %s link property add dev v0 altname short", blue));
	number(-iface_read("short", &i), 0, "short altname");
}

static void check_tun(void)
{
	struct iface i;

	if (run(text("ip -n %s tuntap add tap0 mode tap multi_queue && "
		     "ip -n %s tuntap add tun0 mode tun", blue, blue)))
		return (void)printf("skip tun: ip cannot make one\n");
	number(-iface_read("tap0", &i), 0, "tap");
	string(i.driver, "tun", "tap driver");
	/* Nobody has opened it: 256 queues are possible, one is in use. */
	number(i.max_tx_queues > 1, 1, "tap queues made with");
	number(i.tx_queues, 1, "tap queues in use");
	number(i.mac[7], 6, "tap address length");
	number(-iface_read("tun0", &i), 0, "tun");
	number(i.mac[7], 0, "tun has no address");
	number(i.tx_ring, 500, "tun ring is its txqueuelen");
}

/* As ethtool -i, or the link kind, has it. */
static void check_driver(const char *type, const char *driver)
{
	struct iface i;

	if (run(text("ip -n %s link add k0 %s", blue, type)))
		return (void)printf("skip driver %s: ip cannot make one\n", type);
	if (iface_read("k0", &i))
		check(false, text("driver %s", type), complaint());
	else
		string(i.driver, driver, text("driver %s", type));
	run(text("ip -n %s link del k0", blue));
}

static void check_drivers(void)
{
	check_driver("type bridge", "bridge");
	check_driver("type bond", "bonding");
	check_driver("type ifb", "ifb");
	check_driver("type dummy", "dummy");
	check_driver("link v0 type vlan id 7", "802.1Q VLAN Support");
	check_driver("link v0 type macvlan", "macvlan");
	check_driver("type vxlan id 7 dstport 0", "vxlan");
}

static int pass_program(void)
{
	struct bpf_insn pass[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_XDP, "pass", "GPL", pass, 2, NULL);
}

static void check_xdp_mode(int prog, __u32 flags, const char *mode)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);
	struct iface i;

	if (bpf_xdp_attach(if_nametoindex("v0"), prog, flags, NULL))
		return (void)printf("skip xdp %s: cannot attach\n", mode);
	bpf_obj_get_info_by_fd(prog, &info, &size);
	number(-iface_read("v0", &i), 0, text("xdp %s", mode));
	number(i.xdp_id, info.id, text("xdp %s id", mode));
	bpf_xdp_detach(if_nametoindex("v0"), flags, NULL);
	number(-iface_read("v0", &i), 0, text("xdp %s gone", mode));
	number(i.xdp_id, 0, text("xdp %s id gone", mode));
}

static void check_xdp(void)
{
	int prog = pass_program();

	if (prog < 0)
		return (void)printf("skip xdp: no program can be loaded\n");
	check_xdp_mode(prog, XDP_FLAGS_DRV_MODE, "native");
	check_xdp_mode(prog, XDP_FLAGS_SKB_MODE, "generic");
	close(prog);
}

static unsigned calls, blues, homes;

static bool count(const char *name, void *arg)
{
	const char *stop_at = arg;

	calls++;
	blues += !strcmp(name, blue) && netns_inode() != home;
	homes += !name[0] && netns_inode() == home;
	return stop_at && !strcmp(name, stop_at);
}

static void check_each(void)
{
	calls = blues = homes = 0;
	number(netns_each(count, NULL), 0, "each: nobody stopped");
	number(homes, 1, "each: ours once");
	number(blues, 1, "each: blue once, entered");
	number(netns_inode(), home, "each: back home");
	number(netns_each(count, blue), 1, "each: stopped at blue");
	number(netns_inode(), home, "each: back home from blue");
	calls = 0;
	number(netns_each(count, ""), 1, "each: stopped at ours");
	number(calls, 1, "each: and nowhere else");
}

static void check_netns(__u32 inode)
{
	char name[64], tiny[2];

	number(netns_name(home, name, sizeof(name)), 1, "our own namespace is known");
	string(name, "", "our own has no name");
	number(netns_name(inode, name, sizeof(name)), 1, "blue is known");
	string(name, blue, "blue by inode");
	run(text("umount /run/netns/%s", blue));
	number(netns_name(inode, name, sizeof(name)), 1, "it is known when that name is gone");
	string(name, red, "by its other one");
	run(text("mount --bind /run/netns/%s /run/netns/%s", red, blue));
	number(netns_name(inode, tiny, sizeof(tiny)), 0, "no room for the name");
	number(netns_name(1, name, sizeof(name)), 0, "no such inode");
	number(netns_name(0, name, sizeof(name)), 0, "inode 0");
	refused(netns_enter_inode(1), -ENOENT, "has no name", "enter a nameless one");
	number(-netns_enter_inode(home), 0, "enter our own");
	refused(netns_enter("no-such-ns"), -ENOENT, "\"no-such-ns\"", "enter none");
	refused(netns_enter("../netns"), -ENOENT, "no network namespace", "enter a path");
	refused(netns_enter(""), -ENOENT, "no network namespace", "enter an empty name");
	refused(netns_enter(stale), -EINVAL, "only its name is left", "enter what is left of one");
	check_each();
}

/* `red` is a second name of `blue`, `stale` a file that a deleted one left. */
static bool setup(void)
{
	int fd;

	snprintf(blue, sizeof(blue), "npt-blue-%d", getpid());
	snprintf(red, sizeof(red), "npt-red-%d", getpid());
	snprintf(stale, sizeof(stale), "npt-stale-%d", getpid());
	if (geteuid() || run(text("ip netns add %s", blue)))
		return false;
	run(text("touch /run/netns/%s", red));
	run(text("mount --bind /run/netns/%s /run/netns/%s", blue, red));
	fd = open(text("/run/netns/%s", stale), O_CREAT | O_EXCL | O_CLOEXEC, 0);
	if (fd >= 0)
		close(fd);
	return true;
}

static void cleanup(void)
{
	run(text("ip netns del %s", red));
	run(text("ip netns del %s", blue));
	unlink(text("/run/netns/%s", stale));
}

int main(void)
{
	struct stat st;

	log_init(false);
	setvbuf(stdout, NULL, _IOLBF, 0);
	home = netns_inode();
	number(!!home, 1, "we are somewhere");
	check_names();
	check_loopback();
	if (!setup()) {
		printf("skip live: needs root and ip netns\n");
		return failed;
	}
	check_netns(stat(text("/run/netns/%s", blue), &st) ? 0 : st.st_ino);
	number(-netns_enter(blue), 0, "enter blue");
	check_veth();
	check_altname();
	check_tun();
	check_drivers();
	check_xdp();
	cleanup();
	return failed;
}
