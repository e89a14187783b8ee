"""Strict YAML: the 1.2 core schema, composed from the C parser's event stream into JSON values.

No ready loader fits: ``NO``, dates, 2^64, duplicate keys and alias bombs each break one. Here
aliases are seen before they are followed, keys are seen before they are overwritten, and every
mistake that is not one of syntax is collected with its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import yaml

from remit.documents.problems import DocumentError, Problem, escaped, pointer, quoted
from remit.documents.text import byte_order_mark, decode
from remit.documents.yaml_events import Events, problem_at
from remit.documents.yaml_scalars import TAG, BadScalar, plain, tagged, unknown_tag

#: The most nodes that aliases may stand for in one document.
MAX_ALIAS_NODES = 10_000
#: More mistakes than a person reads at once.
MAX_PROBLEMS = 50


def parse_yaml(data: str | bytes, *, max_bytes: int = 256 * 1024, max_depth: int = 64) -> object:
    """Decode one YAML document into JSON values (YAML 1.2.2, core schema).

    Refused are what JSON has no value for (infinities, other tags, keys that are not strings),
    duplicate keys, merge keys, several documents, cycles, and aliases that stand for more than
    ``MAX_ALIAS_NODES`` nodes or ``max_bytes`` of text in all. An aliased value is one object that
    stands in several places: do not change it.

    Args:
        data: the document; text, or UTF-8 bytes.
        max_bytes: the most bytes it may have.
        max_depth: the most containers inside each other, aliases followed.

    Raises:
        DocumentError: with every mistake found, its line and its column.
    """
    text = decode(data, max_bytes=max_bytes)
    if byte_order_mark(text):
        text = text[1:]
    return _Composer(text, max_bytes, max_depth).document()


@dataclass(slots=True, kw_only=True)
class _Anchor:
    """A value that aliases may stand for.

    Attributes:
        value: the value; a container is known while it is still open.
        open: whether its end has not come yet: an alias to it is a cycle.
        nodes: nodes in it, aliases followed.
        text_size: characters in it, aliases followed.
        height: containers inside each other in it.
    """

    value: object
    open: bool
    nodes: int = 1
    text_size: int = 0
    height: int = 0


@dataclass(slots=True)
class _Frame:
    """A container whose end has not come yet.

    Attributes:
        items: its items, where it is a list; else None.
        members: its members, where it is a mapping.
        anchor: its anchor's name, if any.
        nodes: the composer's count of nodes where it began.
        text_size: the composer's count of characters where it began.
        wants_key: whether the next value is a key.
        key: the key that the next value belongs to; None where that key was refused.
        height: the tallest of its finished parts.
    """

    items: list[object] | None
    members: dict[str, object]
    anchor: str | None
    nodes: int
    text_size: int
    wants_key: bool
    key: str | None = None
    height: int = 0


@final
class _Composer:
    """One reading of one text; the first frame is a list that takes the document's value."""

    __slots__ = (
        "_alias_nodes",
        "_alias_text",
        "_anchors",
        "_events",
        "_frames",
        "_max_depth",
        "_max_text",
        "_nodes",
        "_problems",
        "_text_size",
    )

    def __init__(self, text: str, max_text: int, max_depth: int) -> None:
        self._events = Events(text)
        self._max_text = max_text
        self._max_depth = max_depth
        self._anchors: dict[str, _Anchor] = {}
        self._frames = [_Frame([], {}, None, 0, 0, wants_key=False)]
        self._problems: list[Problem] = []
        self._nodes = 0
        self._text_size = 0
        self._alias_nodes = 0
        self._alias_text = 0

    def document(self) -> object:
        try:
            self._read()
        except DocumentError as error:
            raise DocumentError([*self._problems, *error.problems]) from None
        if self._problems:
            raise DocumentError(self._problems)
        found = self._frames[0].items
        if not found:
            empty = Problem(
                pointer="", message="the document is empty", mend="write a value", line=1, column=1
            )
            raise DocumentError([empty])
        return found[0]

    # --- events ------------------------------------------------------------------------------

    def _read(self) -> None:
        get = self._events.next
        event = get()
        while event is not None:
            if isinstance(event, yaml.ScalarEvent):
                self._scalar(event)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._start(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._end(event)
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event)
            elif isinstance(event, yaml.DocumentStartEvent):
                self._document_start(event)
            event = get()

    def _document_start(self, event: yaml.DocumentStartEvent) -> None:
        if self._frames[0].items:
            raise self._fatal(event, "a second document begins here", "leave one document only")
        if event.version is not None and tuple(event.version) != (1, 2):
            self._note(
                event,
                "the document asks for a YAML version other than 1.2",
                "leave the %YAML line out; the file is read as YAML 1.2",
            )

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        text: str = event.value
        if self._events.restored:
            text = text.translate(self._events.restored)
        is_plain: bool = event.implicit[0]
        self._nodes += 1
        self._text_size += len(text)
        if is_plain and text == "<<" and self._frames[-1].wants_key:
            self._merge_key(event)
            return
        value: object = text
        if is_plain or event.tag is not None:
            try:
                value = plain(text) if event.tag is None else tagged(text, event.tag)
            except BadScalar as bad:
                # The text stands in for the value, so that the rest is read too.
                self._note(event, bad.message, bad.mend)
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchor(value=value, open=False, text_size=len(text))
        self._place(value, event, 0)

    def _start(self, event: yaml.CollectionStartEvent) -> None:
        is_list = isinstance(event, yaml.SequenceStartEvent)
        self._nodes += 1
        if event.tag not in (None, "!", TAG + ("seq" if is_list else "map")):
            bad = unknown_tag(str(event.tag))
            self._note(event, bad.message, bad.mend)
        if len(self._frames) > self._max_depth:
            raise self._too_deep(event)
        frame = _Frame(
            [] if is_list else None, {}, event.anchor, self._nodes, self._text_size, not is_list
        )
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchor(value=_value_of(frame), open=True)
        self._frames.append(frame)

    def _end(self, event: yaml.Event) -> None:
        frame = self._frames.pop()
        value, height = _value_of(frame), frame.height + 1
        anchor = self._anchors.get(frame.anchor) if frame.anchor is not None else None
        if anchor is not None and anchor.value is value:
            anchor.open = False
            anchor.nodes = self._nodes - frame.nodes + 1
            anchor.text_size = self._text_size - frame.text_size
            anchor.height = height
        self._place(value, event, height)

    def _alias(self, event: yaml.AliasEvent) -> None:
        name = str(event.anchor)
        anchor = self._anchors.get(name)
        if anchor is None:
            self._note(event, f'"*{name}" names no anchor', f'write "&{name}" before it')
            self._place("", event, 0)
            return
        if anchor.open:
            raise self._fatal(
                event, f'"*{name}" stands inside the value it names', "write the value out"
            )
        self._nodes += anchor.nodes
        self._text_size += anchor.text_size
        self._alias_nodes += anchor.nodes
        self._alias_text += anchor.text_size
        if self._alias_nodes > MAX_ALIAS_NODES or self._alias_text > self._max_text:
            raise self._fatal(
                event,
                f"aliases stand for more than {MAX_ALIAS_NODES:,} values, or for more than "
                f"{self._max_text:,} characters",
                "write the values out, or use fewer aliases",
            )
        if len(self._frames) - 1 + anchor.height > self._max_depth:
            raise self._too_deep(event)
        self._place(anchor.value, event, anchor.height)

    # --- placing a value -----------------------------------------------------------------------

    def _place(self, value: object, event: yaml.Event, height: int) -> None:
        """A finished value becomes an item, a key or a member of the open container."""
        frame = self._frames[-1]
        if height > frame.height:
            frame.height = height
        if frame.items is not None:
            frame.items.append(value)
        elif frame.wants_key:
            frame.key = self._key(value, event, frame)
            frame.wants_key = False
        else:
            if frame.key is not None:
                frame.members[frame.key] = value
                frame.key = None
            frame.wants_key = True

    def _key(self, value: object, event: yaml.Event, frame: _Frame) -> str | None:
        if not isinstance(value, str):
            what, mend = _as_key(value)
            self._note(event, f"a key is {what}, and JSON keys are strings", mend)
            return None
        if value in frame.members:
            self._note(
                event,
                f"the key {quoted(value)} stands twice",
                "keep one of the two",
                below=f"/{escaped(value)}",
            )
        return value

    def _merge_key(self, event: yaml.ScalarEvent) -> None:
        self._note(
            event,
            'the merge key "<<" is not of YAML 1.2, and nothing is merged',
            'write the keys out, or quote "<<" where it is a key of its own',
        )
        self._frames[-1].wants_key = False

    # --- problems ----------------------------------------------------------------------------

    def _note(self, event: yaml.Event, message: str, mend: str, *, below: str = "") -> None:
        problem = problem_at(event.start_mark, self._pointer() + below, message, mend)
        if len(self._problems) + 1 >= MAX_PROBLEMS:
            raise DocumentError([problem])
        self._problems.append(problem)

    def _fatal(self, event: yaml.Event, message: str, mend: str) -> DocumentError:
        return DocumentError([problem_at(event.start_mark, self._pointer(), message, mend)])

    def _too_deep(self, event: yaml.Event) -> DocumentError:
        return self._fatal(
            event,
            f"lists and mappings stand inside each other more than {self._max_depth} deep here",
            "make the document flatter",
        )

    def _pointer(self) -> str:
        """The pointer of the value that is being read; of its container where a key is."""
        parts: list[str | int] = []
        for frame in self._frames[1:]:
            if frame.items is not None:
                parts.append(len(frame.items))
            elif frame.key is not None:
                parts.append(frame.key)
        return pointer(*parts)


def _value_of(frame: _Frame) -> object:
    return frame.members if frame.items is None else frame.items


def _as_key(value: object) -> tuple[str, str]:
    if isinstance(value, (dict, list)):
        return "a list or a mapping", "write a string as the key"
    words = {None: "null", True: "true", False: "false"}
    word = words.get(value) if value is None or isinstance(value, bool) else None
    return word or f"the number {value}", "quote the key"
