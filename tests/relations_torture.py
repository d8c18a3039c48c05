"""Random transactions through change operators, against bags that are recomputed for each.

`python -m tests.relations_torture --count 20000` takes so many transactions through every operator,
with interpreted loops, or compiled ones with `--compiled`. It prints the case that differs.
"""

import argparse
import sys
import traceback

from tests.relations_cases import OPERATORS, check_case, check_chain

PER_CASE = 12


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="transactions per operator")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--compiled", action="store_true")
    options = parser.parse_args()
    mode = "now" if options.compiled else "never"
    cases = range(options.first, options.first + -(-options.count // PER_CASE))
    failed = 0
    for operator in OPERATORS:
        for number in cases:
            failed += not passes(check_case, operator, number, mode)
        print(f"{operator}: {len(cases) * PER_CASE:,} transactions", flush=True)
    found = 0
    for number in cases:
        for place in range(3):
            found += passes(check_chain, number, place, mode) is True
    print(f"chains of three: {len(cases) * 3:,}, {found:,} with a fault taken back")
    return min(failed, 1)


def passes(check, *arguments):
    """Whether a check passes; what it found is printed."""
    try:
        return check(*arguments) is not False
    except Exception:  # noqa: BLE001 (what a check raises is printed)
        print(f"{check.__name__}{arguments} fails:")
        traceback.print_exc(limit=-3, file=sys.stdout)
        return None


if __name__ == "__main__":
    sys.exit(main())
