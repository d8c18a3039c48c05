"""Names of users beside those of generated code, and graphs whose loops are cut into parts."""

import itertools
import random
import re

import pytest

import rtbot
from rtbot.compiler import plan
from rtbot.compiler.segment import RESERVED
from rtbot.compiler.window_code import RING_PARTS, TIME_PARTS
from tests import torture
from tests.generate import Grower

LIKE_OURS = [name for name in sorted(RESERVED) if re.fullmatch("[A-Za-z]\\w*", name)]
NUMBERED = ("m{0}", "on_{0}", "starts_{0}", "time_{0}", "o{0}_0", "o0_{0}_valid", "s0_{0}_m{0}")
NUMBERED += ("count_{0}", "m{0}_column", "x_{0}_on", "x{0}_valid", "x{0}_o1", "column{0}", "pool_I")


def draw_names(seed):
    """Names that generated code has, too, each once."""
    numbered = [form.format(number) for form in NUMBERED for number in range(4)]
    names = list(dict.fromkeys(LIKE_OURS + numbered))
    random.Random(seed).shuffle(names)
    return itertools.chain(names, (f"x{number}" for number in itertools.count()))


@pytest.mark.parametrize("part", range(2))
def test_users_may_name_things_as_generated_code_does(part, monkeypatch):
    for number in range(part * 20, part * 20 + 20):
        names = draw_names(number)
        monkeypatch.setattr(Grower, "_fresh", lambda *_, names=names: next(names))
        torture.run_case(f"names/{number}")


WINDOWS = {
    "mean": {"type": "MovingAverage", "window": 3},
    "median": {"type": "RollingMedian", "window": "3s"},
    "count": {"type": "MovingKeyCount", "window": "4s"},
    "peak": {"type": "PeakDetector", "window": "3s"},
}
PART = re.compile(rf"\b\w+_(?:{'|'.join((*RING_PARTS, *TIME_PARTS))})\b")


def run_windows(name):
    """The results of windows beside an operator of a name, and the code."""
    operators = {key: {"in": "price", **one} for key, one in WINDOWS.items()}
    graph = rtbot.load(
        {
            "inputs": {"price": "number"},
            "operators": operators | {name: "price * 2"},
            "outputs": [*operators, name],
            "io": {"unit": "s"},
        }
    )
    values = [1.0, 5.0, 3.0, 4.0, 2.0, 8.0, 7.0, 6.0, 6.0, 1.0]
    found = graph.run({"price": {"t": [*range(len(values))], "value": values}})
    return [table["value"].tolist() for table in found.values()], graph.code()


def test_no_operator_is_named_like_a_part_of_a_window():
    expected, code = run_windows("other")
    names = sorted({*PART.findall(code)})
    assert {"window_price_place", "window_price_2_full", "count_recent_first"} <= {*names}
    for name in names:
        assert run_windows(name)[0] == expected, name


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_long_loop_is_cut_into_parts_that_give_the_same(limit, monkeypatch):
    monkeypatch.setattr(plan, "SEGMENT_LIMIT", limit)
    for number in range(12):
        torture.run_case(f"parts/{limit}/{number}")
