"""Random graphs, data and schedules against the oracles: `python -m tests.torture --help`."""

import argparse
import itertools
import os
import re
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from rtbot.core.aligned_text import align_cells
from rtbot.expression.rules import ARGUMENTS
from tests import change_graphs, families, generate
from tests.catalogue import catalogue
from tests.checks import CaseChecks, port_kind
from tests.fuzz_files import limit_memory
from tests.refusals import REFUSALS
from tests.shrink import shrink
from tests.trials import WRONGS, tried

REGRESSIONS = Path(__file__).parent / "regressions.txt"
CHUNK = 50
SHRINK_SECONDS = 60
KINDS = ("number", "integer", "boolean", "text")
SIGNS = ("+", "-", "*", "/", "%", "**", "<", "<=", ">", ">=", "==", "!=", "and", "or", "not")
FLOORS = {
    "message": 20.0,
    "operator expression": 0.5,
    "step dump": 0.5,
    "step advance": 0.2,
    "step close": 0.05,
    "step one": 0.5,
    "step refused": 0.1,
    "restore with rows waiting": 0.05,
    "restore with nothing waiting": 0.05,
    "late drop": 0.05,
    "duplicates first": 0.01,
    "duplicates last": 0.01,
    "duplicates min": 0.01,
    "duplicates max": 0.01,
    "duplicates sum": 0.01,
    "lateness 0": 0.01,
    "lateness 3": 0.01,
    "lost late": 0.03,
    "lost duplicate": 0.03,
    "0 key columns": 0.2,
    "1 key columns": 0.2,
    "2 key columns": 0.05,
    "null key": 0.02,
    "null message": 0.1,
    "NaN in a window": 0.02,
    "negative zero": 0.05,
    "domain": 0.05,
    "unmatched": 0.2,
    "without match": 0.005,
    "chained pairings: 2": 0.1,
    "chained pairings: 3": 0.03,
    "chained pairings: 4": 0.005,
    "starved by push_one: 12 rows": 0.01,
    "starved by push_one: 36 rows": 0.003,
    "starved by push_one: 100 rows": 0.001,
    "times near the first of all": 0.1,
    "times near the last of all": 0.1,
    "times near both ends": 0.03,
    "integers near 2**53": 0.03,
    "integers near 2**63": 0.03,
    "second row at a time that waits, behind a restore": 0.05,
    "key closed": 0.1,
    "closed keys across a restore": 0.05,
    "advance behind closed keys": 0.005,
    "refused, then advance": 0.03,
    **{f"wrong {what}": 0.003 for what in WRONGS},
    **{name: floor / change_graphs.SHARE for name, floor in change_graphs.FLOORS.items()},
    "threads": 0.01,
    "message by threads": 0.2,
    **{f"input {kind}{null}": 0.02 for kind in KINDS for null in ("", "?")},
    **{f"refused {code}": 0.02 for code in (*REFUSALS, "RT202", "RT203", "RT301", "RT304")},
    **{f"function {name}": 0.002 for name in ARGUMENTS},
    **{f"sign {sign}": 0.01 for sign in SIGNS},
}
"""How often, per graph, each thing must at least have been met, on average."""
BY_THE_ENGINE = (
    *("restore", "refused", "wrong", "second row", "key closed", "closed keys", "advance behind"),
    *("threads", "message by threads", "change", "bad transactions"),
)
"""How the names of those begin that are met where the engine runs, and not in the cases alone."""
OPERATOR_FLOOR = 0.01
"""The same for every registered operator, and every kind of port that one of them declares."""


def run_case(name, *, compiled=False, coverage=None):
    """Check the case of a name such as "7/123"; raises Mismatch or what the engine raised."""
    if change_graphs.is_change_case(name):
        change_graphs.check(name, coverage, compiled=compiled)
        return
    check(draw_case(name, compiled=compiled), compiled=compiled, coverage=coverage)


def draw_case(name, *, compiled):
    """The case of a name; small graphs where they are compiled, which takes a second for each.

    Of those each has two operators in turn, so that 60 of them have all there are.
    """
    if families.family_of(name):
        return families.case(name)
    if not compiled:
        return generate.case(name)
    pool, number = [*catalogue().values()], int(re.sub(r"\D", "", name.rpartition("/")[2]))
    first = [pool[(2 * number + turn) % len(pool)] for turn in (0, 1)]
    return generate.case(name, schedules=3, most=2, first=first)


