"""A constant for every message, and 1 or 0 for a condition."""

from __future__ import annotations

from rtbot.operator import Boolean, Example, In, Number, Operator, Out


class ConstantNumber(Operator):
    """The same number for every message, at the message's time."""

    value = Number(doc="what is emitted")
    i1 = In("number", doc="messages; their values do not matter")
    o1 = Out("number", doc="the constant")
    formula = "value"
    example = Example(
        parameters={"value": 4.25},
        inputs={"i1": [(1, 10.0), (7, 9.0)]},
        outputs={"o1": [(1, 4.25), (7, 4.25)]},
    )


class ConstantBoolean(Operator):
    """The same boolean for every boolean message, at the message's time."""

    value = Boolean(doc="what is emitted")
    i1 = In("boolean", doc="messages; their values do not matter")
    o1 = Out("boolean", doc="the constant")
    formula = "value"
    example = Example(
        parameters={"value": True},
        inputs={"i1": [(1, False), (7, True)]},
        outputs={"o1": [(1, True), (7, True)]},
    )


class ConstantNumberToBoolean(Operator):
    """The same boolean for every number, at the message's time."""

    value = Boolean(doc="what is emitted")
    i1 = In("number", doc="messages; their values do not matter")
    o1 = Out("boolean", doc="the constant")
    formula = "value"
    example = Example(
        parameters={"value": False},
        inputs={"i1": [(1, 10.0), (7, 9.0)]},
        outputs={"o1": [(1, False), (7, False)]},
    )


class ConstantBooleanToNumber(Operator):
    """The same number for every boolean message, at the message's time."""

    value = Number(doc="what is emitted")
    i1 = In("boolean", doc="messages; their values do not matter")
    o1 = Out("number", doc="the constant")
    formula = "value"
    example = Example(
        parameters={"value": 0.5},
        inputs={"i1": [(1, False), (7, True)]},
        outputs={"o1": [(1, 0.5), (7, 0.5)]},
    )


class BooleanToNumber(Operator):
    """1 for true, 0 for false."""

    i1 = In("boolean", doc="conditions")
    o1 = Out("number", doc="1 or 0")
    formula = "if(i1, 1.0, 0.0)"
    example = Example(
        inputs={"i1": [(1, False), (6, True)]},
        outputs={"o1": [(1, 0.0), (6, 1.0)]},
    )
