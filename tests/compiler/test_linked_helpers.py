"""Helpers of compiled functions: one code for all integers, which is linked into what calls it."""

import numpy as np

from rtbot.compiler import jit

TEXT = '''
def prefetch(array, place):
    """Let a word be brought into the caches, where it is compiled; the place need not be there."""


def add(values, place, amount):
    values[place] += amount
    return values[place]


def run(values, amount):
    total = 0
    for place in range(len(values)):
        prefetch(values, place + 1000000)
        total += add(values, place, amount) + add(values, 0, 1)
    return total
'''


def test_helpers_are_linked_into_what_calls_them(monkeypatch, tmp_path):
    monkeypatch.setenv("RTBOT_CACHE_DIR", str(tmp_path / "kept"))
    module, plain = jit.load_compiled(TEXT), jit.load_interpreted(TEXT)
    one, other = np.arange(5), np.arange(5)
    assert module.run(one, 3) == plain.run(other, 3)
    assert np.array_equal(one, other)
    assert len(module.add.signatures) == 1
    assert "@llvm.prefetch" in module.run.inspect_llvm(module.run.signatures[0])
