"""CSV as people have it: every option of a dialect, alone and in random company."""

import gzip
from io import BytesIO

import pytest

from rtbot.core.errors import DataError
from rtbot.graph.csv_dialect import MULTIPLE_BYTES, SINGLE_BYTE, check_dialect, find_encoding
from rtbot.graph.model import CsvDialect, ReadOptions
from rtbot.io.source_opener import SourceOpener, split_column
from rtbot.io.sources import csv_chunks
from rtbot.io.sources.csv import CsvSource
from rtbot.io.sources.csv_syntax import squeeze_blanks
from rtbot.storage.files import Files
from tests.dialects import check_case

KINDS = {"t": "integer", "x": "number"}


def read(data, kinds=None, null=(), **settings):
    """Columns, faults as (line, column, value or message), by a source of these settings."""
    options = ReadOptions(null=null, csv=CsvDialect(**settings))
    source = CsvSource(
        BytesIO(data if isinstance(data, bytes) else data.encode()), "f", None, options
    )
    kinds = kinds or KINDS
    columns, faults = {name: [] for name in kinds}, []
    for block in source.read_blocks(kinds):
        for name in kinds:
            columns[name] += block.columns[name].to_pylist()
        faults += [(block.line(f.row), f.column, f.value or f.message) for f in block.faults]
    return (columns, faults) if faults else columns


READ = [
    ("t;x\n1;2,5\n2;-,5\n3;1e-3\n", {"delimiter": ";", "decimal": ","}, [2.5, -0.5, 0.001]),
    ("t\tx\n1\t2\n2\t\n", {"delimiter": "\t"}, [2, None]),
    ("t\tx\n1\t2\n2\t\n", {"delimiter": "tab"}, [2, None]),
    ("  t   x\n1\t \t2\n  2 3  \r\n \n", {"delimiter": "blank"}, [2, 3]),
    ("t|x\n1|1,234.5\n2|12,345,678\n", {"delimiter": "|", "thousands": ","}, [1234.5, 12345678]),
    ('t,x\n1,"1,049.34"\n2,9\n', {"thousands": ","}, [1049.34, 9]),
    ("t x\n1 '1 234'\n", {"delimiter": "blank", "thousands": " ", "quote": "'"}, [1234]),
    ("t;x\n1;1.234,5\n2;.5\n", {"delimiter": ";", "decimal": ",", "thousands": "."},
     ([1234.5, None], [(3, "x", ".5")])),
    ("t,x\n1,'2'\n", {"quote": "'"}, [2]),
    ('a\nb "\nt,x\n1,2\n', {"skip": 2}, [2]),
    ('t,x\ns,m "\n1,2\n', {"skip_after": 1}, [2]),
    ("# it's\nt,x\n#\n1,2\n#3,4\n2, #5\n", {"comment": "#", "quote": "'"},
     ([2, None], [(6, "x", "#5")])),
    ("1,2\n3,4\n", {"names": ("t", "x")}, [2, 4]),
    ("skip\n1,2\n", {"names": ("t", "x"), "skip": 1}, [2]),
    ("sep=;\nt;x\n1;2\n", {}, [2]),
    ("sep=\t\r\nt\tx\r\n1\t2\r\n", {}, [2]),
    ("sep=;\nnote\nt;x\n1;2\n", {"skip": 2}, [2]),
    ("sep=;\nt;x\n1;2,5\n", {"delimiter": ";", "decimal": ","}, [2.5]),
    (" t, x \n1, 2 \n", {}, [2]),
    ("t,x\n1,  \n", {}, [None]),
    ("", {"delimiter": ";", "skip": 1}, []),
    ("# only\n# comments", {"comment": "#"}, []),
]  # fmt: skip


@pytest.mark.parametrize(("data", "settings", "expected"), READ, ids=range(len(READ)))
def test_options_of_a_dialect(data, settings, expected):
    values, faults = expected if isinstance(expected, tuple) else (expected, [])
    if faults:
        columns, found = read(data, **settings)
        assert (columns["x"], found) == (values, faults)
    else:
        names = {"t": "integer", "x": "number"} if values else {}
        assert read(data, names, **settings).get("x", []) == values


