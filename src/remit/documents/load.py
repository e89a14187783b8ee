"""An author's document from its bytes, JSON or YAML, and where in it a value stands."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from remit.documents.json_decoder import DECODER, skip_blanks
from remit.documents.json_text import Member, Syntax, members
from remit.documents.problems import parts_of
from remit.documents.strict_json import parse_json
from remit.documents.text import byte_order_mark, places
from remit.values.collection import uncollected

if TYPE_CHECKING:
    from collections.abc import Iterable

Media = Literal["json", "yaml"]

#: What an author's file may have: a catalog of 10,000 tools has about 12 MB.
MAX_DOCUMENT_BYTES = 32 * 1024 * 1024
#: A schema may be 64 deep, and stands a few levels down in its document.
MAX_DOCUMENT_DEPTH = 80


def media_of(data: bytes, name: str) -> Media:
    """Whether a document is JSON or YAML: by the ending of its name, else by its first byte."""
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    if ending == "json":
        return "json"
    if ending in ("yaml", "yml"):
        return "yaml"
    return "json" if data.lstrip(b" \t\r\n")[:1] in (b"{", b"[") else "yaml"


def parse_document(
    data: bytes,
    *,
    name: str,
    media: Media | None = None,
    max_bytes: int = MAX_DOCUMENT_BYTES,
    max_depth: int = MAX_DOCUMENT_DEPTH,
) -> object:
    """Decode an author's document strictly.

    Args:
        data: the bytes of the file or of the answer.
        name: the file's name; its ending says what it is unless ``media`` does.
        media: what the document is, where that is known.
        max_bytes: the most bytes it may have.
        max_depth: the most containers inside each other.

    Raises:
        DocumentError: with every mistake found, its line and its column.
    """
    if (media or media_of(data, name)) == "json":
        with uncollected():
            return parse_json(data, max_bytes=max_bytes, max_depth=max_depth)
    # A command that reads JSON alone does not wait for the YAML library.
    from remit.documents.strict_yaml import parse_yaml  # noqa: PLC0415

    return parse_yaml(data, max_bytes=max_bytes, max_depth=max_depth)


def locate(data: bytes, pointer: str, *, media: Media) -> tuple[int, int] | None:
    """The 1-based line and column of what ``pointer`` names; None where it names nothing.

    It is the place of a member's key, or of an item of a list.
    """
    return locate_all(data, (pointer,), media=media).get(pointer)


def locate_all(data: bytes, pointers: Iterable[str], *, media: Media) -> dict[str, tuple[int, int]]:
    """The places of those ``pointers`` that name something, all in one reading of the text.

    Only called when there is something to report: loading itself keeps no places. A document
    that cannot be decoded gives the places before its mistake.
    """
    wanted = frozenset(pointers)
    text = data.decode("utf-8", "replace")
    if byte_order_mark(text):
        text = text[1:]
    if media == "json":
        return _json_places(text, wanted)
    from remit.documents.yaml_places import yaml_places  # noqa: PLC0415

    return yaml_places(text, wanted)


def _json_places(text: str, wanted: frozenset[str]) -> dict[str, tuple[int, int]]:
    found: dict[str, int] = {}
    paths = {parts_of(pointer): pointer for pointer in wanted}
    inner = {path[:length] for path in paths for length in range(len(path))}

    def visit(at: int, path: tuple[str, ...]) -> int:
        if path not in inner or text[at : at + 1] not in ("{", "["):
            return _end_of_value(text, at)
        end = at + 1

        def end_of(member: Member) -> int:
            nonlocal end
            below = (*path, str(member.part))
            if below in paths:
                found.setdefault(paths[below], member.part_at)
            end = visit(member.value_at, below)
            return end

        for _ in members(text, at, end_of):
            pass
        return skip_blanks(text, end) + 1

    start = skip_blanks(text, 0)
    if () in paths:
        found[""] = start
    # The places before a mistake are as good as ever.
    with suppress(Syntax, ValueError, RecursionError):
        visit(start, ())
    known = places(text, found.values())
    return {pointer: known[at] for pointer, at in found.items()}


def _end_of_value(text: str, at: int) -> int:
    _, end = DECODER.raw_decode(text, at)
    return end
