"""Explanations of graphs, operators and error codes, as data and as text."""

from rtbot.explain.error_pages import describe_error, format_error_page, render_error_page
from rtbot.explain.explain_graph import explain, format_graph
from rtbot.explain.explain_operator import (
    describe,
    format_signature,
    group_operators,
    list_names,
    list_operators,
    read_summary,
)
from rtbot.explain.operator_page import format_operator, render_operator_page
from rtbot.explain.phrases import format_hanging

__all__ = [
    "describe",
    "describe_error",
    "explain",
    "format_error_page",
    "format_graph",
    "format_hanging",
    "format_operator",
    "format_signature",
    "group_operators",
    "list_names",
    "list_operators",
    "read_summary",
    "render_error_page",
    "render_operator_page",
]
