"""The edge: what becomes of the rows of one input and key, in order of arrival."""

from dataclasses import dataclass, field

from tests.oracles.streams import ALWAYS, NEVER, Domain, OracleStream, exact_sum, greatest, least

ADVANCE = "advance"
"""Instead of a time: the event that no row at or before the value will come."""

RULES = {
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "min": least,
    "max": greatest,
    "sum": exact_sum,
}


class RefusedError(Exception):
    """The edge must raise DataError."""


@dataclass
class Edge:
    """Policies of a graph's `io`."""

    late: str = "error"
    duplicates: str = "error"
    lateness: int | None = None

    @classmethod
    def of(cls, document):
        """The policies written in a graph file."""
        io = document.get("io", {})
        lateness = int(str(io["lateness"]).rstrip("nsmhd")) if "lateness" in io else None
        return cls(io.get("late", "error"), io.get("duplicates", "error"), lateness)

    def frontier(self, newest, advanced):
        """No row at or before it is accepted any more."""
        if self.lateness is not None:
            return max(newest - self.lateness - 1, advanced)
        merges = self.duplicates not in ("error", "first")
        return max(newest - 1 if merges else newest, advanced)


@dataclass
class Arrivals:
    """The accepted values of one input and key by time, and what was lost."""

    edge: Edge
    values: dict = field(default_factory=dict)
    newest: float = NEVER
    advanced: float = NEVER
    lost: dict = field(default_factory=dict)

    def take(self, time, value):
        """One event; a row that is dropped is counted."""
        if time is ADVANCE:
            self.advanced = max(self.advanced, value)
            return
        bound = self.edge.frontier(self.newest, self.advanced)
        if time in self.values and (time > bound or time == self.newest > self.advanced):
            self._duplicate(time, value)
        elif time <= bound:
            if self.edge.late == "error":
                raise RefusedError("late")
            self.lost["late"] = self.lost.get("late", 0) + 1
        else:
            self.values[time] = [value]
            self.newest = max(self.newest, time)

    def _duplicate(self, time, value):
        if self.edge.duplicates == "error":
            raise RefusedError("duplicate")
        self.lost["duplicate"] = self.lost.get("duplicate", 0) + 1
        self.values[time].append(value)


def stream(events, edge, kind, *, nullable=False, ended=True):
    """The messages of one input and key after `events`; without `ended` those released so far."""
    arrivals = Arrivals(edge)
    for time, value in events:
        arrivals.take(time, value)
    frontier = ALWAYS if ended else edge.frontier(arrivals.newest, arrivals.advanced)
    rows = []
    for time, values in sorted(arrivals.values.items()):
        if time > frontier:
            continue
        try:
            rows.append((time, values[0] if len(values) == 1 else RULES[edge.duplicates](values)))
        except Domain:
            arrivals.lost["domain"] = arrivals.lost.get("domain", 0) + 1
    return OracleStream(rows, kind, nullable, frontier, arrivals.lost)
