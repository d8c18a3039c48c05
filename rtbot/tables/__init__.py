"""Tables of many kinds at the edge of a session, as the arrays that a session works on."""

from rtbot.tables.convert import Columns, TableSpec, order_by_time, to_columns
from rtbot.tables.split import split_by_input
from rtbot.tables.text_columns import TextColumn

__all__ = ["Columns", "TableSpec", "TextColumn", "order_by_time", "split_by_input", "to_columns"]
