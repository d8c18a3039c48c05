"""Modules that run in a process of their own.

A fork copies the threads' locks and the connections of its parent, and a session of Spark is one to
a process: neither belongs into a process in which other tests run.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMIT_SECONDS = 500


def alone(module, *words, **environment):
    """What `python -m module` prints; fails if its exit code is not 0, or it takes too long.

    `environment` is added to that of this process.
    """
    done = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    return done.stdout
