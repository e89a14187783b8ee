"""Rules on what models and their providers take: names, numbers, keywords, held to the schema."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.catalog.model import Endpoint
from remit.catalog.reading import shown
from remit.lint.rules_parameters import is_open
from remit.lint.subject import Finding
from remit.lint.words import word_set
from remit.offer.dialects import OFFERED
from remit.offer.names import MAX_NAME, shortened_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.lint.subject import ToolView

# What says nothing about a value that could be broken, and what has a rule of its own.
_UNSAID = word_set(
    "writeOnly readOnly deprecated examples default title $comment $schema $id required"
)
_PORTABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def parameter_name(view: ToolView) -> Iterator[Finding]:
    """A parameter name outside what every provider takes."""
    for node in view.schema_nodes:
        name = node.label.rpartition(".")[2] if "." in node.label else node.label
        if node.is_property and not _PORTABLE.fullmatch(name):
            yield Finding(
                node.at,
                f'the parameter name "{shown(node.label)}" is not taken by every model: Gemini '
                f"wants a letter "
                "or _ first, then letters, digits and _, at most 64 in all",
                "rename it; the name in the request is free, it stands in queryParams or "
                "bodyTemplate",
            )


def long_name(view: ToolView) -> Iterator[Finding]:
    """A name that is cut where another app has a tool of the same name (contract section 2)."""
    if view.app_id is None or not view.name:
        return
    prefix = "integration_" if view.tool and isinstance(view.tool.destination, Endpoint) else ""
    full = f"{prefix}{view.app_id}_{view.name}"
    if view.tool is not None and len(full) > MAX_NAME:
        yield Finding(
            "/name",
            f"in a session with another app's {view.name} it is offered as {shortened_name(full)}",
            f"a name of at most {MAX_NAME - len(full) + len(view.name)} characters stays whole"
            if MAX_NAME - len(full) + len(view.name) > 0
            else "a shorter app id leaves room for it",
        )


def provider_refuses(view: ToolView) -> Iterator[Finding]:
    """What of the schema a provider is not offered as written (contract section 2)."""
    if view.tool is None or view.has_plain_schema:
        return
    names = {node.at for node in view.schema_nodes if node.is_property}
    told: dict[str, dict[str, str]] = {}
    for provider, judgement in view.judgements.items():
        label = OFFERED[provider].label
        for removal in judgement.removals:
            at = f"/parameters{removal.pointer}"
            # What describes no bound, and a parameter's name, which has a rule of its own.
            if removal.keyword in _UNSAID or at in names:
                continue
            if removal.lost:
                yield Finding(
                    at,
                    f'{label} is not offered "{shown(removal.keyword)}": {removal.reason}',
                    "say it in the description; Remit enforces it all the same",
                    level="warning",
                )
            else:
                told.setdefault(label, {}).setdefault(removal.keyword, at)
    yield from _told_in_words(told)


def _told_in_words(told: dict[str, dict[str, str]]) -> Iterator[Finding]:
    """One finding for all providers that are told of the same keywords in words."""
    labels: dict[tuple[str, ...], list[str]] = {}
    for label, keywords in told.items():
        labels.setdefault(tuple(keywords), []).append(label)
    for keywords, alike in labels.items():
        quoted = ", ".join(f'"{shown(keyword)}"' for keyword in keywords)
        who = " and ".join((", ".join(alike[:-1]), alike[-1]) if len(alike) > 1 else alike)
        yield Finding(
            told[alike[0]][keywords[0]],
            f"{who} {'are' if len(alike) > 1 else 'is'} not offered {quoted} as written, "
            "but told of it in words",
            "nothing to do; Remit enforces it all the same and refuses a call that breaks it",
        )


def not_held(view: ToolView) -> Iterator[Finding]:
    """A schema that no strict mode can hold a model to, and why (contract section 2)."""
    if view.tool is None or view.has_plain_schema:
        return
    open_at = {node.at for node in view.schema_nodes if is_open(node)}
    reasons: dict[tuple[str, str], list[str]] = {}
    for provider, judgement in view.judgements.items():
        found = judgement.eligibility
        at = f"/parameters{found.pointer or ''}"
        # That an object is open, or a name is not declared, is said by a rule of its own.
        if found.reason is not None and at not in open_at and not at.endswith("/required"):
            reasons.setdefault((at, found.reason), []).append(OFFERED[provider].label)
    for (at, reason), labels in reasons.items():
        who = (
            "no model"
            if len(labels) == len(view.judgements)
            else f"no model of {' or '.join(labels)}"
        )
        yield Finding(
            at,
            f"{who} can be held to this schema: {reason}",
            "nothing to do; Remit checks every call all the same, and a model corrects itself "
            "when refused",
        )
