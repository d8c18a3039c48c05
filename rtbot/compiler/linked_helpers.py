"""Dispatchers of helpers: functions that other compiled functions call, and Python never does.

numba optimises every function with all that it calls and makes machine code of it. What calls a
helper has the code of the helper in its own and optimises that again, so a helper of a helper would
be optimised as often as it is deep. Here only what Python calls is.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, cast

from llvmlite import ir
from numba import njit
from numba.core.cgutils import get_or_insert_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.types import unliteral, void
from numba.extending import intrinsic

if TYPE_CHECKING:
    from collections.abc import Callable

PARTS = ("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals")
"""What numba's own library is made of; another release may do it otherwise."""

IS_KNOWN = all(hasattr(JITCodeLibrary, part) for part in PARTS)


def make_helper(function: Callable[..., Any], **options: Any) -> Any:
    """Return numba's dispatcher of a helper, which has the same code for all integers.

    `prefetch` of an array and a place, which does nothing in Python, is one instruction.
    """
    if (
        function.__name__ == "prefetch"
        and function.__code__.co_code == _do_nothing.__code__.co_code
    ):
        return intrinsic(_prefetch)
    dispatcher: Any = njit(pipeline_class=_HelperCompiler if IS_KNOWN else Compiler, **options)(
        function
    )
    find, to_value = dispatcher.get_call_template, cast("Any", unliteral)

    @functools.wraps(find)
    def find_template(args: Any, named: Any) -> Any:
        return find(tuple(map(to_value, args)), {name: to_value(t) for name, t in named.items()})

    dispatcher.get_call_template = find_template
    return dispatcher


def _do_nothing(array: Any, place: Any) -> None:
    """Do nothing."""


def _prefetch(_context: Any, array: Any, place: Any) -> Any:
    """Bring a word into the caches, without waiting for it; its place need not be there."""

    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        word, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [word, number, number, number])
        function = get_or_insert_function(  # type: ignore[no-untyped-call]
            builder.module, kind, "llvm.prefetch.p0i8"
        )
        address = builder.bitcast(builder.gep(data, [args[1]]), word)
        builder.call(function, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return void(array, place), write


class _Library(JITCodeLibrary):
    """Code that is only linked into that of others."""

    @property
    def codegen(self) -> Any:
        """What would take note of the globals of a function that is run."""
        return _NoEnvironments()

    def get_pointer_to_function(self, _name: str) -> int:
        """Return 0: there is no machine code."""
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True


class _NoEnvironments:
    def set_env(self, _name: str, _environment: Any) -> None:
        """Forget it."""


class _HelperCompiler(Compiler):
    """numba's own compiler, into such a library."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function."""
        library: Any = _Library
        self.state.library = library(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)  # type: ignore[no-untyped-call]
