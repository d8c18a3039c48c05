"""Tables of many kinds at the edge of a session, as the arrays that a session works on."""

from rtbot.tables.convert import Columns, Spec, columns
from rtbot.tables.split import by_input
from rtbot.tables.text_columns import Text

__all__ = ["Columns", "Spec", "Text", "by_input", "columns"]
