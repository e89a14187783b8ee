"""Tools as models get them, made once and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, final

from remit.gateway.models import ToolOffer
from remit.offer.descriptions import fitted_description
from remit.offer.offering import offered

if TYPE_CHECKING:
    from collections.abc import Collection

    from remit.catalog.parameters import Parameters
    from remit.gateway.models import Subset

    _Key: TypeAlias = "tuple[int, str, str, tuple[str, ...], bool | None]"

_MAX_KEPT = 20_000


@final
class Offers:
    """Tools as models get them, made once: a schema takes some 100 us to be fitted."""

    def __init__(self) -> None:
        self._kept: dict[_Key, tuple[object, ToolOffer]] = {}

    def of(
        self,
        name: str,
        text: str,
        parameters: Parameters,
        provider: Subset,
        pins: Collection[str] = (),
        *,
        strict: bool | None = None,
    ) -> ToolOffer:
        """One tool as a provider is offered it; ``strict`` as in ``offer.offered``."""
        key = (id(parameters), name, provider, tuple(sorted(pins)), strict)
        kept = self._kept.get(key)
        if kept is not None and kept[0] is parameters:
            return kept[1]
        found = offered(parameters, provider, pins, strict=strict)
        schema = found.schema
        if provider == "openai":
            text, schema = fitted_description(text, schema)
        offer = ToolOffer(name=name, description=text, schema=schema, strict=found.strict)
        if len(self._kept) >= _MAX_KEPT:
            self._kept.clear()
        self._kept[key] = (parameters, offer)
        return offer
