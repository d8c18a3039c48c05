"""Event times of rows and Spark's watermark, which counts milliseconds."""

from __future__ import annotations

from dataclasses import dataclass

from rtbot.adapter import FIRST, LAST

PER_MILLISECOND = {"ms": 1, "us": 1_000, "ns": 1_000_000}


@dataclass(frozen=True)
class WatermarkClock:
    """How a watermark in milliseconds and times in `unit` correspond."""

    unit: str

    def to_time(self, watermark: int) -> int:
        """Return the last time that a watermark has passed; FIRST at 0, where Spark's begins.

        So rows before 1970 wait until a later row has come.

        >>> WatermarkClock("ns").to_time(5), WatermarkClock("s").to_time(1999)
        (5000999, 1)
        """
        if watermark <= 0:
            return FIRST
        if self.unit == "s":
            return watermark // 1_000
        below = 999 if self.unit == "ns" else 0  # Spark sees microseconds
        return min(watermark * PER_MILLISECOND[self.unit] + below, LAST)

    def to_watermark(self, time: int) -> int:
        """Return the least watermark that has passed this time.

        >>> times = {"ns": 5_000_999, "us": 5001, "s": 2}
        >>> [WatermarkClock(unit).to_watermark(time) for unit, time in times.items()]
        [5, 6, 2000]
        """
        if self.unit == "s":
            passed = time * 1_000
        else:
            whole = time - time % 1_000 if self.unit == "ns" else time
            passed = -(-whole // PER_MILLISECOND[self.unit])
        return min(max(passed, 1), LAST)
