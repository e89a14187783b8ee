"""What every request of an author is read with: its texts, method and path (sections 3 and 4).

Query, headers and body have modules of their own; ``remit.catalog.destinations`` joins them to
an ``endpoint`` or a ``target``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.catalog.locations import LocationFault, compile_path
from remit.catalog.reading import shown
from remit.catalog.references import Notation, ReferenceFault, Root, Text, compile_text
from remit.catalog.scales import Method

if TYPE_CHECKING:
    from remit.catalog.model import Location
    from remit.catalog.reading import Fields
    from remit.values.urls import Origin

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a tool stands in: facts of its definition that decide what it may say.

    Attributes:
        brand: the brand setting (contract section 12).
        components: names of the app's components; None where the definition is not known.
        credential_header, credential_query: where ``auth`` puts the credential, if anywhere.
        base_origin: origin of ``baseUrl``, None where there is none or it is not known.
    """

    brand: str = "Remit"
    components: frozenset[str] | None = None
    credential_header: str | None = None
    credential_query: str | None = None
    base_origin: Origin | None = None


class RequestReader:
    """Reads the request of one tool; mistakes are noted in the collector it is given."""

    def __init__(self, fields: Fields, surroundings: Surroundings, notation: Notation) -> None:
        self.fields = fields
        self.around = surroundings
        self.notation: Notation = notation
        self.env_names: set[str] = set()

    # -- texts -----------------------------------------------------------------------------

    def compile(self, text: str, at: str, roots: tuple[Root, ...]) -> Text | None:
        """Compile a text in which only ``roots`` may be referred to."""
        try:
            compiled = compile_text(text, self.notation)
        except ReferenceFault as fault:
            self.fields.mistakes.add("bad-reference", at, fault.message, fault.mend)
            return None
        if compiled.literal is not None:
            return compiled
        for reference in compiled.references:
            if reference.root not in roots:
                allowed = " or ".join(roots) if roots else "nothing"
                self.fields.mistakes.add(
                    "bad-reference",
                    at,
                    f'"{reference.written}" may not stand here',
                    f"only {allowed} can be referred to here" if roots else "write literal text",
                )
                return None
            if reference.root == "env":
                self.env_names.add(reference.path[0])
        return compiled

    @property
    def roots(self) -> tuple[Root, ...]:
        """The namespaces of this notation that a request may read."""
        return ("args",) if self.notation == "args" else ("input", "env")

    # -- parts -----------------------------------------------------------------------------

    def method(self) -> Method | None:
        """The HTTP method; a reference in it is an unknown value like any other."""
        if "method" not in self.fields.values:
            self.fields.missing("method", "a request", "write GET, POST, PUT, PATCH or DELETE")
            return None
        return self.fields.choice("method", Method)

    def path(self) -> Location | None:
        """The path of an ``endpoint`` or ``app`` target."""
        if "path" not in self.fields.values:
            self.fields.missing("path", "a request", "write the path below the base address")
            return None
        text = self.fields.text("path")
        if text is None:
            return None
        at = self.fields.place("path")
        if self.notation == "input" and "${" in text:
            self.fields.wrong(
                "bad-reference",
                "path",
                f'"{shown(text)}" holds a reference; it may not stand in the path of an app target',
                "send the value in query or body",
            )
            return None
        if _SCHEME.match(text):
            self.fields.wrong(
                "bad-path",
                "path",
                f'"{shown(text)}" is a whole address; a path begins with one /',
                "write the part after the host; the host is the definition's",
            )
            return None
        compiled = self.compile(text, at, self.roots)
        return None if compiled is None else self.location(compiled, at, query=False)

    def location(self, text: Text, at: str, *, query: bool) -> Location | None:
        """A compiled path as a location, or a located mistake."""
        try:
            return compile_path(text, query=query)
        except LocationFault as fault:
            written = "".join(p if isinstance(p, str) else p.written for p in text.parts)
            self.fields.mistakes.add(
                "bad-path", at, f'"{shown(written)}": {fault.message}', fault.mend
            )
            return None

    def literal_key(self, inner: Fields, name: str) -> str | None:
        """A key as it is sent; None, and a mistake noted, where a reference stands in it."""
        if "{{" not in name and "${" not in name:
            return name
        try:
            literal = compile_text(name, self.notation).literal
        except ReferenceFault:
            literal = None
        if literal is None:
            inner.wrong(
                "bad-reference",
                name,
                f'the key "{shown(name)}" holds a reference',
                "references may stand in values, never in names",
            )
        return literal
