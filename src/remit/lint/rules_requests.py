"""Rules on the request: references, and what should not be written into it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.catalog.headers import is_json_type
from remit.catalog.model import Endpoint
from remit.catalog.reading import is_object, shown
from remit.documents.problems import escaped
from remit.lint.schemas import resolve, types_of
from remit.lint.secrecy import looks_like_a_credential, named_like_a_credential
from remit.lint.subject import Finding
from remit.lint.uses import constants_of, strings_of
from remit.values.json import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.lint.subject import ToolView
    from remit.lint.uses import Use

_SLOT = re.compile(
    r"(?<![{$])\{([A-Za-z_][\w.-]*)\}(?!\})|(?:(?<=/):|(?<=/)<)([A-Za-z_]\w*)>?(?=/|$)"
)
_MUSTACHE = re.compile(r"\{\{\s*[A-Za-z_][\w.-]*\s*\}\}")
_DOLLAR = re.compile(r"(?<!\$)\$\{\s*[A-Za-z_][\w.-]*\s*\}")
_PLACES = {
    "path": "path",
    "query": "query",
    "header": "header",
    "body": "body",
    "poll": "statusUrl",
    "confirm": "confirm",
}
_MAX_COMPARISONS = 10_000


def pin_only_slot(view: ToolView) -> Iterator[Finding]:
    """A reference to no declared parameter: only a pin can fill it (contract section 4)."""
    slots = [use for use in view.uses if use.argument and use.argument not in view.declared]
    # Looking for close names costs the product of the two numbers.
    few = len(slots) * len(view.declared) <= _MAX_COMPARISONS
    for use in slots:
        argument = use.argument or ""
        near = nearest(argument, view.declared) if few else None
        written = use.reference.written
        if near is not None:
            yield Finding(
                use.at,
                f'"{written}" refers to nothing: the tool has no parameter "{argument}"',
                f'did you mean "{near}"? If only a pin should fill it, give it a name of its own',
                level="warning",
            )
        elif use.part == "path" or use.reference.root == "input":
            yield Finding(
                use.at,
                f'"{written}" refers to nothing that is declared: without a pin "{argument}" the '
                f"call fails",
                f'declare the parameter "{argument}"; a pin of that name still wins over the model',
                level="warning",
            )
        else:
            yield Finding(
                use.at,
                f'only a pin can fill "{written}": the tool has no parameter "{argument}"',
                f'declare "{argument}" if the model should choose it; else there is nothing to do',
            )


def optional_in_path(view: ToolView) -> Iterator[Finding]:
    """An argument that a path needs and the schema does not (contract section 4)."""
    for use in view.uses:
        argument = use.argument
        if use.part in ("path", "poll") and argument in view.declared - view.required:
            where = "path" if use.part == "path" else "statusUrl"
            yield Finding(
                use.at,
                f'"{argument}" is not required but used in {where}: without it the call fails',
                f'add "{argument}" to required',
            )


def optional_but_needed(view: ToolView) -> Iterator[Finding]:
    """An optional argument whose absence fails the call (contract section 4)."""
    for use in view.uses:
        argument = use.argument
        if (
            use.part not in ("query", "header", "body")
            or argument not in view.declared - view.required
        ):
            continue
        if use.reference.root == "input":
            yield Finding(
                use.at,
                f'"{argument}" is optional, but "{use.reference.written}" fails the call when it '
                f"is left out",
                f'add "{argument}" to required; in a target every reference must have a value',
            )
        elif not use.whole:
            yield Finding(
                use.at,
                f'"{argument}" is optional, but stands inside a longer text: without it the call '
                f"fails",
                f'add "{argument}" to required, or let the text be exactly {use.reference.written}',
            )


def no_such_field(view: ToolView) -> Iterator[Finding]:
    """A reference into a declared parameter that has no such part."""
    for use in view.uses:
        if use.argument in view.declared and (missing := _missing_part(view, use)):
            yield Finding(
                use.at,
                f'"{use.reference.written}" refers to nothing: {missing}',
                "correct the path, or declare the part in the schema",
            )


def _missing_part(view: ToolView, use: Use) -> str | None:
    properties = view.parameters.get("properties")
    schema = properties.get(use.reference.path[0]) if is_object(properties) else None
    label = use.reference.path[0]
    for part in use.reference.path[1:]:
        if not is_object(schema):
            return None
        schema = resolve(schema, view.parameters)
        if any(key in schema for key in ("anyOf", "oneOf", "allOf")):
            return None
        kinds = types_of(schema)
        inner = schema.get("properties")
        if kinds and not {"object", "array"}.intersection(kinds):
            return f'"{label}" is {" or ".join(kinds)}, which has no parts'
        if "array" in kinds:
            schema = schema.get("items")
        elif is_object(inner) and part in inner:
            schema = inner[part]
        elif is_object(inner) and schema.get("additionalProperties") is False:
            near = nearest(part, inner)
            return f'"{label}" has no property "{part}"' + (f'; there is "{near}"' if near else "")
        else:
            return None
        label = f"{label}.{part}"
    return None


def unused_parameter(view: ToolView) -> Iterator[Finding]:
    """A parameter that the model fills and nobody receives."""
    if view.tool is None or view.is_client:
        return
    used = {use.argument for use in view.uses}
    if any(use.reference.root == "input" and not use.reference.path for use in view.uses):
        return
    properties = view.parameters.get("properties")
    for name in properties if is_object(properties) else ():
        if name not in used:
            yield Finding(
                f"/parameters/properties/{escaped(name)}",
                f'the parameter "{name}" is sent nowhere',
                "refer to it in path, query or body, or take it out",
            )


def unfilled_brace(view: ToolView) -> Iterator[Finding]:
    """A slot in a path in the notation of another tool."""
    path = view.path.partition("://")[2] or view.path
    for found in _SLOT.finditer(path):
        name = found[1] or found[2]
        root = "args" if view.form == "endpoint" else "input"
        mend = (
            f"write {{{{args.{name}}}}}"
            if root == "args"
            else f"write ${{input.{name}}} in url, query or body"
        )
        yield Finding(view.path_at, f'"{found[0]}" in the path is sent as it stands', mend)


def not_a_reference(view: ToolView) -> Iterator[Finding]:
    """Text that looks like a reference and is none here (contract section 4)."""
    endpoint = view.form == "endpoint"
    for at, text in strings_of(view.request, f"/{view.form}"):
        if "{" not in text:
            continue
        foreign = _foreign(text, endpoint=endpoint)
        if foreign is not None:
            mend = "{{args.<parameter>}}" if endpoint else "${input.<parameter>}"
            yield Finding(
                at,
                f'"{shown(foreign)}" is no reference here: it is sent as it stands',
                f"in {'an endpoint' if endpoint else 'a target'} write {mend}",
            )


def _foreign(text: str, *, endpoint: bool) -> str | None:
    """The part of a text that is a reference only in the other notation."""
    if endpoint:
        found = _MUSTACHE.search(text)
        if found is not None and "." not in found[0]:
            return found[0]
        other = re.search(r"(?<!\$)\$\{\s*(?:input|env|args)\b[^}]*\}", text)
        return other[0] if other else None
    found = _MUSTACHE.search(text)
    return found[0] if found else None


def credential_in_header(view: ToolView) -> Iterator[Finding]:
    """A credential written into a header (seed: do not put credentials in headers)."""
    for name, value, at in _entries(view, "headers"):
        if not value.strip() or "${env." in value or "${input" in value:
            continue
        if name.lower() in ("content-type", "accept") and (is_json_type(value) or "/" in value):
            continue
        lower = name.lower()
        if lower == "authorization" and view.form == "endpoint":
            continue  # refused at load, with a mistake of its own
        if (
            named_like_a_credential(name)
            or lower == "authorization"
            or looks_like_a_credential(value)
        ):
            yield Finding(
                at,
                f'the header "{shown(name)}" looks like it carries a credential',
                _credential_mend(view),
            )


def credential_in_request(view: ToolView) -> Iterator[Finding]:
    """A credential written into a query or body."""
    query = "queryParams" if view.form == "endpoint" else "query"
    literal = [
        *_entries(view, query),
        *_url_query(view),
        *_body(view),
    ]
    for name, value, at in literal:
        if not value.strip() or "{{" in value or "${" in value:
            continue
        if (named_like_a_credential(name) and name.lower() != "auth") or looks_like_a_credential(
            value
        ):
            yield Finding(
                at,
                f'"{shown(name or "the text")}" looks like it carries a credential',
                _credential_mend(view),
            )


def _credential_mend(view: ToolView) -> str:
    if view.form == "endpoint":
        return "leave it out: Remit adds the user's own credential in the shape that auth declares"
    return "write ${env.<NAME>} and keep the value in the environment"


def _body(view: ToolView) -> Iterator[tuple[str, str, str]]:
    if view.tool is None or view.tool.request is None:
        return iter(())
    key = "bodyTemplate" if isinstance(view.tool.destination, Endpoint) else "body"
    return constants_of(view.tool.request.body, f"/{view.form}/{key}")


def _url_query(view: ToolView) -> Iterator[tuple[str, str, str]]:
    for pair in view.path.partition("?")[2].split("&"):
        name, equals, value = pair.partition("=")
        if equals:
            yield name, value, view.path_at


def _entries(view: ToolView, key: str) -> Iterator[tuple[str, str, str]]:
    """The entries of a map of the request: name, text and pointer."""
    record = view.request.get(key)
    for name, value in record.items() if is_object(record) else ():
        text = value.get("value") if is_object(value) else value
        if isinstance(text, str):
            yield name, text, f"/{view.form}/{key}/{escaped(name)}"
