"""Random joins against bags that are joined again for each transaction.

`python -m tests.join_trials --count 2000 [--compiled]` takes so many graphs of up to three joins,
with nulls, conditions that have no value, self joins and weights beyond int64; each is cut in all
ways, restored between, and through a Cache. It prints the case that differs.
"""

import argparse
import random
import sys
import traceback
from collections import Counter
from dataclasses import replace

import numpy as np

from rtbot.graph.check import check
from rtbot.graph.document import load_document
from rtbot.graph.stages import split_stages
from rtbot.relations.region_writer import write_region
from tests.oracles.joins import join_bags, not_in
from tests.oracles.row_expressions import NoValueError
from tests.relations_cases import check_cache, flatten, join_bytes, run_case
from tests.relations_oracle import (
    MOST,
    BadBagError,
    BagSource,
    draw_row,
    encode,
    identify,
    ordered,
    subtract,
)

HOW = ("inner", "left", "right", "full", "semi", "anti", "cross", "not in")
KINDS = ("integer", "number", "boolean", "text")
CONDITIONS = {
    "integer": ("{a} < {b}", "{a} // {b} > 0", "{a} + {b} != 1", "{a} is null or {b} >= {a}"),
    "number": ("{a} <= {b}", "{a} != {b}", "not ({a} > {b} and {b} > 0)"),
    "boolean": ("{a} or {b}", "{a} and {b}", "coalesce({a}, {b}, false)"),
    "text": ("{a} || {b} != 'ab'", "upper({a}) == {b}", "length({a}) > length({b})", "{a} < {b}"),
}
INPUTS = 3


