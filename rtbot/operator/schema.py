"""What the rows of a change stream have: fields with types, and the unique keys that are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.operator.declarations import Type


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the rows."""

    name: str
    type: Type

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


@dataclass(frozen=True, slots=True)
class Schema:
    """The fields of the rows of a change stream, in their order.

    `unique` has every known set of fields of which no two present rows have the same values; ()
    among them means that there is at most one row. Null is equal to null there.
    """

    fields: tuple[Field, ...]
    unique: tuple[tuple[str, ...], ...] = ()

    def __str__(self) -> str:
        return "{" + ", ".join(map(str, self.fields)) + "}"

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(field.name for field in self.fields)

    @property
    def nullable(self) -> bool:
        """Whether any field may be null."""
        return any(field.type.nullable for field in self.fields)

    @property
    def width(self) -> int:
        """Words of a row: one for each field, then the masks of 63 nullable fields each."""
        return len(self.fields) + (len(self.fields) + 62) // 63 * self.nullable

    def place(self, name: str) -> int:
        """Return the place of a field; KeyError if there is none of this name."""
        for place, field in enumerate(self.fields):
            if field.name == name:
                return place
        raise KeyError(name)
