# SPDX-License-Identifier: GPL-2.0
"""Traffic in the background of a test."""
import threading


class Sender(threading.Thread):
    """Keeps a NIC sending numbered frames until stop(), which returns their number."""
    def __init__(self, nic, queues, words):
        super().__init__(daemon=True)
        self.nic, self.queues, self.words = nic, queues, words
        self.sent = self.errors = 0
        self.going = True
        self.start()

    def run(self):
        while self.going:
            for q in range(self.queues):
                self.nic(f"send {q} {self.words}")
            done = self.nic("go interleave")
            self.sent += done["sent"]
            self.errors += done["errors"]

    def stop(self):
        self.going = False
        self.join()
        return self.sent
