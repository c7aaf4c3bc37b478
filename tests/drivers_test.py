#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""nicprobe drivers: its output for each driver, and for modules built here. Needs no root."""
import json
import os
import platform
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NICPROBE = os.path.abspath(os.environ.get("NICPROBE", os.path.join(ROOT, "nicprobe")))
failed = 0


def check(name, good, why="it is not so"):
    global failed
    failed += not good
    print(f"ok drivers: {name}" if good else f"not ok drivers: {name}: {why}", flush=True)


def run(*args, **env):
    return subprocess.run([NICPROBE, "drivers", *args], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "COLUMNS": "80", "LC_ALL": "C.UTF-8", **env})


def test_each():
    every = json.loads(run("-j").stdout)
    known = [d for d in every if d["functions"]]
    check("tables of 18 drivers", len(known) == 18, f"{len(known)}")
    for d in every:
        r = run(d["driver"])
        names = [n["name"] for k in ("functions", "tracepoints") for n in d[k]]
        names += [s["name"] for s in d.get("statistics", [])]
        missing = [n for n in names if n not in r.stdout]
        wide = [line for line in r.stdout.splitlines() if len(line) > 80]
        check(f"{d['driver']} is told, in 80 columns", r.returncode == 0 and not missing and not wide and not r.stderr,
              f"not told: {missing}, too wide: {wide}, {r.stderr}")
        one = json.loads(run("-j", d["driver"]).stdout)
        check(f"{d['driver']}: JSON of one", one["driver"] == d["driver"] and
              [n["name"] for n in one["functions"]] == [n["name"] for n in d["functions"]])
    here = run().stdout.splitlines()
    check("the overview has each", all(any(line.startswith(d["driver"] + " ") for line in here) for d in every))
    running = {d["driver"]: d["here"] for d in every}
    modules = {os.path.basename(m) for m in os.listdir("/sys/module")}
    check("a driver that is a module here is here", all(running[m] for m in running.keys() & modules
                                                        if any(d["driver"] == m for d in known)))
    with open(os.path.join(ROOT, "docs", "tested.md"), encoding="utf-8") as f:
        tested = f.read()
    have = [sum(len(d.get(k, [])) for d in every) for k in ("functions", "tracepoints", "statistics")]
    check("docs/tested.md has their number", "({} functions, {} tracepoints, {} statistics)".format(*have) in tested,
          str(have))


SOURCE = """
#define S(n, x) static const char n[] __attribute__((section(".modinfo"), used)) = x
S(one, "name=%(module)s"); S(two, "vermagic=%(release)s SMP preempt mod_unload ");
#define F(name) __attribute__((noinline, used)) int name(int a) { return a * 3 + sizeof(#name); }
%(functions)s
%(rest)s
"""
FUNCTIONS = {
    "tun": "tun_napi_poll tun_net_xmit tun_do_read tun_recvmsg tun_get_user tun_sendmsg tun_xdp",
    "veth": "veth_poll veth_xmit veth_xdp_rcv_skb veth_xdp_rcv_one veth_xdp veth_xdp_xmit",
    "iavf": "iavf_msix_clean_rings iavf_msix_aq iavf_napi_poll iavf_xmit_frame iavf_alloc_rx_buffers iavf_tx_timeout",
}
STATS = ('const char *veth_names[] = { "rx_queue_%u_%.18s", "tx_queue_%u_%.18s", "xdp_packets", "xdp_bytes", "drops", '
         '"xdp_redirect", "xdp_drops", "xdp_tx", "xdp_xmit", "xdp_xmit_errors" };')


def module(folder, name, functions=None, rest="", release="6.12.0-test", file=None):
    """An object like a module: functions, ftrace sites, and its kernel version."""
    functions = (FUNCTIONS.get(name, "") if functions is None else functions).split()
    source = os.path.join(folder, "source.c")
    out = os.path.join(folder, file or f"{name}.ko")
    with open(source, "w") as f:
        f.write(SOURCE % {"module": name, "release": release, "rest": rest,
                          "functions": "\n".join(f"F({n})" for n in functions)})
    traced = ["-pg", "-mfentry", "-mrecord-mcount"] if platform.machine() == "x86_64" else []
    subprocess.run(["gcc", "-O2", "-fno-pic", "-c", *traced, "-o", out, source], check=True, timeout=60)
    return out


