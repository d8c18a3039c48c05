"""SQL queries as graphs of change operators: reading, binding, the logical plan, lowering."""

from rtbot.sql.lower_query import Query, QueryNode, lower_query

__all__ = ["Query", "QueryNode", "lower_query"]
