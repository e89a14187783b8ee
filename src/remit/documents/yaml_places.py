"""Where the values of a YAML text stand, by JSON Pointer."""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from remit.documents.problems import DocumentError, escaped
from remit.documents.yaml_events import Events


@dataclass(slots=True)
class _Open:
    """A container whose end has not come: its pointer, and what its next value is."""

    pointer: str
    is_list: bool
    index: int = 0
    key: str | None = None


def yaml_places(text: str, wanted: frozenset[str]) -> dict[str, tuple[int, int]]:
    """The 1-based line and column of each wanted pointer that names something.

    What an alias stands for is at the place of the alias. A text that is no YAML gives the places
    before its mistake.
    """
    found: dict[str, tuple[int, int]] = {}
    containers: list[_Open] = []
    try:
        events = Events(text)
        while (event := events.next()) is not None:
            if isinstance(event, yaml.CollectionEndEvent):
                containers.pop()
            elif isinstance(event, yaml.NodeEvent):
                pointer = _step(event, containers, events)
                if pointer is not None and pointer in wanted and event.start_mark is not None:
                    mark = event.start_mark
                    found.setdefault(pointer, (mark.line + 1, mark.column + 1))
    except DocumentError:
        pass
    return found


def _step(event: yaml.NodeEvent, containers: list[_Open], events: Events) -> str | None:
    """Take one node in; gives the pointer of what begins with it: a member's key, or an item."""
    parent = containers[-1] if containers else None
    begins: str | None = None
    pointer = ""
    if parent is None:
        begins = ""
    elif parent.is_list:
        pointer = begins = f"{parent.pointer}/{parent.index}"
        parent.index += 1
    elif parent.key is None:
        parent.key = _text_of(event, events)
        begins = f"{parent.pointer}/{escaped(parent.key)}"
        pointer = begins + "/?"
    else:
        pointer = f"{parent.pointer}/{escaped(parent.key)}"
        parent.key = None
    if isinstance(event, yaml.CollectionStartEvent):
        containers.append(_Open(pointer, isinstance(event, yaml.SequenceStartEvent)))
    return begins


def _text_of(event: yaml.NodeEvent, events: Events) -> str:
    text = event.value if isinstance(event, yaml.ScalarEvent) else ""
    return text.translate(events.restored) if events.restored else text
