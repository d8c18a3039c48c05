"""Encodings, line ends, delimiters, headers: where the table is in a file."""

import pytest

from rtbot.look.file_sample import sample_bytes
from rtbot.look.io_lines import render_io
from rtbot.look.look_at_file import look_at_file, look_at_sample
from rtbot.storage.files import Files


def look(data, name="x.csv"):
    return look_at_sample(name, sample_bytes(data if isinstance(data, bytes) else data.encode()))


@pytest.mark.parametrize(
    ("data", "encoding", "bom"),
    [
        (b"t,x\n1,2\n", "utf-8", False),
        ("\ufefft,x\n1,2\n".encode(), "utf-8", True),
        ("t,x\n1,2\n".encode("utf-16"), "utf-16", True),
        ("t,x\n1,2\n".encode("utf-16-le"), "utf-16-le", False),
        ("t,x\n1,2\n".encode("utf-16-be"), "utf-16-be", False),
        ("t,°C\n1,2\n".encode("latin-1"), "latin-1", False),
        ("t,€\n1,2\n".encode("cp1252"), "cp1252", False),
        ("t,°C\n1,2\n".encode(), "utf-8", False),
    ],
)
def test_encodings(data, encoding, bom):
    facts = look(data)
    assert (facts.dialect.encoding, facts.bom) == (encoding, bom)
    assert facts.first_rows == [["1", "2"]]


@pytest.mark.parametrize(("end", "name"), [("\n", "LF"), ("\r\n", "CRLF"), ("\r", "CR")])
def test_line_ends(end, name):
    facts = look(end.join(["t,x", "1,2", "2,3", ""]))
    assert (facts.line_end, facts.rows) == (name, 2)


def test_mixed_line_ends():
    assert look("t,x\r\n1,2\n2,3\n").line_end == "mixed"


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("t,x\n1,2\n", ","),
        ("t;x\n1;2\n", ";"),
        ("t\tx\n1\t2\n", "\t"),
        ("t|x\n1|2\n", "|"),
        ("t  x\n1   2\n10  3\n", "blank"),
        ("t;x\n1;2,5\n2;3,5\n", ";"),
        ("time,x\n2024-01-01 10:00:00,5\n2024-01-01 11:00:00,6\n", ","),
        ("time x\n2024-01-01T10:00:00 1,5\n2024-01-01T11:00:00 2,5\n", "blank"),
        ('t,x,note\n1,2,"a; b; c"\n2,3,"d; e; f"\n', ","),
        ("sep=;\nt;x\n1;2\n", ";"),
    ],
)
def test_delimiters(text, delimiter):
    facts = look(text)
    assert facts.dialect.delimiter == delimiter
    assert [len(row) for row in facts.first_rows] == [len(facts.columns)] * facts.rows


@pytest.mark.parametrize(
    ("text", "header", "skip", "after", "comment"),
    [
        ("t,x\n1,2\n", 1, 0, 0, ""),
        ("about: this\n\nt,x\n1,2\n2,3\n", 3, 2, 0, ""),
        ("Station;Ulm;\nt;x;y\n1;2;3\n2;3;4\n", 2, 1, 0, ""),
        ("t,x\ns,m\n1,2\n2,3\n", 1, 0, 1, ""),
        ("# a\n# b\nt,x\n1,2\n# c\n2,3\n", 3, 0, 0, "#"),
        ("# a\nt,x\ns,mm\n1,2\n2,3\n", 2, 0, 1, "#"),
        ("a note\n# b\nt,x\n1,2\n2,3\n", 3, 2, 0, ""),
        ("#t x\n1 2\n2 3\n", 1, 0, 0, ""),
        ("Device,ABC\nSerial,12\nTime,Value\n2024-01-01,5\n2024-01-02,6\n", 3, 2, 0, ""),
    ],
)
def test_headers(text, header, skip, after, comment):
    facts = look(text)
    dialect = facts.dialect
    assert (facts.header, dialect.skip, dialect.skip_after, dialect.comment) == (
        header,
        skip,
        after,
        comment,
    )
    assert not dialect.names


