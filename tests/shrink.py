"""Makes a failing case small: drops operators, outputs, rows and steps while it still fails."""

import dataclasses

from rtbot.compare.shrink import list_kept_parts, restrict_steps, shrink_case, simplify_steps


def shrink(case, fails, budget=600):
    """The smallest case found with at most `budget` trials of `fails`."""
    moves = (schedules_dropped, operators_dropped, rows_dropped, steps_dropped)
    return shrink_case(case, moves, fails, budget)


def schedules_dropped(case):
    """One schedule only; without trials; nothing but the trials."""
    if case.trials and case.schedules:
        yield dataclasses.replace(case, trials=())
        yield dataclasses.replace(case, schedules=[])
    if len(case.schedules) > 1:
        for steps in case.schedules:
            yield dataclasses.replace(case, schedules=[steps])


def operators_dropped(case):
    """Without one output, one operator that nobody reads, one unread input, the policies."""
    document = case.document
    for name in document["outputs"]:
        if len(document["outputs"]) > 1:
            outputs = {public: ref for public, ref in document["outputs"].items() if public != name}
            yield dataclasses.replace(case, document=document | {"outputs": outputs})
    for name in reversed(document["operators"]):
        operators = {key: spec for key, spec in document["operators"].items() if key != name}
        if not any(name in str(spec) for spec in [*operators.values(), document["outputs"]]):
            yield dataclasses.replace(case, document=document | {"operators": operators})
        outputs = {"out": name}
        if outputs != document["outputs"]:
            yield dataclasses.replace(case, document=document | {"outputs": outputs})
    for name in document["inputs"]:
        if not any(name in str(spec) for spec in (document["operators"], document["outputs"])):
            inputs = {key: kind for key, kind in document["inputs"].items() if key != name}
            chosen = {number for number, row in enumerate(case.rows) if row.input != name}
            plans = [[step for step in steps if step[-1] != name] for steps in case.schedules]
            fewer = document | {"inputs": inputs}
            yield with_rows(dataclasses.replace(case, document=fewer, schedules=plans), chosen)
    if "io" in document:
        yield dataclasses.replace(case, document={k: v for k, v in document.items() if k != "io"})


def rows_dropped(case):
    """Without a part of the rows: halves first, then ever smaller parts."""
    for kept in list_kept_parts(len(case.rows)):
        yield with_rows(case, kept)


def with_rows(case, chosen):
    """The case with the chosen rows only, renumbered in every schedule."""
    rows = [case.rows[old] for old in sorted(chosen)]
    plans = [restrict_steps(steps, chosen, {row.key for row in rows}) for steps in case.schedules]
    return dataclasses.replace(case, rows=rows, schedules=plans)


def steps_dropped(case):
    """Without one step that feeds nothing; with two pushes in one."""
    for number, steps in enumerate(case.schedules):
        for plan in simplify_steps(steps):
            plans = [*case.schedules[:number], plan, *case.schedules[number + 1 :]]
            yield dataclasses.replace(case, schedules=plans)
