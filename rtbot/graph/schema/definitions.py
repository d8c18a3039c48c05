"""Parts of a schema that are used in several places, each written once."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


class Definitions:
    """The `definitions` of a schema: `schemas` by name."""

    def __init__(self) -> None:
        self.schemas: dict[str, Schema] = {}

    def refer(self, name: str, schema: Schema) -> Schema:
        """Return a reference to a schema, which is kept under the name, or one like it."""
        key, number = name, 1
        while self.schemas.setdefault(key, schema) != schema:
            number += 1
            key = f"{name}-{number}"
        return {"$ref": f"#/definitions/{key}"}
