# SPDX-License-Identifier: GPL-2.0
"""The laps of a measurement that nobody disturbed. Where a core is shared, with another virtual machine for instance, all
takes longer while the other works, in turns of some 10 ms; and fixed work between the laps does, too. So only laps count
beside which it took hardly longer than it can."""
import bisect
import statistics

LIMIT = 1.1	# times the least that the work takes, of a lap that counts
FEW = 9		# laps that a figure needs
LEAST = 3	# laps of a case that count at any rate: those beside which the work took least
AGAIN = 12	# slices, at most, until enough laps count


class Quiet:
    """`by`: "cpu" or "seconds", the time of a lap that is told."""
    def __init__(self, by):
        self.by, self.works = by, []

    def least(self):
        """What the work takes where nobody disturbs it: the first percentile, as the clock is not exact."""
        return self.works[len(self.works) // 100]

    def undisturbed(self, laps):
        """Those that count."""
        quiet = [lap for lap in laps if lap["work"] <= LIMIT * self.least()]
        return quiet if len(quiet) >= LEAST else sorted(laps, key=lambda lap: lap["work"])[:LEAST]

    def few(self, laps):
        """Were fewer of them undisturbed than a figure needs?"""
        return sum(lap["work"] <= LIMIT * self.least() for lap in laps) < FEW

    def slice(self, link, kind, ms, most=AGAIN):
        """What is sent until half of a quiet slice's laps count, or `most` times: {"packets", "bytes", "laps"}"""
        all_ = {"packets": 0, "bytes": 0, "laps": []}
        for _ in range(most):
            said = link.go(kind, ms)
            for lap in said["laps"]:
                bisect.insort(self.works, lap["work"])
            all_ = {key: all_[key] + said[key] for key in all_}
            if sum(lap["work"] <= LIMIT * self.least() for lap in all_["laps"]) >= len(said["laps"]) / 2:
                break
        return all_

    def ns(self, laps):
        """ns per packet (TCP: per byte) of the laps that count, sorted."""
        return sorted(1e9 * lap[self.by] / (lap["packets"] or lap["bytes"]) for lap in self.undisturbed(laps))

    def median(self, laps):
        return statistics.median(self.ns(laps))

    def percent(self):
        """The share of all laps that were undisturbed."""
        return 100 * bisect.bisect(self.works, LIMIT * self.least()) / len(self.works)


def quartiles(values):
    """Of sorted ones."""
    return values[len(values) // 4], values[-1 - len(values) // 4]
