"""Updates of Datalog by ranked support over sets of tuples: the rules of counting, slow, obvious.

Every row that is in has a rank, from a counter that never goes back, and the number of its
derivations whose rows of the same stratum all have lower ranks. What evaluation does in loops over
arrays is done here one binding at a time; both must be as `tests/oracles/datalog.py` has it.
"""

from dataclasses import replace

from rtbot.datalog.evaluation.rule_forms import WITH_ZERO, make_forms
from rtbot.datalog.program import Atom, Comparison, Negation, Variable
from tests.oracles import datalog as oracle


class RankedSupport:
    """The rows of all relations after each commit: `rows` are {row: [rank, count]} by relation."""

    def __init__(self, program):
        self.forms = make_forms(program)
        self.rows = {name: {} for name in self.forms.types}
        self.facts = {name: set() for name in self.forms.types}
        self.fixed = {name: set() for name in self.forms.types}
        for fact in program.facts:
            self.fixed[fact.relation].add(fact.values)
        self.rank = 0
        self.begun = False

    def commit(self, changes):
        """Take in removed and inserted facts by relation; removals come first."""
        self.before = {name: set(rows) for name, rows in self.rows.items()}
        self.dropped = {}
        for name, (removed, inserted) in changes.items():
            old = set(self.facts[name])
            self.facts[name] = (old - set(removed)) | set(inserted)
            self.dropped[name] = old - self.facts[name]
        for stratum in self.forms.strata:
            if stratum.group:
                self.group(stratum.group)
            elif stratum.asked:
                self.start_again(stratum)
            else:
                self.update(stratum)
        self.begun = True

    def group(self, group):
        """Compute all groups again."""
        values = {}
        for row in self.rows[group.source]:
            values.setdefault(row[: group.width], []).append(row[-1] if row else 0)
        found = {}
        for key, members in values.items():
            found[*key, combine(group.how, members, group.type)] = [0, 0]
        self.rows[group.relation] = found

    def start_again(self, stratum):
        """Compute a stratum with groups of its own: the first whenever nothing else is new."""
        for name in stratum.relations:
            self.rows[name] = {row: [0, 0] for row in self.facts[name] | self.fixed[name]}
        asked = {group.relation: set() for group in stratum.asked}
        while True:
            size = -1
            while size != (size := sum(len(self.rows[name]) for name in stratum.relations)):
                for rule in stratum.rules:
                    for head, _used in list(derivations(rule, self.after(rule))):
                        self.rows[rule.relation].setdefault(head, [0, 0])
            for group in stratum.asked:
                keys = set(self.rows[group.asked]) - asked[group.relation]
                if keys:
                    asked[group.relation] |= keys
                    self.add_groups(group, keys)
                    break
            else:
                return

    def add_groups(self, group, keys):
        """Add the aggregates of some groups."""
        values = {key: [] for key in keys}
        for row in self.rows[group.source]:
            if row[: group.width] in keys:
                values[row[: group.width]].append(row[-1])
        for key, members in values.items():
            if members or group.how in WITH_ZERO:
                self.rows[group.relation][*key, combine(group.how, members, group.type)] = [0, 0]

    def update(self, stratum):
        """Take in what has changed in earlier strata, and facts that go and come."""
        own = set(stratum.relations)
        due = set()
        for name in own:
            due |= {(name, row) for row in self.dropped.get(name, ()) if row in self.rows[name]}
        if self.begun:
            for rule in stratum.rules:
                for place in self.list_lower(rule, own):
                    for head, used in self.lost(rule, place, own):
                        self.lose(rule, head, used, due)
        out = self.take_out(stratum, own, due)
        self.rank += 1
        fresh = self.add(stratum, own, out)
        while fresh:
            rank, self.rank = self.rank, self.rank + 1
            fresh = self.follow(stratum, own, fresh, rank)

    def take_out(self, stratum, own, due):
        """Take out what nothing supports, wave by wave; return it."""
        out = set()
        while wave := {each for each in due if not self.is_supported(*each)}:
            due.clear()
            kept = {name: set(self.rows[name]) - rows_of(wave, name) for name in own}
            for rule in stratum.rules:
                for place in list_own(rule, own):
                    sources = self.held(rule, own)
                    for k in list_own(rule, own):
                        name = rule.body[k].relation
                        sources[k] = kept[name] if k < place else set(self.rows[name])
                    sources[place] = rows_of(wave, rule.body[place].relation)
                    for head, used in derivations(rule, sources):
                        self.lose(rule, head, used, due)
            for name, row in wave:
                del self.rows[name][row]
            out |= wave
            due -= wave
        return out

    def is_supported(self, name, row):
        return row in self.facts[name] | self.fixed[name] or self.rows[name][row][1] > 0

    def lose(self, rule, head, used, due):
        """Take a derivation from its head, if it was counted."""
        entry = self.rows[rule.relation].get(head)
        if entry is None or self.highest(rule, used) >= entry[0]:
            return
        entry[1] -= 1
        assert entry[1] >= 0, "a derivation lost that was never counted"
        if entry[1] == 0:
            due.add((rule.relation, head))

    def highest(self, rule, used):
        """The highest rank of rows of the own stratum."""
        own = next(set(s.relations) for s in self.forms.strata if rule.relation in s.relations)
        ranks = [self.rows[name][row][0] for name, row in used if name in own]
        return max(ranks, default=-1)

    def add(self, stratum, own, out):
        """Add what earlier strata make possible, and what was taken out but has a derivation."""
        now = {name: dict(self.rows[name]) for name in own}
        fresh = set()
        for name in own:
            for row in (self.facts[name] | self.fixed[name]) - set(self.rows[name]):
                self.rows[name][row] = [self.rank, 0]
                fresh.add((name, row))
        for rule in stratum.rules:
            for head, used in self.gained(rule, own, now):
                if (rule.relation, head) not in out:
                    self.count(rule, head, used, fresh)
        for rule in stratum.rules:
            sources = self.after(rule)
            sources |= {k: set(now[rule.body[k].relation]) for k in list_own(rule, own)}
            for head, _used in derivations(rule, sources):
                if (rule.relation, head) in out:
                    self.rows[rule.relation].setdefault(head, [self.rank, 0])[1] += 1
                    fresh.add((rule.relation, head))
        return fresh

    def gained(self, rule, own, now):
        """Derivations that earlier strata make possible: at first those without own rows."""
        inner = list_own(rule, own)
        if not self.begun:
            if not inner:
                yield from derivations(rule, self.after(rule))
            return
        for place in self.list_lower(rule, own):
            sources = self.held(rule, own)
            for k in self.list_lower(rule, own):
                if k > place:
                    sources[k] = self.after(rule)[k]
            sources |= {k: set(now[rule.body[k].relation]) for k in inner}
            yield from self.triggered(rule, place, sources, gains=True)

    def lost(self, rule, place, own):
        """Derivations of which this literal is the first that is no longer true."""
        sources = self.held(rule, own)
        for k in self.list_lower(rule, own):
            if k > place:
                sources[k] = self.before[relation_of(rule.body[k])]
        sources |= {k: self.before[rule.body[k].relation] for k in list_own(rule, own)}
        yield from self.triggered(rule, place, sources, gains=False)

    def triggered(self, rule, place, sources, *, gains):
        """Derivations from the rows, or absent keys, by which a literal changes."""
        literal = rule.body[place]
        old = self.before[relation_of(literal)]
        new = set(self.rows[relation_of(literal)])
        if isinstance(literal, Atom):
            yield from derivations(rule, {**sources, place: new - old if gains else old - new})
            return
        kept = [k for k, term in enumerate(literal.atom.arguments) if term is not None]
        old, new = ({tuple(row[k] for k in kept) for row in rows} for rows in (old, new))
        terms = tuple(literal.atom.arguments[k] for k in kept)
        atom = Atom(literal.atom.relation, terms, literal.atom.span)
        body = (*rule.body[:place], atom, *rule.body[place + 1 :])
        changed = old - new if gains else new - old
        for head, used in derivations(replace(rule, body=body), {**sources, place: changed}):
            yield head, [each for k, each in enumerate(used) if k != find_used(rule, place)]

    def count(self, rule, head, used, fresh):
        """Count a derivation; its head comes in if it is not."""
        rows = self.rows[rule.relation]
        if head not in rows:
            rows[head] = [self.rank, 1]
            fresh.add((rule.relation, head))
        elif self.highest(rule, used) < rows[head][0]:
            rows[head][1] += 1

    def follow(self, stratum, own, fresh, rank):
        """Add what follows from rows that came in at a rank, and from older ones."""
        found = set()
        old = {n: {row for row, entry in self.rows[n].items() if entry[0] < rank} for n in own}
        now = {n: set(self.rows[n]) for n in own}
        for rule in stratum.rules:
            for place in list_own(rule, own):
                sources = self.after(rule)
                for k in list_own(rule, own):
                    name = rule.body[k].relation
                    sources[k] = old[name] if k < place else now[name]
                sources[place] = rows_of(fresh, rule.body[place].relation)
                for head, used in derivations(rule, sources):
                    self.count(rule, head, used, found)
        return found

    def list_lower(self, rule, own):
        return [k for k, each in enumerate(rule.body)
                if not isinstance(each, Comparison) and relation_of(each) not in own]  # fmt: skip

    def after(self, rule):
        """What every literal reads after the epoch."""
        return {k: set(self.rows[relation_of(each)]) for k, each in enumerate(rule.body)
                if not isinstance(each, Comparison)}  # fmt: skip

    def held(self, rule, own):
        """What literals of earlier strata read so that they hold before and after."""
        found = {}
        for k in self.list_lower(rule, own):
            old = self.before[relation_of(rule.body[k])]
            new = set(self.rows[relation_of(rule.body[k])])
            found[k] = old | new if isinstance(rule.body[k], Negation) else old & new
        return found


