"""What an adapter of another engine builds on, beside what `import rtbot` offers: public names.

Sessions of many keys are cut into parts and moved as bytes; tables come and go as Arrow's. The
adapter of Spark imports nothing else of this package, and a test holds it to that.
"""

from rtbot.core.arrow import from_list, from_numpy
from rtbot.core.error_times import format_error_times
from rtbot.core.errors import suggest_name
from rtbot.core.modes import choose_mode
from rtbot.core.times import DEFAULT_UNIT, TimeStyle
from rtbot.core.vector_names import VECTOR, list_vectors
from rtbot.graph.later import refuse_changes
from rtbot.graph.model import Input, find_file_setting
from rtbot.graph.output_types import list_output_types, list_public_names
from rtbot.graph.whole_vectors import join_vectors
from rtbot.io.sinks.output_buffer import OutputBuffer
from rtbot.runtime.kernels.rows import FIRST, LAST
from rtbot.runtime.output_frontiers import find_frontiers, find_newest, is_all_final
from rtbot.runtime.result import merge_results
from rtbot.storage.container import decode_blob, encode_blob
from rtbot.storage.differences import describe_differences
from rtbot.tables.column_names import ColumnNames, name_columns
from rtbot.tables.convert import convert_key
from rtbot.tables.forms import TIME_NAMES
from rtbot.tables.number_columns import to_times
from rtbot.tables.record_column import check_shared
from rtbot.tables.vector_results import join_columns
from rtbot.tables.wide import build_long, build_wide

__all__ = [
    "DEFAULT_UNIT",
    "FIRST",
    "LAST",
    "TIME_NAMES",
    "VECTOR",
    "ColumnNames",
    "Input",
    "OutputBuffer",
    "TimeStyle",
    "build_long",
    "build_wide",
    "check_shared",
    "choose_mode",
    "convert_key",
    "decode_blob",
    "describe_differences",
    "encode_blob",
    "find_file_setting",
    "find_frontiers",
    "find_newest",
    "format_error_times",
    "from_list",
    "from_numpy",
    "is_all_final",
    "join_columns",
    "join_vectors",
    "list_output_types",
    "list_public_names",
    "list_vectors",
    "merge_results",
    "name_columns",
    "refuse_changes",
    "suggest_name",
    "to_times",
]
