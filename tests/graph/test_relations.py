"""Change operators in graph files: schemas, unique keys, typed expressions, and what is refused."""

import pytest

from rtbot.core.errors import GraphError
from rtbot.graph.check import check
from rtbot.graph.document import load_document
from rtbot.operators.row_joins import name_right_fields

INPUTS = """
inputs:
  orders: {changes: {id: integer, region: text, amount: number?}, unique: [id]}
  more: {changes: {id: integer, region: text, amount: number}}
  turned: {changes: {region: text, id: integer, amount: number}}
  price: number
params: {limit: 10, where: 'EU'}
operators:
  made: {type: ToChanges, in: price, mode: latest}
"""


def read(operator):
    text = f"{INPUTS}  op: {operator}\noutputs: [op, orders, more, turned, made]\n"
    return check(load_document(text)).nodes["op"]


@pytest.mark.parametrize(
    ("operator", "fields", "unique"),
    [
        (
            "{type: Where, in: orders, condition: amount > $limit or region == $where}",
            "id: integer, region: text, amount: number?",
            (("id",),),
        ),
        (
            "{type: Select, in: orders, fields: {key: id, twice: 2 * amount, n: length(region)}}",
            "key: integer, twice: number?, n: integer",
            (("key",),),
        ),
        ("{type: Select, in: orders, fields: {n: id + 1}}", "n: integer", ()),
        (
            "{type: Union, in: [more, orders], all: true}",
            "id: integer, region: text, amount: number?",
            (),
        ),
        (
            "{type: Union, in: [more, more]}",
            "id: integer, region: text, amount: number",
            (("id", "region", "amount"),),
        ),
        (
            "{type: Except, in: [orders, more], all: true}",
            "id: integer, region: text, amount: number?",
            (("id",),),
        ),
        (
            "{type: GroupBy, in: orders, by: region, compute: {s: sum(amount), d: stddev(id)}}",
            "region: text, s: number?, d: number?",
            (("region",),),
        ),
        (
            "{type: GroupBy, in: orders, by: region, compute: {n: count(), top: max(id)}}",
            "region: text, n: integer, top: integer",
            (("region",),),
        ),
        ("{type: GroupBy, in: orders, by: [], compute: {top: max(id)}}", "top: integer?", ((),)),
        ("{type: GroupBy, in: orders, by: region}", "region: text", (("region",),)),
        ("{type: Distinct, in: made}", "value: number", ((),)),
        ("{type: ToChanges, in: price, mode: append, field: p}", "p: number", ()),
        (
            "{type: JoinRows, in: [orders, more], on: [id]}",
            (
                "id: integer, region: text, amount: number?, "
                "id_2: integer, region_2: text, amount_2: number"
            ),
            (),
        ),
        (
            "{type: JoinRows, in: [more, orders], on: [id], how: left, condition: amount > 1}",
            (
                "id: integer, region: text, amount: number, "
                "id_2: integer?, region_2: text?, amount_2: number?"
            ),
            (),
        ),
        (
            "{type: JoinRows, in: [orders, orders], on: [id], how: full, null_safe: [id]}",
            (
                "id: integer?, region: text?, amount: number?, "
                "id_2: integer?, region_2: text?, amount_2: number?"
            ),
            (("id", "id_2"),),
        ),
        (
            "{type: JoinRows, in: [orders, more], on: {region: region}, how: semi}",
            "id: integer, region: text, amount: number?",
            (("id",),),
        ),
        (
            "{type: NotIn, in: [orders, more], on: {id: id}, by: [region]}",
            "id: integer, region: text, amount: number?",
            (("id",),),
        ),
        (
            "{type: JoinRows, in: [made, made], how: cross}",
            "value: number, value_2: number",
            ((),),
        ),
    ],
)  # fmt: skip
def test_schema(operator, fields, unique):
    schema = read(operator).types["o1"].schema
    assert (str(schema), schema.unique) == (f"{{{fields}}}", unique)


def test_to_series_gives_a_nullable_field():
    assert str(read("{type: ToSeries, in: orders, field: region}").types["o1"]) == "text?"


def test_values_and_formulas():
    node = read(
        "{type: GroupBy, in: orders, by: [region], compute: {n: count(), m: count(distinct id)}}"
    )
    assert node.values == {
        "by": ("region",),
        "compute": (("n", "count", False), ("m", "count", True)),
    }
    assert list(node.formulas) == ["compute.m"]
    node = read("{type: Select, in: orders, fields: {b: 1, a: id}}")
    assert node.values["fields"] == ("b", "a")
    assert list(node.formulas) == ["fields.b", "fields.a"]
    node = read("{type: Where, in: orders, condition: id > $limit}")
    assert node.values == {"condition": "id > $limit"}
    assert node.formulas["condition"].args[1].value == 10


