"""Facts of a program as bytes and back: all that a checkpoint needs, for the rest follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot import __version__
from rtbot.core.errors import CheckpointError
from rtbot.datalog.program import SYMBOL
from rtbot.storage.container import decode_blob, encode_blob
from rtbot.storage.differences import describe_differences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rtbot.database.fact_codec import FactCodec
    from rtbot.tables.string_dictionary import StringDictionary


def encode_facts(
    epoch: int,
    facts: Mapping[str, np.ndarray],
    codecs: Mapping[str, FactCodec],
    texts: StringDictionary,
) -> bytes:
    """Return facts (int64[n, width] by relation) and the number of the epoch as a blob."""
    facts = {name: codecs[name].sort(words) for name, words in facts.items() if len(words)}
    values, codes = texts.save(_list_codes(facts, codecs))
    header = {
        "datalog": __version__,
        "epoch": epoch,
        "relations": {name: codecs[name].types for name in facts},
        "texts": values,
        "rows": {name: len(words) for name, words in facts.items()},
    }
    arrays = {f"facts/{name}": words.ravel() for name, words in facts.items()}
    return encode_blob(header, {"codes": codes, **arrays})


def _list_codes(
    facts: Mapping[str, np.ndarray], codecs: Mapping[str, FactCodec]
) -> Iterator[np.ndarray]:
    for name, words in facts.items():
        yield from (words[:, place] for place in _list_symbols(codecs[name]))


def _list_symbols(codec: FactCodec) -> list[int]:
    return [place for place, kind in enumerate(codec.types) if kind == SYMBOL]


def decode_facts(
    blob: bytes, codecs: Mapping[str, FactCodec], texts: StringDictionary
) -> tuple[int, dict[str, np.ndarray]]:
    """Return the number of the epoch and the facts, with codes of `texts`.

    Raises CheckpointError if the bytes are damaged, or of relations that are not among these.
    """
    header, arrays = decode_blob(bytes(blob))
    if "datalog" not in header:
        hint = "Graph.resume takes a dump of a session"
        message = "this is not a checkpoint of a Datalog program"
        raise CheckpointError(message, code="RT311", hint=hint)
    try:
        _check_relations(header["relations"], codecs)
        codes = _map_codes(header["texts"], arrays["codes"], texts)
        facts = {
            name: _read_facts(arrays[f"facts/{name}"], int(count), codecs[name], codes)
            for name, count in header["rows"].items()
        }
        return int(header["epoch"]), facts
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        message = "the checkpoint does not hold what one of a Datalog program holds"
        raise CheckpointError(message, code="RT311") from error


def _check_relations(saved: Mapping[str, Any], codecs: Mapping[str, FactCodec]) -> None:
    known = {name: codecs[name].types for name in saved if name in codecs}
    difference = describe_differences(dict(saved), known)
    if difference:
        message = f"the checkpoint is of another program: {difference}"
        raise CheckpointError(message, code="RT313", hint="the relations it has facts of must stay")


def _map_codes(values: list[str], codes: np.ndarray, texts: StringDictionary) -> np.ndarray:
    """Return the codes of `texts` by saved code."""
    table = np.full(int(codes.max(initial=-1)) + 1, -1, np.int64)
    for code, text in zip(codes.tolist(), values, strict=True):
        table[code] = texts.code(str(text))
    return table


def _read_facts(array: np.ndarray, count: int, codec: FactCodec, codes: np.ndarray) -> np.ndarray:
    words = array.astype(np.int64).reshape(count, codec.width)
    for place in _list_symbols(codec):
        words[:, place] = codes[words[:, place]]
        if (words[:, place] < 0).any():
            raise ValueError("a text is missing")
    return words
