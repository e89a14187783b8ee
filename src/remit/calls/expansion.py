"""Putting values into an author's text, in one pass, encoded for the place (contract section 4).

A value is never expanded again, whatever it contains. Env values are not in a frozen request:
their references stay, as ``EnvText``, and are filled at the send.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias, cast
from urllib.parse import unquote

from msgspec import Struct, field

from remit.calls.encoding import encoded, encoded_name, encoded_scalar, scalar_text
from remit.calls.lookup import MISSING, Found, find
from remit.calls.room import MAX_BODY_BYTES, Room
from remit.catalog.headers import MAX_HEADER_BYTES, value_is_sendable
from remit.catalog.model import BodyArray, BodyConstant, BodyObject
from remit.errors import InvalidArguments, MissingReference

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from remit.catalog.model import BodyNode, QueryParameter, QueryStyle
    from remit.catalog.references import Reference, Text
    from remit.values.json import JsonObject, JsonValue

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SEPARATORS = {"comma": ",", "space": "%20", "pipe": "%7C"}


class EnvText(Struct, frozen=True):
    """A text that holds env references: filled at the send, shown as written before.

    Attributes:
        parts: literal text and references with the root ``env``, in order.
    """

    parts: tuple[str | Reference, ...]

    @property
    def shown(self) -> str:
        """The text with its references as the author wrote them.

        Literal text that looks like a reference is written ``$${…}``, as an author would have
        to: else a value could pass for an env value, and two requests could show the same.
        """
        return "".join(
            part.replace("${", "$${") if isinstance(part, str) else part.written
            for part in self.parts
        )


Frozen: TypeAlias = "str | EnvText"


class Scope(Struct, frozen=True, kw_only=True):
    """The values that references may read in one request.

    Attributes:
        tool: name of the tool, for messages.
        input: what ``${input}`` is: the declared arguments.
        named: what a reference reaches by name: the declared arguments and undeclared pins.
        response: the first answer's body, for ``statusUrl``.
        preview: the mapped result of the preview, for ``confirm``.
        env_names: the env values there are.
        declared: names of the tool's parameters, for messages; None where they are not known.
        room: what may still be inserted; a scope serves one request.
    """

    tool: str
    input: JsonObject
    named: JsonObject
    response: Found = MISSING
    preview: Found = MISSING
    env_names: Container[str] = ()
    declared: Container[str] | None = None
    room: Room = field(default_factory=Room)

    def find(self, reference: Reference) -> Found:
        """The value of a reference, or ``MISSING``."""
        path = reference.path
        if reference.root == "response":
            return MISSING if self.response is MISSING else find(self.response, path)
        if reference.root == "preview":
            return MISSING if self.preview is MISSING else find(self.preview, path)
        if len(path) == 1:
            return self.named.get(path[0], MISSING)
        return find(self.named, path) if path else self.input

    def env(self, reference: Reference) -> Reference:
        """The env reference itself, once it is known that its value is there."""
        if reference.path[0] not in self.env_names:
            raise self.missing(reference)
        return reference

    def missing(self, reference: Reference) -> MissingReference:
        """The error for a reference to nothing."""
        mend = "Give it a value and call again."
        if reference.root == "args" and self.declared is not None:
            if reference.path[0] not in self.declared:
                mend = (
                    f'The tool has no parameter "{reference.path[0]}": only a pin of that name '
                    "can fill it."
                )
        elif reference.root == "env":
            mend = "Set it for the app, or give it with --env."
        return MissingReference(
            f"{self.tool} was not called: {reference.written} refers to nothing: "
            f"{reference.dotted} is not there. {mend}",
            details={"reference": reference.dotted},
        )

    def in_url(self, reference: Reference, text: str) -> str:
        """A text that goes into the URL, where there is room for it."""
        if not self.room.for_url(len(text)):
            raise self.misfit(reference, "makes the URL longer than 8 KiB", "url_length")
        return text

    def in_body(self, reference: Reference, text: str) -> str:
        """A text that goes into the body or a header, where there is room for it."""
        if not self.room.for_body(len(text)):
            raise self.too_large(reference)
        return text

    def too_large(self, reference: Reference) -> InvalidArguments:
        """The error for a value that makes a request too large."""
        return self.misfit(
            reference, f"makes the request longer than {MAX_BODY_BYTES:,} bytes", "body_size"
        )

    def misfit(self, reference: Reference, why: str, rule: str) -> InvalidArguments:
        """The error for a value that cannot stand where the request needs it."""
        pointer = "/" + "/".join(reference.path)
        return InvalidArguments(
            f"{self.tool} was not called: {reference.dotted} {why}.",
            details={"faults": [{"pointer": pointer, "rule": rule, "message": why}]},
        )


def _inserted(scope: Scope, reference: Reference, where: str) -> str:
    """The text of a value inside a longer string."""
    value = scope.find(reference)
    if value is MISSING or (value is None and reference.root == "input" and where != "a text"):
        raise scope.missing(reference)
    text = scalar_text(value)
    if text is None:
        what = "null" if value is None else "an object" if isinstance(value, dict) else "a list"
        raise scope.misfit(reference, f"is {what}, which cannot stand in {where}", "scalar")
    return text


def path_segment(scope: Scope, text: Text) -> Frozen:
    """One finished segment of a URL path, percent-encoded.

    Raises:
        MissingReference: a reference to nothing.
        InvalidArguments: no scalar, a control character, or a segment that would be empty,
            ``.`` or ``..``.
    """
    literal = text.literal
    if literal is not None:
        return literal

    def insert(reference: Reference) -> str:
        value = _inserted(scope, reference, "a path")
        if _CONTROL.search(value):
            raise scope.misfit(reference, "holds a control character", "path_segment")
        return scope.in_url(reference, encoded(value))

    whole = text.whole
    if whole is not None and whole.root != "env":
        segment: Frozen = insert(whole)
    else:
        segment = _filled(scope, text, insert)
    if isinstance(segment, str) and segment_fault(segment):
        raise scope.misfit(
            text.references[0],
            f"would make a part of the path {segment_fault(segment)}, which leads elsewhere",
            "path_segment",
        )
    return segment


def segment_fault(segment: str) -> str | None:
    """Why a finished, encoded path segment may not be sent, or None."""
    if not segment:
        return "empty"
    if "." not in segment and "%" not in segment:
        return None
    found = unquote(segment)
    return f'"{found}"' if found in (".", "..") else None


def query_text(scope: Scope, text: Text, *, literal: bool = False) -> Frozen:
    """A query string with its values, percent-encoded.

    Args:
        scope: where the values are.
        text: a location's own query string, encoded already; or the value of one parameter.
        literal: whether the author's own text is data that has to be encoded, too.

    Raises:
        MissingReference: a reference to nothing.
        InvalidArguments: no scalar.
    """
    return _filled(
        scope,
        text,
        lambda reference: scope.in_url(reference, encoded(_inserted(scope, reference, "a query"))),
        own=encoded if literal else None,
    )


def query_pairs(scope: Scope, parameter: QueryParameter) -> list[tuple[str, Frozen]]:
    """What one query parameter adds: encoded name and value pairs, perhaps none."""
    name = encoded_name(parameter.name)
    whole = parameter.value.whole
    if whole is None or whole.root == "env":
        return [(name, query_text(scope, parameter.value, literal=True))]
    value = scope.find(whole)
    if value is MISSING or value is None:
        if whole.root == "input":
            raise scope.missing(whole)
        return []
    if isinstance(value, list):
        return _array_pairs(scope, whole, name, value, parameter.style)
    if isinstance(value, dict):
        return _object_pairs(scope, whole, name, value, parameter.style)
    return [(name, scope.in_url(whole, encoded_scalar(value) or ""))]


def _array_pairs(
    scope: Scope, whole: Reference, name: str, value: list[JsonValue], style: QueryStyle
) -> list[tuple[str, Frozen]]:
    if style == "brackets":
        return _bounded(scope, whole, _bracketed(name, value))
    if style == "deepObject":
        raise scope.misfit(whole, "is a list; the style deepObject takes an object", "query_style")
    texts: list[str] = []
    for item in value:
        if item is None:
            continue
        text = scalar_text(item)
        if text is None:
            raise scope.misfit(
                whole, "holds an object or a list, which a query cannot carry", "scalar"
            )
        texts.append(encoded(text))
    if style == "repeat":
        return _bounded(scope, whole, ((name, text) for text in texts))
    return _bounded(scope, whole, ((name, _SEPARATORS[style].join(texts)),) if texts else ())


def _object_pairs(
    scope: Scope, whole: Reference, name: str, value: JsonObject, style: QueryStyle
) -> list[tuple[str, Frozen]]:
    if style not in ("brackets", "deepObject"):
        raise scope.misfit(
            whole, f"is an object, which the query style {style} cannot carry", "query_style"
        )
    return _bounded(scope, whole, _bracketed(name, value))


def _bounded(
    scope: Scope, whole: Reference, pairs: Iterable[tuple[str, str]]
) -> list[tuple[str, Frozen]]:
    """The pairs, as long as they fit into a URL: names grow with the depth, and add up."""
    found: list[tuple[str, Frozen]] = []
    for name, value in pairs:
        # With "=", and "?" or "&".
        if not scope.room.for_url(len(name) + len(value) + 2):
            raise scope.misfit(whole, "makes the URL longer than 8 KiB", "url_length")
        found.append((name, value))
    return found


def _bracketed(name: str, value: JsonValue) -> Iterator[tuple[str, str]]:
    """``a[b]=1`` and ``a[]=1``, nested; the brackets themselves are encoded."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _bracketed(f"{name}%5B{encoded(key)}%5D", item)
    elif isinstance(value, list):
        for item in value:
            yield from _bracketed(f"{name}%5B%5D", item)
    elif value is not None:
        yield name, encoded(scalar_text(value) or "")