def missing(result):
    doc = json.loads(result.stdout)
    return sorted(n["name"] for k in ("functions", "tracepoints", "statistics", "interrupts") for n in doc.get(k, [])
                  if n.get("expected") and not n["there"])


def test_modules(folder):
    whole = module(folder, "tun")
    r = run("--check", whole)
    check("a module that has all", r.returncode == 0 and "Every expected name" in r.stdout and "MISSING" not in r.stdout, r.stdout)
    doc = json.loads(run("-j", "--check", whole).stdout)
    check("of it, as JSON", doc["missing"] == 0 and doc["release"] == "6.12.0-test" and doc["driver"] == "tun" and
          all(f["kprobe"] and not f["fentry"] for f in doc["functions"]), str(doc))
    check("why fentry is not known", "no types (BTF)" in doc.get("no_fentry", ""), str(doc))

    less = module(folder, "tun", FUNCTIONS["tun"].replace("tun_recvmsg", ""))
    r = run("--check", less)
    check("one that has not: exit 1", r.returncode == 1 and "1 expected name is missing" in r.stdout, r.stdout)
    check("which", missing(run("-j", "--check", less)) == ["tun_recvmsg"] and "tun_recvmsg " in r.stdout and
          "MISSING" in r.stdout)
    part = module(folder, "tun", FUNCTIONS["tun"].replace("tun_recvmsg", ""), '__attribute__((noinline, used)) static '
                  'int cut(int) __asm__("tun_recvmsg.isra.0"); static int cut(int a) { return a * 7; }')
    check("what the compiler made of it", "MISSING: changed to tun_recvmsg.isra.0" in
          " ".join(run("--check", part).stdout.split()))

    points = "".join(f"int __tracepoint_iavf_{n} = 1;" for n in (
        "xmit_frame_ring", "xmit_frame_ring_drop", "clean_tx_irq", "clean_tx_irq_unmap", "clean_rx_irq"))
    r = run("-j", "--check", module(folder, "iavf", rest=points + "extern int __tracepoint_iavf_clean_rx_irq_rx; "
                                    "int *use(void) { return &__tracepoint_iavf_clean_rx_irq_rx; }"))
    check("a tracepoint that is only used is not its own", "iavf_clean_rx_irq_rx" in missing(r) and
          "iavf_clean_rx_irq" not in missing(r), str(missing(r)))

    r = run("-j", "--check", module(folder, "veth", rest=STATS))
    check("statistics that its formats make", r.returncode == 0 and not missing(r), r.stdout)
    r = run("-j", "--check", module(folder, "veth", rest=STATS.replace('"xdp_drops"', '"xdp_dropz"')))
    check("one that they do not", missing(r) == ["rx_queue_N_xdp_drops"], str(missing(r)))

    old = "skb_recv_done virtnet_poll free_old_xmit_skbs"
    new = {n["name"]: n["expected"] for n in json.loads(run("-j", "--check", module(
        folder, "virtio_net", old, release="6.1.0-test")).stdout)["functions"]}
    check("what is expected of an older kernel", new["free_old_xmit_skbs"] and not new["__free_old_xmit"])
    new = {n["name"]: n["expected"] for n in json.loads(run("-j", "--check", module(
        folder, "virtio_net", old, release="6.12.0-test")).stdout)["functions"]}
    check("and of a newer", not new["free_old_xmit_skbs"] and new["__free_old_xmit"])

    r = run("--check", whole, module(folder, "veth", rest=STATS), os.path.join(folder, "none.ko"))
    check("of several each is told, and one that fails fails", r.returncode == 1 and "TUN" in r.stdout and
          "virtual Ethernet" in r.stdout and "none.ko: No such file" in r.stderr, r.stderr)
    check("a path of another driver is told by its name", "the parts of driver iwlwifi in this module" in run(
        "--check", module(folder, "mac80211", "ieee80211_rx_napi")).stdout)


