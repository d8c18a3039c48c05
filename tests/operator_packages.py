"""Distributions with operators, written into a folder as an installer would."""

import re
from textwrap import dedent

OPERATOR = """
from rtbot.operator import Example, In, Number, Operator, Out


class {name}(Operator):
    '''The value, {factor} times.'''

    i1 = In("number", doc="values")
    o1 = Out("number", doc="their multiples")
    formula = "{factor} * i1"
    example = Example(inputs={{"i1": [(1, 1.0)]}}, outputs={{"o1": [(1, {factor}.0)]}})
"""


def declare(name, factor=2):
    """The text of a module that declares an operator."""
    return OPERATOR.format(name=name, factor=factor)


def install(folder, distribution, module, version="1.0", **files):
    """Write a distribution whose entry point is the module; `files` are modules by name."""
    package = folder / re.split("[.:]", module)[0]
    package.mkdir(parents=True, exist_ok=True)
    for name, text in ({"__init__": '"""Operators."""\n'} | files).items():
        (package / f"{name}.py").write_text(text)
    info = folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
    )
    (info / "entry_points.txt").write_text(
        dedent(f"""\
        [rtbot.operators]
        {distribution} = {module}
        """)
    )