def header_value(scope: Scope, name: str, text: Text) -> Frozen:
    """The value of a header: visible ASCII, space and tab."""
    literal = text.literal
    if literal is not None:
        return literal

    def insert(reference: Reference) -> str:
        value = _inserted(scope, reference, f"the header {name}")
        if not value_is_sendable(value):
            why = f"holds a character that the header {name} cannot carry"
            raise scope.misfit(reference, why, "header_value")
        return scope.in_body(reference, value)

    found = _filled(scope, text, insert)
    if isinstance(found, str) and len(found) > MAX_HEADER_BYTES:
        why = f"makes the header {name} longer than 8 KiB"
        raise scope.misfit(text.references[0], why, "header_value")
    return found


def body_value(scope: Scope, node: BodyNode) -> Found:
    """A body template with its values; strings with env references become ``EnvText``.

    ``MISSING`` where the node is exactly one reference in ``{{…}}`` to nothing: its key or item
    is left out.
    """
    if isinstance(node, BodyConstant):
        return node.value
    if isinstance(node, BodyObject):
        members: JsonObject = {}
        for key, item in node.items:
            value = body_value(scope, item)
            if value is not MISSING:
                members[key] = value
        return members
    if isinstance(node, BodyArray):
        items = (body_value(scope, item) for item in node.items)
        return [value for value in items if value is not MISSING]
    return _body_text(scope, node)


