"""Body templates: JSON whose strings may hold references, or the fields of a form (section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from remit.catalog.model import BodyArray, BodyConstant, BodyFormat, BodyNode, BodyObject
from remit.catalog.reading import Fields, is_object, kind, shown

if TYPE_CHECKING:
    from remit.catalog.references import Root, Text
    from remit.catalog.requests import RequestReader
    from remit.catalog.scales import Method
    from remit.values.json import JsonObject, JsonValue

_FORMATS: tuple[BodyFormat, ...] = get_args(BodyFormat)


def read_body(
    reader: RequestReader, key: str, method: Method | None, without: tuple[Method, ...]
) -> BodyNode | None:
    """The body template, or None where none is written."""
    if key not in reader.fields.values:
        return None
    if method is not None and method in without:
        reader.fields.wrong(
            "body-not-allowed",
            key,
            f"a {method.value} request has no body here",
            "send the values in the query, or use another method",
        )
        return None
    value = reader.fields.values[key]
    if value is None:
        reader.fields.wrong(
            "wrong-type", key, f'"{key}" is null', "leave the key out to send no body"
        )
        return None
    return compile_node(reader, value, reader.fields.place(key), reader.roots)


def compile_node(
    reader: RequestReader, value: JsonValue, at: str, roots: tuple[Root, ...]
) -> BodyNode | None:
    """Compile a JSON value whose strings may hold references."""
    if isinstance(value, str):
        text = reader.compile(value, at, roots)
        if text is not None and text.literal is not None:
            return BodyConstant(text.literal)
        return text
    if is_object(value):
        return _compile_object(reader, value, at, roots)
    if isinstance(value, list):
        nodes = [compile_node(reader, item, f"{at}/{i}", roots) for i, item in enumerate(value)]
        items = tuple(node for node in nodes if node is not None)
        if all(isinstance(node, BodyConstant) for node in items):
            return BodyConstant([n.value for n in items if isinstance(n, BodyConstant)])
        return BodyArray(items)
    return BodyConstant(value)


def _compile_object(
    reader: RequestReader, record: JsonObject, at: str, roots: tuple[Root, ...]
) -> BodyNode:
    inner = Fields(record, at, reader.fields.mistakes)
    items: list[tuple[str, BodyNode]] = []
    for name, value in record.items():
        node = compile_node(reader, value, inner.place(name), roots)
        sent_name = reader.literal_key(inner, name)
        if sent_name is not None and node is not None:
            items.append((sent_name, node))
    if all(isinstance(node, BodyConstant) for _, node in items):
        return BodyConstant({k: n.value for k, n in items if isinstance(n, BodyConstant)})
    return BodyObject(tuple(items))


def read_body_format(fields: Fields, headers: tuple[tuple[str, Text], ...]) -> BodyFormat:
    """How the body is written; a form is made of an object and brings its own Content-Type."""
    if "bodyFormat" not in fields.values:
        return "json"
    text = fields.text("bodyFormat")
    if text is not None and text not in _FORMATS:
        fields.wrong(
            "unknown-value",
            "bodyFormat",
            f'"bodyFormat" is "{shown(text)}", which is none of json, form',
            "multipart and XML bodies cannot be sent; write json or form",
        )
    if text != "form":
        return "json"
    if "bodyTemplate" not in fields.values:
        fields.wrong(
            "bad-body",
            "bodyFormat",
            "a form without bodyTemplate sends nothing",
            "write the form's fields in bodyTemplate",
        )
    elif not is_object(fields.values["bodyTemplate"]):
        fields.wrong(
            "bad-body",
            "bodyTemplate",
            f"a form is made from an object; bodyTemplate is {kind(fields.values['bodyTemplate'])}",
            "write the form's fields as keys",
        )
    if any(name.lower() == "content-type" for name, _ in headers):
        fields.wrong(
            "bad-header", "headers", "a form brings its own Content-Type", "leave the header out"
        )
    return "form"