NULL = [
    ("number", '1,?\n2, ? \n3,"?"\n4,2\n', [None, None, None, 2]),
    ("integer", "1,?\n2,\n", [None, None]),
    ("boolean", "1,?\n2,true\n", [None, True]),
    ("text", '1,?\n2, ? \n3,"?"\n4,""\n5,a?\n6,\n', [None, None, None, "", "a?", None]),
    ("key", "1,?\n2, ?\n3,k\n", [None, None, "k"]),
    ("raw", "1,?\n2, ?\n3,k\n", [None, None, "k"]),
    ("any", '1,?\n2,"? "\n3,k\n', [None, None, "k"]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "rows", "expected"), NULL, ids=[kind for kind, _, _ in NULL])
def test_tokens_of_absent_cells_are_compared_without_blanks_around(kind, rows, expected):
    assert read("t,x\n" + rows, KINDS | {"x": kind}, ("?", " - "))["x"] == expected


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_an_empty_last_cell_is_absent_behind_quotes(end):
    found = read(f'k,w\n"a",{end}', {"k": "text", "w": "text"})
    assert found == {"k": ["a"], "w": [None]}


def test_a_token_may_look_like_a_number():
    assert read("t,x\n1,-999\n2,-999.0\n3,nan\n", null=("-999", "nan"))["x"] == [None, -999, None]
    for cell in (" -999", "-999\t", '" -999"'):
        assert read(f"t,x\n1,{cell}\n", null=("-999",))["x"] == [None]


STRICT = [
    "1.5",
    "1,234",
    "0x1F",
    "1_000",
    "nan(1)",
    "1,5,",
    "1,,5",
    "--1",
    "1e",
    "\u0661",
    "1 5",
    "INFX",
]


@pytest.mark.parametrize("text", STRICT)
def test_numbers_are_as_strict_with_a_decimal_comma(text):
    expected = {"1,234": [1.234]}.get(text)
    found = read(f"t;x\n1;{text}\n", delimiter=";", decimal=",")
    assert found == (
        {"t": [1], "x": expected} if expected else ({"t": [1], "x": [None]}, [(2, "x", text)])
    )


GROUPED = {"1.234": 1234, "12.345.678": 12345678, "1234": 1234, "-1.000,5": -1000.5, ",5": 0.5}
GROUPED |= {
    "1.23": None,
    "1234.567": None,
    ".123": None,
    "1..234": None,
    "1,234.5": None,
    "0.123": 123,
}
GROUPED |= {"1.234e2": 123400.0, "1.2345": None, "+1.234": 1234}


@pytest.mark.parametrize("text", GROUPED)
def test_thousands_are_groups_of_three(text):
    found = read(f"t;x\n1;{text}\n", delimiter=";", decimal=",", thousands=".")
    expected = {"t": [1], "x": [GROUPED[text]]}
    assert found == (expected if GROUPED[text] is not None else (expected, [(2, "x", text)]))


def test_integers_have_thousands_too():
    kinds = {"t": "integer", "x": "integer"}
    big = "9,223,372,036,854,775,807"
    assert read(f'"t","x"\n1,"{big}"\n2,"-5"\n', kinds, thousands=",")["x"] == [2**63 - 1, -5]
    _, faults = read('t,x\n1,"9,223,372,036,854,775,808"\n2,"1,5"\n', kinds, thousands=",")
    assert [line for line, _, _ in faults] == [2, 3]


TEXTS = {
    "latin-1": "é\xa0ü",
    "cp1252": "€„x",
    "utf-16": "日本 𝄞",
    "utf-16-le": "日本",
    "utf-16-be": "日本",
    "utf-32": "日𝄞",
    "shift_jis": "ソ表能",
    "cp932": "ソ表①",
    "euc_jp": "日本",
    "gb2312": "中文",
    "gbk": "镕",
    "gb18030": "𠀀中",
    "big5": "功許",
    "euc_kr": "한국",
    "cp949": "똠",
    "koi8-u": "їж",
    "cp866": "Жщ",
}


@pytest.mark.parametrize("encoding", ["utf-8", *SINGLE_BYTE, *MULTIPLE_BYTES])
def test_every_encoding_that_is_known_is_read(encoding, monkeypatch, tmp_path):
    monkeypatch.setattr(csv_chunks, "CHUNK_BYTES", 16)
    text = TEXTS.get(encoding, "a")
    rows = "".join(f'{t};{text}{t};"{text};\n"\n' for t in range(9))
    path = tmp_path / "d.csv.gz"
    path.write_bytes(gzip.compress(f"t;w;v\n{rows}".encode(encoding)))
    options = ReadOptions(csv=CsvDialect(delimiter=";", encoding=encoding))
    found = []
    for block in (
        SourceOpener(Files()).open_one(str(path), options).read_blocks({"w": "text", "v": "text"})
    ):
        found += zip(*(block.columns[name].to_pylist() for name in "wv"), strict=True)
    assert found == [(f"{text}{t}", f"{text};\n") for t in range(9)]


