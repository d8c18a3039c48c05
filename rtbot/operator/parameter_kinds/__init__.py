"""Kinds of parameters of operators: one class each, from which everything else is derived.

A kind says what it is in messages and pages (`describe`, `list_limits`, `format`), how it is read
in a graph file (`read`), what an editor takes (`build_schema`), its type in Python (`annotate`),
how a step gets it (`list_arguments`, `encode`), and what random values there are (`draw`). Nothing
else has a list of kinds: the checker, the schema, pages, constructors, compiled code and
`rtbot check-operators` ask the class. See "A kind of parameter of your own" in
docs/custom-operators.md.
"""
