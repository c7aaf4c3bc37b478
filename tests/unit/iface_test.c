/* SPDX-License-Identifier: GPL-2.0 */
/* iface_* and netns_* agree with ip(8) on interfaces and namespaces that it created. */
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

#include "lib/net/iface.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "check.h"

static struct error e;

static char blue[32], red[32], stale[32];	/* namespaces of this run */
static __u32 home;

static int run(const char *command)
{
	return system(text("%s >/dev/null 2>&1", command));
}

/* The reason must name the error, and contain the sentence. */
static void refused(int err, int expected, const char *sentence, const char *name)
{
	check(err == expected && strstr(e.what, sentence), name,
	      text("%d, \"%.200s\"", err, e.what));
	error_forget(&e);
}

static void works(int err, const char *name)
{
	refused(err, 0, "", name);
}

static void check_names(void)
{
	struct iface i;

	refused(iface_read("", &i, &e), -ENODEV, "empty", "empty name");
	refused(iface_read("a/b", &i, &e), -ENODEV, "'/'", "name with a slash");
	refused(iface_read("..", &i, &e), -ENODEV, "directory", "name of a directory");
	refused(iface_read("a b", &i, &e), -ENODEV, "blank", "name with a blank");
	refused(iface_read(text("%0400d", 0), &i, &e), -ENODEV, "too long", "name too long");
	refused(iface_read("sixteen_letters_", &i, &e), -ENODEV, "no interface",
		"name of 16 letters");
	refused(iface_read("l0", &i, &e), -ENODEV, "is it \"lo\"?", "near name");
	refused(iface_read("nothing-near", &i, &e), -ENODEV, "\"nothing-near\" here",
		"no near name");
	refused(iface_read_index(0, &i, &e), -ENODEV, "index 0", "index 0");
	refused(iface_read_index(~0u, &i, &e), -ENODEV, "index 4294967295", "huge index");
	refused(iface_read_index(2147483647, &i, &e), -ENODEV, "no interface", "unused index");
}

static void check_loopback(void)
{
	struct iface i;

	works(iface_read("lo", &i, &e), "lo");
	same_text("lo driver", i.driver, "loopback");
	same("lo is loopback", i.loopback, 1);
	same("lo index", i.ifindex, 1);
	same("lo rx queues", i.rx_queues, 1);
	same("lo namespace", i.netns, home);
	works(iface_read_index(1, &i, &e), "lo by index");
	same_text("lo by index: name", i.name, "lo");
}

/* Fewer queues are active than were created; /sys here shows another namespace. */
static void check_veth(void)
{
	struct iface i;

	if (run(text("ip -n %s link add v0 mtu 1400 address 02:00:00:00:00:07 txqueuelen 123 "
		     "numtxqueues 5 numrxqueues 4 type veth peer name v1", blue)))
		return (void)printf("skip veth: ip cannot make one\n");
	works(iface_read("v0", &i, &e), "veth");
	same_text("veth driver", i.driver, "veth");
	same("veth tx queues made with", i.max_tx_queues, 5);
	same("veth rx queues made with", i.max_rx_queues, 4);
	same("veth mtu", i.mtu, 1400);
	same("veth txqueuelen", i.tx_ring, 123);
	same("veth is down and bare", i.up || i.loopback || i.xdp_id, 0);
	same("veth namespace", i.netns == netns_inode() && i.netns != home, 1);
	check(i.mac[0] == 2 && i.mac[5] == 7 && i.mac[7] == 6, "veth address", "another one");
	refused(iface_read("v00", &i, &e), -ENODEV, "is it \"v0\"?", "veth near name");

	if (run(text("ip netns exec %s ethtool -L v0 rx 3 tx 2", blue)) ||
	    run(text("ip -n %s link set v0 up", blue)))
		return (void)printf("skip veth-channels: ethtool cannot set them\n");
	works(iface_read("v0", &i, &e), "veth again");
	same("veth rx queues in use", i.rx_queues, 3);
	same("veth tx queues in use", i.tx_queues, 2);
	same("veth tx queues made with, still", i.max_tx_queues, 5);
	same("veth up", i.up, 1);
}

