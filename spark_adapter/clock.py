"""Event times of rows and Spark's watermark, which counts milliseconds."""

from __future__ import annotations

from dataclasses import dataclass

from rtbot.kernels import FIRST, LAST

NUDGE = 1
"""Milliseconds that Spark sees integer times late by.

A watermark begins at 0 and rows at or before it are late, but a count of time may begin with 0.
"""

PER_MILLISECOND = {"ms": 1, "us": 1_000, "ns": 1_000_000}


@dataclass(frozen=True)
class Clock:
    """How a watermark in milliseconds and times in `unit` correspond.

    `nudge` is what Spark sees the times late by, in milliseconds.
    """

    unit: str
    nudge: int = 0

    def until(self, watermark: int) -> int:
        """The last time of which Spark drops or has passed every row.

        >>> Clock("ns").until(5), Clock("s").until(1999)
        (5000999, 1)
        """
        passed = watermark - self.nudge
        if self.unit == "s":
            return passed // 1_000
        below = 999 if self.unit == "ns" else 0  # Spark sees microseconds
        return min(max(passed * PER_MILLISECOND[self.unit] + below, FIRST), LAST)

    def timer(self, time: int) -> int:
        """The least watermark that has passed this time; at least 1, the first there is.

        >>> Clock("ns").timer(5_000_999), Clock("us").timer(5001), Clock("s", 1).timer(2)
        (5, 6, 2001)
        """
        if self.unit == "s":
            passed = time * 1_000
        else:
            whole = time - time % 1_000 if self.unit == "ns" else time
            passed = -(-whole // PER_MILLISECOND[self.unit])
        return min(max(passed + self.nudge, 1), LAST)
