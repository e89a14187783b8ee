"""The short way to a request, for tools that put whole values in their places (section 5, step 5).

``planning`` says what a request is. Most tools need little of it: no env value, no secret, no
form, no reference in the middle of a text. Of theirs all that no argument changes is worked out
once, the digest's text included. Whatever is unusual in a call (a value that is missing, a list
in a query, a URL that is too long) has no straight request: it goes the long way, which knows the
words for it. ``tests/calls/test_straight.py`` holds that both make the same request.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias, final

from msgspec import Struct

from remit.calls.encoding import encoded, encoded_name, encoded_scalar, scalar_text
from remit.calls.expansion import segment_fault
from remit.calls.lookup import MISSING, Found, find
from remit.calls.planning import FrozenRequest, Shown, base_of, reachable
from remit.calls.room import MAX_BODY_BYTES, UNMEASURED
from remit.catalog.model import BodyArray, BodyConstant, BodyObject
from remit.documents.canonical import canonical_decoded, canonical_json
from remit.values.urls import MAX_URL_BYTES

if TYPE_CHECKING:
    from remit.calls.arguments import Arguments
    from remit.catalog.model import BodyNode, Definition, RequestTemplate, Tool
    from remit.catalog.references import Reference, Text
    from remit.values.json import JsonObject, JsonValue
    from remit.values.urls import Origin


class _Value(Struct, frozen=True):
    """The place of a whole value.

    Attributes:
        name: the argument, where it is taken as it is; else ``path`` leads to it.
        needed: whether the call fails where it is missing, and a null in a query with it.
    """

    name: str | None
    path: tuple[str, ...]
    needed: bool


class _Object(Struct, frozen=True):
    items: tuple[tuple[str, _Node], ...]


class _List(Struct, frozen=True):
    items: tuple[_Node, ...]


_Node: TypeAlias = "_Value | _Object | _List | BodyConstant"


class _LongWay(Exception):
    """This call, or this tool, has no straight request."""


@final
class Straight:
    """Makes the requests of one tool whose template allows it.

    Args:
        tool: what ``compiled`` let through.
        definition: of its app.
        version: of the definition.

    Raises:
        _LongWay: its template does not allow it.
    """

    def __init__(self, tool: Tool, definition: Definition, version: int) -> None:
        template = _template(tool)
        self._tool, self._version = tool, version
        self._app = definition.id
        self._method = template.method.value
        self._origin, base_path = base_of(tool, definition)
        self._url, self._mark = _location(template, self._origin, base_path)
        self._query = _query(template)
        self._headers = tuple([(name, _literal(text)) for name, text in template.headers])
        # Shared by all requests, and changed by nobody.
        self._shown_headers = dict(self._headers)
        self._body = None if template.body is None else _node(template.body)
        if _count(self._body) > UNMEASURED:
            raise _LongWay
        # RFC 8785 has the keys in this order: app, body, headers, method, tool, url, version.
        self._before_body = b'{"app":%b,"body":' % canonical_json(self._app)
        self._before_url = b',"headers":%b,"method":%b,"tool":%b,"url":' % (
            canonical_json(self._shown_headers),
            canonical_json(self._method),
            canonical_json(tool.name),
        )
        self._after_url = b',"version":%b}' % canonical_json(version)

    def request(self, arguments: Arguments) -> FrozenRequest | None:
        """The frozen request of a call, or None where only the long way can tell.

        Args:
            arguments: settled.
        """
        named = reachable(self._tool, arguments)
        try:
            url = self._filled_url(named)
            body = MISSING if self._body is None else _filled(self._body, named)
        except _LongWay:
            return None
        shown_body = None if body is MISSING else body
        canonical = b"".join(
            (
                self._before_body,
                canonical_decoded(shown_body),
                self._before_url,
                canonical_decoded(url),
                self._after_url,
            )
        )
        if len(url) > MAX_URL_BYTES or len(canonical) > MAX_BODY_BYTES:
            return None
        return FrozenRequest(
            app=self._app,
            version=self._version,
            tool=self._tool.name,
            method=self._method,
            origin=self._origin,
            url=url,
            headers=self._headers,
            has_body=body is not MISSING,
            body=body,
            form=False,
            shown=Shown(url=url, headers=self._shown_headers, body=shown_body),
            digest=sha256(canonical).hexdigest(),
        )

    def _filled_url(self, named: JsonObject) -> str:
        parts = [
            part if isinstance(part, str) else _segment(_found(part, named)) for part in self._url
        ]
        mark = self._mark
        for name, place in self._query:
            if isinstance(place, str):
                parts += (mark, name, place)
            else:
                value = _found(place, named)
                if value is MISSING or value is None:
                    if place.needed:
                        raise _LongWay
                    continue
                parts += (mark, name, _component(value))
            mark = "&"
        return "".join(parts)


def compiled(tool: Tool, definition: Definition, version: int) -> Straight | None:
    """What makes the straight requests of a tool; None where there are none."""
    if tool.polling is not None or tool.parameters.secrets is not None:
        return None
    try:
        return Straight(tool, definition, version)
    except _LongWay:
        return None


@final
class Straights:
    """The straight ways of the tools of one version of an app, each found at its first call.

    Args:
        definition: of that version.
        version: its number; 0 without a server.
    """

    def __init__(self, definition: Definition, version: int) -> None:
        self.definition = definition
        self.version = version
        self._known: dict[str, tuple[Tool, Straight | None]] = {}

    def request(self, tool: Tool, arguments: Arguments) -> FrozenRequest | None:
        """The frozen request of a call, or None where only the long way can tell.

        Args:
            tool: of the version; another one under the same name takes its place.
            arguments: settled. An undeclared pin may be the secret of another tool, so that
                these always go the long way.
        """
        if arguments.undeclared_pins:
            return None
        known = self._known.get(tool.name)
        if known is None or known[0] is not tool:
            known = (tool, compiled(tool, self.definition, self.version))
            self._known[tool.name] = known
        straight = known[1]
        return None if straight is None else straight.request(arguments)


# --- at the first call of a tool ------------------------------------------------------------


def _template(tool: Tool) -> RequestTemplate:
    template = tool.request
    if template is None or template.env_names or template.body_format == "form":
        raise _LongWay
    return template


def _literal(text: Text) -> str:
    if text.literal is None:
        raise _LongWay
    return text.literal


def _value(reference: Reference) -> _Value:
    if reference.root not in ("args", "input"):
        raise _LongWay
    path = reference.path
    name = path[0] if len(path) == 1 else None
    # What ``${input}`` as a whole is depends on more than the names.
    if not path:
        raise _LongWay
    return _Value(name, path, reference.root == "input")


def _location(
    template: RequestTemplate, origin: Origin, base_path: str
) -> tuple[tuple[str | _Value, ...], str]:
    """The URL up to the query parameters, neighbouring texts joined, and the mark before those."""
    parts: list[str | _Value] = [f"{origin}{base_path}"]

    def put(text: str) -> None:
        if isinstance(parts[-1], str):
            parts[-1] += text
        else:
            parts.append(text)

    for segment in template.location.segments:
        put("/")
        if segment.whole is None:
            put(_literal(segment))
        else:
            parts.append(_value(segment.whole))
    if template.location.query is None:
        return tuple(parts), "?"
    put(f"?{_literal(template.location.query)}")
    return tuple(parts), "&"


def _query(template: RequestTemplate) -> tuple[tuple[str, str | _Value], ...]:
    """Each ``name=`` with its encoded text or the place of its value."""
    return tuple(
        (
            f"{encoded_name(parameter.name)}=",
            encoded(_literal(parameter.value))
            if parameter.value.whole is None
            else _value(parameter.value.whole),
        )
        for parameter in template.query
    )


def _node(node: BodyNode) -> _Node:
    if isinstance(node, BodyConstant):
        # One that has no digest says so the long way.
        canonical_json(node.value)
        return node
    if isinstance(node, BodyObject):
        return _Object(tuple([(key, _node(item)) for key, item in node.items]))
    if isinstance(node, BodyArray):
        return _List(tuple(map(_node, node.items)))
    return BodyConstant(_literal(node)) if node.whole is None else _value(node.whole)


def _count(node: _Node | None) -> int:
    """How many values go into a body: where they are many they are measured (``room``)."""
    if isinstance(node, _Object):
        return sum(_count(item) for _, item in node.items)
    if isinstance(node, _List):
        return sum(map(_count, node.items))
    return int(isinstance(node, _Value))


# --- at each call -----------------------------------------------------------------------------


def _found(place: _Value, named: JsonObject) -> Found:
    """The value of a place, or ``MISSING``."""
    name = place.name
    return find(named, place.path) if name is None else named.get(name, MISSING)


def _segment(value: Found) -> str:
    """One finished segment of the path."""
    # What is no bool: as JSON writes it, which needs no encoding.
    if value.__class__ is int:
        return str(value)
    text = None if value is MISSING else scalar_text(value)
    # No control character is printable.
    if text is None or not text.isprintable():
        raise _LongWay
    found = encoded(text)
    if segment_fault(found) is not None:
        raise _LongWay
    return found


def _component(value: JsonValue) -> str:
    """One value in a query."""
    if value.__class__ is int:
        return str(value)
    text = encoded_scalar(value)
    if text is None:
        raise _LongWay
    return text


def _filled(node: _Node, named: JsonObject) -> Found:
    if isinstance(node, _Value):
        value = _found(node, named)
        if value is MISSING and node.needed:
            raise _LongWay
        return value
    if isinstance(node, BodyConstant):
        return node.value
    if isinstance(node, _List):
        values = [_filled(item, named) for item in node.items]
        return [value for value in values if value is not MISSING]
    members: JsonObject = {}
    for key, item in node.items:
        value = _filled(item, named)
        if value is not MISSING:
            members[key] = value
    return members
