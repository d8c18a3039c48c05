"""What stops a commit: a rule that fails, or a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.errors import RtbotError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.datalog.program import Rule, Value


class RuleError(RtbotError):
    """A rule stopped a commit, which is taken back whole.

    `rule` is the rule, None for the limit on facts that were inserted; `bindings` are the values of
    its variables, empty for a limit.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        hint: str = "",
        rule: Rule | None = None,
        bindings: Mapping[str, Value] | None = None,
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.rule, self.bindings = rule, dict(bindings or {})

    def __str__(self) -> str:
        place, details = "", ""
        if self.rule is not None:
            span = self.rule.span
            place = f"{span.file}:{span.line}:{span.column}"
            details = " ".join(self.rule.text.split())
        shown: list[Any] = [f"{name} = {value!r}" for name, value in self.bindings.items()]
        if shown:
            details += f" with {', '.join(shown)}"
        return self._format_message(place, details)
