"""What a user may ask about graphs, operators and error codes, as data and as text."""

from rtbot.explanation.graphs import explain, graph_lines
from rtbot.explanation.operator_text import operator_lines, operator_page
from rtbot.explanation.operators import describe, groups, names, operators, signature, summary
from rtbot.explanation.pages import describe_error, error_lines, error_page
from rtbot.explanation.words import hung

__all__ = [
    "describe",
    "describe_error",
    "error_lines",
    "error_page",
    "explain",
    "graph_lines",
    "groups",
    "hung",
    "names",
    "operator_lines",
    "operator_page",
    "operators",
    "signature",
    "summary",
]
