"""A constructor for every operator of rtbot, and the functions of expressions.

Written by `make constructors` from the declarations; not by hand.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal, Unpack

from rtbot.builder import About, Operand, ParameterRef, Stream, Streams
from rtbot.operator import Operator

def of(operator: type[Operator]) -> Callable[..., Any]:
    """Return the constructor of an operator of your own, which type checkers do not know here."""

def abs(x: Operand | float, /) -> Stream:
    """The function `abs` of expressions."""

def ceil(x: Operand | float, /) -> Stream:
    """The function `ceil` of expressions."""

def coalesce(a: Operand | float, b: Operand | float, *more: Operand | float) -> Stream:
    """The function `coalesce` of expressions."""

def exp(x: Operand | float, /) -> Stream:
    """The function `exp` of expressions."""

def floor(x: Operand | float, /) -> Stream:
    """The function `floor` of expressions."""

def if_(condition: Operand | float, a: Operand | float, b: Operand | float, /) -> Stream:
    """The function `if` of expressions."""

def isnan(x: Operand | float, /) -> Stream:
    """The function `isnan` of expressions."""

def log(x: Operand | float, /) -> Stream:
    """The function `log` of expressions."""

def max(a: Operand | float, b: Operand | float, *more: Operand | float) -> Stream:
    """The function `max` of expressions."""

def min(a: Operand | float, b: Operand | float, *more: Operand | float) -> Stream:
    """The function `min` of expressions."""

def round(x: Operand | float, /) -> Stream:
    """The function `round` of expressions."""

def sign(x: Operand | float, /) -> Stream:
    """The function `sign` of expressions."""

def sqrt(x: Operand | float, /) -> Stream:
    """The function `sqrt` of expressions."""

def Abs(i1: Stream, **about: Unpack[About]) -> Stream:
    """The absolute value.

    The smallest integer has none in 64 bits: no message, counted under `domain`.

    In:
        i1: values

    Out:
        o1: their magnitudes
    """

def Add(i1: Stream, *, value: float | ParameterRef, **about: Unpack[About]) -> Stream:
    """The value plus a constant.

    IEEE 754: NaN and infinities pass on.

    In:
        i1: values

    Parameters:
        value: what is added

    Out:
        o1: i1 + value
    """

def Addition(*i: Stream, **about: Unpack[About]) -> Stream:
    """The sum of the ports, added in port order.

    Integers stay integers; where an intermediate sum leaves int64 there is no message, counted
    under `domain`.

    In:
        i: an operand

    Out:
        o1: i1 + i2 + ...
    """

def AsOfJoin(
    left: Stream,
    right: Stream,
    *,
    on: Any | ParameterRef | None = None,
    match: Any | ParameterRef,
    direction: Literal["backward", "forward"] | ParameterRef = "backward",
    strict: bool | ParameterRef = False,
    how: Literal["inner", "left"] | ParameterRef = "inner",
    tolerance: Any | ParameterRef | None = None,
    **about: Unpack[About],
) -> Stream:
    """Left rows, each with the right row of equal keys that is the last at or before it.

    It is the one with the greatest `match` field not above the left row's; of several, the last
    one in the order of all fields. `forward` takes the first at or after it. A right row that comes
    late changes the left rows that it is nearer to. A null in `on` or `match` matches nothing.

    In:
        left: left rows
        right: right rows

    Parameters:
        on: fields that are equal: names, or {left: right}
        match: the field that orders, such as a time: [name] or {left: right}
        direction: the last right row at or before, or the first at or after
        strict: before or after, not at the same
        how: left rows without a partner: not at all, or with nulls
        tolerance: how far apart the two may be at most

    Out:
        o1: the fields of the left row, then those of the right one
    """

def BooleanToNumber(i1: Stream, **about: Unpack[About]) -> Stream:
    """1 for true, 0 for false.

    In:
        i1: conditions

    Out:
        o1: 1 or 0
    """

def Ceil(i1: Stream, **about: Unpack[About]) -> Stream:
    """The smallest whole number that is not below the value; the kind stays.

    In:
        i1: values

    Out:
        o1: rounded up
    """

def CompareEQ(
    i1: Stream,
    *,
    value: float | ParameterRef,
    tolerance: float | ParameterRef = 0.0,
    **about: Unpack[About],
) -> Stream:
    """True where the value is within `tolerance` of a constant; an infinity equals itself.

    In:
        i1: values

    Parameters:
        value: what is compared with
        tolerance: the largest difference that counts as equal

    Out:
        o1: abs(i1 - value) <= tolerance
    """

def CompareGT(i1: Stream, *, value: float | ParameterRef, **about: Unpack[About]) -> Stream:
    """True where the value is greater than a constant.

    In:
        i1: values

    Parameters:
        value: what is compared with

    Out:
        o1: i1 > value
    """

def CompareGTE(i1: Stream, *, value: float | ParameterRef, **about: Unpack[About]) -> Stream:
    """True where the value is greater than a constant or equal to it.

    In:
        i1: values

    Parameters:
        value: what is compared with

    Out:
        o1: i1 >= value
    """

def CompareLT(i1: Stream, *, value: float | ParameterRef, **about: Unpack[About]) -> Stream:
    """True where the value is less than a constant.

    In:
        i1: values

    Parameters:
        value: what is compared with

    Out:
        o1: i1 < value
    """

def CompareLTE(i1: Stream, *, value: float | ParameterRef, **about: Unpack[About]) -> Stream:
    """True where the value is less than a constant or equal to it.

    In:
        i1: values

    Parameters:
        value: what is compared with

    Out:
        o1: i1 <= value
    """

def CompareNEQ(
    i1: Stream,
    *,
    value: float | ParameterRef,
    tolerance: float | ParameterRef = 0.0,
    **about: Unpack[About],
) -> Stream:
    """True where the value is more than `tolerance` away from a constant; false for NaN.

    In:
        i1: values

    Parameters:
        value: what is compared with
        tolerance: the largest difference that counts as equal

    Out:
        o1: abs(i1 - value) > tolerance
    """

def CompareSyncEQ(
    i1: Stream,
    i2: Stream,
    *,
    tolerance: float | ParameterRef = 0.0,
    **about: Unpack[About],
) -> Stream:
    """True where the ports are within `tolerance` of each other; an infinity equals itself.

    In:
        i1: left side
        i2: right side

    Parameters:
        tolerance: the largest difference that counts as equal

    Out:
        o1: abs(i1 - i2) <= tolerance
    """

def CompareSyncGT(i1: Stream, i2: Stream, **about: Unpack[About]) -> Stream:
    """True where the first port is greater than the second.

    In:
        i1: left side
        i2: right side

    Out:
        o1: i1 > i2
    """

def CompareSyncGTE(i1: Stream, i2: Stream, **about: Unpack[About]) -> Stream:
    """True where the first port is greater than the second or equal to it.

    In:
        i1: left side
        i2: right side

    Out:
        o1: i1 >= i2
    """

def CompareSyncLT(i1: Stream, i2: Stream, **about: Unpack[About]) -> Stream:
    """True where the first port is less than the second.

    In:
        i1: left side
        i2: right side

    Out:
        o1: i1 < i2
    """

def CompareSyncLTE(i1: Stream, i2: Stream, **about: Unpack[About]) -> Stream:
    """True where the first port is less than the second or equal to it.

    In:
        i1: left side
        i2: right side

    Out:
        o1: i1 <= i2
    """

def CompareSyncNEQ(
    i1: Stream,
    i2: Stream,
    *,
    tolerance: float | ParameterRef = 0.0,
    **about: Unpack[About],
) -> Stream:
    """True where the ports are more than `tolerance` apart; false where one is NaN.

    In:
        i1: left side
        i2: right side

    Parameters:
        tolerance: the largest difference that counts as equal

    Out:
        o1: abs(i1 - i2) > tolerance
    """

def ConstantBoolean(i1: Stream, *, value: bool | ParameterRef, **about: Unpack[About]) -> Stream:
    """The same boolean for every boolean message, at the message's time.

    In:
        i1: messages; their values do not matter

    Parameters:
        value: what is emitted

    Out:
        o1: the constant
    """

def ConstantBooleanToNumber(
    i1: Stream,
    *,
    value: float | ParameterRef,
    **about: Unpack[About],
) -> Stream:
    """The same number for every boolean message, at the message's time.

    In:
        i1: messages; their values do not matter

    Parameters:
        value: what is emitted

    Out:
        o1: the constant
    """

def ConstantNumber(i1: Stream, *, value: float | ParameterRef, **about: Unpack[About]) -> Stream:
    """The same number for every message, at the message's time.

    In:
        i1: messages; their values do not matter

    Parameters:
        value: what is emitted

    Out:
        o1: the constant
    """

def ConstantNumberToBoolean(
    i1: Stream,
    *,
    value: bool | ParameterRef,
    **about: Unpack[About],
) -> Stream:
    """The same boolean for every number, at the message's time.

    In:
        i1: messages; their values do not matter

    Parameters:
        value: what is emitted

    Out:
        o1: the constant
    """

def Correlation(
    i1: Stream,
    i2: Stream,
    *,
    window: int | str | timedelta | ParameterRef,
    partial: bool | ParameterRef = False,
    **about: Unpack[About],
) -> Stream:
    """Pearson's correlation of two streams in a window, from -1 to 1, at most 4e-16 off.

    The window holds pairs of messages of equal time. Where all values of one side are equal, as
    with one pair alone, and with NaN or an infinity in the window it is NaN.

    In:
        i1: one side
        i2: the other side

    Parameters:
        window: messages in the window, or its length in time
        partial: emit from the first message on, over what there is

    Out:
        o1: correlations
    """

def Cos(i1: Stream, **about: Unpack[About]) -> Stream:
    """The cosine of an angle in radians; NaN for an infinity.

    In:
        i1: angles in radians

    Out:
        o1: cosines
    """

def Count(i1: Stream, **about: Unpack[About]) -> Stream:
    """How many messages there have been: 1, 2, 3, ...

    In:
        i1: messages; their values do not matter

    Out:
        o1: the count, this message included
    """

CountBoolean = Count

CountNumber = Count

def Covariance(
    i1: Stream,
    i2: Stream,
    *,
    window: int | str | timedelta | ParameterRef,
    partial: bool | ParameterRef = False,
    **about: Unpack[About],
) -> Stream:
    """The sample covariance of two streams in a window: the exact one (n - 1) rounded once.

    The window holds pairs of messages of equal time. One pair alone has 0; a covariance beyond the
    range of numbers is an infinity; NaN or an infinity in the window gives NaN.

    In:
        i1: one side
        i2: the other side

    Parameters:
        window: messages in the window, or its length in time
        partial: emit from the first message on, over what there is

    Out:
        o1: covariances
    """

def CumulativeSum(i1: Stream, **about: Unpack[About]) -> Stream:
    """The sum of all values so far: the exact sum, rounded once.

    NaN stays for ever, an infinity too, and both signs of it give NaN. An integer sum outside int64
    gives no message, counted under `domain`; the sum itself stays exact, so that later ones that
    fit are right.

    In:
        i1: values

    Out:
        o1: sums, this value included
    """

def Datalog(
    *i: Stream | Mapping[str, Stream],
    rules: Any | ParameterRef | None = None,
    program: Any | ParameterRef | None = None,
    max_facts: int | ParameterRef = 100000000,
    max_iterations: int | ParameterRef = 1000000,
    **about: Unpack[About],
) -> Streams:
    """The relations that follow from its inputs by rules, kept up to date with every transaction.

    Rules may be recursive, and have negation and aggregates. A row of an input is a fact while it
    is there at least once. Relations with `.output` are the outputs, or all that have rules if none
    has; `.decl` is not needed.

    In:
        i: relations: {name in the rules: id}, or ids, which are the names then

    Parameters:
        rules: a program: `path(x, y) :- edge(x, y).`
        program: a file with the program, in place of `rules`
        max_facts: rows that all rules may derive
        max_iterations: rounds of a recursion

    Out:
        o1: one port for every relation, with its name
    """

def Debounce(
    i1: Stream,
    *,
    quiet: int | str | timedelta | ParameterRef,
    **about: Unpack[About],
) -> Stream:
    """The last value of a burst, once no other has come for a time of `quiet`.

    It is at the time of that value plus `quiet`; a message at just that time begins a new burst.
    The last burst ends at the end of the data. Where the time would be beyond int64 there is no
    message, counted under `domain`.

    In:
        i1: values

    Parameters:
        quiet: how long no other value comes

    Out:
        o1: the last values of bursts
    """

def Dedup(
    i1: Stream,
    *,
    within: int | str | timedelta | ParameterRef | None = None,
    **about: Unpack[About],
) -> Stream:
    """Passes a message whose value differs from that of the last one that passed, and the first.

    With `within` an equal value passes, too, where the last one is at least so much older. NaN is
    equal to NaN, and 0.0 to -0.0.

    In:
        i1: values

    Parameters:
        within: how long a value stays the same; for ever if it is left out

    Out:
        o1: those that are new
    """

def Demultiplexer(i1: Stream, *c: Stream, **about: Unpack[About]) -> Streams:
    """Copies every message to the outputs whose control message of the same time is true.

    Output `k` belongs to control port `k`; several may take the message, or none. A message at a
    time at which a control port has none finds no partner.

    In:
        i1: messages
        c: whether the output takes the message

    Out:
        o: the messages that its control port lets pass
    """

def Difference(
    i1: Stream,
    *,
    use_oldest_time: bool | ParameterRef = True,
    **about: Unpack[About],
) -> Stream:
    """The value less the one before it, at the time of the newer; nothing for the first.

    An integer difference outside int64 gives no message, counted under `domain`. With
    `use_oldest_time: false`, as in RtBot, whose flag says the opposite of what it does, each is at
    the time of the older value instead, and comes when the newer one does.

    In:
        i1: values

    Parameters:
        use_oldest_time: false: at the time of the older value

    Out:
        o1: changes
    """

def Distinct(i1: Stream, **about: Unpack[About]) -> Stream:
    """Every row once, however often the input has it.

    In:
        i1: rows

    Out:
        o1: each of them once
    """

def Division(*i: Stream, **about: Unpack[About]) -> Stream:
    """The first port divided by all others, in port order.

    A divisor of exactly 0 (either zero) gives no message, counted under `domain`. An expression
    that divides gives an infinity or NaN instead.

    In:
        i: i1 the dividend, the others divisors

    Out:
        o1: i1 / i2 / ...
    """

def EMA(
    i1: Stream,
    *,
    window: int | ParameterRef | None = None,
    half_life: int | str | timedelta | ParameterRef | None = None,
    seed: Literal["first", "mean"] | ParameterRef = "first",
    partial: bool | ParameterRef = False,
    **about: Unpack[About],
) -> Stream:
    """The exponential moving average, by messages (`window`) or by time (`half_life`).

    By messages y += alpha * (x - y), with alpha = 2 / (window + 1). It begins with the first value
    and is silent for the first window - 1 messages, or emits from the first with `partial`.
    `seed: mean` is the exact mean of the first `window` values before it fades, as TA-Lib does.
    With a window of 1 it is the value itself.

    By time alpha = 1 - 2 ** (-dt / half_life), where dt is the time since the value before it, so
    that after `half_life` an old value weighs half as much. It emits from the first message on.

    A NaN gives NaN, and the average is as if it had not come; an infinity stays.

    In:
        i1: values

    Parameters:
        window: messages that alpha is made of, and the warm-up
        half_life: instead of a window: the time after which a value has faded to half
        seed: what it begins with
        partial: emit from the first message on

    Out:
        o1: averages
    """

def EqualTo(
    i1: Stream,
    *,
    value: float | ParameterRef,
    epsilon: float | ParameterRef = 1e-10,
    **about: Unpack[About],
) -> Stream:
    """Passes values within `epsilon` of a constant; an infinity equals itself.

    In:
        i1: values

    Parameters:
        value: what is compared with
        epsilon: the largest difference that counts as equal

    Out:
        o1: those that equal the constant
    """

def Except(*i: Stream, all: bool | ParameterRef = False, **about: Unpack[About]) -> Stream:
    """Rows of the first input that no other has, once; with `all`, the others' copies taken off.

    In:
        i: rows

    Parameters:
        all: count equal rows instead of taking one

    Out:
        o1: the rows of the result
    """

def Exp(i1: Stream, **about: Unpack[About]) -> Stream:
    """The exponential function; an infinity where it exceeds the range.

    In:
        i1: exponents

    Out:
        o1: e ** i1
    """

def Expire(
    i1: Stream,
    *,
    ttl: int | str | timedelta | ParameterRef,
    **about: Unpack[About],
) -> Stream:
    """Rows for as long as `ttl`: what came at t is deleted at t + ttl.

    Time goes by with the changes of the input: what expires up to the last of them is deleted, each
    row at its own time, and nothing more at the end. A delete before that takes the oldest copy of
    the row; one of a row that has expired does nothing, and is counted. Changes that are netted to
    nothing are none: a put of the row that is there does not renew it.

    In:
        i1: rows

    Parameters:
        ttl: how long a row is there: an integer, or a duration such as 5s

    Out:
        o1: the rows that have not expired
    """

def Fill(
    i1: Stream,
    *,
    how: Literal["previous", "value", "linear"] | ParameterRef,
    value: float | ParameterRef | None = None,
    **about: Unpack[About],
) -> Stream:
    """Null is replaced: by the last value before it, a constant, or a line between its neighbours.

    Only null is. NaN is a value, and where there is no message none is made: a resampler makes
    them. With `previous` a null before the first value gives no message, counted under `domain`.
    Integers stay integers, unless the constant is none.

    With `linear` the result is a number on the straight line, by time, between the values before
    and behind, rounded once, and comes with the latter; nulls before the first value and behind the
    last one give no messages, counted under `domain`.

    In:
        i1: values, some of them null

    Parameters:
        how: what comes in the place of null
        value: the constant, with `how: value`

    Out:
        o1: values, none of them null
    """

def FiniteImpulseResponse(
    i1: Stream,
    *,
    coefficients: Sequence[float] | ParameterRef,
    **about: Unpack[About],
) -> Stream:
    """The sum of the last values, each times a coefficient; the first one weights the newest.

    It emits nothing before there are as many values as coefficients. NaN inside gives NaN, and
    leaves with it.

    In:
        i1: values

    Parameters:
        coefficients: weights, that of the newest value first

    Out:
        o1: weighted sums
    """

def Floor(i1: Stream, **about: Unpack[About]) -> Stream:
    """The greatest whole number that is not above the value; the kind stays.

    In:
        i1: values

    Out:
        o1: rounded down
    """

def Function(
    i1: Stream,
    *,
    points: Sequence[tuple[float, float]] | ParameterRef,
    interpolation: Literal["linear", "hermite"] | ParameterRef = "linear",
    **about: Unpack[About],
) -> Stream:
    """A function that is given by points: the value of the curve through them at i1.

    `linear` joins the points by straight lines. `hermite` is smooth: a cubic in each piece, whose
    slope at a point is that of the line through its two neighbours, at the ends that of the end
    piece. Beyond the ends both go on straight. Points may be in any order. With `linear` two points
    may share an x, where the value jumps: at x it is that of the later one. At a point the result
    is exactly its y; NaN gives NaN.

    In:
        i1: where the curve is read

    Parameters:
        points: [x, y] of each point
        interpolation: between the points

    Out:
        o1: its values
    """

def GapDetector(
    i1: Stream,
    *,
    gap: int | str | timedelta | ParameterRef,
    **about: Unpack[About],
) -> Stream:
    """How long there was no message, at the message after it, if that is at least `gap`.

    The first message has none before it. A distance beyond int64 gives no message, counted under
    `domain`.

    In:
        i1: messages; their values do not matter

    Parameters:
        gap: the least distance to the message before

    Out:
        o1: distances to the message before
    """

def GreaterThan(i1: Stream, *, value: float | ParameterRef, **about: Unpack[About]) -> Stream:
    """Passes values that are greater than a constant.

    In:
        i1: values

    Parameters:
        value: the bound, not passed itself

    Out:
        o1: those above the bound
    """

def GroupBy(
    i1: Stream,
    *,
    by: Any | ParameterRef,
    compute: Any | ParameterRef | None = None,
    **about: Unpack[About],
) -> Stream:
    """A row for every group of rows with equal values in `by`, with what is computed of them.

    A group is there as long as it has rows. Without `by` there is one row, always.

    In:
        i1: rows

    Parameters:
        by: the fields that make a group; none: all rows are one group
        compute: {name: aggregate}: count(), sum(x), avg, min, max, stddev, quantile, last(x, t)

    Out:
        o1: a row for every group: the fields of `by`, then what is computed
    """

def HoppingAggregate(
    i1: Stream,
    *,
    how: str | Sequence[str] | ParameterRef,
    window: int | str | timedelta | ParameterRef,
    hop: int | str | timedelta | ParameterRef,
    offset: int | str | timedelta | ParameterRef = 0,
    **about: Unpack[About],
) -> Any:
    """Aggregates of the messages of windows that begin every `hop`, at the end of each.

    Windows are from k * hop + offset up to `window` later, the end excluded: they overlap where
    `hop` is less than `window`, and where it is greater, messages between them are in none. A
    window without messages gives none; the last ones come at the end of the data. `how` is that of
    TumblingAggregate. A message and the end of a window cost the same whatever the overlap.

    In:
        i1: values

    Parameters:
        how: what comes out: an output for each word
        window: length of the windows
        hop: how far apart windows begin
        offset: the beginning of a window, counted from 1970-01-01

    Out:
        o1: the first word of `how`; o2, ... the others, each also by its name
    """

def Hysteresis(
    i1: Stream,
    *,
    low: float | ParameterRef,
    high: float | ParameterRef,
    start: bool | ParameterRef = False,
    **about: Unpack[About],
) -> Stream:
    """True from where the value exceeds `high` until it is below `low`: a Schmitt trigger.

    Between the two, both included, and at a NaN it stays what it is, so that a value that wavers
    around one of them does not switch to and fro. Before the first value beyond one of them it is
    `start`. There is a message for every value; Dedup behind it passes the changes only.

    In:
        i1: values

    Parameters:
        low: a value below it makes it false
        high: a value above it makes it true; at least `low`
        start: what it is before any value decides

    Out:
        o1: whether the value was above `high` since it was below `low`
    """

def Identity(i1: Stream, **about: Unpack[About]) -> Stream:
    """The message unchanged, null too; a name for a place in the graph.

    In:
        i1: messages

    Out:
        o1: the same messages
    """

def InfiniteImpulseResponse(
    i1: Stream,
    *,
    b: Sequence[float] | ParameterRef,
    a: Sequence[float] | ParameterRef,
    **about: Unpack[About],
) -> Stream:
    """The sum of the last values times `b`, less the sum of its own last results times `a`.

    That is y[n] = b[0] x[n] + b[1] x[n - 1] + ... - a[0] y[n - 1] - a[1] y[n - 2] - ...: the
    coefficient 1 of y[n] itself is left out of `a`. It emits nothing before there are as many
    values as there are in `b`; results before the first are 0. NaN and infinities stay in it.

    In:
        i1: values

    Parameters:
        b: weights of values, that of the newest first
        a: weights of results, that of the one before first

    Out:
        o1: results
    """

def Intersect(*i: Stream, all: bool | ParameterRef = False, **about: Unpack[About]) -> Stream:
    """Rows that every input has, once; with `all`, as often as the input that has fewest.

    In:
        i: rows

    Parameters:
        all: count equal rows instead of taking one

    Out:
        o1: the rows of the result
    """

def IntervalJoin(
    left: Stream,
    right: Stream,
    *,
    on: Any | ParameterRef | None = None,
    match: Any | ParameterRef,
    lower: Any | ParameterRef,
    upper: Any | ParameterRef,
    how: Literal["inner", "left"] | ParameterRef = "inner",
    **about: Unpack[About],
) -> Stream:
    """Pairs with equal keys whose `match` fields are within an interval of each other.

    The right field is between the left one + `lower` and the left one + `upper`, both included. A
    null in `on` or `match` matches nothing.

    In:
        left: left rows
        right: right rows

    Parameters:
        on: fields that are equal: names, or {left: right}
        match: the field that orders, such as a time: [name] or {left: right}
        lower: the least distance from the left to the right field, such as -5
        upper: the greatest distance from the left to the right field, such as 0
        how: left rows without a partner: not at all, or with nulls

    Out:
        o1: the fields of the left row, then those of the right one
    """

def Join(
    *i: Stream,
    how: Literal["inner", "left", "right", "outer", "asof"] | ParameterRef = "inner",
    tolerance: int | str | timedelta | ParameterRef | None = None,
    **about: Unpack[About],
) -> Streams:
    """Messages of equal time together: one output port per input port, of the same type.

    `inner`: only times at which every port has a message; what can find no partner any more is
    dropped in time order and counted as unmatched. `left`: every message of the first port; the
    others are null where they have none. `right`: every message of the last port. `outer`: every
    message of any port. `asof`: every message of the first port, with the latest message of each
    other port at or before it and not older than `tolerance` (0: of equal time only); where there
    is none, null comes out, and the account counts it at the port that was looked up.
    Ports that may lack a message give nullable outputs. A result comes once it is certain: when
    every port that may be null has passed the time.

    In:
        i: a stream

    Parameters:
        how: which times come out
        tolerance: asof: the greatest age of a match; without it any age will do

    Out:
        o: the stream, at the times that come out
    """

def JoinRows(
    left: Stream,
    right: Stream,
    *,
    on: Any | ParameterRef | None = None,
    how: Literal["inner", "left", "right", "full", "semi", "anti", "cross"] | ParameterRef = ...,
    null_safe: Any | ParameterRef | None = None,
    condition: Any | ParameterRef | None = None,
    **about: Unpack[About],
) -> Stream:
    """Pairs of a left and a right row with equal keys; by `how`, rows without a partner as well.

    left, right and full: a row of that side without a partner comes out once, with nulls for the
    other side. semi: the left rows that have a partner; anti: those that have none.

    In:
        left: left rows
        right: right rows

    Parameters:
        on: fields that are equal: names, or {left: right}; [] if there are none
        how: which rows come out
        null_safe: left fields of `on` in which null equals null
        condition: what is true of a pair as well; right fields are named as in the output

    Out:
        o1: the fields of the left row, then those of the right one
    """

def KeyedVariable(
    key: Stream,
    value: Stream,
    query: Stream,
    heartbeat: Stream | None = None,
    *,
    mode: Literal["lookup", "exists"] | ParameterRef = "lookup",
    default_value: float | ParameterRef = 0.0,
    ttl: int | str | timedelta | ParameterRef | None = None,
    **about: Unpack[About],
) -> Stream:
    """The last value of a key, asked for at the times of another stream.

    Messages of `i1` and `i2` of one time are a key and its value, as are the elements of a
    `vector[2]` that feeds `i1` alone; NaN takes the key out. A query at
    t names a key and gets its latest value at or before t, or `default_value` if there is none, or
    in mode `exists` whether there is one. The answer comes once it is certain: when keys and values
    have passed t. A key without a value of the same time, or the other way round, does nothing.
    With `ttl` a value that came at t is forgotten from t + ttl on, unless the key has another one.

    In:
        key: keys: numbers, integers, texts or booleans
        value: their values
        query: keys that are asked for
        heartbeat: no answer waits for it

    Parameters:
        mode: whether the answer is the value, or whether there is one
        default_value: the answer for a key that has no value
        ttl: how long a value counts

    Out:
        o1: answers, at the times of the queries; in mode exists a boolean
    """

def Lag(i1: Stream, *, n: int | ParameterRef, **about: Unpack[About]) -> Stream:
    """The value `n` messages earlier, at the time of the newest; silent for the first `n`.

    In:
        i1: values

    Parameters:
        n: how many messages back

    Out:
        o1: earlier values
    """

def LessThan(i1: Stream, *, value: float | ParameterRef, **about: Unpack[About]) -> Stream:
    """Passes values that are less than a constant.

    In:
        i1: values

    Parameters:
        value: the bound, not passed itself

    Out:
        o1: those below the bound
    """

def LessThanOrEqualToReplace(
    i1: Stream,
    *,
    value: float | ParameterRef,
    replace_by: float | ParameterRef,
    **about: Unpack[About],
) -> Stream:
    """The value, or `replace_by` where it is at most `value`; integers are compared exactly.

    NaN and infinities are left out, as in RtBot.

    In:
        i1: values

    Parameters:
        value: the bound; a value equal to it is replaced
        replace_by: what stands in for values up to the bound

    Out:
        o1: values above the bound, and replacements
    """

def Linear(
    *i: Stream,
    coefficients: Sequence[float] | ParameterRef,
    **about: Unpack[About],
) -> Stream:
    """The sum of the ports, each multiplied by its coefficient, added in port order.

    In:
        i: a term

    Parameters:
        coefficients: one factor per port

    Out:
        o1: coefficients[0] * i1 + coefficients[1] * i2 + ...
    """

def Log(i1: Stream, **about: Unpack[About]) -> Stream:
    """The natural logarithm; minus infinity for 0, NaN below.

    In:
        i1: values

    Out:
        o1: logarithms to base e
    """

def Log10(i1: Stream, **about: Unpack[About]) -> Stream:
    """The logarithm to base 10; minus infinity for 0, NaN below.

    In:
        i1: values

    Out:
        o1: logarithms to base 10
    """

def LogicalAnd(*i: Stream, **about: Unpack[About]) -> Stream:
    """True where all ports are true.

    In:
        i: an operand

    Out:
        o1: i1 and i2 and ...
    """

def LogicalImplication(*i: Stream, **about: Unpack[About]) -> Stream:
    """False where the first port is true and the second false; more ports imply from the left.

    In:
        i: an operand

    Out:
        o1: i1 implies i2; ((i1 implies i2) implies i3) ...
    """

def LogicalNand(*i: Stream, **about: Unpack[About]) -> Stream:
    """True unless all ports are true.

    In:
        i: an operand

    Out:
        o1: not (i1 and i2 and ...)
    """

def LogicalNor(*i: Stream, **about: Unpack[About]) -> Stream:
    """True where no port is true.

    In:
        i: an operand

    Out:
        o1: not (i1 or i2 or ...)
    """

def LogicalNot(i1: Stream, **about: Unpack[About]) -> Stream:
    """True where the port is false.

    In:
        i1: a condition

    Out:
        o1: not i1
    """

def LogicalOr(*i: Stream, **about: Unpack[About]) -> Stream:
    """True where at least one port is true.

    In:
        i: an operand

    Out:
        o1: i1 or i2 or ...
    """

def LogicalXnor(*i: Stream, **about: Unpack[About]) -> Stream:
    """True where an even number of ports is true.

    In:
        i: an operand

    Out:
        o1: whether the number of true ports is even
    """

def LogicalXor(*i: Stream, **about: Unpack[About]) -> Stream:
    """True where an odd number of ports is true.

    In:
        i: an operand

    Out:
        o1: whether the number of true ports is odd
    """

def LookupJoin(
    left: Stream,
    right: Stream,
    *,
    on: Any | ParameterRef,
    how: Literal["inner", "left"] | ParameterRef = "inner",
    **about: Unpack[About],
) -> Stream:
    """Left rows, each with the right rows of equal keys that are there when it comes.

    Right changes of the same transaction come first. Later ones do not change what a left row has
    been given, which is what goes when the left row goes; of several copies the newest goes first.
    A null in `on` matches nothing.

    In:
        left: left rows
        right: right rows, as a table that is looked up

    Parameters:
        on: fields that are equal: names, or {left: right}
        how: left rows without a partner: not at all, or with nulls

    Out:
        o1: the fields of the left row, then those of the right one
    """

def MaxTracker(i1: Stream, **about: Unpack[About]) -> Stream:
    """The largest value so far; NaN is passed over, and gives -infinity where it comes first.

    In:
        i1: values

    Out:
        o1: the largest so far
    """

def Merge(
    *i: Stream,
    ties: Literal["first", "last", "min", "max", "sum", "mean"] | ParameterRef = "first",
    **about: Unpack[About],
) -> Stream:
    """Several streams as one, in time order.

    A time at which several ports have a message gives one message: `first` or `last` by port order,
    the others counted as tied; or the `min`, `max`, `sum` or `mean` of them all. NaN is the least
    and the greatest of all values, and -0.0 less than 0.0. Sum and mean are exact and rounded once;
    an integer sum outside int64 gives no message, counted under `domain`, and the mean is a number.
    A message comes once no port can still have one of its time.

    In:
        i: a stream

    Parameters:
        ties: what becomes of messages of equal time

    Out:
        o1: all messages, at most one per time
    """

def MinTracker(i1: Stream, **about: Unpack[About]) -> Stream:
    """The smallest value so far; NaN is passed over, and gives infinity where it comes first.

    In:
        i1: values

    Out:
        o1: the smallest so far
    """

def MovingAverage(
    i1: Stream,
    *,
    window: int | str | timedelta | ParameterRef,
    partial: bool | ParameterRef = False,
    **about: Unpack[About],
) -> Stream:
    """The mean of the values in a window: the exact mean rounded once.

    It is never outside the values of its window, and is finite where they are. Infinities of both
    signs in one window give NaN.

    In:
        i1: values

    Parameters:
        window: messages in the window, or its length in time
        partial: emit from the first message on, over what there is

    Out:
        o1: means
    """

def MovingCount(
    i1: Stream,
    *,
    window: int | str | timedelta | ParameterRef,
    partial: bool | ParameterRef = False,
    **about: Unpack[About],
) -> Stream:
    """How many messages there are in a window.

    In:
        i1: messages; their values do not matter

    Parameters:
        window: messages in the window, or its length in time
        partial: emit from the first message on, over what there is

    Out:
        o1: counts, this message included
    """

def MovingKeyCount(
    i1: Stream,
    *,
    window: int | str | timedelta | ParameterRef,
    **about: Unpack[About],
) -> Stream:
    """How often the value of the message is among the last `window` values, itself included.

    It counts from the first message on. A window of time, such as `5s`, has the messages of
    (t - 5s, t]. NaN is equal to nothing, so that its count is 0.

    In:
        i1: values: numbers, integers, texts or booleans

    Parameters:
        window: values in the window, or its length in time

    Out:
        o1: how often the value is there
    """

def MovingSum(
    i1: Stream,
    *,
    window: int | str | timedelta | ParameterRef,
    partial: bool | ParameterRef = False,
    **about: Unpack[About],
) -> Stream:
    """The sum of the values in a window, exact and rounded once, as `math.fsum`.

    Infinities of both signs in one window give NaN; a sum beyond the range is an infinity and
    leaves no trace afterwards.

    In:
        i1: values

    Parameters:
        window: messages in the window, or its length in time
        partial: emit from the first message on, over what there is

    Out:
        o1: sums
    """

def Multiplexer(i: Sequence[Stream], *c: Stream, **about: Unpack[About]) -> Stream:
    """The message of the one port whose control message of the same time is true.

    Where no control is true, or more than one, nothing comes out, and nothing where the chosen port
    has no message of that time. A time at which not all control ports have a message is none.

    In:
        i: messages
        c: whether the port of this number is chosen

    Out:
        o1: the messages of the chosen ports
    """

def Multiplication(*i: Stream, **about: Unpack[About]) -> Stream:
    """The product of the ports, multiplied in port order.

    Integers stay integers; where an intermediate product leaves int64 there is no message, counted
    under `domain`.

    In:
        i: an operand

    Out:
        o1: i1 * i2 * ...
    """

def NotEqualTo(
    i1: Stream,
    *,
    value: float | ParameterRef,
    epsilon: float | ParameterRef = 1e-10,
    **about: Unpack[About],
) -> Stream:
    """Passes values more than `epsilon` away from a constant.

    In:
        i1: values

    Parameters:
        value: what is compared with
        epsilon: the largest difference that counts as equal

    Out:
        o1: those that differ from the constant
    """

def NotIn(
    left: Stream,
    right: Stream,
    *,
    on: Any | ParameterRef,
    by: Any | ParameterRef | None = None,
    **about: Unpack[About],
) -> Stream:
    """Left rows whose field is in no right row, by the rule of SQL: nothing is known of a null.

    All left rows if there is no right row. Else none whose field is null, and none at all if the
    field of a right row is null.

    In:
        left: left rows
        right: right rows

    Parameters:
        on: the field: its name, or {left: right}
        by: compare with the right rows only whose fields here are equal

    Out:
        o1: the left rows that are not in
    """

def OverRows(
    i1: Stream,
    *,
    by: Any | ParameterRef | None = None,
    order: Any | ParameterRef | None = None,
    frame: Any | ParameterRef | None = None,
    compute: Any | ParameterRef,
    **about: Unpack[About],
) -> Stream:
    """Every row with what window functions compute of the rows around it.

    `by` divides the rows into partitions, each is sorted by `order`, rows equal in it by all their
    fields. number, rank, dense_rank, lag and lead go by this order; sum, count, avg, min, max,
    first and last see the rows of the frame: without `order` the partition, else all up to those
    that are equal to the row in `order`.

    In:
        i1: rows

    Parameters:
        by: a partition are the rows with equal values in these fields
        order: fields to sort by: name, or -name for descending
        frame: rows that sums see: range, rows, all, or rows between 2 preceding and current row
        compute: {name: function}: number(), rank(), dense_rank(), lag(x, 1, 0), sum(x), ...

    Out:
        o1: all rows, each with what is computed of it
    """

def PeakDetector(
    i1: Stream,
    *,
    window: int | str | timedelta | ParameterRef,
    **about: Unpack[About],
) -> Stream:
    """A value strictly greater than all others of a window around it, at its own time.

    The window is `window` messages, as many before as after, or a time span: all that is less than
    half of it before or after. A plateau has no peak; NaN is no peak, and nothing is greater than a
    NaN beside it. At the beginning of the data, where the half before is not full, there is none.
    A peak is known once the half behind it is full: after so many messages, or when that time has
    passed, as it has at the end of the data. A value alone in a time span is a peak.

    In:
        i1: values

    Parameters:
        window: messages in the window, or its length in time

    Out:
        o1: peaks, at their own times
    """

def Power(i1: Stream, *, value: float | ParameterRef, **about: Unpack[About]) -> Stream:
    """The value raised to a constant power.

    A negative value to a fractional power is NaN, 0 to a negative power an infinity.

    In:
        i1: bases

    Parameters:
        value: the exponent

    Out:
        o1: i1 ** value
    """

def Rate(
    i1: Stream,
    *,
    per: int | str | timedelta | ParameterRef = 1,
    counter: bool | ParameterRef = False,
    **about: Unpack[About],
) -> Stream:
    """How fast the value changes: its change since the message before it, for each `per` of time.

    It is at the time of the newer message; nothing for the first. With `counter` the values only
    ever grow, and one below the one before it has begun again at 0: it is all change itself.

    In:
        i1: values

    Parameters:
        per: the time that a rate is for, such as 1s
        counter: a value that falls has begun again at 0

    Out:
        o1: changes for each `per`
    """

def RelativeStrengthIndex(i1: Stream, *, n: int | ParameterRef, **about: Unpack[About]) -> Stream:
    """How much of the recent changes of a price were gains: from 0, only losses, to 100.

    The index is 100 - 100 / (1 + gain / loss). Gain and loss are averages of the changes up and
    down: the mean of the first `n`, then Wilder's smoothing, ((n - 1) * average + change) / n.
    Where the average loss is 0, also where prices are flat, it is 100. A value that is NaN or
    infinite gives NaN, and is as if it had not come. (Wilder, New Concepts in Technical Trading
    Systems, 1978.)

    In:
        i1: prices

    Parameters:
        n: changes in the first averages, and how slowly they fade

    Out:
        o1: indices from 0 to 100
    """

def ResamplerConstant(
    i1: Stream,
    *,
    interval: int | str | timedelta | ParameterRef,
    t0: int | ParameterRef = ...,
    snap_first: bool | ParameterRef = False,
    max_gap: int | str | timedelta | ParameterRef | None = None,
    **about: Unpack[About],
) -> Stream:
    """The stream on a regular grid: at every grid point the latest value at or before it.

    Without `t0` the grid begins one interval after the first message. With it the grid is
    t0 + k * interval and begins after the first message, or at `t0` where that lies in the future.
    `snap_first` lets a grid with `t0` begin at or before the first message, whose value the first
    point then takes. A grid point comes with the first message at or after it, so that there are
    none beyond the last message; a gap gives every point in it, or with `max_gap` those at most so
    long after its last message. Points beyond int64 do not exist.

    In:
        i1: values

    Parameters:
        interval: distance of the grid points
        t0: a time of the grid; without it the time of the first message
        snap_first: begin at or before the first message
        max_gap: how long a value is held; without it until the next one

    Out:
        o1: values on the grid
    """

def ResamplerCosine(
    i1: Stream,
    *,
    interval: int | str | timedelta | ParameterRef,
    t0: int | ParameterRef = ...,
    **about: Unpack[About],
) -> Stream:
    """The stream on a regular grid, on half waves of a cosine from message to message.

    The curve is level at every message and never beyond the values at the ends of a piece. Its grid
    is that of ResamplerLinear.

    In:
        i1: values

    Parameters:
        interval: distance of the grid points
        t0: a time of the grid; without it where the curve begins

    Out:
        o1: values of the curve, on the grid
    """

CosineResampler = ResamplerCosine

def ResamplerHermite(
    i1: Stream,
    *,
    interval: int | str | timedelta | ParameterRef,
    t0: int | ParameterRef = ...,
    compat: Literal["none", "rtbot"] | ParameterRef = "none",
    **about: Unpack[About],
) -> Stream:
    """The stream on a regular grid, on a smooth curve: a cubic from message to message.

    The slope of the curve at a message is that of the line through its two neighbours, so that it
    also is right where messages are unevenly spaced. A piece is known once the message behind it
    has come, and begins with the second message. Without `t0` the grid does, too; with it the grid
    is t0 + k * interval from there on, or from `t0` on where that lies in the future. At the time
    of a message it has exactly its value. With `compat: rtbot` slopes are as if all messages were
    one piece apart, which is RtBot's curve. (Catmull and Rom, A class of local interpolating
    splines, 1974.)

    In:
        i1: values

    Parameters:
        interval: distance of the grid points
        t0: a time of the grid; without it where the curve begins
        compat: whose slopes it has

    Out:
        o1: values of the curve, on the grid
    """

def ResamplerLinear(
    i1: Stream,
    *,
    interval: int | str | timedelta | ParameterRef,
    t0: int | ParameterRef = ...,
    **about: Unpack[About],
) -> Stream:
    """The stream on a regular grid, on straight lines from message to message.

    Without `t0` the grid begins with the first message. With it the grid is t0 + k * interval, and
    begins at or after the first message, or at `t0` where that lies in the future. A grid point
    comes with the first message at or after it; at the time of a message it has exactly its value,
    and else that of the line rounded once.

    In:
        i1: values

    Parameters:
        interval: distance of the grid points
        t0: a time of the grid; without it where the curve begins

    Out:
        o1: values of the curve, on the grid
    """

def RollingMedian(
    i1: Stream,
    *,
    window: int | str | timedelta | ParameterRef,
    partial: bool | ParameterRef = False,
    **about: Unpack[About],
) -> Stream:
    """The median of the values in a window: the middle one in order, or half way between two.

    NaN inside gives NaN. A message takes a time that grows with the logarithm of the window.

    In:
        i1: values

    Parameters:
        window: messages in the window, or its length in time
        partial: emit from the first message on, over what there is

    Out:
        o1: medians
    """

def RollingQuantile(
    i1: Stream,
    *,
    window: int | str | timedelta | ParameterRef,
    partial: bool | ParameterRef = False,
    q: float | ParameterRef,
    **about: Unpack[About],
) -> Stream:
    """The value below which a share `q` of the values in a window is: 0 the least, 1 the greatest.

    Of n values in order it is the one at place (n - 1) * q, counted from 0; between two places it
    is on the line between their values, rounded once. A `q` of up to nine decimals is exactly what
    is written. NaN inside gives NaN. A message takes a time that grows with the logarithm of the
    window.

    In:
        i1: values

    Parameters:
        window: messages in the window, or its length in time
        partial: emit from the first message on, over what there is
        q: the share, from 0 to 1

    Out:
        o1: quantiles
    """

def Round(i1: Stream, **about: Unpack[About]) -> Stream:
    """The nearest whole number, halves away from zero; the kind stays.

    In:
        i1: values

    Out:
        o1: rounded
    """

def SQL(
    *i: Stream | Mapping[str, Stream],
    query: Any | ParameterRef,
    **about: Unpack[About],
) -> Stream:
    """The rows of an SQL query over its inputs, kept up to date with every transaction.

    It becomes operators such as Where, Select and GroupBy, which `rtbot explain` shows.

    In:
        i: tables: {name in the query: id}, or ids, which are the names then

    Parameters:
        query: SELECT ... FROM a table of `in`; $p is a parameter of the graph

    Out:
        o1: the rows of the result
    """

def Scale(i1: Stream, *, value: float | ParameterRef, **about: Unpack[About]) -> Stream:
    """The value times a constant.

    IEEE 754: NaN and infinities pass on.

    In:
        i1: values

    Parameters:
        value: the factor

    Out:
        o1: i1 * value
    """

def Select(i1: Stream, *, fields: Any | ParameterRef, **about: Unpack[About]) -> Stream:
    """Rows with other fields: each is an expression over the fields of the input's row.

    In:
        i1: rows

    Parameters:
        fields: {name: expression}, in the order of the new fields

    Out:
        o1: rows of the new fields; as many as come in
    """

def SessionAggregate(
    i1: Stream,
    *,
    how: str | Sequence[str] | ParameterRef,
    gap: int | str | timedelta | ParameterRef,
    **about: Unpack[About],
) -> Any:
    """Aggregates of the messages of every session: a pause of at least `gap` ends it.

    They come at the time of the last message plus `gap`; those of the last session come at the end
    of the data. `how` is that of TumblingAggregate. A session that ends beyond int64 gives no
    message; its messages from which on that is so are counted under `domain`.

    In:
        i1: values

    Parameters:
        how: what comes out: an output for each word
        gap: the least pause between two sessions

    Out:
        o1: the first word of `how`; o2, ... the others, each also by its name
    """

def Sign(i1: Stream, **about: Unpack[About]) -> Stream:
    """1 for a positive value, -1 for a negative one, 0 for either zero; NaN for NaN.

    In:
        i1: values

    Out:
        o1: 1, 0 or -1
    """

def Sin(i1: Stream, **about: Unpack[About]) -> Stream:
    """The sine of an angle in radians; NaN for an infinity.

    In:
        i1: angles in radians

    Out:
        o1: sines
    """

def StandardDeviation(
    i1: Stream,
    *,
    window: int | str | timedelta | ParameterRef,
    partial: bool | ParameterRef = False,
    **about: Unpack[About],
) -> Stream:
    """The sample deviation of the values in a window: `math.sqrt(statistics.variance(...))`.

    The variance (n - 1 in the denominator) is exact and rounded once. Where it is beyond the range
    of numbers, as for values around 1e200, the root of the exact variance is rounded once instead,
    to an infinity only if it is beyond the range itself. One value alone deviates by 0; an infinity
    in the window gives NaN.

    In:
        i1: values

    Parameters:
        window: messages in the window, or its length in time
        partial: emit from the first message on, over what there is

    Out:
        o1: deviations
    """

def Subtraction(*i: Stream, **about: Unpack[About]) -> Stream:
    """The first port less all others, in port order.

    Integers stay integers; where an intermediate difference leaves int64 there is no message,
    counted under `domain`.

    In:
        i: an operand

    Out:
        o1: i1 - i2 - ...
    """

def SyncEqual(*i: Stream, epsilon: float | ParameterRef = 1e-10, **about: Unpack[About]) -> Stream:
    """Passes the first port's value where every other port is less than `epsilon` away.

    In:
        i: an operand

    Parameters:
        epsilon: the least difference that counts

    Out:
        o1: i1 where all ports are equal to it
    """

def SyncGreaterThan(*i: Stream, **about: Unpack[About]) -> Stream:
    """Passes the first port's value where it is greater than that of every other port.

    In:
        i: an operand

    Out:
        o1: i1 where it is greatest
    """

def SyncLessThan(*i: Stream, **about: Unpack[About]) -> Stream:
    """Passes the first port's value where it is less than that of every other port.

    In:
        i: an operand

    Out:
        o1: i1 where it is least
    """

def SyncNotEqual(
    *i: Stream,
    epsilon: float | ParameterRef = 1e-10,
    **about: Unpack[About],
) -> Stream:
    """Passes the first port's value where every other port is at least `epsilon` away.

    In:
        i: an operand

    Parameters:
        epsilon: the least difference that counts

    Out:
        o1: i1 where all ports differ from it
    """

def Tan(i1: Stream, **about: Unpack[About]) -> Stream:
    """The tangent of an angle in radians; NaN for an infinity.

    In:
        i1: angles in radians

    Out:
        o1: tangents
    """

def TimeShift(
    i1: Stream,
    *,
    shift: int | str | timedelta | ParameterRef,
    **about: Unpack[About],
) -> Stream:
    """The same value at a time `shift` later, or earlier if it is negative.

    A time outside int64 gives no message, counted under `domain`.

    In:
        i1: values

    Parameters:
        shift: what is added to the time

    Out:
        o1: the same values, moved
    """

def TimestampExtract(i1: Stream, **about: Unpack[About]) -> Stream:
    """The time of every message as its value, an integer in `io.unit`.

    In:
        i1: messages; their values do not matter

    Out:
        o1: their times
    """

def ToChanges(
    i1: Stream,
    *,
    mode: Literal["append", "latest"] | ParameterRef,
    field: Any | ParameterRef = "value",
    **about: Unpack[About],
) -> Stream:
    """Rows of the messages of a series: all of them, or the latest of every key.

    The key columns of the run come first in the row, then the value.

    In:
        i1: a series

    Parameters:
        mode: append: each message inserts a row; latest: it replaces the row of its key
        field: the name of the field of the value

    Out:
        o1: rows of the key columns and the value
    """

def ToSeries(i1: Stream, *, field: Any | ParameterRef, **about: Unpack[About]) -> Stream:
    """A field of the one row there is, whenever a transaction changes it; null when it went.

    In:
        i1: at most one row at any time

    Parameters:
        field: the field whose values come out

    Out:
        o1: the values of the field
    """

def TopK(
    *i: Stream,
    k: int | ParameterRef,
    score_index: int | ParameterRef = 0,
    descending: bool | ParameterRef = True,
    **about: Unpack[About],
) -> Streams:
    """The `k` messages with the best score so far, best first, anew at every message.

    All that come out at one message have its time: the n-th has rank n. A message is several ports,
    joined by time, and one of them is the score: `score_index` says which, from 0. A vector is as
    many values as it has elements: of a vector alone, it is the place of the score. The greatest
    scores are the best, or the least if `descending` is false. Of equal ones the newer is before
    the older. NaN is behind all numbers. It never forgets a message that is among the best.

    In:
        i: the score, and what else belongs to a message

    Parameters:
        k: how many are kept
        score_index: which value is the score, from 0
        descending: whether the greatest are the best

    Out:
        o: the same of the best messages
    """

def TopRows(
    i1: Stream,
    *,
    by: Any | ParameterRef | None = None,
    order: Any | ParameterRef,
    k: int | ParameterRef,
    offset: int | ParameterRef = 0,
    ties: bool | ParameterRef = False,
    number: Any | ParameterRef | None = None,
    **about: Unpack[About],
) -> Stream:
    """The first `k` rows in an order, of all rows or of those with equal values in `by`.

    Rows that are equal in `order` follow each other by their fields, one after another, so that
    the order is always the same. Nulls come last, equal rows count each.

    In:
        i1: rows

    Parameters:
        by: k rows of every group with equal values in these fields
        order: fields to sort by: name, or -name for descending
        k: how many rows come out at most
        offset: so many rows are left out
        ties: also the rows that are equal in `order` to the last one
        number: a new last field: the position; with `ties` the rank

    Out:
        o1: the first rows
    """

def TumblingAggregate(
    i1: Stream,
    *,
    how: str | Sequence[str] | ParameterRef,
    window: int | str | timedelta | ParameterRef,
    offset: int | str | timedelta | ParameterRef = 0,
    **about: Unpack[About],
) -> Any:
    """Aggregates of the messages of every window of time, at the end of the window.

    Windows are from k * window + offset up to the next one, the end excluded, k = 0 in 1970: days
    are those of UTC, and weeks begin on Thursdays, or with an `offset` of 4d on Mondays. A window
    without messages gives none; the last one comes at the end of the data. `sum` and `mean` are
    numbers, of integers, too, exact and rounded once; NaN in a window makes them NaN, and `min` and
    `max`. The words of `how` are the names of the outputs, and `ohlc` has four: open, high, low,
    close. A message in a window that ends beyond int64 is in none, counted under `domain`.

    In:
        i1: values

    Parameters:
        how: what comes out: an output for each word
        window: length of the windows
        offset: the beginning of a window, counted from 1970-01-01

    Out:
        o1: the first word of `how`; o2, ... the others, each also by its name
    """

def Union(*i: Stream, all: bool | ParameterRef = False, **about: Unpack[About]) -> Stream:
    """Rows that any input has, once; with `all`, as often as all inputs have them together.

    In:
        i: rows

    Parameters:
        all: count equal rows instead of taking one

    Out:
        o1: the rows of the result
    """

def Variable(
    i1: Stream,
    c1: Stream,
    *,
    default_value: float | ParameterRef = 0.0,
    **about: Unpack[About],
) -> Stream:
    """The last value of a stream, asked for at the times of another.

    A query at t gives the latest value of `i1` at or before t, stamped t, or `default_value` if
    there is none yet; its own value does not matter. The answer comes once it is certain: when `i1`
    has passed t.

    In:
        i1: values
        c1: queries

    Parameters:
        default_value: the answer before the first value of i1

    Out:
        o1: answers, at the times of the queries
    """

def VectorCompose(*i: Stream, **about: Unpack[About]) -> Stream:
    """A vector of the values that all ports have at a time, in the order of the ports.

    Times at which a port has no message give none, as for Join.

    In:
        i: an element

    Out:
        o1: the vectors
    """

def VectorExtract(i1: Stream, *, index: int | ParameterRef, **about: Unpack[About]) -> Stream:
    """One element of a vector. Without an operator it is `v.0`, `v.1` and so on.

    In:
        i1: vectors

    Parameters:
        index: which element; the first is 0

    Out:
        o1: the element
    """

def VectorProject(
    i1: Stream,
    *,
    indices: Sequence[int] | ParameterRef,
    **about: Unpack[About],
) -> Stream:
    """Some elements of a vector, in the order in which they are named, as a vector.

    An element may be named more than once.

    In:
        i1: vectors

    Parameters:
        indices: which elements; the first is 0

    Out:
        o1: vectors of these elements
    """

def Where(i1: Stream, *, condition: Any | ParameterRef, **about: Unpack[About]) -> Stream:
    """Rows for which a condition is true; not those for which it is false or null.

    In:
        i1: rows

    Parameters:
        condition: what is true of the rows that come out, such as `amount > 10`

    Out:
        o1: those for which the condition is true
    """

def WindowMinMax(
    i1: Stream,
    *,
    window: int | str | timedelta | ParameterRef,
    partial: bool | ParameterRef = False,
    mode: Literal["min", "max"] | ParameterRef,
    **about: Unpack[About],
) -> Stream:
    """The smallest or the largest of the values in a window.

    Of equal values the earliest is given (0.0 and -0.0 are equal). NaN inside gives NaN.

    In:
        i1: values

    Parameters:
        window: messages in the window, or its length in time
        partial: emit from the first message on, over what there is
        mode: which extreme

    Out:
        o1: extremes
    """

def ZScore(
    i1: Stream,
    *,
    window: int | str | timedelta | ParameterRef,
    partial: bool | ParameterRef = False,
    **about: Unpack[About],
) -> Stream:
    """How many deviations the newest value is above the mean of its window.

    The mean and the sample deviation are those of `MovingAverage` and `StandardDeviation`, the
    value included. Where all values are equal, and with an infinity or a NaN inside, it is NaN.

    In:
        i1: values

    Parameters:
        window: messages in the window, or its length in time
        partial: emit from the first message on, over what there is

    Out:
        o1: scores
    """
