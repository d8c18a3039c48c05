"""What an adapter of another engine builds on, beside what `import rtbot` offers: public names.

Sessions of many keys are cut into parts and moved as bytes; tables come and go as Arrow's. The
adapter of Spark imports nothing else of this package, and a test holds it to that.
"""

from rtbot.core.arrow import from_list, from_numpy
from rtbot.core.error_times import format_error_times
from rtbot.core.errors import suggest_name
from rtbot.core.modes import choose_mode
from rtbot.core.times import DEFAULT_UNIT, TimeStyle
from rtbot.graph.later import refuse_changes, refuse_records
from rtbot.graph.model import find_file_setting
from rtbot.io.sinks.output_buffer import OutputBuffer
from rtbot.runtime.kernels.rows import FIRST, LAST
from rtbot.runtime.output_frontiers import find_frontiers, find_newest, is_all_final
from rtbot.runtime.result import merge_results
from rtbot.storage.container import decode_blob, encode_blob
from rtbot.storage.differences import describe_differences
from rtbot.tables.convert import convert_key
from rtbot.tables.forms import TIME_NAMES
from rtbot.tables.number_columns import to_times
from rtbot.tables.wide import build_long, build_wide

__all__ = [
    "DEFAULT_UNIT",
    "FIRST",
    "LAST",
    "TIME_NAMES",
    "OutputBuffer",
    "TimeStyle",
    "build_long",
    "build_wide",
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
    "merge_results",
    "refuse_changes",
    "refuse_records",
    "suggest_name",
    "to_times",
]
