# SPDX-License-Identifier: GPL-2.0
"""What sendmmsg() and recvmmsg() are given, as Python has no such calls; and the name of a thread."""
import ctypes


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class Header(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint32), ("iov", ctypes.POINTER(Vector)),
                ("iovlen", ctypes.c_size_t), ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t),
                ("flags", ctypes.c_int)]


class Message(ctypes.Structure):
    _fields_ = [("header", Header), ("len", ctypes.c_uint32)]


def rename(name):
    with open("/proc/thread-self/comm", "w", encoding="ascii") as comm:
        comm.write(name)
