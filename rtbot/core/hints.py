"""What other tools call the names of closed sets: keys, parameters, types, policies and verbs.

Hints are made of them and nothing else: none of these words is accepted. Operators declare theirs
themselves (`search_terms`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SYNONYMS = {
    # keys of a graph file and of its tests
    "inputs": "input sources source variables",
    "operators": "nodes steps ops pipeline functions transforms expressions calculations",
    "outputs": "output out sinks results select",
    "params": "parameters variables constants config settings",
    "tests": "test cases examples",
    "given": "input inputs when data",
    "expect": "output outputs expected then result results",
    "emits_nothing": "silent empty nothing",
    # keys of an operator
    "type": "op operator kind class fn func function",
    "in": "input inputs source from args of on column",
    "control": "controls ctl",
    "doc": "description comment help label note docs man",
    # parameters
    "window": "period periods span n size length len timeperiod lookback width days rows bars",
    "partial": "min_periods min_samples",
    "n": "periods period lag shift offset k steps window timeperiod length span lookback",
    "interval": "freq frequency rule every step period",
    "shift": "offset delta by periods",
    "value": "threshold limit constant level than",
    "how": "join kind method mode agg aggregate aggregation func",
    "mode": "how kind method extreme",
    "tolerance": "max_age within eps",
    "coefficients": "weights factors taps b numerator",
    "gap": "timeout pause inactivity inactivity_gap session_gap",
    "hop": "slide every step advance",
    "quiet": "delay pause silence settle timeout debounce",
    "low": "off lower bottom lower_threshold",
    "high": "on upper top upper_threshold",
    "offset": "origin phase",
    "half_life": "halflife half_time tau",
    "q": "quantile percentile probability",
    "k": "n limit top",
    "start": "initial init",
    "max_gap": "limit max_age staleness",
    "default_value": "default fallback",
    "score_index": "score by order_by",
    "index": "i element position idx",
    "indices": "columns elements indexes idx",
    "b": "numerator feedforward",
    "a": "denominator feedback",
    # io
    "unit": "time_unit timeunit units resolution",
    "time": "timestamp time_column index date",
    "key": "keys by group_by partition_by symbol ticker",
    "duplicates": "dedup drop_duplicates keep",
    "lateness": "watermark allowed_lateness delay",
    "time_format": "format date_format datetime_format timestamp_format strptime",
    "timezone": "tz zone time_zone tzinfo",
    "ambiguous": "fold dst",
    "null": "na na_values null_values nulls missing nan nodata",
    "columns_as": "melt unpivot columns wide",
    "csv": "dialect read_csv",
    "delimiter": "sep separator field_separator delim",
    "decimal": "decimal_point decimal_sign dec",
    "thousands": "thousands_separator grouping group",
    "quote": "quotechar quote_char quoting",
    "encoding": "charset codec codepage",
    "skip": "skiprows skip_rows skip_lines preamble",
    "skip_after": "skip_rows_after_header",
    "names": "column_names columns header",
    # types
    "number": "float float64 float32 double real num decimal numeric",
    "integer": "int int64 int32 long bigint",
    "boolean": "bool bit flag",
    "text": "string str symbol varchar category object",
    "duration": "timedelta interval timespan",
    "numbers": "list array vector floats",
    "points": "pairs curve knots table xy",
    # values of choices
    "s": "second seconds sec secs",
    "ms": "millisecond milliseconds millis msec",
    "us": "microsecond microseconds micros usec",
    "ns": "nanosecond nanoseconds nanos nsec",
    "m": "minute minutes min mins",
    "h": "hour hours hr hrs",
    "d": "day days",
    "drop": "ignore skip discard omit",
    "error": "raise fail strict",
    "first": "keep_first earliest",
    "last": "keep_last latest newest",
    "outer": "full full_outer union",
    "inner": "intersection",
    "full": "outer full_outer",
    "left": "left_outer",
    "right": "right_outer",
    "semi": "left_semi exists",
    "anti": "left_anti not_exists",
    "asof": "merge_asof backward latest",
    "min": "low lowest minimum smallest",
    "max": "high highest maximum largest",
    "mean": "avg average",
    "count": "size len length n number",
    "sum": "total add",
    "ohlc": "open close candle candles bar bars",
    "previous": "ffill forward forward_fill pad locf last",
    "linear": "interpolate lerp",
    "lookup": "get read value",
    "exists": "has contains",
    # verbs
    "validate": "check lint verify compile",
    "run": "exec execute start apply eval",
    "draw": "graph diagram show render dot",
    "init": "new create scaffold",
    "sample": "generate data demo",
    "explain": "describe inspect info why",
    "ops": "operators list ls",
}
"""The words that are meant by a name of ours, in lower case."""


def fold_word(word: str) -> str:
    """Return a word without what is only style: case, and the signs between its parts."""
    return "".join(character for character in word.lower() if character not in "_- .")


def find_synonym(word: str, names: Iterable[str]) -> str:
    """Return the first of the names that the word is another word for, or ""."""
    wanted = fold_word(word)
    for name in names:
        if wanted in map(fold_word, SYNONYMS.get(name, "").split()):
            return name
    return ""