def check(case, *, compiled=False, coverage=None):
    """Check a case."""
    checked = CaseChecks(case, coverage)
    checked.meet()
    checked.schedules(compiled=compiled)
    checked.limited(compiled=compiled)
    tried(checked, compiled=compiled)


def run_chunk(names, *, compiled):
    """Check some cases: what they met, and the names of those that failed."""
    coverage, failures = Counter(), []
    for name in names:
        try:
            run_case(name, compiled=compiled, coverage=coverage)
        except Exception:  # noqa: BLE001 (whatever goes wrong is a finding)
            failures.append(name)
    return coverage, failures


def report(name, *, compiled):
    """The case as it failed and as small as it gets, as text."""
    deadline = time.monotonic() + SHRINK_SECONDS

    def fails(case):
        if time.monotonic() > deadline:
            return False
        try:
            check(case, compiled=compiled)
        except Exception as error:  # noqa: BLE001 (compared with the first failure)
            return type(error) is type(first)
        return False

    if change_graphs.is_change_case(name):
        return change_graphs.report(name, compiled=compiled)
    case = draw_case(name, compiled=compiled)
    try:
        check(case, compiled=compiled)
    except Exception as error:  # noqa: BLE001 (it is reported)
        first = error
    else:
        return f"case {name} passes when it is run alone"
    small = shrink(case, fails)
    try:
        check(small, compiled=compiled)
    except Exception as error:  # noqa: BLE001 (it is reported)
        last = error
    text = "".join(traceback.format_exception(last)[-4:])
    return f"{_describe_case(small)}\n{text}"


def _describe_case(case):
    lines = [f"inputs {case.document['inputs']}  io {case.document.get('io', {})}"]
    lines += [f"  {name}: {spec}" for name, spec in case.document["operators"].items()]
    lines += [f"outputs {case.document['outputs']}  key columns {case.keys}"]
    lines += [f"  row {n}: {row}" for n, row in enumerate(map(tuple, case.rows))]
    lines += [f"schedule {steps}" for steps in case.schedules]
    return "\n".join(lines)


def names_of(options):
    """Names of the cases, endless if the time is limited instead of the number."""
    if options.case is not None:
        return [options.case if "/" in options.case else f"{options.seed}/{options.case}"]
    numbers = itertools.count() if options.minutes else range(options.graphs)
    return with_families(options.seed, numbers)


def with_families(seed, numbers):
    """Names of plain cases, of families that come with some of them, and of graphs of changes."""
    for number in numbers:
        yield f"{seed}/{number}"
        if name := families.between(seed, number):
            yield name
        if number % change_graphs.SHARE == 0:
            yield f"{seed}/{change_graphs.PREFIX}{number}"


def list_remembered():
    """Names of cases that have failed once."""
    lines = REGRESSIONS.read_text().splitlines()
    return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


def chunks(names, size):
    """Lists of `size` names."""
    names = iter(names)
    while chunk := list(itertools.islice(names, size)):
        yield chunk


