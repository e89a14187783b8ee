"""References in an author's text: two notations, one compiled form (contract section 4).

``{{args.x}}`` stands in an ``endpoint`` and its ``polling`` and ``confirm``; ``${input.x}`` and
``${env.NAME}`` stand in a ``target``. In the place of one the other is plain text.

A text compiles once, when its catalog loads, to a ``Text``: literal strings and ``Reference``
parts in turn. Nothing here knows values; ``remit.calls`` puts them in, in one pass, so that
what a value contains is never looked at again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, TypeAlias

Notation = Literal["args", "input"]
Root = Literal["args", "response", "preview", "input", "env"]

_SEGMENT = r"[A-Za-z0-9_-]+"
_PATH = re.compile(rf"{_SEGMENT}(?:\.{_SEGMENT})*")
ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MUSTACHE_WORD = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_-]*)\s*\.")
_DOLLAR = re.compile(r"\$\$\{|\$\{")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One reference: a root and a dotted path below it.

    Attributes:
        root: the namespace it reads.
        path: the segments below the root; empty only for the whole ``${input}``.
    """

    root: Root
    path: tuple[str, ...]

    @property
    def dotted(self) -> str:
        """The reference as a person names it: ``args.customer.id``."""
        return ".".join((self.root, *self.path))

    @property
    def written(self) -> str:
        """The reference in the notation it was written in."""
        if self.root in ("input", "env"):
            return f"${{{self.dotted}}}"
        return f"{{{{{self.dotted}}}}}"


Part: TypeAlias = "str | Reference"


@dataclass(frozen=True, slots=True)
class Text:
    """A compiled text: literal strings and references in the order they stand.

    Attributes:
        whole: the reference, where the text is exactly one and nothing else.
        literal: the text, where it holds no reference.
    """

    parts: tuple[Part, ...]
    whole: Reference | None = field(init=False, repr=False, compare=False)
    literal: str | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Found out here and not at each look: a call looks a dozen times.
        only = self.parts[0] if len(self.parts) == 1 else None if self.parts else ""
        object.__setattr__(self, "whole", only if isinstance(only, Reference) else None)
        object.__setattr__(self, "literal", only if isinstance(only, str) else None)

    @property
    def references(self) -> tuple[Reference, ...]:
        """Every reference in it."""
        return tuple(part for part in self.parts if isinstance(part, Reference))


EMPTY = Text(())


class ReferenceFault(ValueError):
    """A text whose references cannot be read.

    Attributes:
        message: what is wrong, naming the reference as written.
        mend: what to write instead.
    """

    def __init__(self, message: str, mend: str) -> None:
        super().__init__(message)
        self.message = message
        self.mend = mend


def compile_text(text: str, notation: Notation) -> Text:
    """Compile one text of an author; equal texts share what they compile to.

    Raises:
        ReferenceFault: unclosed, of an unknown first word, or with a path that is none.
    """
    if ("{{" if notation == "args" else "${") not in text:
        return Text((text,)) if text else EMPTY
    return _compile(text, notation)


# A catalog says `{{args.id}}` in a thousand places: one value, and compiled once.
@lru_cache(maxsize=8192)
def _compile(text: str, notation: Notation) -> Text:
    return _compile_mustache(text) if notation == "args" else _compile_dollar(text)


def _compile_mustache(text: str) -> Text:
    parts: list[Part] = []
    literal_from = 0
    at = text.find("{{")
    while at >= 0:
        word = _MUSTACHE_WORD.match(text, at)
        if word is None:
            at = text.find("{{", at + 1)
            continue
        end = text.find("}}", at)
        written = text[at : end + 2] if end >= 0 else text[at:]
        root = word[1]
        if root not in ("args", "response", "preview"):
            raise ReferenceFault(
                f'"{_cut(written)}" begins with "{root}", which is no namespace',
                "write {{args.<parameter>}}; only args, response and preview can be referred to",
            )
        if end < 0:
            raise ReferenceFault(f'"{_cut(written)}" is never closed', "close it with }}")
        path = text[word.end() : end].strip()
        if not _PATH.fullmatch(path):
            raise ReferenceFault(
                f'"{_cut(written)}" is no reference: "{_cut(path)}" is no dotted path',
                "use letters, digits, _ and - in each part, with single dots between them",
            )
        if literal_from < at:
            parts.append(text[literal_from:at])
        parts.append(Reference(root=root, path=tuple(path.split("."))))
        literal_from = end + 2
        at = text.find("{{", literal_from)
    if literal_from < len(text):
        parts.append(text[literal_from:])
    return Text(tuple(parts))


def _compile_dollar(text: str) -> Text:
    parts: list[Part] = []
    literal: list[str] = []
    position = 0
    while found := _DOLLAR.search(text, position):
        literal.append(text[position : found.start()])
        if found[0] == "$${":
            literal.append("${")
            position = found.end()
            continue
        end = text.find("}", found.end())
        if end < 0:
            raise ReferenceFault(
                f'"{_cut(text[found.start() :])}" is never closed',
                "close it with }, or write $${ for the literal text ${",
            )
        if joined := "".join(literal):
            parts.append(joined)
        literal = []
        parts.append(_dollar_reference(text[found.start() : end + 1]))
        position = end + 1
    literal.append(text[position:])
    if joined := "".join(literal):
        parts.append(joined)
    return Text(tuple(parts))


def _dollar_reference(written: str) -> Reference:
    root, dot, path = written[2:-1].strip().partition(".")
    if root == "input" and not dot:
        return Reference(root="input", path=())
    if root == "input" and _PATH.fullmatch(path):
        return Reference(root="input", path=tuple(path.split(".")))
    if root == "env" and ENV_NAME.fullmatch(path):
        return Reference(root="env", path=(path,))
    if root in ("input", "env"):
        raise ReferenceFault(
            f'"{_cut(written)}" is no reference: "{_cut(path)}" names nothing',
            "write ${input}, ${input.<path>} or ${env.<NAME>}",
        )
    raise ReferenceFault(
        f'"{_cut(written)}" begins with "{_cut(root)}", which is no namespace',
        "write ${input.<path>} or ${env.<NAME>}, or $${ for the literal text ${",
    )


def _cut(text: str) -> str:
    """At most 60 characters of an author's text, for a message."""
    return text if len(text) <= 60 else text[:59] + "…"
