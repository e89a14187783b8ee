"""A tool's parameters as one provider is offered them: pin-less, fitted, strict where it can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.offer.bundling import bundle
from remit.offer.dialects import OFFERED, STRICT, Provider
from remit.offer.eligibility import Eligibility, judge, openai_size
from remit.offer.fitting import fit
from remit.offer.pinning import without_pins

if TYPE_CHECKING:
    from collections.abc import Collection

    from remit.catalog.parameters import Parameters
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
    bundled = bundle(without_pins(parameters.schema, pins), parameters.schema)
    eligibility = judge(bundled, provider)
    wanted = provider == "openai" if strict is None else strict
    if eligibility.eligible and (wanted or provider == "openai"):
        derived = fit(bundled, STRICT[provider])
        reason = openai_size(derived.schema) if provider == "openai" else None
        if reason is not None:
            eligibility = Eligibility(eligible=False, reason=reason, pointer="")
        elif wanted and provider in ("openai", "anthropic"):
            return Offered(
                schema=derived.schema,
                strict=True,
                eligibility=eligibility,
                removals=derived.removals,
            )
    fitted = fit(bundled, OFFERED[provider])
    return Offered(
        schema=fitted.schema, strict=False, eligibility=eligibility, removals=fitted.removals
    )


def eligible(parameters: Parameters, provider: Provider, pins: Collection[str] = ()) -> Eligibility:
    """Whether a provider's strict mode can hold a model to them (contract section 2)."""
    return offered(parameters, provider, pins, strict=False).eligibility


def refused_keywords(
    parameters: Parameters, provider: Provider, pins: Collection[str] = ()
) -> tuple[Removal, ...]:
    """Everything of the author's schema that a provider is not offered as written."""
    return offered(parameters, provider, pins).removals