def run_all(names, options, *, compiled, deadline):
    """Check all names on all workers; what they met, how many there were, which failed."""
    coverage, failures, done = Counter(), [], 0
    size = 3 if compiled else min(CHUNK, max(1, options.graphs // options.workers))
    with ProcessPoolExecutor(options.workers, initializer=limit_memory) as pool:
        waiting, queue = set(), chunks(names, size)
        while True:
            for chunk in itertools.islice(queue, options.workers * 2 - len(waiting)):
                future = pool.submit(run_chunk, chunk, compiled=compiled)
                future.size = len(chunk)
                waiting.add(future)
            if not waiting:
                return coverage, done, failures
            future = next(iter(waiting))
            met, failed = future.result()
            waiting.remove(future)
            coverage += met
            failures += failed
            done += future.size
            _progress(compiled=compiled, done=done, failed=len(failures))
            if time.monotonic() > deadline or len(failures) > options.failures:
                queue = iter(())


def _progress(*, compiled, done, failed):
    """One line that grows on a terminal; elsewhere a line now and then."""
    text = f"{'compiled' if compiled else 'interpreted'}: {done} graphs, {failed} failed"
    if sys.stderr.isatty():
        _say(f"\r{text}", end="")
    elif done % (30 if compiled else 1000) < (3 if compiled else CHUNK):
        _say(text)


def _say(text, end="\n"):
    sys.stderr.write(text + end)
    sys.stderr.flush()


def port_kinds(pool):
    """Every kind of port of the operators, as they are without parameters."""
    for cls in pool.values():
        values = {name: parameter.default for name, parameter in cls.parameters.items()}
        for port, role in cls.roles(values, list(cls.ports(2))).items():
            yield port_kind(cls, port, role)


def floors(pool):
    """How often, per graph, everything must have been met."""
    found = FLOORS | {f"operator {name}": OPERATOR_FLOOR for name in pool}
    return found | dict.fromkeys(port_kinds(pool), OPERATOR_FLOOR)


def missing(coverage, graphs, pool):
    """What was met less often than its floor."""
    names = {alias: name for name, cls in pool.items() for alias in cls.aliases}
    for alias, name in names.items():
        coverage[f"operator {name}"] += coverage.pop(f"operator {alias}", 0)
    return {
        name: (coverage[name], round(floor * graphs))
        for name, floor in floors(pool).items()
        if coverage[name] < round(floor * graphs)
    }


def arguments(given=None):
    """The options of the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--graphs", type=int, default=10_000, help="graphs run interpreted")
    parser.add_argument("--compiled", type=int, default=300, help="graphs run compiled")
    parser.add_argument("--seed", default="1", help="where the numbers come from")
    parser.add_argument("--case", help="run one case only: its number, or seed/number")
    parser.add_argument("--minutes", type=float, default=0, help="run that long instead")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--failures", type=int, default=5, help="stop after more than these")
    parser.add_argument("--no-shrink", action="store_true", help="only name what fails")
    parser.add_argument("--no-floors", action="store_true", help="do not ask for coverage")
    parser.add_argument("--coverage", action="store_true", help="print every counter")
    return parser.parse_args(given)


def main(given=None):
    """Run the torture; the number of failures and of unmet floors is the exit code."""
    options = arguments(given)
    started = time.monotonic()
    deadline = started + options.minutes * 60 if options.minutes else float("inf")
    cache = tempfile.TemporaryDirectory(prefix="rtbot-torture-")
    old = [] if options.case else list_remembered()
    names = itertools.chain(old, names_of(options))
    coverage, done, failed = run_all(names, options, compiled=False, deadline=deadline)
    seconds = time.monotonic() - started
    _say(f"\n{done} interpreted in {seconds:.0f} s")
    os.environ["RTBOT_CACHE_DIR"] = cache.name
    number = 1 if options.case and options.compiled else 0 if options.case else options.compiled
    own = names_of(options) if options.case else (f"{options.seed}/c{n}" for n in range(number))
    more, compiled_done, compiled_failed = run_all(own, options, compiled=True, deadline=deadline)
    _say(f"\n{compiled_done} compiled in {time.monotonic() - started - seconds:.0f} s")
    coverage += more
    for name, compiled in [(n, False) for n in failed] + [(n, True) for n in compiled_failed]:
        _say(f"\nFAILED, replay: python -m tests.torture --case {name} --compiled {compiled:d}")
        if not options.no_shrink:
            _say(report(name, compiled=compiled))
    graphs = done + compiled_done - coverage["change graphs"]
    unmet = {} if options.case or options.no_floors else missing(coverage, graphs, catalogue())
    tell(coverage, graphs, unmet, all_counters=options.coverage)
    cache.cleanup()
    return min(len(failed) + len(compiled_failed) + len(unmet), 100)


def tell(coverage, graphs, unmet, *, all_counters):
    """Print what was met, beside what had to be."""
    edges = [name for name in coverage if name.startswith("edge")]
    _say(f"{len(edges)} kinds of edges between operators")
    wanted = floors(catalogue())
    names = sorted(wanted if not all_counters else {*wanted, *coverage})
    rows = [["", "met", "wanted", ""]]
    for name in names:
        least = round(wanted.get(name, 0) * graphs)
        rows.append([name, f"{coverage[name]:,}", f"{least:,}", "UNMET" if name in unmet else ""])
    for line in align_cells(rows, [False, True, True, False]):
        _say(f"  {line}")


if __name__ == "__main__":
    sys.exit(main())
