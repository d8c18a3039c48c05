"""Formats of files whose faults are kinds: blanks in cells, parts without names, lines left out."""

import random

import pytest

from tests.look.test_layout import look


def test_tabs_separate_cells_with_blanks_in_them():
    rows = "".join(f"USGS\t16\t2024-03-09 22:{minute}\tEST\t90\tP\n" for minute in (10, 20, 30))
    facts = look(
        "# about\nagency_cd\tsite_no\tdatetime\ttz_cd\tx\tx_cd\n5s\t15s\t20d\t6s\t14n\t10s\n" + rows
    )
    assert (facts.dialect.delimiter, facts.dialect.skip_after) == ("\t", 1)
    assert facts.time.columns == ("datetime",)


@pytest.mark.parametrize("least", [-50, 0])
def test_parts_of_times_without_names_are_known_by_their_values(least):
    draw = random.Random(1)
    rows = [f"2024 01 {1 + n // 24:02} {n % 24:02} {draw.randint(least, 59)} 7" for n in range(60)]
    facts = look("\n".join([*rows, ""]))
    assert facts.io.time == ("column_1", "column_2", "column_3", "column_4")
    assert facts.reading.time_format == "%Y %m %d %H"
    assert "by their values alone" in facts.doubts[0]
    assert look("\n".join([*draw.sample(rows, 60), ""])).io.time != facts.io.time


def test_a_row_of_numbers_behind_the_header_is_not_left_out_silently():
    rows = "".join(f"0.00{n}\t{n}\t{n * n}\n" for n in range(1, 9))
    facts = look("X_Value\tA\tB\tComment\n0.000\t5\t6\t\n" + rows)
    assert "line 2 has 4 cells, and is left out" in facts.doubts
    assert facts.time.columns == ("X_Value",)


def test_a_key_by_its_name_has_several_values_in_rows_with_times():
    rows = "".join(f"2024-01-01T00:0{n}:00,a,{n}\n" for n in range(8))
    facts = look("time,device,x\n" + rows + ",b,\n" + rows.replace("T00", "T01"))
    assert facts.key == ()
    assert facts.io.bad == "drop"
    assert "time: 1 cell is no time: `bad: drop` leaves such rows out" in facts.doubts


def test_a_column_of_nothing_but_a_number_for_absent_values_is_no_owner_of_it():
    rows = "".join(f"2024-01-0{n},{n if n % 2 else 99.0:.2f},99.00\n" for n in range(1, 9))
    facts = look("date,a,b\n" + rows)
    assert (facts.reading.null, facts.columns[2].least) == (("99.00",), None)


def test_columns_of_text_are_not_mixed():
    rows = "".join(
        f"EXR.D.USD,D,USD,EUR,SP00,2024-01-0{n},1.0{n},A,US dollar/Euro\n" for n in range(1, 9)
    )
    facts = look("KEY,FREQ,CURRENCY,DENOM,TYPE,TIME_PERIOD,OBS_VALUE,STATUS,TITLE\n" + rows)
    assert facts.doubts == []


def test_what_separates_cells_is_no_decimal_sign():
    facts = look('date,x\n2024-01-01,"1,234"\n2024-01-02,"2,345"\n')
    assert (facts.dialect.decimal, facts.dialect.thousands) == (".", ",")
    facts = look('date,x\n2024-01-01,"1,5"\n2024-01-02,"2,25"\n')
    assert facts.dialect.decimal == "."
    assert "2 cells have ',' as decimal sign" in facts.doubts[0]
