"""Faults that files of the field showed: clocks with points, headers, what is no time."""

import pytest

from rtbot.io.sources.csv_syntax import CsvSyntax
from tests.look.test_layout import look


def test_clocks_with_points_are_paired_with_dates():
    short = look("Datum;Uhrzeit;kWh\n01.02.2024;18.00;1,5\n01.02.2024;18.15;1,6\n")
    assert (short.io.time, short.dialect.decimal) == (("Datum", "Uhrzeit"), ",")
    assert short.reading.time_format == "%d.%m.%Y %H.%M"
    long = look("Date;Time;x\n10/03/2004;18.00.00;2,6\n13/03/2004;19.00.00;2\n")
    assert (long.io.time, long.reading.time_format) == (("Date", "Time"), "%d/%m/%Y %H.%M.%S")


def test_numbers_with_points_beside_dates_are_numbers():
    facts = look("date,price\n2024-01-02,18.15\n2024-01-03,18.30\n2024-01-04,18.45\n")
    assert facts.columns[1].kind == "number"


def test_names_in_angle_brackets_are_no_markup():
    facts = look("<DATE>\t<TIME>\t<OPEN>\n2015.01.02\t00:00:00\t1.2\n2015.01.02\t01:00:00\t1.3\n")
    assert (facts.form, facts.io.time) == ("csv", ("<DATE>", "<TIME>"))


def test_descriptions_of_series_are_behind_the_header():
    head = '"";A.B;A.B_FLAGS\n"";Kurs;\nEinheit;USD;\nDimension;Eins;\n'
    facts = look(head + "2024-01-02;1,1004;\n2024-01-03;1,0984;\n2024-01-04;1,0976;\n")
    assert (facts.header, facts.dialect.skip_after) == (1, 3)
    assert [column.name for column in facts.columns] == ["", "A.B", "A.B_FLAGS"]


def test_one_instant_is_no_time_where_there_are_periods():
    rows = "".join(f"20/10/23 11:00:00,2015-Q{quarter},{quarter}\n" for quarter in (1, 2, 3, 4))
    facts = look("LAST UPDATE,TIME_PERIOD,x\n" + rows)
    assert facts.time is None
    assert "'2015-Q1' are not read" in facts.obstacles[0]


def test_numbers_in_disorder_are_no_times():
    facts = look("a,t\n5551234567,2\n5559876543,3\n5551112223,4\n4441112223,9\n")
    assert (facts.time.columns, facts.other_times) == (("t",), ())


def test_a_colon_between_date_and_clock():
    facts = look("time,x\n20160101:0010,1\n20160101:0110,2\n")
    assert facts.reading.time_format == "%Y%m%d:%H%M"


@pytest.mark.parametrize(
    ("data", "head", "found"),
    [
        (b"1;2\n;;\n3;4\n;\n", False, b"1;2\n\n3;4\n\n"),
        (b"1;2\r\n;;\r\n;\r\n;", False, b"1;2\r\n\r\n\r\n"),
        (b";;\n;\n1;2\n", False, b"\n\n1;2\n"),
        (b";;\n;\n1;2\n", True, b";;\n\n1;2\n"),
        (b'1;"a\n;;\n"\n;;\n', False, b'1;"a\n;;\n"\n\n'),
        (b'1;2\n"";\n;5\n; ;\n', False, b'1;2\n"";\n;5\n; ;\n'),
    ],
)
def test_records_of_delimiters_alone_become_empty_lines(data, head, found):
    assert CsvSyntax(delimiters=b";").clear_blank_records(data, head=head) == found