def test_encodings_of_a_byte_have_ascii_as_it_is():
    plain = bytes(range(128))
    assert all(plain.decode(name) == plain.decode("ascii") for name in SINGLE_BYTE)
    for name in ("rot13", "hex", "zlib", "idna", "utf-7", "no such", "a\0"):
        assert find_encoding(name) is None
    for name in ("latin1", "ISO-8859-1", "windows-1252", "UTF8", "utf-8-sig", "sjis", "UTF-16LE"):
        assert find_encoding(name) is not None


WRONG = [
    ("t,x\n1,é\n".encode("latin-1"), {"encoding": "ascii"}, "RT209", 2, "io.csv.encoding"),
    (b"t,x\n1,\x81\n", {"encoding": "cp1252"}, "RT209", 2, "io.csv.encoding"),
    ("t,x\n1,2\n".encode("utf-16-le"), {}, "RT209", 1, "encoding"),
    (b"a\nb\n", {"skip": 3}, "RT208", 2, ""),
    (b"t,x\n1,'a\n", {"quote": "'"}, "RT210", 2, ""),
    (b"n\n'\n't,x\n1,2\n", {"quote": "'", "skip": 2}, "RT210", 3, ""),
    (b"t|x\n1|a'b\n", {"quote": "'", "delimiter": "|"}, "RT210", 2, ""),
    (b"t b\n1 a'b' 3\n", {"quote": "'", "delimiter": "blank"}, "RT210", 2, ""),
    (b"sep=;\nt;x\n1;2\n", {"delimiter": "|"}, "RT208", 1, "leave io.csv.delimiter out"),
    (b"sep=a\ntax\n", {}, "RT208", 1, ""),
    (b"#\n\nt,t\n1,2\n", {"comment": "#"}, "RT215", 3, ""),
    (b"#\0\nt,x\n1,2\n#\0\n", {"comment": "#"}, "RT209", 4, ""),
    (b"t;x\n1;2\n", {"decimal": ","}, "RT208", None, ""),
]  # fmt: skip


