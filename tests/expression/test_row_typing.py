"""Expressions over the fields of rows: their text, their types, and what is refused, with hints."""

import pytest

from rtbot.core.errors import GraphError, Problems
from rtbot.expression.row_rules import BRANCHES_MAX, make_call
from rtbot.expression.row_syntax import parse_row_expression
from rtbot.expression.row_typing import type_aggregate, type_row_expression
from rtbot.expression.syntax import parse_expression, without_place
from rtbot.operator import Type
from rtbot.operator.schema import Field, Schema
from tests.oracles.row_expressions import evaluate

FIELDS = {
    "id": "integer",
    "end": "integer?",
    "amount": "number?",
    "flag": "boolean?",
    "region": "text",
}
SCHEMA = Schema(tuple(Field(n, Type(k.rstrip("?"), k.endswith("?"))) for n, k in FIELDS.items()))
ROW = {"id": 7, "end": None, "amount": 2.5, "flag": None, "region": "it's"}
PARAMETERS = {"limit": 3, "where": "EU"}


def read(text, typing=type_row_expression):
    problems = Problems()
    term = parse_row_expression(text, without_place)
    tree = typing(term, SCHEMA, problems, without_place, PARAMETERS)
    if tree is None:
        raise GraphError(problems.found)
    return tree


@pytest.mark.parametrize(
    ("text", "type_", "value"),
    [
        ("id + 1", "integer", 8),
        ("id + 1.5", "number", 8.5),
        ("id / 2", "number", 3.5),
        ("id // 2", "integer", 3),
        ("-7 % 3", "integer", -1),
        ("-(id) // 2", "integer", -3),
        ("id ** 2", "number", 49.0),
        ("region == 'it''s'", "boolean", True),
        ("region || '!' || region", "text", "it's!it's"),
        ("concat(region, cast(end as text), 'x')", "text", "it'sx"),
        ("end is null", "boolean", True),
        ("end is not null", "boolean", False),
        ("end is distinct from id", "boolean", True),
        ("end is not distinct from end", "boolean", True),
        ("id in (1, 7)", "boolean", True),
        ("id in (1, end)", "boolean?", None),
        ("id not in (1, 2)", "boolean", True),
        ("not id in (1, 7)", "boolean", False),
        ("flag and false", "boolean?", False),
        ("flag or true", "boolean?", True),
        ("case when flag then 1 when id > 3 then 2 else 3 end", "integer", 2),
        ("case when flag then 1 end", "integer?", None),
        ("if(flag, 1, 2)", "integer", 2),
        ("coalesce(end, id)", "integer", 7),
        ("coalesce(end, null)", "integer?", None),
        ("least(end, 3)", "integer", 3),
        ("greatest(id, 2.5)", "number", 7.0),
        ("amount::integer", "integer?", 2),
        ("cast(id as number) / 2", "number", 3.5),
        ("cast('12' as integer) + 1", "integer", 13),
        ("id::text || ''", "text", "7"),
        ("region like 'it%'", "boolean", True),
        ("region not like '_'", "boolean", True),
        ("substring(upper(region), 2, 2)", "text", "T'"),
        ("id > $limit and $where == 'EU'", "boolean", True),
        ("null::integer", "integer?", None),
        ("isnan(nan)", "boolean", True),
        ("`id` + `end`", "integer?", None),
    ],
)
def test_meaning(text, type_, value):
    tree = read(text)
    assert (str(tree.type), evaluate(tree, ROW)) == (type_, value)


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("amont > 1", "RT120", "did you mean 'amount'?"),
        ("EU == region", "RT120", "a text is written 'EU'"),
        ("region = 'x'", "RT130", "write =="),
        ("region == 'x", "RT130", "ends with '"),
        ('region == "x"', "RT130", "written 'x'"),
        ("id <> 1", "RT130", "write !="),
        ("id == null", "RT133", "write x is null"),
        ("id is 3", "RT130", "is null"),
        ("1 < id < 3", "RT130", "a < b and b < c"),
        ("id between 1 and 3", "RT130", "x >= low"),
        ("region + 'a'", "RT133", "|| joins texts"),
        ("region > 1", "RT133", "cast(x as integer)"),
        ("amount // 2", "RT133", "floor(a / b)"),
        ("not id", "RT133", "compare it"),
        ("sum(id)", "RT131", "GroupBy"),
        ("log(id)", "RT131", "ln is"),
        ("uper(region)", "RT131", "did you mean 'upper'?"),
        ("upper()", "RT132", "takes 1 argument"),
        ("id::bigint", "RT140", "write integer"),
        ("id::number2", "RT140", "did you mean 'number'?"),
        ("null", "RT133", "cast(null as integer)"),
        ("like(region, region)", "RT133", "constant"),
        ("count(distinct id)", "RT131", "GroupBy"),
        ("case when id > 1 then 2", "RT130", "write case"),
        ("case id when 1 then 2 end", "RT130", "write case"),
        ("id in ()", "RT130", "value is expected"),
        ("9223372036854775808", "RT134", "beyond 64 bits"),
        ("id > 1 AND id < 3", "RT130", "write and"),
        ("(id > 1 OR id < 3)", "RT130", "write or"),
        ("NOT id > 1", "RT130", "write not"),
        ("id IS NULL", "RT130", "write is"),
        ("id BETWEEN 1 AND 2", "RT130", "write x >= low and x <= high"),
        ("region LIKE 'x'", "RT130", "write like"),
        ("CASE WHEN flag THEN 1 END", "RT130", "small letters"),
        ("CAST(id AS TEXT)", "RT130", "write cast(x as integer)"),
        ("abs(id) id", "RT130", "an operator or a comma missing"),
    ],
)
def test_refusal(text, code, part):
    with pytest.raises(GraphError) as caught:
        read(text)
    (problem,) = caught.value.problems
    assert problem.code == code
    assert part in f"{problem.message} {problem.hint}"


