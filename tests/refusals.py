"""Every way in which a session refuses something, by code: none of them may change anything."""

import pyarrow as pa

import rtbot
from rtbot.storage import container
from tests.oracles.vectors import type_of

OTHER = "inputs: {other: text}\noutputs: [other]\n"
BEYOND = 1 << 63


def add_refusals(rng, case, share=0.15):
    """The case with things between its steps that must be refused."""
    case.schedules = [_with_wrong(rng, steps, share) for steps in case.schedules]
    return case


def _with_wrong(rng, steps, share):
    found = []
    for step in steps:
        found.append(step)
        if rng.random() < share:
            found.append(("wrong", rng.choice(sorted(REFUSALS))))
    return found


class NotApplicable(Exception):  # noqa: N818 (no failure)
    """This session has nothing that could be wrong so."""


def refuse(feeder, code):
    """Do something wrong, and return the code with which it was refused; None if it was not."""
    try:
        REFUSALS[code](feeder)
    except rtbot.RtbotError as error:
        return error.code
    return None


def _row(feeder, **changed):
    """A push of one row that would be right, but for what is changed; None leaves a column out."""
    name, kind = next(iter(feeder.kinds.items()))
    columns = {key: ["A"] for key in feeder.case.keys} | {"t": [0], "value": [value_of(kind)]}
    columns |= changed
    return {name: {column: cells for column, cells in columns.items() if cells is not None}}


VALUES = {"number": 1.0, "integer": 1, "boolean": True, "text": "x"}
NO_VALUES = {"number": "x", "integer": 0.5, "boolean": 7, "text": 1.5}
OF_ANOTHER_TYPE = {"number": "string", "integer": "string", "boolean": "string", "text": "float64"}


def value_of(kind):
    """A value of the kind; of a vector, so many."""
    return VALUES[kind] if kind in VALUES else [1.0] * type_of(kind, nullable=False).size


def _value(feeder):
    kind = next(iter(feeder.kinds.values()))
    feeder.session.push(_row(feeder, value=[NO_VALUES.get(kind, "x")]))


def _type(feeder):
    (name, kind), *_ = feeder.kinds.items()
    row = _row(feeder)[name] | {"value": pa.array([None], OF_ANOTHER_TYPE.get(kind, "string"))}
    feeder.session.push({name: row})


def _twice(feeder):
    (name, row), *_ = _row(feeder).items()
    names = [*row, "value"]
    feeder.session.push({name: pa.table([*row.values(), row["value"]], names=names)})


def _surrogate(feeder):
    name = next((name for name, kind in feeder.kinds.items() if kind == "text"), None)
    if name is None:
        raise NotApplicable
    row = next(iter(_row(feeder).values()))
    feeder.session.push({name: row | {"value": ["\ud800"]}})


def _key(feeder):
    if not feeder.case.keys:
        raise NotApplicable
    (name, kind), *_ = feeder.kinds.items()
    feeder.session.push_one(name, 0, value_of(kind), key=tuple("ABC"))


def _keyless(feeder):
    if feeder.case.keys:
        raise NotApplicable
    feeder.session.close_key("A")


def _resume_dump(blob):
    return lambda feeder: feeder.graph.resume(blob(feeder.session.dump()), compiled=False)


def _damage_dump(blob):
    place = len(blob) // 2
    return blob[:place] + bytes([blob[place] ^ 1]) + blob[place + 1 :]


def _newer(blob):
    """The dump as another version might write it."""
    head = container.verify_blob(blob)
    lengths = container.LENGTHS.pack(container.FORMAT + 1, len(blob), head)
    body = container.MAGIC + lengths + blob[container.START : -container.DIGEST]
    return body + container.hashlib.sha256(body).digest()


def _another(_blob):
    return rtbot.load(OTHER).start(compiled=False).dump()


REFUSALS = {
    "RT201": _value,
    "RT204": lambda feeder: feeder.session.push(_row(feeder, t=None)),
    "RT205": lambda feeder: feeder.session.advance("later"),
    "RT206": lambda feeder: feeder.session.push({"nobody": next(iter(_row(feeder).values()))}),
    "RT207": lambda feeder: feeder.session.push({next(iter(feeder.kinds)): [[1] * 9]}),
    "RT209": _surrogate,
    "RT211": lambda feeder: feeder.session.push(_row(feeder, t=[None])),
    "RT212": _key,
    "RT213": lambda feeder: feeder.session.push(_row(feeder, t=[BEYOND])),
    "RT214": lambda feeder: feeder.session.push(_row(feeder, t=[1, 2])),
    "RT215": _twice,
    "RT220": _type,
    "RT303": _keyless,
    "RT311": _resume_dump(_damage_dump),
    "RT312": _resume_dump(_newer),
    "RT313": _resume_dump(_another),
}
"""By code, what is refused with it at any time; RT202 and RT203 are steps of schedules."""

AFTER_THE_END = {
    "push": lambda session, name: session.push({name: {"t": [], "value": []}}),
    "push_one": lambda session, name: session.push_one(name, 0, None, key=None),
    "advance": lambda session, _name: session.advance(0),
    "close_key": lambda session, _name: session.close_key("A"),
    "finish": lambda session, _name: session.finish(),
}
"""What a finished session refuses with RT301."""


def refused_after_the_end(session, name):
    """The codes with which a finished session refuses everything."""
    codes = set()
    for act in AFTER_THE_END.values():
        try:
            act(session, name)
        except rtbot.RtbotError as error:
            codes.add(error.code)
        else:
            codes.add(None)
    return codes