def btf(functions, base=0):
    """BTF as in a module, for {function: number of arguments}; starts after `base` bytes of strings, without types."""
    types, strings, at = b"", b"" if base else b"\0", {}
    for name in functions:
        at[name] = base + len(strings)
        strings += name.encode() + b"\0"
    for number, (name, args) in enumerate(functions.items()):
        types += struct.pack("<III", 0, 13 << 24 | args, 0) + b"\0" * 8 * args  # FUNC_PROTO, and its arguments
        types += struct.pack("<III", at[name], 12 << 24, 2 * number + 1)  # FUNC of that type
    return struct.pack("<HBBIIIII", 0xeb9f, 1, 0, 24, 0, len(types), len(types), len(strings)) + types + strings


def with_types(path, **sections):
    for name, data in sections.items():
        with open(path + ".section", "wb") as f:
            f.write(data)
        subprocess.run(["objcopy", "--add-section", f".{name.replace('_', '.')}={path}.section", path], check=True,
                       timeout=60)
    return path


def fentry(result):
    """{function: True if fentry can attach, else the reason}"""
    return {f["name"]: f["fentry"] or f.get("why", "") for f in json.loads(result.stdout)["functions"]}


def test_types(folder):
    if platform.machine() != "x86_64":
        print("skip drivers: where a module may be traced: its objects are made for x86-64")
        return
    names = FUNCTIONS["tun"].split()
    args = {n: 7 if n == "tun_get_user" else 2 for n in names if n != "tun_xdp"}
    want = {**{n: True for n in names}, "tun_xdp": "it has no type (BTF)"}
    own = with_types(module(folder, "tun"), BTF_base=btf({}), BTF=btf(args, base=1))
    check("fentry, by the types that a module has beside it", fentry(run("-j", "--check", own)) == want,
          str(fentry(run("-j", "--check", own))))
    check("and kprobe", " ".join(run("--check", own).stdout.split()).count("fentry, kprobe") == len(names) - 1)

    raw = os.path.join(folder, "vmlinux.btf")
    with open(raw, "wb") as f:
        f.write(btf({}))
    old = with_types(module(folder, "tun", release="6.1.0-test"), BTF=btf(args, base=1))
    check("by those of its kernel; and before 6.6, 6 arguments", fentry(run("-j", "--check", "--btf", raw, old)) ==
          {**want, "tun_get_user": "7 arguments; before 6.6 at most 6"},
          str(fentry(run("-j", "--check", "--btf", raw, old))))
    doc = json.loads(run("-j", "--check", old).stdout)
    check("which are not here", "give its vmlinux by --btf" in doc["no_fentry"] and
          not any(f["fentry"] for f in doc["functions"]), str(doc))
    with open(raw, "wb") as f:
        f.write(btf({"another": 1}))
    check("those of another kernel are not taken", "do not match this vmlinux" in json.loads(
        run("-j", "--check", "--btf", raw, old).stdout)["no_fentry"])

    twice = with_types(module(folder, "tun", rest='__attribute__((noinline, used)) static int again(int) '
                              '__asm__("tun_sendmsg_2"); static int again(int a) { return a * 9; }'), BTF_base=btf({}),
                       BTF=btf(args, base=1))
    subprocess.run(["objcopy", "--redefine-sym", "tun_sendmsg_2=tun_xdp", twice], check=True, timeout=60)
    f = {f["name"]: f for f in json.loads(run("-j", "--check", twice).stdout)["functions"]}["tun_xdp"]
    check("two functions of one name", f["there"] and not f["kprobe"] and f["why"] == "2 functions have this name", str(f))
    quiet = with_types(module(folder, "tun", FUNCTIONS["tun"].replace("tun_recvmsg", ""),
                              "__attribute__((noinline, used, no_instrument_function)) int tun_recvmsg(int a) "
                              "{ return a * 5; }"), BTF_base=btf({}), BTF=btf(args, base=1))
    f = {f["name"]: f for f in json.loads(run("-j", "--check", quiet).stdout)["functions"]}["tun_recvmsg"]
    check("one that is notrace", f["there"] and not f["kprobe"] and not f["fentry"] and f["why"] == "notrace", str(f))


