"""Where the time of a run goes: one activity at a time, and rows by how they were run."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from rtbot.compiler.tiers.background import BACKGROUND

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.io.pushes import PushTarget
    from rtbot.runtime.session import Session
    from rtbot.runtime.staged_session import StagedSession
    from rtbot.tables.time_column import TimeColumn

STARTING, READING, LOADING, INTERPRETED, COMPILED, WRITING = ACTIVITIES = (
    "starting",
    "reading",
    "loading",
    "interpreted",
    "compiled",
    "writing",
)


class Timings:
    """A clock that runs for one activity at a time; `seconds` and `rows` are by activity.

    Loading is that of compiled code before a block. Writing is what this thread spends on it:
    another one formats the lines.
    """

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(ACTIVITIES, 0.0)
        self.rows = dict.fromkeys((INTERPRETED, COMPILED), 0)
        self._activity, self._since = STARTING, perf_counter()
        self._before = BACKGROUND.load_seconds

    def switch(self, activity: str) -> str:
        """Let the time from now on be that of an activity; return the one before."""
        now, before = perf_counter(), self._activity
        self.seconds[before] += now - self._since
        self._activity, self._since = activity, now
        return before

    def list_lines(self) -> Iterator[str]:
        """Yield lines of text."""
        self.switch(self._activity)
        yield "time:"
        for activity, seconds in self.seconds.items():
            rows = f"  {self.rows[activity]:,} rows" if activity in self.rows else ""
            yield f"  {activity:<12}{seconds:9.3f} s{rows}"
        yield f"  {'all':<12}{sum(self.seconds.values()):9.3f} s"
        loaded = BACKGROUND.load_seconds - self._before
        if loaded:
            yield f"  of all this, compiled code was read for {loaded:.3f} s"
        if BACKGROUND.is_compiling:
            yield "  another process is compiling, for later runs"
        if BACKGROUND.compile_seconds:
            yield f"  another process has compiled for {BACKGROUND.compile_seconds:.3f} s of CPU"


class TimedSession:
    """A session whose calls are timed."""

    def __init__(self, session: Session, timings: Timings) -> None:
        self._session, self._timings = session, timings

    def push(self, data: Any, *, sort: bool = False) -> Any:
        """Push as the session does; the rows count as they are run at the beginning."""
        rows = [len(table) for table in data.values()]
        before = self._timings.switch(LOADING)
        self._session.prepare(sum(rows))
        activity = self._choose()
        self._timings.switch(activity)
        result = self._session.push(data, sort=sort)
        self._timings.rows[activity] += max(rows, default=0)
        self._timings.switch(before)
        return result

    def advance(self, time: int, name: str | None = None) -> Any:
        """Advance as the session does."""
        before = self._timings.switch(self._choose())
        result = self._session.advance(time, name)
        self._timings.switch(before)
        return result

    def note_times(self, column: TimeColumn | None) -> None:
        """Note what the times are that come in."""
        self._session.note_times(column)

    def _choose(self) -> str:
        return INTERPRETED if self._session.code.interpreted else COMPILED


def time_session(session: Session | StagedSession, timings: Timings | None) -> PushTarget:
    """Return what takes the pushes of a session; they are timed if that is wanted.

    Those of a session of stages are not.
    """
    from rtbot.runtime.session import Session

    if timings is None or not isinstance(session, Session):
        return session
    return TimedSession(session, timings)
