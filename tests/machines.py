"""The same bits under another hash seed and with other instructions: `python -m tests.machines`.

Digests of random graphs, interpreted and compiled, in processes of their own: as this machine does
it, without its newest instructions (AVX-512), and without all that not every x86-64 has. `exp`,
`log`, `sin` and powers come from the C library and do not follow these settings.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from functools import cache

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from tests.generate import case
from tests.harness import Feeder, Mismatch, load
from tests.schedules import schedule_whole

INTERPRETED, COMPILED = 100, 4
"""Graphs."""
NEWEST = ("AVX512", "AVX10", "X86_V4")


def settings():
    """The environments, that of the machine itself first."""
    ours = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    newest = [name for name in ours if name.startswith(NEWEST)]
    older = "haswell" if __cpu_features__.get("AVX2") else ""
    yield {"PYTHONHASHSEED": "0"}
    yield {"PYTHONHASHSEED": "1"} | without(newest, older)
    yield {"PYTHONHASHSEED": "2"} | without(ours, "generic")


def without(features, processor):
    """An environment without some instructions: for numpy, and for what numba compiles."""
    found = {"NPY_DISABLE_CPU_FEATURES": " ".join(features)}
    return found | ({"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": ""} if processor else {})


def digests(interpreted=INTERPRETED, compiled=COMPILED):
    """A digest of everything that each graph releases."""
    for number in range(interpreted + compiled):
        drawn = case(f"machines/{number}", schedules=1, most=12 if number < interpreted else 4)
        feeder = Feeder(load(drawn.document), drawn, compiled=number >= interpreted)
        text = repr(sorted(feeder.run(schedule_whole(drawn.rows)).outputs().items()))
        yield hashlib.sha256(text.encode()).hexdigest()


@cache
def found(number):
    """The digests in an environment."""
    command = [sys.executable, "-m", "tests.machines", "--digests"]
    compiled = {"RTBOT_INTERPRET": "0", "RTBOT_COMPILE": "now"}
    environment = os.environ | [*settings()][number] | compiled
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def differ(number):
    """Compare an environment with the first; returns how many graphs are the same."""
    pairs = zip(found(0), found(number), strict=True)
    wrong = [place for place, (a, b) in enumerate(pairs) if a != b]
    if wrong:
        raise Mismatch(f"graphs {wrong} differ in {[*settings()][number]}")
    return len(found(0))


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.machines", description=__doc__)
    parser.add_argument("--digests", action="store_true", help="print those of this process only")
    if parser.parse_args().digests:
        print(json.dumps([*digests()]))
        return
    for number, environment in enumerate(settings()):
        told = " ".join(f"{name}={value!r}" for name, value in environment.items())
        print(f"{differ(number)} graphs: {told}")


if __name__ == "__main__":
    main()
