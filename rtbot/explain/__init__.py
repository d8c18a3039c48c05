"""What a user may ask about graphs, operators and error codes, as data and as text."""

from rtbot.explain.error_pages import describe_error, error_lines, error_page
from rtbot.explain.explain_graph import explain, graph_lines
from rtbot.explain.explain_operator import describe, groups, names, operators, signature, summary
from rtbot.explain.operator_page import operator_lines, operator_page
from rtbot.explain.phrases import hung

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
