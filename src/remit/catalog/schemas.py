"""The JSON Schemas of an author's documents, for editors and other programs (contract section 13).

They stand in ``schemas/`` as a person reads them. They say the structure and no more: what the
loader of this room also asks (references, origins, names that are there twice) no schema can say.
Whatever a schema refuses, the loader refuses too; tests/catalog/test_schemas.py holds that.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, cast

from remit.documents.strict_json import parse_json

if TYPE_CHECKING:
    from remit.values.json import JsonObject

KINDS = ("definition", "catalog", "tool")
_DECLARED_BRAND = "remit"


def schema_of(kind: str, *, brand: str = "Remit") -> JsonObject:
    """The schema of one kind of document: JSON Schema 2020-12, complete in itself.

    Args:
        kind: ``definition``, ``catalog`` or ``tool``.
        brand: the brand setting; in lower case it is another word for a ``client`` target.

    Raises:
        KeyError: there is no schema of that kind.
    """
    if kind not in KINDS:
        raise KeyError(kind)
    tool = _read("tool", brand)
    if kind == "tool":
        return tool
    schema = _read(kind, brand)
    parts = {**cast("JsonObject", schema.get("$defs", {})), **cast("JsonObject", tool["$defs"])}
    return {**schema, "$defs": parts}


def _read(kind: str, brand: str) -> JsonObject:
    text = files("remit.catalog").joinpath("schemas", f"{kind}.schema.json").read_text("utf-8")
    text = text.replace(f'"client", "{_DECLARED_BRAND}"', f'"client", "{brand.lower()}"')
    return cast("JsonObject", parse_json(text, max_depth=64))
