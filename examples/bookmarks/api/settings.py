"""What the component reads from its environment; Remit sets most of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from remit.kit import App, component_url

_SUFFIX = "_APP_COMPONENT_URL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where the component is, and who may show its pages.

    Attributes:
        component_url: its public address.
        brand: the name of the Remit that shows its pages, as in ``REMIT_APP_COMPONENT_URL``.
        framed_by: the origins that may frame them: Remit's own, and those of BOOKMARKS_FRAMED_BY.
    """

    component_url: str
    brand: str
    framed_by: tuple[str, ...]

    @classmethod
    def from_env(cls) -> Settings:
        """Read them.

        Raises:
            SettingsError: a variable that Remit sets is missing.
        """
        issuer = urlsplit(App.from_env().issuer)
        name = next(name for name in os.environ if name.endswith(_SUFFIX) and os.environ[name])
        more = os.environ.get("BOOKMARKS_FRAMED_BY", "").split()
        return cls(
            component_url=component_url(),
            brand=name.removesuffix(_SUFFIX),
            framed_by=(f"{issuer.scheme}://{issuer.netloc}", *more),
        )
