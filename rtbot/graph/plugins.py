"""Python files that declare operators, imported by their path."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import traceback
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import RtbotError
from rtbot.graph.check.declaration import verify_declaration
from rtbot.operator import REGISTRY

if TYPE_CHECKING:
    from types import CodeType, ModuleType


class PluginError(Exception):
    """A file that cannot be imported; the text is why, with file and line."""


class _Loader(SourceFileLoader):
    """Loader that reads the source, never bytecode of an earlier version, and writes none."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def load_plugin(path: str) -> ModuleType:
    """Import a file for the operators it declares; the same file again replaces itself.

    Raises PluginError if it cannot be imported, GraphError if a declaration is wrong.
    """
    file = Path(os.path.realpath(path))
    if not file.is_file():
        raise PluginError("there is no such Python file")
    digest = hashlib.sha256(str(file).encode()).hexdigest()[:12]
    name = f"rtbot_plugin_{digest}_{file.stem}"
    loader = _Loader(name, str(file))
    spec = importlib.util.spec_from_file_location(name, file, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    before = dict(REGISTRY)
    try:
        loader.exec_module(module)
        for cls in dict.fromkeys(REGISTRY.values()):
            if cls.__module__ == name:
                verify_declaration(cls)
    except BaseException as error:
        REGISTRY.clear()
        REGISTRY.update(before)
        if isinstance(error, RtbotError) or not isinstance(error, Exception):
            raise
        raise PluginError(_format_import_error(error, path, str(file))) from error
    return module


def _format_import_error(error: Exception, path: str, file: str) -> str:
    """Describe what went wrong, and on which line of the file."""
    frames = traceback.extract_tb(error.__traceback__)
    line: Any = next((f.lineno for f in reversed(frames) if f.filename == file), None)
    line = error.lineno if isinstance(error, SyntaxError) else line
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    place = f"{path}:{line}: " if line else ""
    return f"{place}{type(error).__name__}: {message}{explain_import_error(error)}"


def explain_import_error(error: BaseException) -> str:
    """Return what to do about an error of a class body, as the end of a message, or ""."""
    called_as_decorator = isinstance(error, TypeError) and ".step() missing" in str(error)
    return "; write close and helpers above step, whose name hides @step" * called_as_decorator
