# SPDX-License-Identifier: GPL-2.0
"""BPF programs with a constant result, such as "drop" for XDP, tc or netfilter; at once, or after a delay."""
import contextlib
import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
TC, XDP, NETFILTER = 3, 6, 32       # BPF_PROG_TYPE_…
MAP_LOOKUP_ELEM, PROG_LOAD, OBJ_PIN, OBJ_GET, PROG_TEST_RUN, LINK_CREATE = 1, 5, 6, 7, 10, 28


def call(command, attr):
    attr = ctypes.create_string_buffer(attr.ljust(128, b"\0"), 128)
    fd = libc.syscall(BPF, command, attr, 128)
    if fd < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return fd


def program(kind, answer, turns=0):
    """Loads `return answer` after a loop of this many turns, about a nanosecond each; returns its descriptor. Raises
    OSError if the kernel lacks this type. The verifier walks every turn: 300,000 is the limit."""
    loop = struct.pack("<BBhiBBhiBBhi", 0xb7, 1, 0, turns, 0x17, 1, 0, 1, 0x55, 1, -2, 0) if turns else b""
    insns = loop + struct.pack("<BBhiBBhi", 0xb7, 0, 0, answer, 0x95, 0, 0, 0)
    code, licence = ctypes.create_string_buffer(insns), ctypes.create_string_buffer(b"GPL")
    attach = 45 if kind == NETFILTER else 0     # BPF_NETFILTER
    return call(PROG_LOAD, struct.pack("IIQQIIQII16sII", kind, len(insns) // 8, ctypes.addressof(code),
                                       ctypes.addressof(licence), 0, 0, 0, 0, 0, b"test", 0, attach))


def nanoseconds(fd, times=10):
    """The run time of this tc or XDP program without interruptions: the minimum of several means."""
    frame, least = ctypes.create_string_buffer(64), None
    for _ in range(20):
        attr = ctypes.create_string_buffer(struct.pack("IIIIQQII", fd, 0, 64, 0, ctypes.addressof(frame), 0, times, 0), 128)
        if libc.syscall(BPF, PROG_TEST_RUN, attr, 128):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        took = struct.unpack_from("I", attr.raw, 36)[0]
        least = min(took, least or took)
    return least


def turns(us):
    """Turns for program() that take this many microseconds on this machine, or the maximum."""
    fd = program(TC, 0, 100000)
    took = nanoseconds(fd)
    os.close(fd)
    return min(300000, us * 100000000 // took)


def lasting(kind, answer, us):
    """program() that takes so long, within a tenth. Where the kernel puts it decides how long a turn takes, up to twice as
    long: it is loaded until it fits, and the last one is taken. Returns its descriptor and its turns."""
    for _ in range(30):
        nr = turns(us)
        fd = program(kind, answer, nr)
        if nr == 300000 or abs(nanoseconds(fd) - 1000 * us) <= 100 * us:
            break
        os.close(fd)
    else:
        fd = program(kind, answer, nr)
    return fd, nr


def pin(fd, path):
    name = ctypes.create_string_buffer(path.encode())
    call(OBJ_PIN, struct.pack("QI", ctypes.addressof(name), fd))


@contextlib.contextmanager
def pinned(kind, answer, us=0):
    """The path of a program that takes so long, for ip and tc, which find it there while the block runs."""
    path = f"/sys/fs/bpf/nptest-{os.getpid()}"
    fd, nr = lasting(kind, answer, us) if us else (program(kind, answer), 0)
    if us:
        print(f"# {nr} turns take {us} us")
    try:
        pin(fd, path)
        try:
            yield path
        finally:
            os.unlink(path)
    finally:
        os.close(fd)


def word(path):
    """The 64-bit word of a pinned array that has one."""
    name = ctypes.create_string_buffer(path.encode())
    fd = call(OBJ_GET, struct.pack("QI", ctypes.addressof(name), 0))
    key, value = ctypes.c_uint32(0), ctypes.c_uint64(0)
    try:
        call(MAP_LOOKUP_ELEM, struct.pack("IIQQ", fd, 0, ctypes.addressof(key), ctypes.addressof(value)))
    finally:
        os.close(fd)
    return value.value


def netfilter(hook):
    """Drops all IPv4 at this hook of the current namespace, until the result is closed."""
    fd = program(NETFILTER, 0)
    return call(LINK_CREATE, struct.pack("IIIIIIiI", fd, 0, 45, 0, 2, hook, -100, 0))
