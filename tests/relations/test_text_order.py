"""Labels of texts ascend as the texts do, whatever comes and goes."""

import random

import numpy as np
import pytest

from rtbot.relations import text_order
from rtbot.relations.text_order import UNLABELLED, TextOrder
from rtbot.tables.string_dictionary import StringDictionary

KINDS = {
    "anywhere": lambda _, rng: str(rng.random()),
    "at the end": lambda number, _: f"9{number:06}",
    "in one place, ascending": lambda number, _: f"5{number:06}",
    "in one place, descending": lambda number, _: f"5{10**6 - number:06}",
}


class Known:
    """An order and the codes that were added to it."""

    def __init__(self):
        self.texts = StringDictionary()
        self.order, self.codes = TextOrder(self.texts), set()

    def add(self, names):
        codes = [self.texts.code(name) for name in names]
        self.order.add(np.array(codes))
        self.codes.update(codes)

    def check(self):
        codes = sorted(self.codes, key=self.texts.values.__getitem__)
        labels = self.order.labels[codes]
        assert (np.diff(labels) > 0).all()
        assert np.flatnonzero(self.order.labels != UNLABELLED).tolist() == sorted(codes)


@pytest.mark.parametrize("step", [1, 2**32])
@pytest.mark.parametrize("kind", KINDS)
def test_labels_ascend_as_the_texts_do(monkeypatch, kind, step):
    monkeypatch.setattr(text_order, "CHUNK", 4)
    monkeypatch.setattr(text_order, "STEP", step)
    rng, known, number = random.Random(kind), Known(), 0
    known.add(["0", "8"])
    for _ in range(60):
        count = rng.choice([1, 1, 2, 7, 40])
        known.add([KINDS[kind](number + k, rng) for k in range(count)])
        number += count
        if rng.random() < 0.2:
            gone = set(rng.sample(sorted(known.codes), rng.randint(1, len(known.codes))))
            known.order._forget(gone)
            known.codes -= gone
        known.check()


def test_a_code_with_another_text_moves():
    known = Known()
    known.add(["a", "b", "c"])
    known.texts.values[known.texts.code("b")] = "z"
    codes = np.array(sorted(known.codes))
    known.order.forget_replaced(codes)
    assert (known.order.labels[codes] == UNLABELLED).tolist() == [False, True, False]
    known.order.add(codes)
    known.check()


def test_what_a_text_costs_does_not_grow_with_their_number():
    known = Known()
    known.add([f"{number:06}" for number in range(50_000)])
    known.order._spread = lambda _: pytest.fail("there is room between the labels")
    known.add(["025000x"])
    assert max(map(len, known.order._texts)) <= 2 * text_order.CHUNK
    known.check()
