"""An operator of one's own, see docs/custom-operators.md."""

from rtbot.ieee import divide
from rtbot.operator import Example, In, Number, Operator, Out, Scalar, step


class Drawdown(Operator):
    """How far the value is below the highest so far, as a share of that one."""

    least = Number(default=0.0, minimum=0.0, doc="a smaller share counts as none")
    i1 = In("number", alias="values", doc="values above 0")
    o1 = Out("number", alias="share", doc="0 at a new high, 0.25 a quarter below it")
    high = Scalar("number", 0.0)
    example = Example(
        inputs={"i1": [(1, 10.0), (2, 5.0), (3, 20.0), (4, 15.0)]},
        outputs={"o1": [(1, 0.0), (2, 0.5), (3, 0.0), (4, 0.25)]},
    )

    @step
    def step(i1, least, high):
        if i1 > high:
            high = i1
        share = divide(high - i1, high)
        return share if share >= least else 0.0, high
