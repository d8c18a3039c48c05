"""The example graphs, on their real data, against plain Python."""

import csv
import math
import statistics
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

import rtbot

GRAPHS = Path(__file__).parent.parent / "graphs"


def rows(name: str) -> list[dict[str, str]]:
    with (GRAPHS / "data" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def mean(values: list[float]) -> float:
    """The exact mean, rounded once."""
    return float(sum(map(Fraction, values)) / len(values))


def test_bollinger_bands_of_every_symbol():
    graph = rtbot.load(GRAPHS / "bollinger.yaml")
    result = graph.run(GRAPHS / "data" / "prices.csv")
    prices: dict[str, list[float]] = {}
    for row in rows("prices.csv"):
        prices.setdefault(row["symbol"], []).append(float(row["price"]))
    expected = {"upper": [], "middle": [], "lower": []}
    for symbol in sorted(prices):
        for end in range(20, len(prices[symbol]) + 1):
            window = prices[symbol][end - 20 : end]
            middle, band = mean(window), 2 * math.sqrt(statistics.variance(window))
            expected["middle"].append((symbol, middle))
            expected["upper"].append((symbol, middle + band))
            expected["lower"].append((symbol, middle - band))
    for name, wanted in expected.items():
        found = result[name]
        assert list(zip(found["symbol"], found["value"].tolist(), strict=True)) == wanted


def test_two_sensors_drift_apart():
    graph = rtbot.load(GRAPHS / "two_sensors.yaml")
    data = GRAPHS / "data"
    result = graph.run({"inlet": data / "inlet.csv", "outlet": data / "outlet.csv"})
    inlet = {row["time"]: float(row["inlet"]) for row in rows("inlet.csv")}
    outlet = {row["time"]: float(row["outlet"]) for row in rows("outlet.csv")}
    gaps = [inlet[t] - outlet[t] for t in sorted(inlet.keys() & outlet.keys())]
    drift = [mean(gaps[end - 24 : end]) for end in range(24, len(gaps) + 1)]
    assert result["drift"]["value"].tolist() == drift
    assert result["alert"]["value"].tolist() == [value > 5 for value in drift]
    assert any(result["alert"]["value"])


def own_tests() -> list[pytest.param]:
    """The `tests:` of every graph."""
    found = []
    for path in sorted(GRAPHS.glob("*.yaml")):
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        cases = document.get("tests", [])
        found += [pytest.param(path, case, id=f"{path.stem}: {case['name']}") for case in cases]
    return found


@pytest.mark.parametrize(("path", "case"), own_tests())
def test_what_the_graph_says_of_itself(path, case):
    graph = rtbot.load(path, **case.get("params", {}))
    wanted = {name: [] for name in case.get("emits_nothing", [])} | case.get("expect", {})
    outputs = yaml.safe_load(path.read_text(encoding="utf-8"))["outputs"]
    session = graph.start(key=case.get("key", ()), tap=sorted(wanted.keys() - set(outputs)))
    emitted: dict[str, list[list[object]]] = {name: [] for name in wanted}
    for name, given in case["given"].items():
        for *key, time, value in given:
            out = session.push_one(name, time, value, **({"key": key[0]} if key else {}))
            for output in out.keys() & wanted.keys():
                emitted[output] += [list(message) for message in out[output]]
    assert {name: sorted(messages) for name, messages in emitted.items()} == wanted