class JoinCase:
    """A graph of joins with random transactions, some of them bad, and what is right."""

    kind = "join"

    def __init__(self, number, transactions=10):
        self.rng = random.Random(f"{self.kind}/{number}")
        self.names = [f"s{k}" for k in range(self.rng.choice([1, 2, 2, 3]))]
        self.fields = {name: self.draw_fields() for name in self.names}
        self.unique = {name: self.draw_unique(name) for name in self.names}
        self.text = self.write()
        self.checked = check(load_document(self.text))
        (stage,) = split_stages(self.checked, self.checked.outputs)
        plan = write_region(stage, self.checked)
        self.plan = replace(plan, outputs={"out": plan.outputs[self.checked.outputs["out"].id]})
        self.schemas = [self.plan.streams[k] for k in range(len(self.names))]
        self.names = [source.name for source in self.plan.sources]
        self.output = self.plan.streams[self.plan.outputs["out"]]
        self.operation, self.settings = "", [{}]
        self.draw(transactions)

    # ---- the graph

    def draw_fields(self):
        rng = self.rng
        kinds = [rng.choice(["integer", "integer", *KINDS]) for _ in range(rng.choice([1, 2, 3]))]
        return {f"f{k}": kind + "?" * (rng.random() < 0.4) for k, kind in enumerate(kinds)}

    def draw_unique(self, name):
        if self.rng.random() < 0.5:
            return []
        fields = [*self.fields[name]]
        return fields[: self.rng.randint(1, len(fields))]

    def write(self):
        lines = ["inputs:"]
        for name, fields in self.fields.items():
            unique = f", unique: [{', '.join(self.unique[name])}]" if self.unique[name] else ""
            given = ", ".join(f"{n}: {t}" for n, t in fields.items())
            lines.append(f"  {name}: {{changes: {{{given}}}{unique}}}")
        lines.append("operators:")
        streams = {name: dict(fields) for name, fields in self.fields.items()}
        last = self.rng.choice(self.names)
        unread = [name for name in self.names if name != last]
        for k in range(max(len(unread), self.rng.choice([1, 1, 2]))):
            other = unread.pop() if unread else self.rng.choice([*streams])
            sides = (last, other) if self.rng.random() < 0.7 else (other, last)
            made = f"j{k}"
            text, streams[made] = self.write_join(*(streams[s] for s in sides))
            lines.append(f"  {made}: {{in: [{', '.join(sides)}], {text}}}")
            last = made
        return "\n".join([*lines, f"outputs: {{out: {last}}}", ""])

    def write_join(self, left, right):
        rng = self.rng
        pairs = [
            (a, b)
            for a, x in left.items()
            for b, y in right.items()
            if x.strip("?") == y.strip("?")
        ]
        rng.shuffle(pairs)
        how = rng.choice(HOW)
        on = dict(pairs[: rng.choice([0, 1, 1, 1, 2])])
        if how == "not in" and pairs:
            by = dict(pairs[1 : rng.choice([1, 1, 2, 3])])
            shown = f", by: {{{', '.join(f'{a}: {b}' for a, b in by.items())}}}" if by else ""
            return f"type: NotIn, on: {{{pairs[0][0]}: {pairs[0][1]}}}{shown}", left
        how = "anti" if how == "not in" else how
        if how == "cross":
            return "type: JoinRows, how: cross", self.join_fields(left, right, how)
        parts = [f"how: {how}", f"on: {{{', '.join(f'{a}: {b}' for a, b in on.items())}}}"]
        if not on:
            parts[1] = "on: []"
        safe = [a for a in on if rng.random() < 0.3]
        if safe:
            parts.append(f"null_safe: [{', '.join(safe)}]")
        if rng.random() < 0.5:
            parts.append(f'condition: "{self.write_condition(left, right)}"')
        return ", ".join(["type: JoinRows", *parts]), self.join_fields(left, right, how)

    def join_fields(self, left, right, how):
        if how in ("semi", "anti"):
            return left
        padded = how in ("right", "full")
        fields = {n: t.strip("?") + "?" * ("?" in t or padded) for n, t in left.items()}
        for (_, type_), made in zip(right.items(), name_fields(left, right), strict=True):
            fields[made] = type_.strip("?") + "?" * ("?" in type_ or how in ("left", "full"))
        return fields

    def write_condition(self, left, right):
        rng = self.rng
        renamed = dict(zip(right, name_fields(left, right), strict=True))
        a = rng.choice([*left])
        kind = left[a].strip("?")
        same = [renamed[n] for n, t in right.items() if t.strip("?") == kind]
        b = rng.choice(same) if same else a
        return rng.choice(CONDITIONS[kind]).format(a=a, b=b)

    # ---- transactions

    def draw(self, transactions):
        rng = self.rng
        sources = [BagSource(s, unique=tuple(self.unique[n]))
                   for n, s in zip(self.names, self.schemas, strict=True)]  # fmt: skip
        pools = [[draw_row(rng, s) for _ in range(rng.choice([2, 4, 8]))] for s in self.schemas]
        self.transactions, self.expected, self.bad = [], [], []
        before = self.recompute([s.bag for s in sources])
        for _ in range(transactions):
            given = [
                draw_changes(rng, source, pool) for source, pool in zip(sources, pools, strict=True)
            ]
            self.transactions.append(given)
            try:
                taken = [s.take(c)[0] for s, c in zip(sources, given, strict=True)]
                after = self.recompute(taken)
            except (BadBagError, NoValueError):
                self.bad.append(True)
                continue
            for source, bag in zip(sources, taken, strict=True):
                source.bag = bag
            self.bad.append(False)
            self.expected.append(ordered(subtract(after, before)))
            before = after

    def recompute(self, bags):
        """The rows of the output; NoValueError if there are none."""
        found = dict(zip(self.names, bags, strict=True))
        schemas = dict(zip(self.names, self.schemas, strict=True))
        for node in self.checked.nodes.values():
            sides = [ref.id for ref in node.inputs.values()]
            rows = self.compute_join(node, [found[s] for s in sides], [schemas[s] for s in sides])
            if any(weight > MOST for weight in rows.values()):
                raise NoValueError("weight")
            found[node.id], schemas[node.id] = rows, node.types["o1"].schema
            check_unique(rows, schemas[node.id])
        return found[self.checked.outputs["out"].id]

    def compute_join(self, node, bags, schemas):
        return (not_in if node.operator.__name__ == "NotIn" else join_bags)(node, bags, schemas)

    def encode(self, texts, port):
        return encode([t[port] for t in self.transactions], self.schemas[port], texts)