def derivations(rule, sources):
    """Yield the head and the rows of the atoms of every binding; each literal has its own rows."""
    body = []
    for k, literal in enumerate(oracle.count_wildcards(rule.body, rule)):
        if isinstance(literal, Atom):
            body.append(replace(literal, relation=k))
        elif isinstance(literal, Negation):
            body.append(Negation(replace(literal.atom, relation=k)))
        else:
            body.append(literal)
    for binding in oracle.bind(body, {}, sources, rule):
        used = [
            (rule.body[each.relation].relation, tuple(
                binding[t.index] if isinstance(t, Variable) else t.value for t in each.arguments))
            for each in body
            if isinstance(each, Atom)
        ]  # fmt: skip
        yield tuple(oracle.compute(term, binding, rule) for term in rule.head), used


def find_used(rule, place):
    """Which of the used rows is that of a negation which was made an atom."""
    return sum(isinstance(literal, Atom) for literal in rule.body[:place])


def relation_of(literal):
    return literal.atom.relation if isinstance(literal, Negation) else literal.relation


def list_own(rule, own):
    return [
        k for k, each in enumerate(rule.body) if isinstance(each, Atom) and each.relation in own
    ]


def rows_of(pairs, name):
    return {row for relation, row in pairs if relation == name}


def combine(how, values, type_):
    """The aggregate of values."""
    if how == "count":
        return len(values)
    if how == "sum":
        return oracle.add_up(values, type_)
    if how == "mean":
        return oracle.mean(values)
    return (min if how == "min" else max)(values, key=oracle.order)
