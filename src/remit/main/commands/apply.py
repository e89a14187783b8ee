"""``remit apply``: sends definitions to a server and says what each change is (section 13)."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from remit.catalog.mistakes import Mistake
from remit.lint.report import Reviewed, as_json, pointers_of
from remit.lint.run import lint_definition
from remit.main.asking import asker
from remit.main.commands.lint import print_reviewed
from remit.main.files import read_definition
from remit.main.output import print_json, print_text, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.catalog.mistakes import Level
    from remit.main.asking import Asker
    from remit.main.files import Source
    from remit.main.settings import Settings
    from remit.values.json import JsonObject, JsonValue

_HEADS = {
    "new": "A new app: a reviewer must approve it before anything of it can be called.",
    "none": "Nothing changed.",
    "edit": "An edit: it holds at once, and nobody consents again.",
    "version": "A new version: the one in force goes on until a reviewer approves this one.",
}
_NOT_FOUND = 404
_OF_TOOL = re.compile(r"/tools/\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Applied:
    """What became of one file.

    Attributes:
        change: ``new``, ``none``, ``edit`` or ``version``.
        version: the number that it has or, for a plan, would have.
        findings: what a reviewer will see; None where the server did not say it.
    """

    file: str
    app: str
    change: str
    version: int
    reasons: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    consent: bool = False
    findings: tuple[Mistake, ...] | None = None

    @property
    def waits(self) -> bool:
        """Whether a reviewer must act."""
        return self.change in {"new", "version"}


def run(files: Sequence[str], settings: Settings, *, plan: bool, as_json: bool) -> int:
    """Send each file, or only ask what it would change; 1 where a reviewer must act."""
    # All are read first: a fault in the last one must not leave the others sent.
    read = [(name, *read_definition(name, brand=settings.brand)) for name in files]
    documents = [(name, found.id, source.document) for name, source, found in read]
    done = asyncio.run(_all(documents, plan=plan))
    reviewed = [
        _reviewed(one, source, settings.brand)
        for one, (_, source, _) in zip(done, read, strict=True)
    ]
    if as_json:
        print_json([_as_json(*pair) for pair in zip(done, reviewed, strict=True)])
    else:
        print_text("\n\n".join(_drawn(one) for one in done))
        if found := [each for each in reviewed if each.mistakes]:
            print_text("")
            print_reviewed(found)
    waiting = [one for one in done if one.waits]
    if plan:
        say("\nThis was a plan: nothing was sent. Next: the same without --plan")
    elif waiting:
        one = waiting[0]
        say(
            f"\nA reviewer must act: {', '.join(w.app for w in waiting)}. Next: "
            f"GET /v1/apps/{one.app}/versions/{one.version}/remit, then POST …/approve"
        )
    return 1 if waiting else 0


async def _all(documents: Sequence[tuple[str, str, JsonValue]], *, plan: bool) -> list[_Applied]:
    client, server = asker()
    async with client:
        return [await _one(server, *document, plan=plan) for document in documents]


async def _one(server: Asker, file: str, app: str, document: JsonValue, *, plan: bool) -> _Applied:
    path = f"/v1/apps/{quote(app, safe='')}"
    known = await server.ask("GET", path, missing_ok=True)
    if known.status == _NOT_FOUND:
        if plan:
            return _Applied(file=file, app=app, change="new", version=1)
        made = (await server.ask("POST", "/v1/apps", document)).body
        return _Applied(
            file=file,
            app=app,
            change="new",
            version=cast("int", made["version"]),
            findings=tuple(map(_finding, cast("list[JsonObject]", made.get("findings", [])))),
        )
    query = "?dryRun=true" if plan else ""
    found = await server.ask("PUT", path + query, document, headers={"if-match": known.etag})
    diff = cast("list[JsonObject]", found.body.get("diff", []))
    return _Applied(
        file=file,
        app=app,
        change=cast("str", found.body["change"]),
        version=cast("int", found.body["version"]),
        reasons=tuple(cast("list[str]", found.body.get("reasons", []))),
        words=tuple(str(one.get("words", "")) for one in diff),
        consent=found.body.get("needsConsent") is True,
    )


def _finding(found: JsonObject) -> Mistake:
    pointer, tool = str(found["pointer"]), found.get("tool")
    return Mistake(
        rule=str(found["rule"]),
        level=cast("Level", found["level"]),
        tool=None if tool is None else str(tool),
        pointer=pointer,
        at=pointer if tool is None else _OF_TOOL.sub("", pointer, count=1),
        message=str(found["message"]),
        mend=str(found["mend"]),
    )


def _reviewed(one: _Applied, source: Source, brand: str) -> Reviewed:
    """The errors and warnings; where the server says none with its answer, as it will see them."""
    found = one.findings
    if found is None:
        found = lint_definition(source.document, brand=brand) if one.change != "none" else ()
    kept = [mistake for mistake in found if mistake.level != "note"]
    return Reviewed(file=one.file, mistakes=kept, places=source.places(pointers_of(kept)))


def _drawn(one: _Applied) -> str:
    lines = [f"{one.file}: {one.app}, version {one.version}", f"  {_HEADS[one.change]}"]
    if one.consent:
        lines.append("  Users consent again before their next call.")
    lines += [f"  Why: {reason}" for reason in one.reasons]
    lines += [f"  {words}" for words in one.words if words and words not in one.reasons]
    return "\n".join(lines)


def _as_json(one: _Applied, reviewed: Reviewed) -> JsonObject:
    return {
        "file": one.file,
        "app": one.app,
        "change": one.change,
        "version": one.version,
        "reasons": list(one.reasons),
        "needsConsent": one.consent,
        "needsReview": one.waits,
        "diff": list(one.words),
        "findings": as_json([reviewed])["findings"],
    }
