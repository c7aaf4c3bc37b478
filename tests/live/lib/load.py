# SPDX-License-Identifier: GPL-2.0
"""Load from both CPUs, in both directions: frames through a tap and its sockets, TCP through a veth pair."""
import socket
import threading
import time

from lib.lab import Namespace, Nic, json, narrow, tap, until, veth
from lib.wire import inside

PORT, CLOSED = 5000, 9
MACHINE = 4     # queues of each


def stop_all(threads):
    for t in threads:
        t.going = False
    for t in threads:
        t.join(20)
    return threads


class Frames(threading.Thread):
    """Keeps `nic` sending on all queues; returns the numbers sent and rejected."""
    def __init__(self, nic, *words):
        super().__init__(daemon=True)
        self.nic, self.words, self.going = nic, words, True
        self.sent = self.errors = 0
        self.by_words = dict.fromkeys(words, 0)
        self.start()

    def run(self):
        while self.going:
            for words in self.words:
                for q in range(MACHINE):
                    self.nic(f"send {q} {words}")
            done = self.nic("go interleave")
            self.sent += done["sent"]
            self.errors += done["errors"]
            for words in self.words:
                self.by_words[words] += MACHINE * int(words.split()[0])


class Datagrams(threading.Thread):
    """Reads a UDP socket; returns the number of datagrams."""
    def __init__(self, netns, address, port):
        super().__init__(daemon=True)
        self.socket = inside(netns, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 1 << 20)      # SO_RCVBUFFORCE
        self.socket.bind((address, port))
        self.socket.settimeout(.2)
        self.going, self.came = True, 0
        self.start()

    def run(self):
        while True:
            try:
                self.socket.recv(4096)
                self.came += 1
            except TimeoutError:
                if not self.going:
                    break
        self.socket.close()


class Stream(threading.Thread):
    """One TCP connection that sends as fast as it can until stopped, then closes; bytes sent and received."""
    def __init__(self, netns, to, address):
        super().__init__(daemon=True)
        self.listener = inside(to, lambda: socket.create_server((address, 0)))
        narrow(self.listener)
        self.client = inside(netns, lambda: socket.create_connection(self.listener.getsockname()))
        self.peer = self.listener.accept()[0]
        self.going, self.sent, self.came = True, 0, 0
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.start()

    def read(self):
        while n := len(self.peer.recv(1 << 20)):
            self.came += n

    def run(self):
        piece = bytes(100000)
        while self.going:
            self.client.sendall(piece)
            self.sent += len(piece)
        self.client.shutdown(socket.SHUT_WR)
        self.reader.join(20)
        for s in self.client, self.peer, self.listener:
            s.close()


class Machine:
    """`here` has tap0, with a NIC behind it, and eth0, a veth whose other end is in `there`."""
    def __init__(self, options="--napi"):
        self.here, self.there = Namespace("here"), Namespace("there")
        self.nic = tap(self.here, "tap0", MACHINE, options, address="10.0.0.1/24", mtu=1500)
        self.here.run("sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.icmp_ratelimit=0")
        self.here.ip("neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev tap0")
        veth(self.here, self.there, "eth0", MACHINE, mtu=1500)
        pair = (self.here, self.there), (self.there, self.here)
        for i, (netns, _) in enumerate(pair, 1):
            netns.ip(f"addr add 10.0.1.{i}/24 dev eth0")
            netns.run("ethtool -K eth0 gro on")
        for i, (netns, other) in enumerate(pair, 1):    # no ARP in the counts
            mac = json.loads(other.ip("-j link show eth0"))[0]["address"]
            netns.ip(f"neigh replace 10.0.1.{3 - i} lladdr {mac} dev eth0 nud permanent")
        self.out = Nic(f"packet tap0 --queues {MACHINE}", self.here)
        self.nic("read on")

    def tso(self, how):
        """Without TSO veths poll. Their queues then stop if there is a qdisc, and in Linux 6.18 one may stay stopped
        forever (without nicprobe, too): so there is none, and packets that find the ring full are dropped."""
        for netns in self.here, self.there:
            netns.run(f"tc qdisc replace dev eth0 root {'handle 1: mq' if how == 'on' else 'noqueue'}")
            netns.run(f"ethtool -K eth0 tso {how}")

    def load(self, seconds, during=lambda: None):
        """All loads at once for this long; returns the threads, which hold the results."""
        open_, closed = (f"{n} 200 udp src=10.0.0.2 dst=10.0.0.1 dport={p} flows=8"
                         for n, p in ((900, PORT), (100, CLOSED)))
        reader = Datagrams(self.here, "10.0.0.1", PORT)
        streams = [Stream(self.here, self.there, "10.0.1.2"), Stream(self.there, self.here, "10.0.1.1")]
        frames = [Frames(self.nic, open_, closed), Frames(self.out, "500 300 udp flows=8")]
        time.sleep(seconds)
        during()
        stop_all(frames)
        stop_all(streams)
        stop_all([reader])
        self.open, self.closed = frames[0].by_words[open_], frames[0].by_words[closed]
        return reader, streams, frames


def settled(read, seconds=5):
    """The result of read(), once it is the same twice, 50 ms apart."""
    last = [read()]

    def again():
        time.sleep(.05)
        last.append(read())
        return last[-1] == last[-2]
    until(again, seconds)
    return last[-1]
