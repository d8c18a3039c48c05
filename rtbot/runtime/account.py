"""The account of a session: what came in at every port, and where it went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.compiler import pairing_layout
from rtbot.core.vector_names import list_first_elements, map_elements, split_element

if TYPE_CHECKING:
    from rtbot.compiler.calls import PortCounters
    from rtbot.graph.model import Ref
    from rtbot.runtime.session import Session
    from rtbot.runtime.staged_session import StagedSession


def build_account(session: Session) -> dict[str, Any]:
    """Count in = consumed + held + lost, per operator and port.

    A port that an as-of join looks up has `unmatched` beside them, if it is not zero: the messages
    of the first port that found nothing there, and came out with a null.
    """
    operators: dict[str, Any] = {}
    plan = session.plan
    for name, node in plan.checked.nodes.items():
        operators[name] = {
            split_element(port)[0]: _make_entry(
                session, plan.ports[name, port], _count_tied(session, name, port)
            )
            for port in list_first_elements(node.inputs)
        }
    inputs = {}
    for name, feed in session.input_ports.items():
        arrived, waiting = feed.counts["arrived"], feed.counts["held"]
        lost = dict(sorted(feed.lost.items()))
        inputs[name] = make_account_line(arrived, waiting, lost)
    return {"operators": operators, "inputs": inputs, "outputs": count_rows(session)}


def count_rows(session: Session | StagedSession) -> dict[str, int]:
    """Count rows that came out, by output; a vector has one count."""
    wholes = map_elements(session.plan.records)
    return {wholes.get(name, name): count for name, count in session.rows.items()}


def count_held(session: Session) -> dict[str, int]:
    """Count rows that wait, by port or input."""
    waiting = {n: f.counts["held"] for n, f in session.input_ports.items() if f.counts["held"]}
    for (name, port), found in session.plan.ports.items():
        whole, place = split_element(port)
        if found.pairing is not None and place in ("", "0"):
            pool = session.runner.pools[found.pairing[0]]
            count = pool.read_word(found.pairing[1], pairing_layout.HELD)
            if count:
                waiting[f"{name}.{whole}"] = count
        elif found.waits:
            count = count_waiting(session, found)
            if count:
                waiting[f"{name}.{whole}"] = count
    return waiting


def count_waiting(session: Session, port: PortCounters) -> int:
    """Count messages that an operator itself holds back."""
    spans = session.runner.spans
    return spans.count(port.waits) if port.waits and spans is not None else 0


def make_account_line(arrived: int, waiting: int, lost: dict[str, int]) -> dict[str, Any]:
    """Return the line of a port or an input."""
    consumed = arrived - waiting - sum(lost.values())
    return {"in": arrived, "consumed": consumed, "held": waiting, "lost": lost}


def _make_entry(session: Session, port: PortCounters, tied: dict[str, int]) -> dict[str, Any]:
    header = session.runner.header
    arrived = count_emitted(session, port.source)
    lost = dict(tied)
    waiting, unmatched = count_waiting(session, port), 0
    if port.pairing is not None:
        pool = session.runner.pools[port.pairing[0]]
        waiting = pool.read_word(port.pairing[1], pairing_layout.HELD)
        alone = pool.read_word(port.pairing[1], pairing_layout.LOST)
        if pool.call.ports[port.pairing[1]].role != "last":
            lost["unmatched"] = alone
        elif port.answers:
            unmatched = alone
    elif port.active is not None:
        lost["unmatched"] = arrived - int(header[port.active])
    if port.domain is not None:
        lost["domain"] = int(header[port.domain])
    line = make_account_line(arrived, waiting, {n: c for n, c in sorted(lost.items()) if c})
    return line | ({"unmatched": unmatched} if unmatched else {})


def _count_tied(session: Session, name: str, port: str) -> dict[str, int]:
    index = session.plan.losses.get((name, port))
    if index is None:
        return {}
    return {session.plan.reasons[name, port]: int(session.runner.header[index])}


def count_emitted(session: Session, ref: Ref) -> int:
    """Count messages that came out of a ref so far."""
    plan = session.plan
    if ref.id in session.input_ports:
        port = session.input_ports[ref.id]
        return port.counts["arrived"] - port.counts["held"] - sum(port.lost.values())
    clock = plan.timeline_of[ref]
    if ref in clock.counts:
        return int(session.runner.header[clock.counts[ref]])
    return session.runner.own_rows.get(clock.name, 0)
