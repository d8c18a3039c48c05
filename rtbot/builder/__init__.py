"""Graphs built in Python, with completion and static types.

    from rtbot import Builder, ops

    g = Builder("bollinger")
    window = g.parameter("window", 20, minimum=2)
    price = g.input("price")
    middle = ops.MovingAverage(price, window=window)
    deviation = ops.StandardDeviation(price, window=window)
    g.output(upper=middle + 2 * deviation, middle=middle, lower=middle - 2 * deviation)
    graph = g.graph()

What is built is the tree of a graph file, and goes through the same checker: a problem names the
line of the Python file. `graph.to_yaml()` is the file.
"""

from rtbot.builder.builder import Builder, record
from rtbot.builder.stream import About, Fields, Operand, ParameterRef, Stream, Streams

__all__ = ["About", "Builder", "Fields", "Operand", "ParameterRef", "Stream", "Streams", "record"]
