"""Query parameters: their names, values and the style of their arrays (contract section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from remit.catalog.model import QueryParameter, QueryStyle
from remit.catalog.reading import Fields, is_object, shown
from remit.values.json import nearest

if TYPE_CHECKING:
    from remit.catalog.requests import RequestReader

STYLES: tuple[QueryStyle, ...] = get_args(QueryStyle)


def read_query(reader: RequestReader, key: str) -> tuple[QueryParameter, ...]:
    """The query parameters, each ``text`` or ``{value, style}`` in an ``endpoint``."""
    record = reader.fields.object(key)
    if record is None:
        return ()
    inner = Fields(record, reader.fields.place(key), reader.fields.mistakes)
    found: list[QueryParameter] = []
    for name in record:
        value, style, at = _read_value(reader, inner, name)
        sent_name = _read_name(reader, inner, name)
        compiled = None if value is None else reader.compile(value, at, reader.roots)
        if compiled is not None and sent_name is not None:
            found.append(QueryParameter(name=sent_name, value=compiled, style=style))
    return tuple(found)


def _read_value(
    reader: RequestReader, inner: Fields, name: str
) -> tuple[str | None, QueryStyle, str]:
    record = inner.values[name]
    if not (is_object(record) and reader.notation == "args"):
        return inner.text(name), "repeat", inner.place(name)
    fields = Fields(record, inner.place(name), reader.fields.mistakes)
    fields.only(("value", "style"), "a query parameter")
    if "value" not in record:
        fields.missing("value", "a query parameter", "write {value: …, style: …}")
    style = fields.text("style") if "style" in record else "repeat"
    known: QueryStyle | None = next((each for each in STYLES if each == style), None)
    if style is not None and known is None:
        fields.wrong(
            "unknown-value",
            "style",
            f'"style" is "{shown(style)}", which is none of {", ".join(STYLES)}',
            f'did you mean "{nearest(style, STYLES) or "repeat"}"?',
        )
    return fields.text("value"), known or "repeat", fields.place("value")


def _read_name(reader: RequestReader, inner: Fields, name: str) -> str | None:
    credential = reader.around.credential_query
    if credential is not None and name.lower() == credential.lower():
        inner.wrong(
            "owned-header",
            name,
            f'"{shown(name)}" is the query parameter that carries the user\'s credential',
            "leave it out; Remit adds the credential",
        )
        return None
    return reader.literal_key(inner, name)
