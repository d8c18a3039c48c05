"""How a program is evaluated, as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.number_text import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def format_explanation(explained: Mapping[str, Any]) -> Iterator[str]:
    """Yield what `Datalog.explain` returns as lines: strata, their rules, and joins in order."""
    for number, stratum in enumerate(explained["strata"], 1):
        sizes = ", ".join(
            f"{name} ({format_count(rows, 'row')})" for name, rows in stratum["relations"].items()
        )
        kind = ", recursive" if stratum["recursive"] else ""
        yield f"stratum {number}{kind}: {sizes}"
        alone = [stratum["aggregate"]] if "aggregate" in stratum else []
        for aggregate in stratum.get("aggregates", alone):
            yield f"  {aggregate['function']} over {aggregate['over']}"
        for rule in stratum.get("rules", ()):
            yield f"  line {rule['line']}: {rule['text']}"
            for version in rule["versions"]:
                order = ", then ".join(version["order"]) or "nothing else"
                yield f"    from {version['from']}: {order}"
    yield f"{explained['bytes'] / 1e6:.1f} MB"