@pytest.mark.parametrize(("data", "settings", "code", "line", "hint"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_has_its_line_in_the_file(data, settings, code, line, hint):
    with pytest.raises(DataError) as caught:
        read(data, {"x": "text"}, **settings)
    assert (caught.value.code, caught.value.row) == (code, line)
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("encoding", "data", "line"),
    [
        ("utf-16", "t,x\n1,2\n".encode("utf-16-le"), 1),
        ("utf-16", "t,x\n1,2\n".encode("utf-16-le") + b"\0\xd8a\0", 1),
        ("utf-16", "t,x\n1,2\n".encode("utf-16") + b"\n\xd8", 3),
        ("utf-16-le", "t,x\n1,2\n3,4\n".encode("utf-16-le") + b"\x00\xd8a\0", 4),
        ("shift_jis", "t,x\n1,ソ\n".encode("shift_jis") + b"2,\x83", 3),
        ("utf-16-le", "t,x\n1,2\n".encode("utf-16-le") + b"\n", 3),
    ],
    ids=range(6),
)
def test_what_cannot_be_decoded_has_its_line(encoding, data, line, tmp_path):
    (tmp_path / "d.csv").write_bytes(data)
    options = ReadOptions(csv=CsvDialect(encoding=encoding))
    with pytest.raises(DataError) as caught:
        list(SourceOpener(Files()).open_one(str(tmp_path / "d.csv"), options).read_blocks(KINDS))
    assert (caught.value.code, caught.value.row) == ("RT209", line)


HINTS = [
    ("t;x\n1;2,5\n", {"delimiter": ";"}, 'set io.csv.decimal: ","'),
    ("t,x\n1,NA\n", {}, 'set io.null: ["NA"]'),
    ("t;x\n1;1,234.5\n", {"delimiter": ";"}, "io.csv.thousands"),
    ("t;x\n1;2;3\n", {"delimiter": ";"}, "a cell that holds ';' needs quotes"),
]


@pytest.mark.parametrize(("data", "settings", "hint"), HINTS, ids=range(len(HINTS)))
def test_hints_name_the_option(data, settings, hint):
    options = ReadOptions(csv=CsvDialect(**settings))
    (block,) = CsvSource(BytesIO(data.encode()), "f", None, options).read_blocks(KINDS)
    assert hint in block.faults[0].hint


CONTRADICTIONS = {
    "csv.delimiter and csv.decimal": [{"decimal": ","}, {"delimiter": "."}],
    "csv.delimiter": [{"delimiter": ""}, {"delimiter": "::"}, {"delimiter": "a"},
                      {"delimiter": "§"}, {"delimiter": "\n"}, {"delimiter": "-"}],
    "csv.decimal": [{"decimal": "'"}, {"decimal": ""}],
    "csv.thousands and csv.decimal": [{"thousands": "."}],
    "csv.thousands": [{"thousands": "00"}, {"thousands": "1"}, {"thousands": "-"},
                      {"thousands": " ", "delimiter": "blank", "quote": ""}],
    "csv.delimiter and csv.thousands": [{"thousands": ",", "quote": ""}],
    "csv.quote": [{"quote": "''"}, {"quote": " "}, {"quote": "q"}, {"quote": ","},
                  {"quote": "'", "thousands": "'"}],
    "csv.encoding": [{"encoding": "utf-9"}, {"encoding": "hex"}],
    "csv.skip": [{"skip": -1}, {"skip": 10**9}],
    "csv.skip_after": [{"skip_after": -1}, {"skip_after": 1, "names": ("t",)}],
    "csv.comment": [{"comment": " #"}, {"comment": "\n"}, {"comment": ","}, {"comment": '"'},
                    {"comment": "日", "encoding": "latin-1"}],
    "csv.names": [{"names": ("t", "t")}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("message", "settings"),
    [(message, one) for message, several in CONTRADICTIONS.items() for one in several],
    ids=str,
)
def test_settings_that_contradict_each_other_are_found(message, settings):
    assert str(check_dialect(CsvDialect(**settings))).startswith(message)


def test_good_dialects_have_no_problem():
    for settings in ({}, {"delimiter": ";", "decimal": ","}, {"thousands": ","}, {"quote": ""}):
        assert check_dialect(CsvDialect(**settings)) is None


SQUEEZED = {
    b"a b": b"a\tb",
    b"  a \t b  \r\n\t c\n \n": b"a\tb\r\nc\n\n",
    b"'a  b'  c '  '\n": b"'a  b'\tc\t'  '\n",
    b"": b"",
    b"   ": b"",
    b"'x\n  y' 2": b"'x\n  y'\t2",
}


@pytest.mark.parametrize("data", SQUEEZED)
def test_runs_of_blanks_become_one_tab_outside_quotes(data):
    assert squeeze_blanks(data, b"'") == SQUEEZED[data]


def test_a_header_is_found_under_its_exact_name_first():
    names = CsvSource(BytesIO(b" t,x , y,y\n1,2,3,4\n"), "f").names
    assert names == ["t", "x", " y", "y"]
    assert CsvSource(BytesIO(b",x,,\n1,2,3,4\n"), "f").names == ["", "x", "", ""]
    assert read(",x,,\n1,2,3,4\n", {"": "integer", "x": "number"}) == {"": [1], "x": [2]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"pm.csv:\\PC1\Disk(C:)\% Free", ("pm.csv", r"\\PC1\Disk(C:)\% Free")),
        ("a:b.csv:1-0:1.8.0", ("a:b.csv", "1-0:1.8.0")),
        ("a:b.csv", ("a:b.csv", None)),
        ("*.csv:x:y", ("*.csv", "x:y")),
        ("-:x", ("-", "x")),
        ("none.csv:a:b", ("none.csv", "a:b")),
        (r"C:\none.csv:x", (r"C:\none.csv", "x")),
        ("none:a:b", ("none:a", "b")),
        ("pm.csv", ("pm.csv", None)),
        ("x" * 5000 + ":y", ("x" * 5000, "y")),
    ],
)
def test_a_column_begins_behind_the_first_colon_after_a_file(text, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("pm.csv", "a:b.csv"):
        (tmp_path / name).touch()
    assert split_column(Files(), text) == expected


@pytest.mark.parametrize("start", range(0, 60, 20))
def test_random_dialects_equal_plain_csv(start, tmp_path):
    for number in range(start, start + 20):
        check_case(f"suite/{number}", tmp_path)