def _body_text(scope: Scope, text: Text) -> Found:
    whole = text.whole
    if whole is not None and whole.root != "env":
        value = scope.find(whole)
        if value is MISSING and whole.root == "input":
            raise scope.missing(whole)
        if value is not MISSING and not scope.room.for_value(whole, value):
            raise scope.too_large(whole)
        return value

    def insert(reference: Reference) -> str:
        return scope.in_body(reference, _inserted(scope, reference, "a text"))

    return _filled(scope, text, insert)  # pyright: ignore[reportReturnType] -- EnvText is filled before it is JSON


def _filled(
    scope: Scope,
    text: Text,
    insert: Callable[[Reference], str],
    *,
    own: Callable[[str], str] | None = None,
) -> Frozen:
    """A text with its values, in one pass; env references stay until the send.

    Args:
        scope: what is known of env values.
        text: the author's.
        insert: the text of one reference, as its place needs it.
        own: what becomes of the author's own text; None leaves it as it is.
    """
    return _joined(
        [
            (part if own is None else own(part))
            if isinstance(part, str)
            else scope.env(part)
            if part.root == "env"
            else insert(part)
            for part in text.parts
        ]
    )


def _joined(parts: list[str | Reference]) -> Frozen:
    try:
        return "".join(cast("list[str]", parts))
    except TypeError:
        # One of them is an env reference.
        return EnvText(tuple(parts))
