"""Makes a failing case small: drops operators, outputs, rows and steps while it still fails."""

import dataclasses


def shrink(case, fails, budget=600):
    """The smallest case found with at most `budget` trials of `fails`."""
    trials = 0

    def keeps_failing(candidate):
        nonlocal trials
        trials += 1
        return trials <= budget and fails(candidate)

    smaller = True
    while smaller and trials < budget:
        smaller = False
        for candidates in (schedules_dropped, operators_dropped, rows_dropped, steps_dropped):
            for candidate in candidates(case):
                if keeps_failing(candidate):
                    case, smaller = candidate, True
                    break
    return case


def schedules_dropped(case):
    """One schedule only."""
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
    count = len(case.rows)
    size = count // 2
    while size >= 1:
        for start in range(0, count, size):
            yield with_rows(case, set(range(count)) - set(range(start, start + size)))
        size //= 2


def with_rows(case, chosen):
    """The case with the chosen rows only, renumbered in every schedule."""
    keys = {case.rows[old].key for old in chosen}
    number_of = {old: new for new, old in enumerate(sorted(chosen))}
    schedules = []
    for steps in case.schedules:
        kept = []
        for kind, *args in steps:
            if kind == "push":
                kept.append((kind, [number_of[old] for old in args[0] if old in number_of]))
            elif kind == "refused":
                batch = [number_of[old] for old in args[0] if old in number_of]
                kept.append((kind, batch, args[1]))
            elif kind == "close" and args[0] not in keys:
                continue
            elif kind != "one":
                kept.append((kind, *args))
            elif args[0] in number_of:
                kept.append((kind, number_of[args[0]]))
        schedules.append(kept)
    return dataclasses.replace(
        case, rows=[case.rows[old] for old in sorted(chosen)], schedules=schedules
    )


def steps_dropped(case):
    """Without one step that feeds nothing; with two pushes in one."""
    for number, steps in enumerate(case.schedules):
        for place, step in enumerate(steps):
            plans = list(case.schedules)
            if step[0] in ("dump", "advance", "close", "refused") or step == ("push", []):
                plans[number] = steps[:place] + steps[place + 1 :]
                yield dataclasses.replace(case, schedules=plans)
            following = steps[place + 1] if place + 1 < len(steps) else ("none",)
            if step[0] == following[0] == "push":
                joined = ("push", step[1] + following[1])
                plans[number] = [*steps[:place], joined, *steps[place + 2 :]]
                yield dataclasses.replace(case, schedules=plans)