def check_unique(rows, schema):
    """No two rows have equal values in a key that is said to be unique."""
    for key in schema.unique:
        places = [schema.place(name) for name in key]
        counts = Counter()
        for row, weight in rows.items():
            counts[tuple(row[place] for place in places)] += weight
        assert all(n <= 1 for n in counts.values()), (key, rows)


def name_fields(left, right):
    """Names of right fields in the output, said plainly."""
    taken, names = [*left], []
    for name in right:
        made = name
        k = 2
        while made in taken or (made != name and made in right):
            made = f"{name}_{k}"
            k += 1
        names.append(made)
        taken.append(made)
    return names


def draw_changes(rng, source, pool):
    weights = [1, 1, 1, 1, -1, 2, -2, 3, -3]
    if rng.random() < 0.03:
        weights = [MOST, 2**40, -(2**40), -MOST, 1]
    changes = []
    for _ in range(rng.choice([0, 1, 1, 2, 3, 8])):
        row, weight = rng.choice(pool), rng.choice(weights)
        if weight < 0 and rng.random() < 0.95:
            net = sum(w for r, w in changes if identify(r) == identify(row))
            net += source.bag[identify(row)]
            weight = -min(net, -weight) if net > 0 else min(-weight, 3)
        changes.append((row, weight))
    return changes


def snapshot(region):
    """The contents of all operators, whatever the order in which they came."""
    return [list_state(*step.operator.save()) for step in region.steps]


def list_state(values, arrays):
    found = []
    for name in {name.rpartition(".")[0] for name in arrays}:
        own = {n.rpartition(".")[2]: a for n, a in arrays.items() if n.rpartition(".")[0] == name}
        rows = values[name] if name else values.get("rows", 0)
        if rows:
            table = [a.reshape(rows, -1) for _, a in sorted(own.items())]
            found.append((name, sorted(map(tuple, np.hstack(table).tolist()))))
    return sorted(found)


def check_join(number, compiled="never", make=JoinCase):
    """Compare one case with the oracle: whole, cut, restored everywhere, and through a Cache."""
    case = make(number)
    count = len(case.transactions)
    whole, codes, region, texts = run_case(case, compiled)
    assert [bool(code) for code in codes] == case.bad, (codes, case.bad)
    found = flatten(whole, case, texts)
    assert found == case.expected, first_difference(found, case.expected)
    cuts = [case.rng.randrange(count + 1) for _ in range(3)]
    for some, restores in ((cuts, False), (range(count), True)):
        parts, again, other, _ = run_case(case, compiled, some, restores=restores)
        assert again == codes
        assert join_bytes(parts) == join_bytes(whole)
        assert snapshot(other) == snapshot(region)
        assert other.counts == region.counts
    check_cache(whole, case, texts)
    return any(case.bad)


def first_difference(found, expected):
    for k, (one, other) in enumerate(zip(found, expected, strict=False)):
        if one != other:
            return k, one, other
    return len(found), len(expected)


def run_trials(make, description) -> int:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--compiled", action="store_true")
    options = parser.parse_args()
    failed = bad = 0
    for number in range(options.first, options.first + options.count):
        try:
            bad += check_join(number, "now" if options.compiled else "never", make)
        except Exception:  # noqa: BLE001 (what a check raises is printed)
            failed += 1
            print(f"case {number} fails:\n{make(number).text}")
            traceback.print_exc(limit=-3, file=sys.stdout)
            if failed == 5:
                break
    print(f"{options.count} graphs, {bad} with transactions that are taken back, {failed} fail")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(run_trials(JoinCase, __doc__))
