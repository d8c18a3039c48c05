"""What must hold of every case: each check raises Mismatch with what differs."""

import dataclasses
import math
import re
from collections import Counter

import rtbot
from tests.harness import (
    Feeder,
    Mismatch,
    compare,
    compute_expected,
    is_prefix,
    list_events,
    load,
    to_bits,
)
from tests.oracles.streams import INT64_LEAST, INT64_MOST, bits
from tests.oracles.whole import answer_for_key

NEAR_LEAST, NEAR_MOST = INT64_LEAST + 1000, INT64_MOST - 1000
MANY_STEPS = 300
"""Steps of a schedule, one of six of which is compared with the oracle; of more, six."""


class CaseChecks:
    """A case with its graph and the oracle's answer; counts what it has met."""

    def __init__(self, case, coverage=None):
        self.case = case
        self.coverage = Counter() if coverage is None else coverage
        self.graph = load(case.document)
        self.evaluations = compute_expected(case)
        self.right = to_bits(self.evaluations, case.document["outputs"])

    def schedules(self, *, compiled=False, watched=True):
        """Every schedule gives the oracle's bytes and an account that adds up."""
        for number, steps in enumerate(self.case.schedules):
            self.run(steps, f"schedule {number}", compiled=compiled, watched=watched)

    def limited(self, *, compiled=False):
        """With short queues: what a full one refuses comes in later, and the answer is the same."""
        limit = self.case.limit
        feeder = Feeder(self.graph, self.case, compiled=compiled, limit=limit)
        waiting, before = list(range(len(self.case.rows))), None
        while waiting != before:
            before, waiting, stalled = waiting, [], set()
            for number in before:
                row = self.case.rows[number]
                if (row.input, row.key) not in stalled and self._fits(feeder, number):
                    continue
                stalled.add((row.input, row.key))
                waiting.append(number)
        if waiting:
            return  # an input that another one waits for has ended
        feeder.run([])
        compare(feeder.outputs(), self.right, f"queues of {limit}")
        self.account(feeder.session.account(), f"queues of {limit}")

    def _fits(self, feeder, number):
        try:
            feeder.step(("one", number) if number % 2 else ("push", [number]))
        except rtbot.QueueFull as error:
            self.coverage[f"refused {error.code}"] += 1
            return False
        return True

    def run(self, steps, what, *, compiled=False, watched=False, tap=()):
        """One session over the steps."""
        feeder = Feeder(self.graph, self.case, compiled=compiled, tap=tap)
        often = 6 if len(steps) <= MANY_STEPS else len(steps) // 6
        for place, step in enumerate(steps):
            feeder.step(step)
            ends = place == len(steps) - 1 or (step[0] == "advance" and place % 2)
            if watched and step[0] != "dump" and (place % often == often - 1 or ends):
                self.so_far(feeder, steps[: place + 1], f"{what} after step {place} {step}")
        feeder.run([])
        compare(feeder.outputs(), self.right, what)
        self.account(feeder.session.account(), what)
        self.coverage += feeder.coverage
        return feeder

    def so_far(self, feeder, steps, what):
        """What has been released is a beginning of the answer, and all that is certain by now.

        A row at the earliest time of all is never certain before a later one, and an advance to
        that time says nothing.
        """
        released = feeder.outputs()
        if not is_prefix(released, self.right):
            compare(released, self.right, f"{what}: released is no prefix of the answer")
        advances = [args[0] for kind, *args in steps if kind == "advance"]
        if not self.case.prompt or INT64_LEAST in {
            *advances,
            *(row.time for row in self.case.rows),
        }:
            return
        certain = self.certain(steps)
        if not is_prefix(certain, released):
            compare(released, certain, f"{what}: held back although certain")

    def certain(self, steps):
        """What is sure after some steps: with the frontiers the rows so far give."""
        closed = {args[0] for kind, *args in steps if kind == "close"}
        given = list_events(self.case, steps)
        evaluations = {
            key: answer_for_key(self.case.document, own, ended=key in closed)
            for key, own in given.items()
        }
        return to_bits(evaluations, self.case.document["outputs"])

    def account(self, account, what):
        """in = consumed + held + lost at every port; rows and losses are the oracle's."""
        places = {"inputs": account["inputs"]}
        places |= account["operators"]
        for place, ports in places.items():
            for port, entry in ports.items():
                if entry["in"] != entry["consumed"] + entry["held"] + sum(entry["lost"].values()):
                    raise Mismatch(f"{what}: account of {place}.{port} does not add up: {entry}")
                if entry["held"]:
                    raise Mismatch(f"{what}: {place}.{port} holds rows after finish: {entry}")
        self._account_of_inputs(account["inputs"], what)
        for name, ports in account["operators"].items():
            self._account_of_operator(name, ports, what)
        for name, count in account["outputs"].items():
            rows = sum(len(rows) for rows in self.right.get(name, {}).values())
            if name in self.right and count != rows:
                raise Mismatch(f"{what}: account of output {name}: {count}, released {rows}")

    def _account_of_inputs(self, inputs, what):
        arrived = Counter(row.input for row in self.case.rows)
        for name, entry in inputs.items():
            lost = Counter()
            for evaluation in self.evaluations.values():
                lost += Counter(evaluation.ports[name]["o1"].lost)
            if entry["in"] != arrived[name] or entry["lost"] != dict(lost):
                raise Mismatch(
                    f"{what}: account of input {name} is {entry}, right is in {arrived[name]}, "
                    f"lost {dict(lost)}"
                )

    def _account_of_operator(self, name, ports, what):
        losses = [e.losses[name] for e in self.evaluations.values() if name in e.losses]
        if len(losses) < len(self.evaluations):
            return  # nobody reads it
        for port, entry in ports.items():
            rows = sum(loss.rows[port] for loss in losses)
            lost = {
                "unmatched": sum(loss.unmatched.get(port, 0) for loss in losses),
                "domain": sum(loss.domain.get(port, 0) for loss in losses),
                "tied": sum(loss.tied.get(port, 0) for loss in losses),
            }
            lost = {reason: count for reason, count in lost.items() if count}
            alone = sum(loss.alone.get(port, 0) for loss in losses)
            if (entry["in"], entry["lost"], entry.get("unmatched", 0)) != (rows, lost, alone):
                raise Mismatch(
                    f"{what}: account of {name}.{port} is {entry}, right is in {rows}, lost {lost}"
                    f", unmatched {alone}"
                )

    def keyed_is_alone(self):
        """Every key gives what it gives in a run of its own, without key columns."""
        if not self.case.keys:
            return
        for key in {row.key for row in self.case.rows}:
            rows = [row._replace(key=()) for row in self.case.rows if row.key == key]
            alone = dataclasses.replace(self.case, keys=(), rows=rows)
            feeder = Feeder(self.graph, alone).run([("push", list(range(len(rows))))])
            own = {
                name: {(): keys[key]} if key in keys else {} for name, keys in self.right.items()
            }
            compare(feeder.outputs(), own, f"key {key} alone")

    def tap(self):
        """Tapped operators appear in the result, and nothing else changes."""
        if not self.evaluations:
            return
        names = list(next(iter(self.evaluations.values())).losses)
        feeder = self.run(self.case.schedules[0], "tapped", tap=names)
        for name in names:
            ports = next(iter(self.evaluations.values())).ports[name]
            for port in ports:
                label = name if len(ports) == 1 else f"{name}.{port}"
                count = sum(len(e.ports[name][port].rows) for e in self.evaluations.values())
                if feeder.session.account()["outputs"].get(label) != count:
                    raise Mismatch(f"the tap of {label} does not show {count} rows")

    def meet(self):
        """Count what the case contains."""
        for name, spec in self.case.document["operators"].items():
            kind = "expression" if isinstance(spec, str) else spec["type"]
            self.coverage[f"operator {kind}"] += 1
            self._meet_ports(name, spec)
            self._meet_streams(name, spec, kind)
        for kind in self.case.document["inputs"].values():
            self.coverage[f"input {kind}"] += 1
        for key, value in self.case.document.get("io", {}).items():
            self.coverage[f"{key} {value}"] += 1
        self.coverage[f"{len(self.case.keys)} key columns"] += 1
        self.coverage["null key"] += any(None in row.key for row in self.case.rows)
        for evaluation in self.evaluations.values():
            self.coverage["domain"] += any(
                any(loss.domain.values()) for loss in evaluation.losses.values()
            )
            self.coverage["unmatched"] += any(
                any(loss.unmatched.values()) for loss in evaluation.losses.values()
            )
            self.coverage["without match"] += any(
                any(loss.alone.values()) for loss in evaluation.losses.values()
            )
            for name in self.case.document["inputs"]:
                for reason in evaluation.ports[name]["o1"].lost:
                    self.coverage[f"lost {reason}"] += 1
        for steps in self.case.schedules:
            self.coverage.update(f"step {step[0]}" for step in steps)
        self._meet_edges()
        depth = max((self._depth(ref) for ref in self.case.document["outputs"].values()), default=0)
        for least in (2, 3, 4):
            self.coverage[f"chained pairings: {least}"] += depth >= least

    def _meet_edges(self):
        """Count what lies at an edge: times, integers, an input that starves beside `push_one`."""
        times = [row.time for row in self.case.rows]
        low, high = min(times, default=0) < NEAR_LEAST, max(times, default=0) > NEAR_MOST
        self.coverage["times near the first of all"] += low
        self.coverage["times near the last of all"] += high
        self.coverage["times near both ends"] += low and high
        whole = {abs(row.value) for row in self.case.rows if type(row.value) is int}
        self.coverage["integers near 2**53"] += any(abs(v - 2**53) < 9 for v in whole)
        self.coverage["integers near 2**63"] += any(v > NEAR_MOST for v in whole)
        for steps in self.case.schedules:
            if {step[0] for step in steps} <= {"one", "dump"}:
                fed = [self.case.rows[step[1]] for step in steps if step[0] == "one"]
                longest = _starved(fed, self.case.document["inputs"])
                for least in (12, 36, 100):
                    self.coverage[f"starved by push_one: {least} rows"] += longest >= least

    def _depth(self, ref):
        """How many pairings are behind each other on the way to a reference."""
        spec = self.case.document["operators"].get(ref.partition(".")[0])
        if not isinstance(spec, dict):
            return 0
        refs = list(_refs(spec))
        return (len({*refs}) > 1) + max(map(self._depth, refs), default=0)

    def _meet_ports(self, name, spec):
        if isinstance(spec, str):
            text = QUOTED.sub("x", spec)
            self.coverage.update({f"function {name}" for name in CALLED.findall(text)})
            self.coverage.update({f"sign {sign}" for sign in SIGN.findall(text)})
            return
        node = self.graph.checked.nodes[name]
        for port, role in node.roles.items():
            self.coverage[port_kind(node.operator, port, role)] += 1

    def _meet_streams(self, name, spec, kind):
        for evaluation in self.evaluations.values():
            rows = [
                row for stream in evaluation.ports.get(name, {}).values() for row in stream.rows
            ]
            self.coverage["message"] += len(rows)
            self.coverage["null message"] += any(value is None for _, value in rows)
            nan = any(isinstance(value, float) and math.isnan(value) for _, value in rows)
            self.coverage["NaN in a window"] += nan and "window" in spec
            self.coverage["negative zero"] += any(bits(value) == "-0x0.0p+0" for _, value in rows)
        if isinstance(spec, dict):
            for ref in _refs(spec):
                source = self.case.document["operators"].get(ref.partition(".")[0])
                if isinstance(source, dict):
                    self.coverage[f"edge {source['type']} to {kind}"] += 1


QUOTED = re.compile(r"`[^`]*`")
CALLED = re.compile(r"\b(\w+)\(")
SIGN = re.compile(r"\*\*|<=|>=|==|!=|[-+*/%<>]|\b(?:and|or|not)\b")


def port_kind(cls, port, role):
    """What sort of port it is: its type, and how it waits."""
    declared = cls.port(port)
    return f"port {declared.kind}{'?' * declared.nullable} {role}"


def _starved(fed, inputs):
    """The most messages of others between two of one input and key, or before its first."""
    longest = 0
    for key in {row.key for row in fed}:
        own = [row.input for row in fed if row.key == key]
        for name in inputs:
            gaps = "".join("x" if other == name else "." for other in own).split("x")
            longest = max(longest, *map(len, gaps[: max(1, len(gaps) - 1)]))
    return longest


def _refs(spec):
    for group in ("in", "control"):
        given = spec.get(group, [])
        yield from (
            [given]
            if isinstance(given, str)
            else list(given.values() if isinstance(given, dict) else given)
        )
