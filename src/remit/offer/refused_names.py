"""Parameters whose names a provider refuses: taken out, and told of in the description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.catalog.reading import is_object
from remit.documents.canonical import compact_json
from remit.offer.dialects import MAX_TOLD
from remit.values.visible import visible

if TYPE_CHECKING:
    from remit.offer.dialects import Dialect
    from remit.offer.removals import Report
    from remit.values.json import JsonObject


def tell_of_refused_names(root: JsonObject, dialect: Dialect, report: Report) -> None:
    """Take such parameters out of a fitted root and tell of each in its description.

    Args:
        root: with ``properties``; it is changed.
        dialect: whose names count.
        report: takes note of each.
    """
    declared = root["properties"]
    if not is_object(declared):
        return
    refused = [name for name in declared if not dialect.names.fullmatch(name)]
    if not refused:
        return
    required = root.get("required")
    needed = required if isinstance(required, list) else []
    words: list[str] = []
    for name in refused:
        schema = visible(compact_json(declared.pop(name)))
        shown = schema if len(schema) <= MAX_TOLD and '"$ref"' not in schema else ""
        mark = " (required)" if name in needed else ""
        words.append(f"{visible(compact_json(name))}{mark} {shown}".rstrip())
        reason = f"{dialect.label} refuses this name; the description tells of it instead"
        report("/properties", name, reason)
    if isinstance(required, list):
        kept = [name for name in required if name not in refused]
        root |= {"required": kept}
        if not kept:
            del root["required"]
    # What they say of undeclared names would now hold for these.
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if root.pop(keyword, True) is not True:
            report("", keyword, "it would refuse the names told of instead", lost=True)
    text = "Also takes: " + "; ".join(words)
    own = root.get("description")
    root["description"] = f"{own}\n{text}" if isinstance(own, str) and own else text