static void check_altname(void)
{
	struct iface i;

	if (run(text("ip -n %s link property add dev v0 altname a_name_of_more_than_15", blue)))
		return (void)printf("skip altname: this kernel has none\n");
	works(iface_read("a_name_of_more_than_15", &i, &e), "altname");
	same_text("altname gives the name", i.name, "v0");
	refused(iface_read("a_name_of_more_than_16", &i, &e), -ENODEV,
		"is it \"a_name_of_more_than_15\"?", "near altname");
	run(text("ip -n %s link property add dev v0 altname short", blue));
	works(iface_read("short", &i, &e), "short altname");
}

static void check_tun(void)
{
	struct iface i;

	if (run(text("ip -n %s tuntap add tap0 mode tap multi_queue && "
		     "ip -n %s tuntap add tun0 mode tun", blue, blue)))
		return (void)printf("skip tun: ip cannot make one\n");
	works(iface_read("tap0", &i, &e), "tap");
	same_text("tap driver", i.driver, "tun");
	/* Nobody has opened it: 256 queues are possible, one is active. */
	same("tap queues made with", i.max_tx_queues > 1, 1);
	same("tap queues in use", i.tx_queues, 1);
	same("tap address length", i.mac[7], 6);
	works(iface_read("tun0", &i, &e), "tun");
	same("tun has no address", i.mac[7], 0);
	same("tun ring is its txqueuelen", i.tx_ring, 500);
}

/* As in ethtool -i, or the link kind. */
static void check_driver(const char *type, const char *driver)
{
	struct iface i;

	if (run(text("ip -n %s link add k0 %s", blue, type)))
		return (void)printf("skip driver %s: ip cannot make one\n", type);
	same_text(text("driver %s", type), iface_read("k0", &i, &e) ? e.what : i.driver, driver);
	error_forget(&e);
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
	works(iface_read("v0", &i, &e), text("xdp %s", mode));
	same(text("xdp %s id", mode), i.xdp_id, info.id);
	bpf_xdp_detach(if_nametoindex("v0"), flags, NULL);
	works(iface_read("v0", &i, &e), text("xdp %s gone", mode));
	same(text("xdp %s id gone", mode), i.xdp_id, 0);
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
	same("each: nobody stopped", netns_each(count, NULL, &e), 0);
	same("each: ours once", homes, 1);
	same("each: blue once, entered", blues, 1);
	same("each: back home", netns_inode(), home);
	same("each: stopped at blue", netns_each(count, blue, &e), 1);
	same("each: back home from blue", netns_inode(), home);
	calls = 0;
	same("each: stopped at ours", netns_each(count, "", &e), 1);
	same("each: and nowhere else", calls, 1);
}

static void check_netns(__u32 inode)
{
	char name[64], tiny[2];

	same("our own namespace is known", netns_name(home, name, sizeof(name)), 1);
	same_text("our own has no name", name, "");
	same("blue is known", netns_name(inode, name, sizeof(name)), 1);
	same_text("blue by inode", name, blue);
	run(text("umount /run/netns/%s", blue));
	same("it is known when that name is gone", netns_name(inode, name, sizeof(name)), 1);
	same_text("by its other one", name, red);
	run(text("mount --bind /run/netns/%s /run/netns/%s", red, blue));
	same("no room for the name", netns_name(inode, tiny, sizeof(tiny)), 0);
	same("no such inode", netns_name(1, name, sizeof(name)), 0);
	same("inode 0", netns_name(0, name, sizeof(name)), 0);
	refused(netns_enter_inode(1, &e), -ENOENT, "has no name", "enter a nameless one");
	works(netns_enter_inode(home, &e), "enter our own");
	refused(netns_enter("no-such-ns", &e), -ENOENT, "\"no-such-ns\"", "enter none");
	refused(netns_enter("../netns", &e), -ENOENT, "no network namespace", "enter a path");
	refused(netns_enter("", &e), -ENOENT, "no network namespace", "enter an empty name");
	refused(netns_enter(stale, &e), -EINVAL, "is a stale name", "enter what is left of one");
	check_each();
}

/* `red` is a second name of `blue`, `stale` a file left by a deleted one. */
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
	same("we are somewhere", !!home, 1);
	check_names();
	check_loopback();
	if (!setup()) {
		printf("skip live: needs root and ip netns\n");
		return failed;
	}
	check_netns(stat(text("/run/netns/%s", blue), &st) ? 0 : st.st_ino);
	works(netns_enter(blue, &e), "enter blue");
	check_veth();
	check_altname();
	check_tun();
	check_drivers();
	check_xdp();
	cleanup();
	return failed > 0;
}
