"""A tool's parameters as one provider is offered them: pin-less, fitted, strict where it can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.offer.bundling import bundle
from remit.offer.dialects import OFFERED, PLAIN_NAME, STRICT, Provider
from remit.offer.eligibility import Eligibility, judge, judge_all, openai_size
from remit.offer.fitting import fit
from remit.offer.nodes import is_plain_schema
from remit.offer.pinning import without_pins

if TYPE_CHECKING:
    from collections.abc import Collection

    from remit.catalog.parameters import Parameters
    from remit.offer.bundling import Bundle
    from remit.offer.removals import Removal
    from remit.values.json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """Parameters as they go to a provider.

    Attributes:
        schema: type object, with properties; every reference in it leads somewhere.
        strict: whether the schema is the derived one of strict mode.
        eligibility: whether it could be, and the first reason why not.
        removals: what of the author's schema is not in it.
    """

    schema: JsonObject
    strict: bool
    eligibility: Eligibility
    removals: tuple[Removal, ...]


def offered(
    parameters: Parameters,
    provider: Provider,
    pins: Collection[str] = (),
    *,
    strict: bool | None = None,
) -> Offered:
    """Make the schema that a provider is offered.

    Args:
        parameters: as declared.
        provider: whom it goes to.
        pins: names of the arguments that the session has pinned.
        strict: whether to use strict mode where the tool is eligible. None: where the provider
            takes any number of strict tools, which is OpenAI. Anthropic bounds strict tools per
            request, so it is left to who makes the request. The other two have no such mode.
    """
    bundled = _bundled(parameters, pins)
    eligibility = _judged(bundled, provider)
    wanted = provider == "openai" if strict is None else strict
    held = eligibility.eligible and wanted and provider in ("openai", "anthropic")
    fitted = fit(bundled, (STRICT if held else OFFERED)[provider])
    return Offered(
        schema=fitted.schema, strict=held, eligibility=eligibility, removals=fitted.removals
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What one provider makes of parameters as they are declared.

    Attributes:
        eligibility: whether its strict mode can hold a model to them.
        removals: everything of the author's schema that it is not offered as written.
    """

    eligibility: Eligibility
    removals: tuple[Removal, ...]


def judgements(
    parameters: Parameters, providers: Collection[Provider], pins: Collection[str] = ()
) -> dict[Provider, Judgement]:
    """What several providers make of the same parameters; what they share is done once."""
    bundled = _bundled(parameters, pins)
    named = all(map(PLAIN_NAME.fullmatch, parameters.names))
    simple = named and bundled.is_simple
    plain = simple and is_plain_schema(bundled.root)
    found: dict[Provider, Judgement] = {}
    for provider, judged in judge_all(bundled, providers).items():
        eligibility = _within_bounds(judged, bundled, provider)
        held = provider == "openai" and eligibility.eligible
        dialect = (STRICT if held else OFFERED)[provider]
        whole = simple if dialect.keywords is None else plain
        removals = () if whole else fit(bundled, dialect).removals
        found[provider] = Judgement(eligibility=eligibility, removals=removals)
    return found


def eligible(parameters: Parameters, provider: Provider, pins: Collection[str] = ()) -> Eligibility:
    """Whether a provider's strict mode can hold a model to them (contract section 2)."""
    return _judged(_bundled(parameters, pins), provider)


def refused_keywords(
    parameters: Parameters, provider: Provider, pins: Collection[str] = ()
) -> tuple[Removal, ...]:
    """Everything of the author's schema that a provider is not offered as written."""
    return judgements(parameters, (provider,), pins)[provider].removals


def _bundled(parameters: Parameters, pins: Collection[str]) -> Bundle:
    return bundle(without_pins(parameters.schema, pins), parameters.schema)


def _judged(bundled: Bundle, provider: Provider) -> Eligibility:
    return _within_bounds(judge(bundled, provider), bundled, provider)


def _within_bounds(eligibility: Eligibility, bundled: Bundle, provider: Provider) -> Eligibility:
    """The same, or the bound of a provider that an eligible schema is over."""
    if provider == "openai" and eligibility.eligible:
        reason = openai_size(bundled)
        if reason is not None:
            return Eligibility(eligible=False, reason=reason, pointer="")
    return eligibility