def test_packed(folder):
    whole = module(folder, "tun")
    for tool, end in ("xz", "xz"), ("zstd", "zst"), ("gzip", "gz"):
        if not shutil.which(tool):
            print(f"skip drivers: packed by {tool}: it is not installed")
            continue
        packed = f"{whole}.{end}"
        with open(packed, "wb") as f:
            subprocess.run([tool, "-c", whole], stdout=f, check=True, timeout=60)
        check(f"packed by {tool}", json.loads(run("-j", "--check", packed).stdout)["missing"] == 0)
        mine = os.path.join(folder, tool)
        with open(mine, "w") as f:
            f.write(f"#!/bin/sh\ntouch {mine}.ran\n")
        os.chmod(mine, 0o755)
        run("--check", packed, PATH=f"{folder}:{os.environ['PATH']}")
        check(f"packed by {tool}: what is called so in $PATH is not run", not os.path.exists(f"{mine}.ran"))
        with open(packed, "rb") as f:
            data = f.read()
        with open(packed, "wb") as f:
            f.write(data[:len(data) // 2])
        r = run("--check", packed)
        check(f"packed by {tool}, cut short", r.returncode == 1 and "truncated or damaged" in r.stderr, r.stderr)
        r = run("--check", packed, NICPROBE_CANNOT=tool)
        check(f"packed, but no {tool}", r.returncode == 1 and f"{tool}, which decompresses it, is not installed" in r.stderr and
              "try: apt install" in r.stderr, r.stderr)


def headers(data):
    """Position of each section header, by section name."""
    at, = struct.unpack_from("<Q", data, 40)
    size, number, strings = struct.unpack_from("<HHH", data, 58)
    names, = struct.unpack_from("<Q", data, at + strings * size + 24)
    every = [at + n * size for n in range(number)]
    return {data[names + struct.unpack_from("<I", data, h)[0]:].split(b"\0", 1)[0].decode(): h for h in every}


def with_header(data, name, like=None, **fields):
    """A copy of the module with a section header replaced by another's, or with some of its fields changed."""
    at, out = headers(data), bytearray(data)
    if like:
        out[at[name] + 4:at[name] + 64] = data[at[like] + 4:at[like] + 64]
    for field, value in fields.items():
        where, how = {"kind": (4, "<I"), "offset": (24, "<Q"), "size": (32, "<Q"), "entry": (56, "<Q")}[field]
        struct.pack_into(how, out, at[name] + where, value)
    return bytes(out)


def test_made(folder):
    """Malicious modules: each must give one error sentence, quickly."""
    many = " ".join(f"some_function_{n}" for n in range(400))
    with open(module(folder, "tun", FUNCTIONS["tun"] + " " + many), "rb") as f:
        data = f.read()
    path = os.path.join(folder, "made.ko")

    def made(name, content, status, why):
        with open(path, "wb") as f:
            f.write(content)
        try:
            r = run("--check", path)
        except subprocess.TimeoutExpired:
            check(name, False, "it did not end")
            return
        check(name, r.returncode == status and why in r.stdout + r.stderr, f"{r.returncode} {r.stderr}")

    made("two symbol tables", with_header(data, ".comment", like=".symtab"), 1, "it has two symbol tables")
    made("sections over the same bytes", with_header(with_header(data, ".comment", offset=0, size=len(data)), ".bss",
                                                     kind=1, offset=0, size=len(data)), 1, "its sections overlap")
    info = data + b"vermagic=6.12.0-test"	# up to the last byte of the file, without a terminator
    made(".modinfo without an end", with_header(info, ".modinfo", offset=len(data), size=len(info) - len(data)), 1,
         "it is not a kernel module")
    whole = b"name=tun\0vermagic=6.12.0-test"
    made("the same with a name", with_header(data + whole, ".modinfo", offset=len(data), size=len(whole)), 0, "Every expected name")

    slow = " ".join("%s" * n + end for n in range(2, 9) for end in ("s", "p", "_%s", "ts"))
    rest = "const char *slow[] = { " + ", ".join(f'"{s}"' for s in slow.split()) + ' }; ' + STATS.replace("drops", "none")
    with open(module(folder, "veth", rest=rest), "rb") as f:
        made("formats that could be met in very many ways", f.read(), 1, "MISSING")
    fifo = os.path.join(folder, "fifo")
    os.mkfifo(fifo)
    for args in (["--check", fifo], ["--btf", fifo, "--check", os.path.join(folder, "tun.ko")]):
        try:
            r = run(*args)
            check(f"a FIFO: {args[0]}", r.returncode == 1 and "it is no file" in r.stderr, r.stderr)
        except subprocess.TimeoutExpired:
            check(f"a FIFO: {args[0]}", False, "it waits for the other end")


def test_bad(folder):
    whole = module(folder, "tun")
    with open(whole, "rb") as f:
        data = f.read()

    def bad(name, content, why, status=1):
        path = os.path.join(folder, "bad.ko")
        with open(path, "wb") as f:
            f.write(content)
        r = run("--check", path)
        check(f"{name}: a sentence", r.returncode == status and why in r.stderr + r.stdout and
              r.stderr.count("\n") <= 2, f"{r.returncode} {r.stderr}")

    bad("an empty file", b"", "it is not an ELF file")
    bad("a text", b"hello\n" * 100, "it is not an ELF file")
    bad("the head of a module", data[:100], "it is truncated")
    bad("half a module", data[:len(data) // 2], "it is truncated")
    bad("a module but for its end", data[:-100], "it is truncated")
    with open(NICPROBE, "rb") as f:
        bad("a program", f.read(), "it is not a kernel module")
    with open(module(folder, "nobody", "some_function"), "rb") as f:
        bad("a module nobody knows", f.read(), "nothing is known about module nobody")
    # e_machine, at offset 18
    other = 22 if platform.machine() != "s390x" else 62
    bad("a module of another machine", data[:18] + struct.pack("<H", other) + data[20:], "unlike this machine", 0)
    for at in range(20, len(data), max(1, len(data) // 150)):  # whatever the bytes, it must terminate
        with open(os.path.join(folder, "odd.ko"), "wb") as f:
            f.write(data[:at] + b"\xff\xff\xff\xff" + data[at + 4:])
        r = run("--check", os.path.join(folder, "odd.ko"))
        if r.returncode not in (0, 1) or r.stderr.count("\n") > 2:
            check("a damaged module ends in a sentence", False, f"status {r.returncode} with 0xff at {at}: {r.stderr}")
            break
    else:
        check("a damaged module ends in a sentence", True)

    for args, status, why in (
            (["--check"], 2, "--check needs a file"), (["--check", folder], 1, "it is no file"),
            (["--check", "/nonesuch"], 1, "No such file"), (["--btf", "x"], 2, "--btf requires --check"),
            (["--btf", "/etc/passwd", "--check", whole], 1, "/etc/passwd: it has none"),
            (["--btf", "/nonesuch", "--check", whole], 1, "No such file"),
            (["ean"], 2, "try: nicprobe drivers ena"), (["ena", "igb"], 2, "takes one name"),
            (["--chekc"], 2, "no option --chekc")):
        r = run(*args)
        check(" ".join(a.replace(folder, "DIR") for a in args), r.returncode == status and why in r.stderr, r.stderr)
    for name in "\33[31mred", "a\nb", "\x9b2J", "\u202eright":
        r = run(name)
        check(f"{name!r} cannot drive the terminal", r.returncode == 2 and r.stderr.count("\n") <= 2 and
              not any(ord(c) < 32 and c != "\n" or 0x7f <= ord(c) < 0xa0 or c == "\u202e" for c in r.stderr), repr(r.stderr))
        r = run("-j", name)
        check(f"{name!r}: nor as JSON", not any(ord(c) < 32 and c != "\n" or 0x7f <= ord(c) < 0xa0 for c in r.stderr) and
              name in json.loads(r.stderr)["error"], repr(r.stderr))
    r = run("-j", "--check", "/nonesuch")
    check("an error as JSON", "No such file" in json.loads(r.stderr)["error"], r.stderr)


if __name__ == "__main__":
    if not os.path.exists(NICPROBE):
        print("skip drivers: nicprobe is not built")
        sys.exit(0)
    test_each()
    with tempfile.TemporaryDirectory() as made:
        test_modules(made)
        test_types(made)
        test_packed(made)
        test_made(made)
        test_bad(made)
    sys.exit(1 if failed else 0)