@pytest.mark.parametrize(
    ("text", "names", "skip", "comment"),
    [
        ("1,2.5\n2,3.5\n", ("time", "column_2"), 0, ""),
        ("# t x\n1 2.5\n# more\n2 3.5\n", ("t", "x"), 0, "#"),
        ("t,x,x\n1,2,3\n", ("t", "x", "x_2"), 1, ""),
        ("t,x\n1,2,3\n2,3,4\n3,4,5\n", ("t", "x", "column_3"), 1, ""),
        ("t,x,\n1,2\n2,3\n", ("t", "x"), 1, ""),
    ],
)
def test_names_that_have_to_be_given(text, names, skip, comment):
    dialect = look(text).dialect
    assert (dialect.names, dialect.skip, dialect.comment) == (names, skip, comment)


def test_rows_that_are_none_are_doubts():
    facts = look("t,x\n1,2\n2,3,4\n3,4\n4,5\nTotal,14\n")
    assert facts.io.bad == "drop"
    assert facts.doubts == ["no rows at the end: line 6", "another number of cells: line 3"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b"PK\x03\x04....", "unpack it, or save the sheet"),
        (b"\x89HDF\r\n", "HDF5 is not read"),
        (b"BZh91AY", "bzip2"),
        (b"t,x\n\x00\x01\x02\x03,\x00\x05\n", "binary is not read"),
        (b"<html><body>", "HTML is not read"),
        (b'[{"t": 1}]', "one object per line"),
        (b'{\n "t": 1\n}', "over several lines"),
        (b"hello\nworld\n", "there is one column"),
        (b"name,x\na,b\n", "no column looks like times"),
    ],
)
def test_what_cannot_be_read_is_said(data, said):
    facts = look(data)
    assert said in "\n".join(facts.obstacles)


def test_a_name_that_means_another_format():
    facts = look('{"t": 1, "x": 2}\n', "x.csv")
    assert (facts.form, facts.form_option) == ("jsonl", "jsonl")
    assert look("t,x\n1,2\n", "x.dat").form_option == "csv"
    assert look("t,x\n1,2\n", "x.txt").form_option is None


def test_of_a_large_file_parts_are_looked_at(tmp_path):
    from rtbot.look.look_at_file import look_at_file

    path = tmp_path / "large.csv"
    path.write_text("t,x\n" + "".join(f"{i},{i % 7}\n" for i in range(400_000)), encoding="utf-8")
    facts = look_at_file(str(path), Files(), limit=1 << 18)
    assert not facts.whole
    assert facts.looked < facts.size / 2
    assert abs(facts.rows_total - 400_000) < 40_000
    assert facts.time.series.last == 399_999
    assert facts.time.series.order == "ascending"


def test_compressed_files_are_looked_into(tmp_path):
    import gzip

    from rtbot.look.look_at_file import look_at_file

    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"t;x\n1;2\n"))
    facts = look_at_file(str(path))
    assert (facts.packed, facts.dialect.delimiter, facts.first_rows) == (True, ";", [["1", "2"]])
    path.write_bytes(gzip.compress(b"t;x\n1;2\n")[:12])
    assert look_at_file(str(path)).obstacles


def test_times_with_nanoseconds_have_their_span_and_their_lateness(tmp_path):
    path = tmp_path / "ns.csv"
    rows = [f"2024-01-01T00:00:{second:02}.123456789,{second}" for second in (10, 5, 0)]
    path.write_text("\n".join(["t,value", *rows, ""]), encoding="utf-8")
    facts = look_at_file(str(path))
    assert facts.time is not None
    assert (facts.time.series.step, facts.time.series.late) == (5_000_000, 2)
    assert render_io(facts) == "io:\n  unit: ns\n  lateness: 10s\n"
