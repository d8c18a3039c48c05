"""The list of `tests.sabotage`: a file, a text in it, what it becomes, what must catch it."""

from dataclasses import dataclass

TORTURE = ["-m", "tests.torture", "--compiled", "0", "--no-shrink", "--no-floors", "--workers", "1"]
COMMANDS = {
    "torture": [*TORTURE, "--graphs", "150", "--seed", "sabotage", "--failures", "0"],
    "long torture": [*TORTURE, "--graphs", "1500", "--seed", "sabotage", "--failures", "0"],
    "conformance": ["-m", "pytest", "-xq", "-p", "no:cacheprovider", "tests/conformance"],
    "golden": ["-m", "pytest", "-xq", "-p", "no:cacheprovider", "tests/test_golden.py"],
}


@dataclass(frozen=True)
class Sabotage:
    """One line of the package, broken."""

    file: str
    old: str
    new: str
    caught_by: tuple = ("torture", "long torture")


SABOTAGES = []
