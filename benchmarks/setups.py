"""Data and graphs of the benchmarks."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rtbot
from benchmarks.measure import Contestant

WINDOW, WIDTH = 50, 2
SEED = 7


def walk(rows: int) -> np.ndarray:
    """Return prices that wander, all digits in use."""
    return 100 + np.cumsum(np.random.default_rng(SEED).normal(0, 0.01, rows))


def moving(kind: str) -> rtbot.Graph:
    """Return a graph of one moving operator."""
    operators = {"m": {"type": kind, "in": "price", "window": WINDOW}}
    return rtbot.load({"inputs": {"price": "number"}, "operators": operators, "outputs": ["m"]})


def resampled() -> rtbot.Graph:
    """Return a graph of a moving mean over prices on a grid of five seconds."""
    operators = {
        "grid": {"type": "ResamplerConstant", "in": "price", "interval": 5},
        "mean": {"type": "MovingAverage", "in": "grid", "window": WINDOW},
    }
    inputs, outputs = {"price": "number"}, ["grid", "mean"]
    return rtbot.load({"inputs": inputs, "operators": operators, "outputs": outputs})


def join(kind: str = "inner") -> rtbot.Graph:
    """Return a graph of one join, both sides put out."""
    join_: dict[str, Any] = {"type": "Join", "in": ["a", "b"]}
    if kind != "inner":
        join_["how"] = kind
    outputs = {"x": "j.o1", "y": "j.o2"}
    inputs = {"a": "number", "b": "number"}
    return rtbot.load({"inputs": inputs, "operators": {"j": join_}, "outputs": outputs})


BANDS = {
    "ma": {"type": "MovingAverage", "in": "price", "window": WINDOW},
    "sd": {"type": "StandardDeviation", "in": "price", "window": WINDOW},
    "upper": f"ma + {WIDTH} * sd",
    "lower": f"ma - {WIDTH} * sd",
}
BAND_OUTPUTS = {"upper": "upper", "middle": "ma", "lower": "lower"}


def bollinger() -> rtbot.Graph:
    """Return a graph of the three bands around a price."""
    graph = {"inputs": {"price": "number"}, "operators": BANDS, "outputs": BAND_OUTPUTS}
    return rtbot.load(graph)


def bollinger_of_join() -> rtbot.Graph:
    """Return a graph of the three bands around the mean of two joined prices."""
    price = {"j": {"type": "Join", "in": ["a", "b"]}, "price": "(j.o1 + j.o2) / 2"}
    inputs = {"a": "number", "b": "number"}
    return rtbot.load({"inputs": inputs, "operators": price | BANDS, "outputs": BAND_OUTPUTS})


def two_times(rows: int, matching: float) -> tuple[np.ndarray, np.ndarray]:
    """Return times of two streams; this share of them, at random, is common."""
    first = np.arange(rows) * 2
    odd = np.random.default_rng(SEED + 1).random(rows) >= matching
    return first, first + odd


class Pushing:
    """A session to which the same rows are pushed again and again, each time `span` later."""

    def __init__(
        self, graph: rtbot.Graph, tables: dict[str, dict[str, Any]], span: int = 0, **how: Any
    ) -> None:
        started = time.process_time()
        self.session = graph.start(compiled="now", **how)
        self.tables = tables
        self.span = span or 2 + max(int(table["t"][-1]) for table in tables.values())
        self.base = 0
        self.session.push(*self.prepare())
        self.seconds_first = time.process_time() - started

    def prepare(self) -> tuple[dict[str, Any]]:
        """Return the next tables, times later than all before."""
        base, self.base = self.base, self.base + self.span
        return ({n: table | {"t": table["t"] + base} for n, table in self.tables.items()},)

    def contestant(self, values: Callable[[Any], np.ndarray]) -> Contestant:
        """Return rtbot as a contestant; its first push compiles or reads what was compiled."""
        remark = f"start and first push {self.seconds_first:.1f} s"
        return Contestant("rtbot", self.session.push, self.prepare, values, remark)
