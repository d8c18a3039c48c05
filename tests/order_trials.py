"""Random graphs of operators over rows in an order against bags that are computed anew.

`python -m tests.order_trials --count 2000 [--compiled]` takes so many graphs, with nulls, ties,
copies, numbers at the edges and weights beyond int64; each is cut in all ways, restored between,
and through a Cache. It prints the case that differs.
"""

import sys
from collections import Counter

from tests.join_trials import JoinCase, check_unique, name_fields, run_trials
from tests.oracles.joins import value_of
from tests.oracles.ordered import ORDERED_NODES
from tests.oracles.row_expressions import NoValueError
from tests.relations_oracle import MOST, identify

OPERATORS = ("TopRows", "TopRows", "AsOfJoin", "IntervalJoin")
DISTANCES = {
    "integer": (0, 1, 2, 7, 2**62, 2**63 - 1),
    "number": (0, 1, 0.5, 1e300, 2**62),
}


class OrderCase(JoinCase):
    """A graph of one or two such operators with random transactions, and what is right."""

    kind = "order"

    def write(self):
        lines = ["inputs:"]
        for name, fields in self.fields.items():
            unique = f", unique: [{', '.join(self.unique[name])}]" if self.unique[name] else ""
            given = ", ".join(f"{n}: {t}" for n, t in fields.items())
            lines.append(f"  {name}: {{changes: {{{given}}}{unique}}}")
        lines.append("operators:")
        streams = {name: dict(fields) for name, fields in self.fields.items()}
        last = self.names[0]
        unread = self.names[1:]
        for k in range(max(len(unread), self.rng.choice([1, 1, 2]))):
            other = unread.pop() if unread else None
            text, streams[f"o{k}"] = self.write_operator(last, other, streams, k)
            lines.append(f"  o{k}: {{{text}}}")
            last = f"o{k}"
        return "\n".join([*lines, f"outputs: {{out: {last}}}", ""])

    def write_operator(self, last, other, streams, number):
        kind = self.rng.choice(OPERATORS)
        if other is None and kind != "TopRows":
            other = self.rng.choice([*streams])
        if other is not None:
            left, right = streams[last], streams[other]
            text, fields = self.write_ordered_join(left, right)
            return f"in: [{last}, {other}], {text}", fields
        return f"in: {last}, " + self.write_top(streams[last], number), self.top_fields

    def write_top(self, fields, number):
        rng = self.rng
        names = [*fields]
        rng.shuffle(names)
        by = names[: rng.choice([0, 0, 1, 1, 2])]
        rng.shuffle(names)
        order = [rng.choice(["", "-"]) + name for name in names[: rng.choice([0, 1, 1, 2])]]
        parts = [f"type: TopRows, order: [{', '.join(order)}], k: {rng.choice([1, 2, 3, 6])}"]
        parts += [f"by: [{', '.join(by)}]"] if by else []
        ties = rng.random() < 0.35
        parts += ["ties: true"] if ties else []
        parts += [f"offset: {rng.choice([1, 2, 5])}"] if not ties and rng.random() < 0.3 else []
        self.top_fields = dict(fields)
        if rng.random() < 0.4:
            parts.append(f"number: n{number}")
            self.top_fields[f"n{number}"] = "integer"
        return ", ".join(parts)

    def write_ordered_join(self, left, right):
        """A join by keys and a distance; one of equal keys where there is nothing to compare."""
        rng = self.rng
        pairs = [
            (a, b)
            for a, x in left.items()
            for b, y in right.items()
            if x.strip("?") == y.strip("?")
        ]
        near = [(a, b) for a, b in pairs if left[a].strip("?") in DISTANCES]
        if not near:
            return self.write_join(left, right)
        rng.shuffle(pairs)
        on = dict(pairs[: rng.choice([0, 1, 1, 2])])
        one, match = rng.choice(near)
        how = rng.choice(["inner", "left"])
        parts = [f"how: {how}", f"match: {{{one}: {match}}}"]
        parts += [f"on: {{{', '.join(f'{a}: {b}' for a, b in on.items())}}}"] if on else []
        distances = DISTANCES[left[one].strip("?")]
        if rng.random() < 0.6:
            parts.append(f"type: AsOfJoin, direction: {rng.choice(['backward', 'forward'])}")
            parts += ["strict: true"] if rng.random() < 0.3 else []
            parts += [f"tolerance: {rng.choice(distances)}"] if rng.random() < 0.4 else []
        else:
            ends = sorted(rng.choice([1, -1]) * rng.choice(distances) for _ in range(2))
            parts.append(f"type: IntervalJoin, lower: {ends[0]}, upper: {ends[1]}")
        fields = dict(left)
        for (_, type_), made in zip(right.items(), name_fields(left, right), strict=True):
            fields[made] = type_.strip("?") + "?" * ("?" in type_ or how == "left")
        return ", ".join(parts), fields

    def recompute(self, bags):
        found = dict(zip(self.names, bags, strict=True))
        schemas = dict(zip(self.names, self.schemas, strict=True))
        for node in self.checked.nodes.values():
            sides = [ref.id for ref in node.inputs.values()]
            given = [found[side] for side in sides]
            compute = ORDERED_NODES.get(node.operator.__name__)
            if compute is None:
                rows = self.compute_join(node, given, [schemas[side] for side in sides])
            else:
                names = [[*schemas[side].names] for side in sides]
                rows = identify_all(compute(node, [*map(to_values, given)], names))
            if any(weight > MOST for weight in rows.values()):
                raise NoValueError("weight")
            found[node.id], schemas[node.id] = rows, node.types["o1"].schema
            check_unique(rows, schemas[node.id])
        return found[self.checked.outputs["out"].id]


def to_values(bag):
    return Counter({tuple(map(value_of, row)): n for row, n in bag.items() if n})


def identify_all(bag):
    return Counter({identify(row): n for row, n in bag.items()})


if __name__ == "__main__":
    sys.exit(run_trials(OrderCase, __doc__))
