"""Files in random dialects equal plain CSV, bit for bit: `python -m tests.dialects --files 1000`.

The writer here is the oracle: it knows the cells, the line of every record and how they are
written. A file is read in random chunks, from its beginning and from the mark of any block.
"""

import argparse
import random
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from rtbot.graph.csv_dialect import MULTIPLE_BYTES, SINGLE_BYTE, check_dialect, find_delimiter
from rtbot.graph.model import CsvDialect, ReadOptions
from rtbot.io.source_opener import SourceOpener
from rtbot.io.sources import csv_chunks
from rtbot.storage.files import Files

KINDS = {"t": "integer", "x": "number", "n": "integer", "b": "boolean", "k": "key", "w": "text"}
DELIMITERS = [";", "\t", "|", "blank", ",", " ", ":", "~"]
ENCODINGS = ["utf-8", "utf-8", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32"]
ENCODINGS += [*SINGLE_BYTE, *MULTIPLE_BYTES]
TOKENS = [(), (), ("?",), ("NA", "-999"), ("MM", "n/a", "--")]
WORDS = ["a", "B7", "über", "€", "Ж", "日本", "x y", " lead", "trail ", "", "a\tb", "0050", "nan"]
WORDS += ['"', "'", 'say "hi"', "don't", "a;b", "a,b", "a|b", "two\nlines", "cr\r\nlf", "1,5"]
WORDS += ["#x", "a\n#b", "//", "%\n%"]
NUMBERS = ["0", "-0.0", "1.5", "1234.5", "1234567.25", "-1e-7", "1e308", "nan", "inf", "-inf", "+3"]
NUMBERS += ["123456", "5.", ".5", "0.1", "9007199254740993", "1E+5", "12345.678901234567", "999"]
INTEGERS = ["0", "-5", "1234", "-1234567", "9223372036854775807", "-9223372036854775808", "007"]
REMARKS = ["units", 'an odd "quote', "don't", "", "a;b,c\td|e", "sep=", " x"]


@dataclass
class DialectCase:
    """Rows and how they are written; `columns` are their names, `expected` the cells as text."""

    rng: random.Random
    options: ReadOptions
    end: str
    rows: list = field(default_factory=list)

    @property
    def dialect(self):
        return self.options.csv


def draw_case(name):
    """The case of a name such as "7/123"."""
    rng = random.Random(f"dialect {name}")
    while True:
        dialect = draw_dialect(rng)
        if check_dialect(dialect) is None:
            break
    options = ReadOptions(null=rng.choice(TOKENS), csv=dialect)
    case = DialectCase(rng, options, rng.choice(["\n", "\n", "\r\n"]))
    case.rows = [draw_row(case, t) for t in range(rng.choice([1, 5, 40, 120]))]
    return case


def draw_dialect(rng):
    names = tuple(KINDS) if rng.random() < 0.2 else ()
    return CsvDialect(
        delimiter=rng.choice(DELIMITERS),
        decimal=rng.choice(".,"),
        thousands=rng.choice(["", "", ".", ",", "'", " ", "_", "\u00a0"]),
        quote=rng.choice(['"', '"', "'", ""]),
        encoding=rng.choice(ENCODINGS),
        skip=rng.choice([0, 0, 1, 3]),
        skip_after=0 if names else rng.choice([0, 0, 1, 2]),
        comment=rng.choice(["", "", "#", "//", "%"]),
        names=names,
    )


def draw_row(case, t):
    """One row of texts as plain CSV has them, None where there is nothing."""
    rng = case.rng
    words = [word for word in WORDS if is_writable(word, case)]
    row = [str(t), rng.choice(NUMBERS), rng.choice(INTEGERS), rng.choice(["true", "0", "FALSE"])]
    row += [rng.choice(words or ["w"]), rng.choice(words or ["w"])]
    absent = rng.choice([0, 0.1, 0.5])
    if find_delimiter(case.dialect) == "blank" and not case.options.null:
        absent = 0  # it cannot be written
    return [row[0], *(None if rng.random() < absent else cell for cell in row[1:])]


def is_writable(word, case):
    """Whether the dialect can write this text: not all characters, or without quotes not all."""
    dialect = case.dialect
    if word.strip() in case.options.null:
        return False
    try:
        word.encode(dialect.encoding)
    except UnicodeEncodeError:
        return False
    if dialect.quote:
        return True
    sign = find_delimiter(dialect)
    if sign == "blank" and word.split() != [word]:
        return False
    return bool(word) and sign not in word and "\n" not in word


# ---- writers


def write_plain(case):
    """The rows as plain CSV; text is quoted where it is not absent."""
    lines = [",".join(KINDS)]
    for row in case.rows:
        cells = ["" if cell is None else cell for cell in row[:4]]
        cells += ["" if cell is None else '"' + cell.replace('"', '""') + '"' for cell in row[4:]]
        lines.append(",".join(cells))
    return ("\n".join(lines) + "\n").encode()


def write_dialect(case):
    """The rows in the dialect, as bytes, and the number of the line of every row."""
    rng, dialect, end = case.rng, case.dialect, case.end
    out, places = [], []

    def add(text):
        out.append(text + end)

    for _ in range(dialect.skip):
        add(draw_remark(case))
    add_comments(case, out)
    if not dialect.names:
        add(join_cells([pad_name(name, case) for name in KINDS], case))
        for _ in range(dialect.skip_after):
            add(draw_remark(case))
    for row in case.rows:
        add_comments(case, out)
        places.append(sum(text.count("\n") for text in out) + 1)
        cells = zip(row, KINDS.values(), strict=True)
        add(join_cells([format_cell(cell, kind, case) for cell, kind in cells], case))
    text = "".join(out)
    if case.rows and rng.random() < 0.3:
        text = text.removesuffix(end)
    return text.encode(dialect.encoding, errors="replace"), places


def draw_remark(case):
    return case.rng.choice(REMARKS)


def add_comments(case, out):
    """Add lines of comment and empty ones, sometimes."""
    while case.rng.random() < 0.2:
        mark = case.dialect.comment
        out.append((mark + draw_remark(case) if mark else "") + case.end)


def pad_name(name, case):
    """A name with blanks around it, which are not part of it."""
    padded = find_delimiter(case.dialect) not in ("blank", " ") and case.rng.random() < 0.2
    return f" {name}" if padded else name


def join_cells(cells, case):
    sign = find_delimiter(case.dialect)
    if sign != "blank":
        return sign.join(cells)
    rng = case.rng
    between = [rng.choice([" ", "   ", "\t", " \t "]) for _ in cells[1:]]
    inner = cells[0] + "".join(gap + cell for gap, cell in zip(between, cells[1:], strict=True))
    return rng.choice(["", "  "]) + inner + rng.choice(["", " ", "\t"])


def format_cell(cell, kind, case):
    """A cell as the dialect writes it, in quotes where it needs them, and sometimes elsewhere."""
    rng, dialect = case.rng, case.dialect
    sign = find_delimiter(dialect)
    if cell is None:
        return format_absent(kind, case)
    if kind in ("number", "integer"):
        cell = format_number(cell, case)
    quote = dialect.quote
    if not quote:
        return cell
    hard = [quote, "\n", "\r", " ", "\t"] if sign == "blank" else [quote, "\n", "\r", sign]
    needed = not cell or any(one in cell for one in hard)
    first = dialect.comment and cell.startswith(dialect.comment)
    if needed or first or rng.random() < 0.1:
        return quote + cell.replace(quote, quote * 2) + quote
    return cell


def format_absent(kind, case):
    """Nothing, a token or blanks; between blanks nothing has to be in quotes or a token."""
    rng, null = case.rng, case.options.null
    runs = find_delimiter(case.dialect) == "blank"
    forms = [*null]
    if not runs:
        forms.append("")
        forms += [f" {token} " for token in null if find_delimiter(case.dialect) != " "]
    elif kind not in ("text", "key") and case.dialect.quote:
        forms.append(case.dialect.quote * 2)
    return rng.choice(forms)


def format_number(cell, case):
    """A number with the signs of the dialect; thousands are separated sometimes."""
    dialect = case.dialect
    whole, point, fraction = cell.partition(".")
    digits = whole.lstrip("+-")
    separable = digits.isdecimal() and (not digits.startswith("0") or digits == "0")
    blank = dialect.thousands == " " and find_delimiter(dialect) in ("blank", " ")
    writable = case.dialect.quote or dialect.thousands != find_delimiter(dialect)
    writable = writable and not (blank and not dialect.quote)
    writable = writable and is_writable(f"1{dialect.thousands}1", case)
    if dialect.thousands and separable and writable and case.rng.random() < 0.7:
        grouped = f"{int(digits):,}".replace(",", dialect.thousands)
        whole = whole[: len(whole) - len(digits)] + grouped
    return whole + (dialect.decimal if point else "") + fraction


# ---- a file in each dialect, to be spoilt

NAMED = {
    "semicolon": CsvDialect(delimiter=";", decimal=","),
    "tab": CsvDialect(delimiter="\t", quote=""),
    "blank": CsvDialect(delimiter="blank"),
    "apostrophe": CsvDialect(quote="'"),
    "latin": CsvDialect(delimiter=";", encoding="latin-1"),
    "wide characters": CsvDialect(delimiter="tab", encoding="utf-16"),
    "kanji": CsvDialect(encoding="shift_jis"),
    "thousands": CsvDialect(delimiter=";", decimal=",", thousands="."),
    "comments": CsvDialect(comment="#", quote="'"),
    "skipped": CsvDialect(delimiter="|", skip=3, skip_after=2),
    "no header": CsvDialect(names=tuple(KINDS)),
}
SERIES = ReadOptions(columns_as="k")


@cache
def named_files():
    """For every dialect, and files of series and of objects: options, suffix and bytes."""
    found = {}
    for name, dialect in NAMED.items():
        case = DialectCase(random.Random(name), ReadOptions(null=("?", "NA"), csv=dialect), "\n")
        case.rows = [draw_row(case, t) for t in range(30)]
        found[name] = case.options, ".csv", write_dialect(case)[0]
    wide = "t,a,b,c\n" + "".join(f"{t},{t}.5,,-{t}\n" for t in range(30))
    found["sep"] = ReadOptions(), ".csv", b"sep=;\r\n" + write_plain(case).replace(b",", b";")
    found["series"] = SERIES, ".csv", wide.encode()
    lines = [f'{{"t": {t}, "a": {{"x": "{t}.5"}}, "k": {t % 3}, "n": null}}\n' for t in range(30)]
    found["objects"] = ReadOptions(null=("?",)), ".jsonl", "".join(lines).encode()
    flat = "".join(f'{{"t": {t}, "a": "{t}", "c": {t}.5}}\n' for t in range(30))
    found["series of objects"] = SERIES, ".jsonl", flat.encode()
    return found


# ---- what must come of it


def read_all(source, mark=None):
    """Columns as lists of text (floats in hexadecimal), the lines of the rows, and the blocks."""
    columns, lines, blocks = {name: [] for name in KINDS}, [], []
    for block in source.read_blocks(KINDS, mark):
        assert block.faults == (), block.faults
        blocks.append((block.mark, len(lines)))
        lines += map(block.line, range(block.count))
        for name in KINDS if block.count else ():
            columns[name] += map(show_cell, block.columns[name].to_pylist())
    return columns, lines, blocks


def show_cell(cell):
    return cell.hex() if isinstance(cell, float) else repr(cell)


def check_case(name, folder):
    """Raise AssertionError if a file in a dialect is not what plain CSV is."""
    case = draw_case(name)
    path, plain = Path(folder, "dialect.csv"), Path(folder, "plain.csv")
    plain.write_bytes(write_plain(case))
    data, places = write_dialect(case)
    path.write_bytes(data)
    expected = read_all(SourceOpener(Files()).open_one(str(plain)))[0]
    before = csv_chunks.CHUNK_BYTES
    csv_chunks.CHUNK_BYTES = case.rng.choice([20 if len(case.rows) < 9 else 200, 900, 1 << 22])
    try:
        opener = SourceOpener(Files(), marking=True)
        columns, lines, blocks = read_all(opener.open_one(str(path), case.options))
        assert columns == expected
        assert lines == places
        mark, start = case.rng.choice(blocks)
        rest = read_all(opener.open_one(str(path), case.options), mark)
        assert rest[0] == {name: cells[start:] for name, cells in columns.items()}
        assert rest[1] == places[start:]
    finally:
        csv_chunks.CHUNK_BYTES = before


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", help="one case again, such as 7/123")
    options = parser.parse_args()
    names = [f"{options.seed}/{number}" for number in range(options.files)]
    names = [options.case] if options.case else names
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            try:
                check_case(name, folder)
            except Exception as error:
                failed += 1
                print(f"FAILED {name}: {type(error).__name__}: {str(error)[:400]}", flush=True)
                if options.case:
                    print(draw_case(name).options, write_dialect(draw_case(name))[0][:2000])
                    raise
    print(f"{len(names)} files, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
