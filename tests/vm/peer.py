#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The far end of a guest's network cards: bytes over TCP on port 7007, and frames on request.
usage: tests/vm/peer.py (in the namespace of the taps; $RESULTS is the folder shared with the guest)

A request is a file ask-N with {"tap": "tap0", "sh": COMMAND} or {"tap": …, "mac": …, "frames":
["COUNT SIZE WORDS…", …]} or {"ping": ADDRESS, "count": N}; the answer is a file done-N. Requests go by
files, not over the cards, which are being measured.
"""
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time

NIC = os.environ.get("NIC", "build/tests/nic")
RESULTS = os.environ["RESULTS"]


def serve(connection):
    """"S bytes" or "R bytes", in 32 characters: sends this many, or receives them and confirms."""
    with connection:
        word, size = connection.recv(32, socket.MSG_WAITALL).decode().split()
        left = int(size)
        while left and word == "S":
            left -= connection.send(bytes(min(left, 65536)))
        while left and word == "R":
            left -= len(connection.recv(65536)) or left
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass


def listen():
    server = socket.create_server(("", 7007), backlog=16)
    while True:
        threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()


def frames(ask):
    lines = [f"send 0 {frame} dmac={ask['mac']}" for frame in ask["frames"]]
    r = subprocess.run([NIC, "packet", ask["tap"], "--no-cpu-pin"], text=True, capture_output=True,
                       input="\n".join([*lines, "go", "quit", ""]))
    return [json.loads(line) for line in r.stdout.splitlines()]


def ping(ask):
    """Echo requests, as fast as they are answered, three in flight. Returns the number of replies."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))      # this thread
    request = struct.pack("!BBHHH", 8, 0, 0xf7ff, 0, 0)
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as s:
        s.connect((ask["ping"], 0))
        s.settimeout(5)
        for _ in range(3):
            s.send(request)
        for _ in range(ask["count"] - 3):
            s.recv(2048)
            s.send(request)
        for _ in range(3):
            s.recv(2048)
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return {"answered": ask["count"]}


def answer(ask):
    if "ping" in ask:
        return ping(ask)
    if "frames" in ask:
        return {"sent": [a["sent"] for a in frames(ask) if "sent" in a]}
    r = subprocess.run(ask["sh"], shell=True, text=True, capture_output=True)
    return {"status": r.returncode, "out": r.stdout + r.stderr}


threading.Thread(target=listen, daemon=True).start()
nr = 0
while True:
    try:
        with open(f"{RESULTS}/ask-{nr}", encoding="utf-8") as f:
            question = json.load(f)
    except FileNotFoundError:
        time.sleep(.02)
        continue
    try:
        reply = answer(question)
    except Exception as e:      # the guest waits for an answer, and prints the error
        reply = {"error": repr(e)}
    with open(f"{RESULTS}/done-{nr}.new", "w", encoding="utf-8") as f:
        json.dump(reply, f)
    os.rename(f"{RESULTS}/done-{nr}.new", f"{RESULTS}/done-{nr}")
    print(question, reply, file=sys.stderr, flush=True)
    nr += 1
