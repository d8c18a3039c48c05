"""All benchmarks, each in a process of its own: python -m benchmarks [--json FILE] [options].

Options are passed on to every benchmark; --json collects all lines in one file.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

BENCHMARKS = (
    *("join", "windows", "bollinger", "keyed", "single", "waiting", "startup", "files", "changes"),
)


def main() -> int:
    """Run all; the exit code is 1 if one failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", type=Path, help="write machine and lines to this file")
    options, passed_on = parser.parse_known_args()
    found, failed = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in BENCHMARKS:
            print(f"\n== {name} ==" if found or failed else f"== {name} ==", flush=True)
            file = Path(folder) / f"{name}.json"
            machine = ["--no-machine"] if name != BENCHMARKS[0] else []
            command = [sys.executable, "-m", f"benchmarks.{name}", "--json", str(file)]
            done = subprocess.run([*command, *machine, *passed_on], check=False)  # noqa: S603
            if done.returncode:
                failed.append(name)
            else:
                found.append({"benchmark": name} | json.loads(file.read_text(encoding="utf-8")))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
