"""Sessions that go over from interpreted to compiled code between two steps of a schedule.

`python -m tests.going_over --cases 20` compiles random graphs; what comes out, and the dump after
every step, have to be those of a session that is interpreted throughout. It prints the number of a
case that differs. `--fake` replaces the compiler by plain functions: that is fast, and tests all
but the compiled code.
"""

import argparse
import contextlib
import random
import sys
from types import SimpleNamespace
from unittest import mock

from rtbot.compiler import jit
from rtbot.compiler.tiers import background
from rtbot.compiler.tiers.background import BACKGROUND
from rtbot.compiler.tiers.tiered_module import InterpretedFunction
from rtbot.runtime import session_code
from tests.generate import case
from tests.harness import Feeder, Mismatch, compare, load


@contextlib.contextmanager
def own_tiers(*, fake=False):
    """Sessions in the block share no tiers with others, and go over only when they are told to.

    With `fake` what they go over to is plain Python, too.
    """
    changes = {
        "_load_tiered": lambda text: BACKGROUND.add(text, session_code._list_functions(text)),
        "_load_tiered_kernels": lambda: kernels,
    }
    kernels = BACKGROUND.add(session_code._kernel_text(), session_code._list_kernels())
    with contextlib.ExitStack() as stack:
        for name, change in changes.items():
            stack.enter_context(mock.patch.object(session_code, name, change))
        stack.enter_context(mock.patch.object(background, "PATIENCE_SECONDS", float("inf")))
        stack.enter_context(mock.patch.object(session_code, "PATIENCE_SECONDS", float("inf")))
        if fake:
            stack.enter_context(mock.patch.object(jit, "load_compiled", load_fake))
        yield


def load_fake(text):
    """What stands for a compiled module."""
    kernels = text == session_code._kernel_text()
    found = session_code._list_kernels() if kernels else session_code._list_functions(text)
    return SimpleNamespace(**{name: InterpretedFunction(f) for name, f in found.items()})


def check_case(number, *, always=False):
    """Compare a session that goes over after a step, or after each, with one that never does."""
    drawn = case(number)
    rng = random.Random(f"{number}/over")
    for steps in drawn.schedules:
        graph = load(drawn.document)
        still = Feeder(graph, drawn, compiled="never")
        moving = Feeder(graph, drawn, compiled="beside")
        chosen = rng.randrange(len(steps))
        for place, step in enumerate(steps):
            for feeder in (still, moving):
                feeder.step(step)
            if moving.session.dump() != still.session.dump():
                raise Mismatch(f"case {number}: the dumps differ after step {place}")
            if always or place == chosen:
                BACKGROUND.compile_now(moving.session.code.tiers)
                moving.session._renew_paths()
        for feeder in (still, moving):
            feeder.run([])
        compare(moving.outputs(), still.outputs(), f"case {number}")


def main(given=None):
    """Check case after case."""
    parser = argparse.ArgumentParser(prog="python -m tests.going_over", description=__doc__)
    parser.add_argument("--cases", type=int, default=20, help="how many graphs")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first")
    parser.add_argument("--fake", action="store_true", help="compile nothing")
    options = parser.parse_args(given)
    for number in range(options.seed, options.seed + options.cases):
        with own_tiers(fake=options.fake):
            check_case(number, always=options.fake)
    print(f"{options.cases} cases went over and stayed the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
