"""A submitted document, loaded and judged: what keeps it out, and what is kept of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.catalog.definitions import load_definition
from remit.catalog.mistakes import Mistake, errors_of
from remit.documents.canonical import compact_json
from remit.errors import InvalidDefinition
from remit.policy.reach import origins_of
from remit.statement.remit import build

if TYPE_CHECKING:
    from remit.catalog.model import Definition
    from remit.values.json import JsonValue
    from remit.values.urls import Origin

_MAX_LISTED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """What a definition is loaded in.

    Attributes:
        brand: the brand setting.
        own: origin of the server's ``public_url``, to which no app may send; None in tests.
    """

    brand: str = "Remit"
    own: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A sound definition with what is kept of it.

    Attributes:
        text: the document as it is kept.
        findings: what a reviewer should see, as ``remit lint`` says it.
    """

    definition: Definition
    text: str
    remit_digest: str
    findings: tuple[Mistake, ...]


def draft_of(document: JsonValue, house: House) -> Draft:
    """Load, lint and write down a document; runs in a thread.

    Raises:
        InvalidDefinition: with every mistake.
    """
    loaded = load_definition(document, brand=house.brand)
    errors = list(errors_of(loaded.mistakes))
    definition = loaded.definition
    if definition is not None:
        errors += _refused(definition, house)
    if definition is None or errors:
        raise _invalid(errors)
    # All rules, which no call and no start of a server needs.
    from remit.lint.run import lint_definition  # noqa: PLC0415

    return Draft(
        definition=definition,
        text=compact_json(document),
        remit_digest=build(definition).digest,
        findings=lint_definition(document, brand=house.brand),
    )


def _refused(definition: Definition, house: House) -> list[Mistake]:
    """What loads and still cannot be submitted to a server."""
    found: list[Mistake] = []
    if definition.auth.type == "oauth2":
        found.append(
            _mistake(
                "unknown-value",
                "/auth/type",
                '"type" is "oauth2", and this release has no pages where users sign in for it; '
                "they come with a later one",
                "use bearer, basic, apiKey or identity until then; it can be linted and shown",
            )
        )
    if house.own is not None and str(house.own) in {u.origin for u in origins_of(definition)}:
        found.append(
            _mistake(
                "bad-url",
                "/baseUrl",
                f"the app would send requests to {house.own}, which is this server itself",
                "write the address of the app's own API",
            )
        )
    return found


def _mistake(rule: str, pointer: str, message: str, mend: str) -> Mistake:
    return Mistake(
        rule=rule, level="error", tool=None, pointer=pointer, at=pointer, message=message, mend=mend
    )


def _invalid(errors: list[Mistake]) -> InvalidDefinition:
    listed = "\n".join(str(mistake) for mistake in errors[:_MAX_LISTED])
    more = len(errors) - _MAX_LISTED
    rest = f"\nAnd {more} more." if more > 0 else ""
    count = f"{len(errors)} error{'s' if len(errors) != 1 else ''}"
    return InvalidDefinition(
        f"The definition cannot be used: {count}. Nothing was kept.\n{listed}{rest}",
        mistakes=errors,
    )