@pytest.mark.parametrize(
    ("operator", "code", "column", "part"),
    [
        ("{type: Where, in: orders, condition: amont > 1}", "RT120", 44, "'amount'"),
        ("{type: Where, in: orders, condition: amount}", "RT133", 44, "compare it"),
        ("{type: Where, in: orders, condition: id > $limt}", "RT114", 49, "limit"),
        ("{type: Where, in: orders}", "RT111", 3, "condition"),
        ("{type: Where, in: price, condition: true}", "RT125", 25, "ToChanges"),
        ("{type: Select, in: orders, fields: [id]}", "RT105", 42, "{name: a + b}"),
        ("{type: Select, in: orders, fields: {}}", "RT105", 42, "names no field"),
        ("{type: Select, in: orders, fields: {_t: id}}", "RT107", 43, "not a valid name"),
        ("{type: Union, in: [orders, turned]}", "RT125", 3, "in order by Select"),
        ("{type: Union, in: [orders, made]}", "RT125", 3, "same fields"),
        ("{type: GroupBy, in: orders, by: [regon], compute: {n: count()}}", "RT120", 40, "region"),
        ("{type: GroupBy, in: orders, by: [id, id], compute: {n: count()}}", "RT106", 44, "twice"),
        ("{type: GroupBy, in: orders, by: [id], compute: {id: count()}}", "RT106", 59, "`by`"),
        ("{type: GroupBy, in: orders, by: [id], compute: {n: mean(id)}}", "RT131", 58, "avg"),
        ("{type: ToSeries, in: orders, field: regon}", "RT120", 43, "'region'"),
        ("{type: ToChanges, in: price, mode: last}", "RT112", 42, "latest"),
        ("{type: ToChanges, in: orders, mode: latest}", "RT125", 29, "changes of rows"),
        ("{type: JoinRows, in: [orders, more]}", "RT116", 3, "how: cross"),
        ("{type: JoinRows, in: [orders, more], on: [id], how: cross}", "RT116", 3, "how: inner"),
        ("{type: JoinRows, in: [orders, more], on: [id], how: outer}", "RT112", 59, "mean 'full'"),
        ("{type: JoinRows, in: [orders, made], on: {id: valu}}", "RT120", 53, "'value'"),
        ("{type: JoinRows, in: [orders, made], on: {idd: value}}", "RT120", 49, "'id'"),
        ("{type: JoinRows, in: [orders, made], on: {id: value}}", "RT125", 3, "as integer)"),
        (
            "{type: JoinRows, in: [orders, more], on: [id], null_safe: [region]}",
            "RT116", 3, "no left field of `on`",
        ),
        (
            "{type: JoinRows, in: [orders, more], on: [id], condition: id_3 > 1}",
            "RT120", 65, "'id_2'",
        ),
        ("{type: JoinRows, in: [orders, more], on: [id, id]}", "RT106", 53, "twice"),
        ("{type: JoinRows, in: [orders], on: [id]}", "RT123", 24, "op.i2"),
        ("{type: NotIn, in: [orders, more], on: [id, region]}", "RT112", 45, "more than 1"),
        ("{type: NotIn, in: [orders, more], on: []}", "RT112", 45, "no field"),
        ("{type: NotIn, in: [orders, more]}", "RT111", 3, "needs the parameter on"),
    ],
)  # fmt: skip
def test_refusal(operator, code, column, part):
    with pytest.raises(GraphError) as caught:
        read(operator)
    (problem,) = caught.value.problems
    assert (problem.code, problem.mark.line, problem.mark.column) == (code, 10, column)
    assert part in f"{problem.message} {problem.hint}"


def test_a_condition_is_no_key_of_a_join():
    with pytest.raises(GraphError) as caught:
        read("{type: JoinRows, in: [orders, more], on: orders.id = more.id}")
    assert all("on: [name], or {left: right}" in p.hint for p in caught.value.problems)


DERIVED = """
inputs:
  orders: {changes: {id: integer, cust: integer, lane: integer?}, unique: [id]}
  customers: {changes: {cust: integer, region: text}, unique: [cust]}
  lanes: {changes: {lane: integer?}, unique: [lane]}
  visits: {changes: {cust: integer}}
operators:
  op: OPERATOR
outputs: [op, orders, customers, lanes, visits]
"""


@pytest.mark.parametrize(
    ("operator", "unique"),
    [
        ("in: [orders, customers], on: [cust]", (("id",),)),
        ("in: [orders, customers], on: [cust], how: left", (("id",),)),
        ("in: [orders, customers], on: [cust], how: right", (("id", "cust_2"),)),
        ("in: [orders, customers], on: [cust], how: full", (("id", "cust_2"),)),
        ("in: [customers, orders], on: [cust]", (("id",),)),
        ("in: [customers, orders], on: [cust], how: right", (("id",),)),
        ("in: [customers, orders], on: [cust], how: left", (("cust", "id"),)),
        ("in: [orders, lanes], on: [lane], null_safe: [lane]", (("id",),)),
        ("in: [customers, customers], on: [cust]", (("cust",), ("cust_2",))),
        ("in: [customers, customers], on: [region]", (("cust", "cust_2"),)),
        ("in: [orders, visits], on: [cust]", ()),
        ("in: [orders, customers], how: cross", (("id", "cust_2"),)),
        ("in: [visits, orders], on: [cust], how: anti", ()),
    ],
)
def test_unique_keys_of_joins(operator, unique):
    text = DERIVED.replace("OPERATOR", f"{{type: JoinRows, {operator}}}")
    assert check(load_document(text)).nodes["op"].types["o1"].schema.unique == unique


def test_names_of_right_fields_are_new():
    assert name_right_fields(["a", "b"], ["c"]) == ["c"]
    assert name_right_fields(["a", "a_2"], ["a", "b"]) == ["a_3", "b"]
    assert name_right_fields(["a"], ["a", "a_2"]) == ["a_3", "a_2"]
    assert name_right_fields(["a", "b"], ["a", "b", "a_2"]) == ["a_3", "b_2", "a_2"]


@pytest.mark.parametrize(
    "operator",
    [
        "{type: Select, in: r, fields: {x: a * $p}}",
        "{type: GroupBy, in: r, by: [], compute: {x: sum(a * $p)}}",
        "{type: Where, in: r, condition: a > $p}",
    ],
)
def test_expressions_of_parameters_that_cannot_be_read_are_not_reported_again(operator):
    text = "params: {p: {kind: integer}}\ninputs: {r: {changes: {a: integer}}}\n"
    with pytest.raises(GraphError) as caught:
        check(load_document(f"{text}operators: {{s: {operator}}}\noutputs: [s]\n"))
    assert [problem.code for problem in caught.value.problems] == ["RT104"]
