"""Sessions that go over from interpreted to compiled code between two steps of a schedule.

`python -m tests.going_over --cases 20` compiles random graphs; what comes out, and the dump after
every step, have to be those of a session that is interpreted throughout. It prints the number of a
case that differs. `--fake` replaces the compiler by plain functions: that is fast, and tests all
but the compiled code.
"""

import argparse
import contextlib
import functools
import random
import sys
from types import SimpleNamespace
from unittest import mock

from rtbot.compiler import jit
from rtbot.compiler.tiers import background, graph_code
from rtbot.compiler.tiers.background import BACKGROUND
from rtbot.compiler.tiers.fixed_module import FixedModule
from rtbot.compiler.tiers.tiered_module import InterpretedFunction
from rtbot.runtime import session_code
from rtbot.runtime.session import Session
from tests.generate import case
from tests.harness import Feeder, Mismatch, compare, load


@contextlib.contextmanager
def own_tiers(*, fake=False):
    """Sessions in the block share no tiers with others, and go over only when they are told to.

    With `fake` what they go over to is plain Python, too.
    """

    @functools.cache
    def load_tiered(text):
        return BACKGROUND.add(text, graph_code.list_functions(text))

    own = session_code.LOOPS
    loops = FixedModule(*own.modules, replaced=own.replaced)
    changes = [
        (graph_code, "load_tiered", load_tiered),
        (session_code, "LOOPS", loops),
        (background, "PATIENCE_SECONDS", float("inf")),
        (graph_code, "PATIENCE_SECONDS", float("inf")),
    ]
    with contextlib.ExitStack() as stack:
        for owner, name, change in changes:
            stack.enter_context(mock.patch.object(owner, name, change))
        if fake:
            stack.enter_context(mock.patch.object(jit, "load_compiled", load_fake))
        yield


@contextlib.contextmanager
def go_over_after(pushes):
    """Sessions in the block have own, fake tiers, and go over after so many pushes."""
    left, spend = [pushes], Session.spend

    def spent(self, seconds):
        spend(self, seconds)
        left[0] -= 1
        if left[0] == 0:
            BACKGROUND.compile_now(self.code.tiers)

    with own_tiers(fake=True), mock.patch.object(Session, "spend", spent):
        yield


def load_fake(text):
    """What stands for a compiled module."""
    kernels = text == session_code.LOOPS.text
    found = session_code.LOOPS.list_functions() if kernels else graph_code.list_functions(text)
    return SimpleNamespace(**{name: InterpretedFunction(f) for name, f in found.items()})


def check_case(number, *, fake=False):
    """Compare a session that goes over with one that never does.

    It goes over after one step of a schedule, or if `fake`, after each.
    """
    drawn = case(number)
    rng = random.Random(f"{number}/over")
    for steps in drawn.schedules:
        with own_tiers(fake=fake):
            places = range(len(steps)) if fake else [rng.randrange(len(steps))]
            check_schedule(drawn, steps, places)


def check_schedule(drawn, steps, places):
    """Compare outputs, and dumps after every step, where a session goes over at these places."""
    graph = load(drawn.document)
    still = Feeder(graph, drawn, compiled="never")
    moving = Feeder(graph, drawn, compiled="beside")
    for place, step in enumerate(steps):
        for feeder in (still, moving):
            feeder.step(step)
        if moving.session.dump() != still.session.dump():
            raise Mismatch(f"the dumps differ after step {place}")
        if place in places:
            BACKGROUND.compile_now(moving.session.code.tiers)
            moving.session._renew_paths()
    for feeder in (still, moving):
        feeder.run([])
    compare(moving.outputs(), still.outputs(), "after going over")


def main(given=None):
    """Check case after case."""
    parser = argparse.ArgumentParser(prog="python -m tests.going_over", description=__doc__)
    parser.add_argument("--cases", type=int, default=20, help="how many graphs")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first")
    parser.add_argument("--fake", action="store_true", help="compile nothing")
    options = parser.parse_args(given)
    for number in range(options.seed, options.seed + options.cases):
        try:
            check_case(number, fake=options.fake)
        except Mismatch as error:
            print(f"case {number}: {error}")
            return 1
    print(f"{options.cases} cases went over and stayed the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