def test_every_wrong_part_is_noted():
    with pytest.raises(GraphError) as caught:
        read("amont > 1 and uper(region) == 'x' or id in (foo)")
    assert [problem.code for problem in caught.value.problems] == ["RT120", "RT131", "RT120"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("count()", ("count", False)),
        ("count(end)", ("count", False, "end")),
        ("count(distinct end)", ("count", True, "end")),
        ("sum(amount)", ("sum", False, "amount")),
        ("min(distinct id)", ("min", False, "id")),
        ("median(distinct id)", ("median", True, "id")),
        ("quantile(amount, 1)", ("quantile", False, "amount", 1.0)),
        ("last(amount, id)", ("last", False, "amount", "id")),
        ("first(amount, -region)", ("first", False, "amount", None)),
        ("string_agg(region, '; ', id, -end)", ("string_agg", False, "region", "; ", "id", None)),
    ],
)
def test_aggregates(text, found):
    function, distinct, trees = read(text, type_aggregate)
    assert (function, distinct, *(tree.value for tree in trees)) == found


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("id + 1", "an aggregate is expected"),
        ("sum(id) + 1", "an aggregate is expected"),
        ("mean(id)", "write avg(x)"),
        ("abs(id)", "sum(abs(x))"),
        ("count(*)", "write count()"),
        ("sum(region)", "cast(x as number)"),
        ("sum()", "takes 1 argument"),
        ("bool_and(id)", "compare it"),
        ("quantile(id)", "takes 2 arguments, 1 given"),
        ("quantile(id, 1.5)", "a constant from 0 to 1"),
        ("quantile(id, amount)", "a constant from 0 to 1"),
        ("quantile(id, 'x')", "a constant from 0 to 1"),
        ("median(region)", "median takes numbers"),
        ("last(id)", "t being what the rows are sorted by"),
        ("string_agg(region, id, id)", "the separator is a constant text"),
        ("string_agg(id, ', ', id)", "string_agg takes texts"),
        ("percentile(id, 90)", "write quantile(x, 0.9)"),
    ],
)
def test_wrong_aggregates(text, part):
    with pytest.raises(GraphError) as caught:
        read(text, type_aggregate)
    (problem,) = caught.value.problems
    assert part in f"{problem.message} {problem.hint}"


def test_conditions_are_not_nested_without_end():
    tree = read("flag")
    for _ in range(BRANCHES_MAX):
        tree = make_call("or", [read("flag"), tree], without_place(0))
    with pytest.raises(GraphError, match="nested conditions"):
        make_call("or", [read("flag"), tree], without_place(0))


@pytest.mark.parametrize(
    "text", ["a == 'x'", "a is null", "a in (1)", "a || b", "a // b", "null + 1"]
)
def test_series_have_none_of_it(text):
    try:
        term = parse_expression(text, without_place)
    except GraphError as error:
        assert error.problems[0].hint
    else:
        assert term.args[0].value == "null"
