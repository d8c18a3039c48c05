"""From the change operators of a checked graph to the plan of a region, which is plain data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rtbot import __version__
from rtbot.compiler.jit import HEADER
from rtbot.datalog.language import read_program
from rtbot.expression import Expression
from rtbot.graph.check.resolve_program import derives_from_nothing, list_relation_columns
from rtbot.graph.model import Ref
from rtbot.graph.stages import has_own_times
from rtbot.operator.declarations import Type
from rtbot.operator.relation import Relation, name_argument
from rtbot.operator.schema import Field, Schema
from rtbot.operator.step_source import StepSources
from rtbot.operators.groups import BY_ORDER
from rtbot.operators.ordered import find_frame
from rtbot.relations.group_code import list_steps, write_group_functions
from rtbot.relations.group_layout import make_computation, make_layout
from rtbot.relations.group_parts import write_ordered_group
from rtbot.relations.program_operator import make_stream_schema
from rtbot.relations.region_plan import ChangeSource, RegionNode, RegionPlan
from rtbot.relations.row_code import (
    list_row_steps,
    write_match_functions,
    write_row_functions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtbot.graph.model import CheckedGraph, Node
    from rtbot.graph.stages import RegionStage, StageSource

LATEST = "latest"


def write_region(stage: RegionStage, checked: CheckedGraph, key: Sequence[str] = ()) -> RegionPlan:
    """Return the plan of a region; `key` are the key columns of the run."""
    return RegionWriter(stage, checked, tuple(key)).write()


class RegionWriter:
    """Writes the operators of a region one after another."""

    def __init__(self, stage: RegionStage, checked: CheckedGraph, key: tuple[str, ...]) -> None:
        self.stage, self.checked, self.key = stage, checked, key
        self.streams: list[Schema] = []
        self.places: dict[Ref, int] = {}
        self.nodes: list[RegionNode] = []
        self.texts: list[str] = []
        self.steps = StepSources()

    def write(self) -> RegionPlan:
        """Return the plan."""
        sources = tuple(map(self.add_source, self.stage.sources))
        for node in self.stage.nodes:
            WRITERS[node.operator.__name__](self, node)
        outputs = {name: self.places[ref] for name, ref in self.stage.outputs.items()}
        self.guard_series()
        return RegionPlan(
            name=self.stage.name,
            sources=tuple(map(self.let_pass, self.stage.sources, sources)),
            nodes=tuple(self.nodes),
            streams=tuple(self.streams),
            outputs=outputs,
            text=self.write_text(),
            max_delta_rows=self.checked.io.max_delta_rows,
            on_bad_transaction=self.checked.io.on_bad_transaction,
        )

    def add_stream(self, ref: Ref, schema: Schema | None) -> int:
        """Return the stream of what a port gives."""
        assert schema is not None, f"{ref} has changes"
        self.places[ref] = len(self.streams)
        self.streams.append(schema)
        return self.places[ref]

    def add_schema(self, schema: Schema) -> int:
        """Return a new stream of rows of a schema."""
        self.streams.append(schema)
        return len(self.streams) - 1

    def add_source(self, source: StageSource) -> ChangeSource:
        """Return what feeds the region: an input, a ToChanges, an Expire, or a region before."""
        schema = source.type.schema
        if source.bridge is not None:
            stream = self.add_stream(Ref(source.bridge.id), schema)
            if has_own_times(source.bridge):
                return ChangeSource(source.name, stream, ttl=source.bridge.values["ttl"])
            latest = source.bridge.values["mode"] == LATEST
            key = schema.unique[0] if latest and schema is not None and schema.unique else ()
            return ChangeSource(source.name, stream, key, single=latest and not key)
        stream = self.add_stream(source.ref, schema)
        if not source.is_input:
            return ChangeSource(source.name, stream)
        io = self.checked.inputs[source.name].io or self.checked.io
        unique = schema.unique[0] if schema is not None and schema.unique else ()
        return ChangeSource(source.name, stream, unique, io.excess, io.conflicts)

    def let_pass(self, given: StageSource, source: ChangeSource) -> ChangeSource:
        """Let a source remember nothing where it need not.

        An `append` brings inserts alone. Operators that count rows find a delete too many
        themselves; but if a transaction of a stream of another region is bad here, only a bag
        knows which of its rows are missing.
        """
        readers = [node for node in self.nodes if source.stream in node.inputs]
        counted = bool(readers) and all(map(counts_rows, readers))
        is_bag = not source.unique and not source.single and source.excess == "error"
        appends = given.bridge is not None and given.bridge.values.get("mode", LATEST) != LATEST
        return replace(source, passes=is_bag and (appends or counted))

    def add_node(
        self,
        node: Node,
        skeleton: str,
        setting: dict[str, Any],
        functions: dict[str, str] | None = None,
        inputs: tuple[int, ...] | None = None,
    ) -> None:
        """Add the operator of a node, which reads its inputs if none are given."""
        read = tuple(self.places[ref] for ref in node.inputs.values())
        output = self.add_stream(Ref(node.id), node.types["o1"].schema)
        self.nodes.append(
            RegionNode(
                id=node.id,
                operator=node.operator.__name__,
                skeleton=skeleton,
                inputs=read if inputs is None else inputs,
                output=output,
                setting=setting,
                functions=functions or {},
            )
        )

    # ---- operators

    def write_set_operation(self, node: Node) -> None:
        """Union, Intersect, Except, Distinct."""
        weigh = node.operator.__name__.lower()
        self.add_node(node, "weighed", {"weigh": weigh, "all": bool(node.values.get("all"))})

    def write_group(self, node: Node) -> None:
        """Write a GroupBy, whose keys and arguments become fields of a projection before it."""
        if any(function in BY_ORDER for _, function, _ in node.values["compute"]):
            write_ordered_group(self, node)
            return
        source = self.places[next(iter(node.inputs.values()))]
        schema = self.streams[source]
        by, arguments = node.values["by"], _list_arguments(node)
        if any(tree.op != "field" for tree in arguments.values()):
            trees = {
                name: Expression(
                    "field", schema.fields[schema.place(name)].type, (), name, node.mark
                )
                for name in by
            }
            trees |= {f"compute.{name}": tree for name, tree in arguments.items()}
            source, schema = self.write_projection(node, source, trees)
            names = {name: f"compute.{name}" for name in arguments}
        else:
            names = {name: tree.value for name, tree in arguments.items()}
        compute = tuple(
            make_computation(
                *(function, schema.place(names[name]) if name in names else None, distinct),
                node.formulas.get(name_argument("compute", name, 1)),
            )
            for name, function, distinct in node.values["compute"]
        )
        setting = {"by": tuple(map(schema.place, by)), "compute": compute}
        target = node.types["o1"].schema
        assert target is not None
        loop = f"group_{len(self.nodes)}"
        text = write_group_functions(loop, make_layout(setting, schema, target))
        self.texts.append(text)
        for step in list_steps(text):
            self.steps.add(step.__name__, step)
        self.add_node(node, "grouped", setting, {"loop": loop}, (source,))

    def write_over(self, node: Node) -> None:
        """Write an OverRows; arguments that are no fields become fields of a projection before."""
        source = self.places[next(iter(node.inputs.values()))]
        given = schema = self.streams[source]
        arguments = _list_arguments(node)
        names = {name: tree.value for name, tree in arguments.items() if tree.op == "field"}
        more = {f"compute.{n}": tree for n, tree in arguments.items() if n not in names}
        if more:
            trees = {
                field.name: Expression("field", field.type, (), field.name, node.mark)
                for field in given.fields
            }
            source, schema = self.write_projection(node, source, trees | more)
            names |= {name: f"compute.{name}" for name in arguments if name not in names}
        compute = tuple(
            (function, schema.place(names[name]) if name in names else None, offset, default)
            for name, function, offset, default in node.values["compute"]
        )
        setting = {
            "by": tuple(map(schema.place, node.values["by"])),
            "order": tuple((schema.place(name), down) for name, down in node.values["order"]),
            "frame": find_frame(node.values),
            "compute": compute,
            "fields": len(given),
        }
        self.add_node(node, "over", setting, {}, (source,))

    def write_projection(
        self, node: Node, source: int, trees: dict[str, Expression]
    ) -> tuple[int, Schema]:
        """Write the projection to the fields that an operator needs; return its stream."""
        schema = Schema(tuple(Field(name, tree.type) for name, tree in trees.items()))
        stream = len(self.streams)
        self.streams.append(schema)
        self.write_rows(f"{node.id}.arguments", [*trees.values()], (source, stream))
        return stream, schema

    def write_join(self, node: Node) -> None:
        """Write a JoinRows."""
        streams = tuple(self.places[ref] for ref in node.inputs.values())
        output = self.add_stream(Ref(node.id), node.types["o1"].schema)
        values, condition = node.values, node.formulas.get("condition")
        setting, functions = None, {}
        if condition is not None:
            ports = zip(node.inputs, streams, strict=True)
            assert issubclass(node.operator, Relation)
            pair = node.operator.expression_schema({p: self.streams[s] for p, s in ports})
            code = write_match_functions(f"match_{len(self.nodes)}", condition, pair)
            self.add_text(code.text)
            setting, functions = {**code.setting, "width": pair.width}, dict(code.functions)
        self.add_joined(
            node.id,
            (*streams, output),
            values["how"],
            values["on"] or (),
            null_safe=values["null_safe"] or (),
            condition=setting,
            functions=functions,
        )

    def write_lookup(self, node: Node) -> None:
        """Write a LookupJoin."""
        left, right = (self.streams[self.places[ref]] for ref in node.inputs.values())
        on = tuple((left.place(one), right.place(other)) for one, other in node.values["on"])
        self.add_node(node, "looked up", {"how": node.values["how"], "on": on})

    def add_joined(
        self,
        name: str,
        streams: tuple[int, ...],
        how: str,
        on: Sequence[tuple[str, str]],
        **more: Any,
    ) -> int:
        """Add a join of streams (left, right, output); return its output."""
        left, right, output = streams
        schemas = self.streams[left], self.streams[right]
        setting = {
            "how": how,
            "on": tuple((schemas[0].place(one), schemas[1].place(other)) for one, other in on),
            "safe": tuple(one in more.get("null_safe", ()) for one, _ in on),
            "condition": more.get("condition"),
        }
        functions = more.get("functions", {})
        self.nodes.append(
            RegionNode(name, "JoinRows", "joined", (left, right), output, setting, functions)
        )
        return output

    def write_not_in(self, node: Node) -> None:
        """Write a NotIn as anti joins; left rows of a null have a path of their own.

        They are there if there is no right row; the others, if none is equal and none is null.
        """
        left, right = (self.places[ref] for ref in node.inputs.values())
        ((one, other),), by = node.values["on"], node.values["by"] or ()
        nulls = [
            self.streams[stream].fields[self.streams[stream].place(name)].type.nullable
            for stream, name in ((left, one), (right, other))
        ]
        output = self.add_stream(Ref(node.id), node.types["o1"].schema)

        def add_anti(part: str, pair: tuple[int, int], on: Sequence[Any], *, last: bool) -> int:
            name = node.id if last else f"{node.id}.{part}"
            target = output if last else self.copy_stream(left)
            return self.add_joined(name, (*pair, target), "anti", on)

        known = self.split_nulls(node, left, one, "known") if nulls[0] else left
        known = add_anti("equal", (known, right), (*by, (one, other)), last=not any(nulls))
        if nulls[1]:
            unknown = self.split_nulls(node, right, other, "null")
            known = add_anti("certain", (known, unknown), by, last=not nulls[0])
        if nulls[0]:
            unknown = self.split_nulls(node, left, one, "unknown")
            unknown = add_anti("alone", (unknown, right), by, last=False)
            setting = {"weigh": "union", "all": True}
            self.nodes.append(
                RegionNode(node.id, "NotIn", "weighed", (known, unknown), output, setting)
            )

    def write_program(self, node: Node) -> None:
        """Write a Datalog: what makes sets of its inputs, the program, and its relations."""
        assert node.view is not None
        sets, inputs = [], []
        for name, (port, ref) in zip(node.view.tables, node.inputs.items(), strict=True):
            given, made = self.places[ref], self.copy_stream(self.places[ref])
            setting: dict[str, Any] = {"weigh": "distinct", "all": False}
            self.nodes.append(
                RegionNode(f"{node.id}.{port}", "Distinct", "weighed", (given,), made, setting)
            )
            sets.append(made)
            inputs.append((name, list_relation_columns(self.streams[given])))
        schemas = {port: node.types[port].schema or Schema(()) for port in node.outputs}
        output = self.add_stream(Ref(node.id), make_stream_schema(map(len, schemas.values())))
        setting = {
            **{name: node.values[name] for name in ("rules", "max_facts", "max_iterations")},
            "inputs": tuple(inputs),
            "outputs": tuple(schemas),
        }
        setting["begins"] = derives_from_nothing(
            read_program(setting["rules"], node.id, inputs=dict(inputs))
        )
        self.nodes.append(RegionNode(node.id, "Datalog", "program", tuple(sets), output, setting))
        for number, (port, schema) in enumerate(schemas.items()):
            made = self.add_stream(Ref(node.id, port), schema)
            name = f"{node.id}.{port}"
            setting = {"number": number}
            self.nodes.append(RegionNode(name, "Datalog", "relation", (output,), made, setting))

    def copy_stream(self, stream: int) -> int:
        """Return a new stream of the same rows."""
        return self.add_schema(self.streams[stream])

    def split_nulls(self, node: Node, stream: int, name: str, part: str) -> int:
        """Write the rows whose field is null, or is not if they are to be `known`."""
        field = self.streams[stream].fields[self.streams[stream].place(name)]
        tree = Expression("field", field.type, (), name, node.mark)
        tree = Expression("is_null", Type("boolean"), (tree,), mark=node.mark)
        if part == "known":
            tree = Expression("not", Type("boolean"), (tree,), mark=node.mark)
        made = self.copy_stream(stream)
        self.write_rows(f"{node.id}.{part}", [tree], (stream, made), keeps=True)
        return made

    def write_top(self, node: Node) -> None:
        """Write a TopRows."""
        schema, values = self.streams[self.places[node.inputs["i1"]]], node.values
        setting = {
            "by": tuple(map(schema.place, values["by"])),
            "order": tuple((schema.place(name), down) for name, down in values["order"]),
            **{name: values[name] for name in ("k", "offset", "ties")},
            "numbered": values["number"] is not None,
        }
        self.add_node(node, "ranked", setting)

    def write_near_join(self, node: Node) -> None:
        """Write an AsOfJoin or an IntervalJoin."""
        left, right = (self.streams[self.places[ref]] for ref in node.inputs.values())
        values = node.values
        pairs = [
            (left.place(one), right.place(other))
            for one, other in (*(values["on"] or ()), *values["match"])
        ]
        rest = {name: value for name, value in values.items() if name not in ("on", "match")}
        self.add_node(node, "near", {"on": tuple(pairs[:-1]), "match": pairs[-1], **rest})

    def write_where(self, node: Node) -> None:
        """Write a Where."""
        source = self.places[next(iter(node.inputs.values()))]
        output = self.add_stream(Ref(node.id), node.types["o1"].schema)
        self.write_rows(node.id, [node.formulas["condition"]], (source, output), keeps=True)

    def write_select(self, node: Node) -> None:
        """Write a Select."""
        source = self.places[next(iter(node.inputs.values()))]
        output = self.add_stream(Ref(node.id), node.types["o1"].schema)
        trees = [node.formulas[f"fields.{name}"] for name in node.values["fields"]]
        self.write_rows(node.id, trees, (source, output))

    def write_rows(
        self, name: str, trees: list[Expression], streams: tuple[int, int], *, keeps: bool = False
    ) -> None:
        """Write the loop of a Where, which `keeps` rows, or of a Select."""
        source, output = streams
        target = None if keeps else self.streams[output]
        loop = f"rows_{len(self.nodes)}"
        code = write_row_functions(loop, trees, self.streams[source], target)
        self.add_text(code.text)
        operator = "Where" if keeps else "Select"
        setting, functions = dict(code.setting), dict(code.functions)
        self.nodes.append(
            RegionNode(name, operator, "rowwise", (source,), output, setting, functions)
        )

    def add_text(self, text: str) -> None:
        """Add loops of expressions to the generated module, and the steps that they call."""
        self.texts.append(text)
        for step in list_row_steps(text):
            self.steps.add(step.__name__, step)

    def guard_series(self) -> None:
        """Add the check that a ToSeries reads one row at a time, where that is not known."""
        for node in self.checked.nodes.values():
            ref = next(iter(node.inputs.values()))
            is_end = (
                node.types[next(iter(node.inputs))].kind == "changes" and "field" in node.values
            )
            if not is_end or ref not in self.places or node.types["o1"].kind == "changes":
                continue
            stream = self.places[ref]
            schema = self.streams[stream]
            if any(set(unique) <= set(self.key) for unique in schema.unique):
                continue
            guarded = len(self.streams)
            self.streams.append(schema)
            self.nodes.append(
                RegionNode(
                    id=node.id,
                    operator=node.operator.__name__,
                    skeleton="single",
                    inputs=(stream,),
                    output=guarded,
                    setting={"key": self.key},
                )
            )

    # ---- text

    def write_text(self) -> str:
        """Return the text of all loops of expressions."""
        head = [HEADER.format(version=__version__, name=self.checked.name), "", "import math", ""]
        functions = "\n\n".join([*self.steps.texts.values(), *self.texts])
        return "\n".join([*head, *self.steps.lines(), "", "", functions])


def counts_rows(node: RegionNode) -> bool:
    """Return whether an operator knows how often each row of an input is there."""
    if node.skeleton == "weighed":
        return not (node.setting["weigh"] == "union" and node.setting["all"])
    return node.skeleton in ("ranked", "near")


def _list_arguments(node: Node) -> dict[str, Expression]:
    """Return the arguments of the aggregates of a GroupBy, by name."""
    return {
        name: node.formulas[f"compute.{name}"]
        for name, *_ in node.values["compute"]
        if f"compute.{name}" in node.formulas
    }


WRITERS: dict[str, Callable[[RegionWriter, Node], None]] = {
    "Where": RegionWriter.write_where,
    "Select": RegionWriter.write_select,
    "Union": RegionWriter.write_set_operation,
    "Intersect": RegionWriter.write_set_operation,
    "Except": RegionWriter.write_set_operation,
    "Distinct": RegionWriter.write_set_operation,
    "GroupBy": RegionWriter.write_group,
    "OverRows": RegionWriter.write_over,
    "JoinRows": RegionWriter.write_join,
    "NotIn": RegionWriter.write_not_in,
    "LookupJoin": RegionWriter.write_lookup,
    "AsOfJoin": RegionWriter.write_near_join,
    "IntervalJoin": RegionWriter.write_near_join,
    "TopRows": RegionWriter.write_top,
    "Datalog": RegionWriter.write_program,
}
"""What writes an operator, by its type."""
